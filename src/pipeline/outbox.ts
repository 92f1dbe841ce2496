import type { IdBuffer } from "../tokenizer/id-buffer.ts";
import type { WrittenIds } from "./encode-protocol.ts";

/** Ids that may be on their way. */
const unwrittenIdsMax = 2 ** 21;

/**
 * Ids on their way to be written, whose turn may be long in coming: whoever encodes waits while too many are. Their
 * memory comes back and is used again, the last first: it is still in the cache, and memory costs when it is new.
 */
export class Outbox {
  private unwrittenIds = 0;
  private readonly spares: ArrayBuffer[] = [];
  private resume: (() => void) | undefined;

  constructor(
    private readonly out: IdBuffer,
    private readonly post: (part: WrittenIds) => void,
  ) {}

  /** Sends the ids gathered, once there is room for them. */
  async send(): Promise<void> {
    while (this.unwrittenIds >= unwrittenIdsMax) {
      await new Promise<void>((resolve) => {
        this.resume = resolve;
      });
    }
    this.unwrittenIds += this.out.count;
    const recordEnds = this.out.takeRecordEnds();
    this.post({ ids: this.out.take(this.spares.pop()), recordEnds });
  }

  /** So many were written: here is their memory. */
  written(idCount: number, memory: ArrayBuffer): void {
    this.unwrittenIds -= idCount;
    this.spares.push(memory);
    this.resume?.();
  }
}
