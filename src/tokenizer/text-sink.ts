import { grown } from "../bytes/arrays.ts";
/**
 * A TextSink takes a text as sections, which are the text between two added tokens, and the tokens between them. A chain of
 * sinks turns a text into ids; each does one thing: find added tokens, normalize, put a space before, cut and encode.
 *
 *   push    takes the next bytes of the section; the caller may overwrite them afterwards
 *   end     ends the section
 *   token   takes the id of a token between two sections
 *   settle  sends everything down the chain: the text goes on in another task, and no added token reaches across
 */
export interface TextSink {
  push(bytes: Uint8Array, start: number, end: number): void;
  end(): void;
  token(id: number): void;
  settle(): void;
}

/** Writes up to `byteCount` bytes of a text to `into` from `pos` on; returns how many, one or more. */
export type ReadText = (into: Uint8Array, pos: number, byteCount: number) => number;

/** Bytes that wait until the next ones have come: bytes[0 .. length). */
export class PendingBytes {
  bytes = new Uint8Array(1 << 12);
  length = 0;

  append(from: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (needed > this.bytes.length) this.bytes = grown(this.bytes, needed);
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
