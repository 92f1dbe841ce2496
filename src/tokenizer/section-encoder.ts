import type { IdBuffer } from "./id-buffer.ts";
import type { PretokenEncoder } from "./pretoken-encoder.ts";
import type { ReadText, TextSink } from "./text-sink.ts";

/** The scanner needs a whole character, and a byte behind it. */
const lookaheadBytes = 4;

/** The end of the chain: gathers a section in the kernel's memory, and has it cut and encoded there; the ids go to `out`. */
export class SectionEncoder implements TextSink {
  private capacityBytes = 1 << 12;
  /** Bytes of the section in memory. */
  private limit = 0;
  /** Invalid bytes behind cuts: they are looked at here, and counted by the task that has them. */
  private countedAhead = 0;

  constructor(
    private readonly pretokens: PretokenEncoder,
    readonly out: IdBuffer,
  ) {
    pretokens.reserveText(this.capacityBytes);
    pretokens.restart();
  }

  get invalidByteCount(): number {
    return this.pretokens.invalidByteCount - this.countedAhead;
  }

  /** Bytes that were pushed and are not encoded yet. */
  get pendingBytes(): number {
    return this.limit - this.pretokens.keepPos;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.append(bytes, start, end);
    this.encode();
  }

  /** The same for bytes that `read` writes straight into the kernel's memory; returns how many came. */
  pushRead(byteCount: number, read: ReadText): number {
    this.makeRoom(byteCount);
    const readBytes = read(this.pretokens.text.bytes, this.limit, byteCount);
    this.limit += readBytes;
    this.pretokens.textChanged(this.limit);
    this.encode();
    return readBytes;
  }

  /** Encodes what more text cannot change. */
  private encode(): void {
    const { pretokens, limit } = this;
    const sureEnd = limit - Math.max(0, pretokens.tokenBytesMax - 1);
    pretokens.encode(
      { end: limit, sureEnd, stop: sureEnd - lookaheadBytes, limit: sureEnd, endsText: false },
      this.out,
    );
  }

  /** Encodes pretokens that are cut already, between two texts: words [first, end) of a table. */
  cutPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    const start = starts[first]!;
    this.makeRoom(starts[end]! - start);
    this.write(bytes, start, starts[end]!);
    const ends = Int32Array.from(starts.subarray(first, end + 1), (position) => position - start);
    this.pretokens.encodeCut(ends, this.out);
  }

  /** Encodes texts, between two others: words [first, end) of a table. False if that has to be done one by one. */
  texts(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): boolean {
    const { pretokens } = this;
    if (pretokens.encodeTexts === undefined) return false;
    const start = starts[first]!;
    const endsPos = (starts[end]! - start + 3) & ~3;
    this.makeRoom(endsPos + 4 * (end - first));
    this.write(bytes, start, starts[end]!);
    const { view } = pretokens.text;
    for (let text = first; text < end; text++) {
      view.setUint32(endsPos + 4 * (text - first), starts[text + 1]! - start, true);
    }
    pretokens.encodeTexts(endsPos, end - first, this.out);
    this.restart();
    return true;
  }

  /** Encodes a whole section, between two texts: as `push` and `end` do, in fewer steps. */
  section(bytes: Uint8Array, start: number, end: number): void {
    this.append(bytes, start, end);
    this.end();
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
   * The text goes on in another task: what was pushed ends at a safe cut, and `bytes` are the few that follow. The character
   * there settles where the last pretoken ends; it is encoded by the other task.
   */
  cut(bytes: Uint8Array, start: number, end: number): void {
    const cutPos = this.limit;
    this.append(bytes, start, end);
    const { pretokens, limit, out } = this;
    pretokens.encode({ end: cutPos, sureEnd: cutPos, stop: cutPos, limit, endsText: false }, out);
    const before = pretokens.invalidByteCount;
    pretokens.lookAhead(cutPos, limit, out);
    this.countedAhead += pretokens.invalidByteCount - before;
    this.restart();
  }

  private restart(): void {
    this.limit = 0;
    this.pretokens.restart();
  }

  private append(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    this.write(bytes, start, end);
    this.limit += end - start;
    this.pretokens.textChanged(this.limit);
  }

  private write(bytes: Uint8Array, start: number, end: number): void {
    const { limit } = this;
    const to = this.pretokens.text.bytes;
    if (end - start < 64) for (let pos = start; pos < end; pos++) to[limit + pos - start] = bytes[pos]!;
    else to.set(bytes.subarray(start, end), limit);
  }

  /** Makes room for so many bytes: moves what is not encoded yet to the front, and grows the memory if that is not enough. */
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
