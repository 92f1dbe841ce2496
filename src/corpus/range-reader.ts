import { UserError } from "../errors.ts";
import type { ByteSource } from "./byte-sources.ts";
import { allocateText, releaseText, type Text, type TextMaker } from "./text.ts";

/** Positions in a text are 31-bit integers. */
const windowBytesMax = 2 ** 30;

/**
 * Reads a range of bytes through one window: `text` holds the bytes of the source from `baseByte` on, `limit` of them
 * valid. The window moves when `advance` says which bytes are still needed, and grows only when they fill it.
 *
 * Why the file is read and not mapped stands in ARCHITECTURE.md ("Reading").
 */
export class RangeReader {
  text: Text;
  /** Offset in the source of position 0 of the text. */
  baseByte = 0;
  limit = 0;
  /** Where the range ends; of one whose end is not known yet, behind every byte. */
  endByte = 0;
  private source: ByteSource | undefined;

  /** @param tooLong makes the error for what has to be kept and is longer than a window can be */
  constructor(
    private capacityBytes: number,
    private readonly makeText: TextMaker = allocateText,
    private readonly tooLong = noPretokenEnds,
  ) {
    this.text = makeText(capacityBytes);
  }

  /** Starts on bytes [startByte, endByte) of the source. */
  open(source: ByteSource, startByte: number, endByte: number): void {
    this.source = source;
    this.baseByte = startByte;
    this.endByte = endByte;
    this.limit = 0;
  }

  /** True when the text reaches the end of the range. */
  get atEnd(): boolean {
    return this.baseByte + this.limit >= this.endByte;
  }

  /**
   * Moves the bytes from `keepPos` on to position 0 and reads on behind them, as far as bytes have come; positions fall
   * by `keepPos`.
   */
  advance(keepPos: number): void {
    const kept = this.limit - keepPos;
    if (kept > this.capacityBytes >> 1) this.grow(keepPos, kept);
    else this.text.bytes.copyWithin(0, keepPos, this.limit);
    this.baseByte += keepPos;
    this.limit = kept;
    while (this.limit < this.capacityBytes && !this.atEnd) {
      const offset = this.baseByte + this.limit;
      const wantedBytes = Math.min(this.capacityBytes - this.limit, this.endByte - offset);
      const readBytes = this.source!.read(this.text.bytes, this.limit, wantedBytes, offset);
      if (readBytes === 0) return;
      this.limit += readBytes;
    }
  }

  /** How large the window will be when it has moved: larger than now where what is kept fills half of it. */
  bytesAfter(keepPos: number): number {
    return (this.limit - keepPos > this.capacityBytes >> 1 ? 2 : 1) * this.capacityBytes;
  }

  private grow(keepPos: number, kept: number): void {
    if (2 * this.capacityBytes > windowBytesMax) {
      throw this.tooLong(kept, `at byte ${this.baseByte + keepPos} of "${this.source!.path}"`);
    }
    const old = this.text.bytes;
    this.capacityBytes *= 2;
    this.text = this.makeText(this.capacityBytes);
    this.text.bytes.set(old.subarray(keepPos, keepPos + kept));
    releaseText(old);
  }
}

function noPretokenEnds(keptBytes: number, place: string): UserError {
  return new UserError(`no pretoken ends within ${keptBytes} bytes ${place}`, {
    hint: "is it text? A pattern that cuts it (--pattern) or a special token in it (-s) would help",
  });
}
