import { type CompiledPattern, createSplitter, type Splitter } from "../pattern/index.ts";
import type { IdBuffer } from "./id-buffer.ts";
import type { TextSink } from "./text-sink.ts";
import type { WordEncoder } from "./word-encoder.ts";

/** Bytes handed from the splitter to the encoder at a time: their pretokens and results stay in the first caches. */
const blockSizeBytes = 1 << 14;
/** `Splitter.scan` wants to see the whole last character and a byte more. */
const lookaheadBytes = 4;

/** The end of the chain: cuts pieces into pretokens and appends their ids to `out`. */
export class PieceEncoder implements TextSink {
  private readonly splitter: Splitter;
  private capacityBytes = 1 << 12;
  /** Bytes of text. */
  private limit = 0;

  constructor(
    pattern: CompiledPattern,
    private readonly words: WordEncoder,
    readonly out: IdBuffer,
  ) {
    words.reserveText(this.capacityBytes);
    this.splitter = createSplitter(pattern);
    this.splitter.start(0);
  }

  get invalidByteCount(): number {
    return this.splitter.invalidByteCount;
  }

  /** Bytes that were pushed and are not encoded. */
  get pendingBytes(): number {
    return this.limit - this.splitter.ends[this.splitter.endCount - 1]!;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    this.append(bytes, start, end);
    this.encodeTo(this.limit - lookaheadBytes, this.limit);
  }

  end(): void {
    if (this.limit === 0) return;
    this.encodeTo(this.limit, this.limit);
    for (let isSettled = false; !isSettled; ) {
      isSettled = this.splitter.finish(this.limit);
      this.take();
    }
    this.restart();
  }

  token(id: number): void {
    this.out.push(id);
  }

  settle(): void {}

  /**
   * The text goes on, but not here: what was pushed ends at a safe cut, and `bytes` are the few that follow. The
   * character there settles the last pretoken and belongs to whoever reads on.
   */
  cut(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    const cutPos = this.limit;
    this.append(bytes, start, end);
    this.encodeTo(cutPos, this.limit);
    if (this.splitter.pos === cutPos) this.splitter.scan(this.words.text, cutPos + 1, this.limit);
    this.take();
    this.restart();
  }

  private encodeTo(stop: number, limit: number): void {
    const { splitter } = this;
    while (splitter.pos < stop) {
      splitter.scan(this.words.text, Math.min(splitter.pos + blockSizeBytes, stop), limit);
      this.take();
    }
  }

  private take(): void {
    const { splitter } = this;
    this.words.encode(splitter.ends, splitter.endCount, this.out);
    splitter.take();
  }

  private restart(): void {
    this.limit = 0;
    this.splitter.start(0);
  }

  private append(bytes: Uint8Array, start: number, end: number): void {
    const to = this.words.text.bytes;
    const { limit } = this;
    if (end - start < 64) for (let pos = start; pos < end; pos++) to[limit + pos - start] = bytes[pos]!;
    else to.set(bytes.subarray(start, end), limit);
    this.limit += end - start;
  }

  /** Moves what is not encoded yet to the front, and makes room for more if it would fill most of the text. */
  private makeRoom(byteCount: number): void {
    if (this.limit + byteCount <= this.capacityBytes) return;
    const { splitter, words } = this;
    const keepPos = splitter.ends[0]!;
    words.text.bytes.copyWithin(0, keepPos, this.limit);
    splitter.shift(keepPos);
    this.limit -= keepPos;
    if (this.limit + byteCount <= this.capacityBytes) return;
    this.capacityBytes = 2 * (this.limit + byteCount);
    words.reserveText(this.capacityBytes);
  }
}
