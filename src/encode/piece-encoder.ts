import { allocateText, paddingBytes, type Text } from "../corpus/text.ts";
import { type CompiledPattern, createSplitter, type Splitter } from "../pattern/index.ts";
import { methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import type { IdBuffer } from "./id-buffer.ts";
import type { TextSink } from "./text-sink.ts";
import type { WordEncoder } from "./word-encoder.ts";

/** Bytes handed from the splitter to the encoder at a time: their pretokens and results stay in the first caches. */
const blockSizeBytes = 1 << 14;
/** `Splitter.scan` wants to see the whole last character and a byte more. */
const lookaheadBytes = 4;

/** The end of the chain: cuts pieces into pretokens and appends their ids to `out`. */
export class PieceEncoder implements TextSink {
  static {
    spareThirdTier(...methodsOf(PieceEncoder));
  }

  private readonly splitter: Splitter;
  private text: Text = allocateText(1 << 12);
  private limit = 0;

  constructor(
    pattern: CompiledPattern,
    private readonly words: WordEncoder,
    readonly out: IdBuffer,
  ) {
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
    if (end - start < 64) {
      for (let pos = start; pos < end; pos++) this.text.bytes[this.limit + pos - start] = bytes[pos]!;
    } else this.text.bytes.set(bytes.subarray(start, end), this.limit);
    this.limit += end - start;
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
    this.text.bytes.set(bytes.subarray(start, end), this.limit);
    const limit = cutPos + end - start;
    this.encodeTo(cutPos, limit);
    if (this.splitter.pos === cutPos) this.splitter.scan(this.text, cutPos + 1, limit);
    this.take();
    this.restart();
  }

  private encodeTo(stop: number, limit: number): void {
    const { splitter } = this;
    while (splitter.pos < stop) {
      splitter.scan(this.text, Math.min(splitter.pos + blockSizeBytes, stop), limit);
      this.take();
    }
  }

  private take(): void {
    const { splitter } = this;
    this.words.encode(this.text, splitter.ends, splitter.endCount, this.out);
    splitter.take();
  }

  private restart(): void {
    this.limit = 0;
    this.splitter.start(0);
  }

  /** Moves what is not encoded yet to the front, or to a longer text if it fills most of this one. */
  private makeRoom(byteCount: number): void {
    const capacity = this.text.bytes.length - paddingBytes;
    if (this.limit + byteCount <= capacity) return;
    const { splitter, text } = this;
    const keepPos = splitter.ends[0]!;
    const kept = this.limit - keepPos;
    if (kept + byteCount > capacity) {
      this.text = allocateText(2 * (kept + byteCount));
      this.text.bytes.set(text.bytes.subarray(keepPos, this.limit));
    } else text.bytes.copyWithin(0, keepPos, this.limit);
    splitter.shift(keepPos);
    this.limit = kept;
  }
}
