import type { Text } from "../bytes/text.ts";
import type { ReadText, TextSink } from "../text/links.ts";
import { type Pretokens, partBefore, partTo, type Taker, type TextPart } from "../text/pretokens.ts";

/** The end of the chain: gathers a section in the taker's text, and has it cut and taken there. */
export class SectionEncoder implements TextSink {
  private capacityBytes = 1 << 12;
  private text: Text;
  /** Bytes of the section in memory. */
  private limit = 0;
  /** Invalid bytes behind cuts: they are looked at here, and counted by the task that has them. */
  private countedAhead = 0;

  /** @param tokenBytesMax bytes of the longest token that `pretokens` finds; 0 without any */
  constructor(
    private readonly pretokens: Pretokens,
    private readonly taker: Taker,
    private readonly tokenBytesMax = 0,
  ) {
    this.text = taker.text(this.capacityBytes);
    pretokens.start(0, false);
  }

  get invalidByteCount(): number {
    return this.pretokens.invalidByteCount - this.countedAhead;
  }

  /** Bytes that were pushed and are not taken yet. */
  get pendingBytes(): number {
    return this.limit - this.pretokens.keepPos;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.append(bytes, start, end);
    this.take(partBefore(this.limit, this.tokenBytesMax));
  }

  /** The same for bytes that `read` writes straight into the text; returns how many came. */
  pushRead(byteCount: number, read: ReadText): number {
    this.makeRoom(byteCount);
    const readBytes = read(this.text.bytes, this.limit, byteCount);
    this.limit += readBytes;
    this.pretokens.searchText(this.limit);
    this.take(partBefore(this.limit, this.tokenBytesMax));
    return readBytes;
  }

  private take(part: TextPart): void {
    while (!this.pretokens.take(part));
  }

  /** Takes pretokens that are cut already, between two texts: words [first, end) of a table. */
  cutPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    const start = starts[first]!;
    this.makeRoom(starts[end]! - start);
    this.write(bytes, start, starts[end]!);
    const ends = Int32Array.from(starts.subarray(first, end + 1), (position) => position - start);
    this.taker.take(ends, ends.length);
  }

  /** Takes texts, between two others: words [first, end) of a table. False if that has to be done one by one. */
  texts(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): boolean {
    const { pretokens } = this;
    if (pretokens.takeTexts === undefined) return false;
    const start = starts[first]!;
    const endsPos = (starts[end]! - start + 3) & ~3;
    this.makeRoom(endsPos + 4 * (end - first));
    this.write(bytes, start, starts[end]!);
    const { view } = this.text;
    for (let text = first; text < end; text++) {
      view.setUint32(endsPos + 4 * (text - first), starts[text + 1]! - start, true);
    }
    pretokens.takeTexts(endsPos, end - first);
    this.restart();
    return true;
  }

  /** Takes a whole section, between two texts: as `push` and `end` do, in fewer steps. */
  section(bytes: Uint8Array, start: number, end: number): void {
    this.append(bytes, start, end);
    this.end();
  }

  end(): void {
    if (this.limit === 0) return;
    this.take(partTo(this.limit));
    this.restart();
  }

  token(id: number): void {
    this.taker.takeToken?.(id);
  }

  settle(): void {}

  /**
   * The text goes on in another task: what was pushed ends at a safe cut, and `bytes` are the few that follow. The character
   * there settles where the last pretoken ends; it is taken by the other task.
   */
  cut(bytes: Uint8Array, start: number, end: number): void {
    const cutPos = this.limit;
    this.append(bytes, start, end);
    const { pretokens, limit } = this;
    this.take(partTo(cutPos, false, limit));
    const before = pretokens.invalidByteCount;
    pretokens.lookAhead(cutPos, limit);
    this.countedAhead += pretokens.invalidByteCount - before;
    this.restart();
  }

  private restart(): void {
    this.limit = 0;
    this.pretokens.start(0, false);
  }

  private append(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    this.write(bytes, start, end);
    this.limit += end - start;
    this.pretokens.searchText(this.limit);
  }

  private write(bytes: Uint8Array, start: number, end: number): void {
    const { limit } = this;
    const to = this.text.bytes;
    if (end - start < 64) for (let pos = start; pos < end; pos++) to[limit + pos - start] = bytes[pos]!;
    else to.set(bytes.subarray(start, end), limit);
  }

  /** Makes room for so many bytes: moves what is not taken yet to the front, and grows the text if that is not enough. */
  private makeRoom(byteCount: number): void {
    if (this.limit + byteCount <= this.capacityBytes) return;
    const { pretokens } = this;
    const { keepPos } = pretokens;
    this.text.bytes.copyWithin(0, keepPos, this.limit);
    pretokens.shift(keepPos);
    this.limit -= keepPos;
    if (this.limit + byteCount <= this.capacityBytes) return;
    this.capacityBytes = Math.ceil(1.25 * (this.limit + byteCount));
    this.text = this.taker.text(this.capacityBytes);
  }
}
