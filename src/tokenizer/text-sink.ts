/**
 * A TextSink takes a text piece by piece, and the special tokens between. The way of a text to its ids is a chain of
 * them, each with one task: find added tokens, normalize, put a space before, cut into pretokens and encode.
 *
 *   push    the next bytes of the piece at hand; they may be written over once it returns
 *   end     the piece ends here
 *   token   between two pieces: an id that stands for itself
 *   settle  what follows is out of sight, and no added token reaches across: everything pushed goes down the chain
 */
export interface TextSink {
  push(bytes: Uint8Array, start: number, end: number): void;
  end(): void;
  token(id: number): void;
  settle(): void;
}

/** Puts up to `byteCount` bytes of a text into `into` from `pos` on; returns how many, one or more. */
export type ReadText = (into: Uint8Array, pos: number, byteCount: number) => number;

/** Bytes that wait for what follows: bytes[0 .. length). */
export class PendingBytes {
  bytes = new Uint8Array(1 << 12);
  length = 0;

  append(from: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (needed > this.bytes.length) {
      const longer = new Uint8Array(Math.max(2 * this.bytes.length, needed));
      longer.set(this.bytes.subarray(0, this.length));
      this.bytes = longer;
    }
    if (end - start < 64)
      for (let pos = start; pos < end; pos++) this.bytes[this.length + pos - start] = from[pos]!;
    else this.bytes.set(from.subarray(start, end), this.length);
    this.length = needed;
  }

  /** Forgets the first `count` bytes. */
  drop(count: number): void {
    if (count > 0 && count < this.length) this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }
}
