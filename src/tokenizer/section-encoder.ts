import type { IdBuffer } from "./id-buffer.ts";
import type { PretokenEncoder } from "./pretoken-encoder.ts";
import type { ReadText, TextSink } from "./text-sink.ts";

/** A character is read whole, and a byte behind it looked at. */
const lookaheadBytes = 4;

/** The end of the chain: gathers pieces in the kernel's memory, has them cut into pretokens there, and their ids put into `out`. */
export class SectionEncoder implements TextSink {
  private capacityBytes = 1 << 12;
  /** Bytes of text. */
  private limit = 0;

  constructor(
    private readonly pretokens: PretokenEncoder,
    readonly out: IdBuffer,
  ) {
    pretokens.reserveText(this.capacityBytes);
    pretokens.restart();
  }

  get invalidByteCount(): number {
    return this.pretokens.invalidByteCount;
  }

  /** Bytes that were pushed and are not encoded. */
  get pendingBytes(): number {
    return this.limit - this.pretokens.keepPos;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.append(bytes, start, end);
    this.encode();
  }

  /** The same for bytes that `read` puts where the text stands; returns how many came. */
  pushRead(byteCount: number, read: ReadText): number {
    this.makeRoom(byteCount);
    const readBytes = read(this.pretokens.text.bytes, this.limit, byteCount);
    this.limit += readBytes;
    this.pretokens.textChanged(this.limit);
    this.encode();
    return readBytes;
  }

  /** Encodes what no more text can change. */
  private encode(): void {
    const { pretokens, limit } = this;
    const sureEnd = limit - Math.max(0, pretokens.tokenBytesMax - 1);
    pretokens.encode(
      { end: limit, sureEnd, stop: sureEnd - lookaheadBytes, limit: sureEnd, endsText: false },
      this.out,
    );
  }

  end(): void {
    const { limit } = this;
    if (limit === 0) return;
    this.pretokens.encode({ end: limit, sureEnd: limit, stop: limit, limit, endsText: true }, this.out);
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
    const cutPos = this.limit;
    this.append(bytes, start, end);
    const { pretokens, limit, out } = this;
    pretokens.encode({ end: cutPos, sureEnd: cutPos, stop: cutPos, limit, endsText: false }, out);
    pretokens.lookAhead(cutPos, limit, out);
    this.restart();
  }

  private restart(): void {
    this.limit = 0;
    this.pretokens.restart();
  }

  private append(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    const { limit } = this;
    const to = this.pretokens.text.bytes;
    if (end - start < 64) for (let pos = start; pos < end; pos++) to[limit + pos - start] = bytes[pos]!;
    else to.set(bytes.subarray(start, end), limit);
    this.limit += end - start;
    this.pretokens.textChanged(this.limit);
  }

  /** Moves what is not encoded yet to the front, and makes room for more if it would fill most of the text. */
  private makeRoom(byteCount: number): void {
    if (this.limit + byteCount <= this.capacityBytes) return;
    const { pretokens } = this;
    const { keepPos } = pretokens;
    pretokens.text.bytes.copyWithin(0, keepPos, this.limit);
    pretokens.shift(keepPos);
    this.limit -= keepPos;
    if (this.limit + byteCount <= this.capacityBytes) return;
    this.capacityBytes = Math.ceil(1.25 * (this.limit + byteCount));
    pretokens.reserveText(this.capacityBytes);
  }
}
