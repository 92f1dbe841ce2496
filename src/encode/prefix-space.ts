import { PendingBytes, type TextSink } from "./text-sink.ts";

const space = Uint8Array.of(0x20);
const characterBytesMax = 4;

/** Puts a space before each piece that does not begin with white space. */
export class PrefixSpace implements TextSink {
  /** The first bytes of a piece, until its first character is there. */
  private readonly pending = new PendingBytes();
  private isInside = false;

  constructor(private readonly next: TextSink) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    if (this.isInside) {
      this.next.push(bytes, start, end);
      return;
    }
    this.pending.append(bytes, start, end);
    if (this.pending.length >= characterBytesMax) this.begin();
  }

  end(): void {
    if (!this.isInside && this.pending.length > 0) this.begin();
    this.isInside = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  settle(): void {
    if (!this.isInside && this.pending.length > 0) this.begin();
    this.next.settle();
  }

  private begin(): void {
    const { bytes, length } = this.pending;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length));
    if (!/^\p{White_Space}/u.test(text)) this.next.push(space, 0, 1);
    this.next.push(bytes, 0, length);
    this.pending.length = 0;
    this.isInside = true;
  }
}
