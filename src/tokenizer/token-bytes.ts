import * as kernelArrays from "./kernel-arrays.ts";
import type { LearnedPairs } from "./merges.ts";
import type { TokenTable } from "./token-table.ts";
import * as tokenTables from "./token-table.ts";

/**
 * TokenBytes: the bytes of every token, in bounded memory. On repetitive text tokens grow to megabytes, so only short
 * ones are kept. A longer one is read from its two halves, down to halves that are kept.
 *
 *   ARRAY     TYPE         LENGTH        MEANING
 *   lengths   Uint32Array  tokenCount    bytes of each token
 *   starts    Int32Array   tokenCount    offset of its bytes in `kept`, or `notKept`
 *   kept      Uint8Array   keptCount     the kept tokens' bytes, end to end
 *   left      Int32Array   mergeCount    left half of merge k, read if the new token is not kept
 *   right     Int32Array   mergeCount    right half of merge k
 *
 * The merges "t h" and "th e" give lengths = [1 × 256, 2, 3], starts = [0 .. 255, 256, 258], kept = 0 .. 255, "th",
 * "the".
 */
export class TokenBytes {
  constructor(
    readonly lengths: Uint32Array,
    readonly starts: Int32Array,
    readonly kept: Uint8Array,
    private readonly left: Int32Array,
    private readonly right: Int32Array,
  ) {}

  /** Returns the bytes of all tokens: the 256 single bytes and the results of merges. */
  static of({ mergeCount, left, right }: LearnedPairs): TokenBytes {
    const tokenCount = byteCount + mergeCount;
    const { kernel, addresses, end } = kernelArrays.put([left, right], (8 + keptBytesMax) * tokenCount + 8);
    const [lefts, rights] = addresses as [number, number];
    const [lengths, starts, kept] = [end, end + 4 * tokenCount, end + 8 * tokenCount] as const;
    const keptCount = kernel.exports.makeTokens(mergeCount, lefts, rights, lengths, starts, kept) >>> 0;
    const { buffer } = kernel.memory;
    return new TokenBytes(
      new Uint32Array(buffer, lengths, tokenCount).slice(),
      new Int32Array(buffer, starts, tokenCount).slice(),
      new Uint8Array(buffer, kept, keptCount).slice(),
      left,
      right,
    );
  }

  /**
   * Returns the bytes of the tokens with these ids, in this order. The first 256 are single bytes; `left` and `right`
   * are the halves of the others.
   */
  static ofIds(
    table: TokenTable,
    ids: Int32Array,
    { left, right }: { readonly left: Int32Array; readonly right: Int32Array },
  ): TokenBytes {
    const lengths = Uint32Array.from(ids, (id) => table.starts[id + 1]! - table.starts[id]!);
    const starts = new Int32Array(ids.length).fill(notKept);
    let end = 0;
    lengths.forEach((length, token) => {
      if (length > keptBytesMax) return;
      starts[token] = end;
      end += length;
    });
    const kept = new Uint8Array(end);
    ids.forEach((id, token) => {
      if (starts[token] !== notKept) kept.set(tokenTables.bytesOf(table, id), starts[token]);
    });
    return new TokenBytes(lengths, starts, kept, left, right);
  }

  /** Restores the methods of a TokenBytes that another thread posted: the copy that arrives has only its fields. */
  static received({ lengths, starts, kept, left, right }: TokenBytes): TokenBytes {
    return new TokenBytes(lengths, starts, kept, left, right);
  }

  get tokenCount(): number {
    return this.lengths.length;
  }

  /**
   * Calls `take` with the kept parts of a token, from left to right. It uses a stack, because recursion could be as
   * deep as there are merges.
   */
  forEachPart(token: number, take: (start: number, end: number) => void): void {
    const { lengths, starts, left, right } = this;
    const stack = [token];
    while (stack.length > 0) {
      const top = stack.pop()!;
      const start = starts[top]!;
      if (start === notKept) stack.push(right[top - byteCount]!, left[top - byteCount]!);
      else take(start, start + lengths[top]!);
    }
  }

  /** Whether the bytes of a token are kept, from `starts[token]` on. */
  isKept(token: number): boolean {
    return this.starts[token] !== notKept;
  }

  copy(token: number, lengthMax = Number.POSITIVE_INFINITY): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.min(this.lengths[token]!, lengthMax));
    const { kept } = this;
    let pos = 0;
    this.forEachPart(token, (start, end) => {
      // A part has a few bytes; a loop is faster than calling `set`.
      for (let from = start; from < end && pos < bytes.length; from++) bytes[pos++] = kept[from]!;
    });
    return bytes;
  }
}

/**
 * The length in bytes of the longest token whose bytes are kept. The kernel has the same limit. This is no static
 * field, because bundlers keep a class with a static field even if nothing uses the class.
 */
export const keptBytesMax = 64;
export const notKept = -1;

const byteCount = 256;
