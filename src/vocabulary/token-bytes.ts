import { assert } from "../errors.ts";
import type { LearnedPairs } from "../merge/merges.ts";

/**
 * TokenBytes: the bytes of every token, in bounded memory. On repetitive text tokens grow to megabytes, and 32,000 of them
 * would fill any machine. So only short ones are kept, and a longer one is read from its two halves, down to halves that
 * are kept. Memory is at most `keptBytesMax` a token, whatever the tokens' lengths.
 *
 *   ARRAY     TYPE         LENGTH        MEANING
 *   lengths   Uint32Array  tokenCount    bytes of each token
 *   starts    Int32Array   tokenCount    offset of its bytes in `kept`, or `notKept`
 *   kept      Uint8Array   keptCount     the kept tokens' bytes, end to end
 *   left      Int32Array   mergeCount    the halves that merge k put together, for tokens not kept
 *   right     Int32Array   mergeCount
 *
 * "t h" and "th e" give lengths = [1 × 256, 2, 3], starts = [0 .. 255, 256, 258], kept = 0 .. 255, "th", "the".
 */
export type TokenBytes = {
  readonly tokenCount: number;
  readonly lengths: Uint32Array;
  readonly starts: Int32Array;
  readonly kept: Uint8Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
};

/**
 * Tokens of natural language are shorter. Walking over parts of this size costs little beside copying them. The kernel has
 * the same bound.
 */
export const keptBytesMax = 64;
export const notKept = -1;
const byteCount = 256;

/** The bytes of all tokens: the 256 single bytes and what the merges made. */
export function makeTokenBytes(merges: LearnedPairs): TokenBytes {
  const { mergeCount, left, right } = merges;
  const tokenCount = byteCount + mergeCount;
  const lengths = new Uint32Array(tokenCount).fill(1, 0, byteCount);
  const starts = new Int32Array(tokenCount).fill(notKept);
  let keptCount = byteCount;
  for (let k = 0; k < mergeCount; k++) {
    const lengthBytes = lengths[left[k]!]! + lengths[right[k]!]!;
    lengths[byteCount + k] = lengthBytes;
    if (lengthBytes > keptBytesMax) continue;
    starts[byteCount + k] = keptCount;
    keptCount += lengthBytes;
  }
  assert(keptCount < 2 ** 31, "kept bytes are numbered by 31 bits");
  const kept = new Uint8Array(keptCount);
  for (let byte = 0; byte < byteCount; byte++) kept[byte] = starts[byte] = byte;
  for (let k = 0; k < mergeCount; k++) {
    const start = starts[byteCount + k]!;
    if (start === notKept) continue;
    // The halves of a kept token are shorter, so they are kept too, and before it.
    const middle = copyKept(kept, start, starts[left[k]!]!, lengths[left[k]!]!);
    copyKept(kept, middle, starts[right[k]!]!, lengths[right[k]!]!);
  }
  return { tokenCount, lengths, starts, kept, left, right };
}

/** Copies within `kept`, a few bytes at a time; returns the position after the copy. */
function copyKept(kept: Uint8Array, to: number, from: number, lengthBytes: number): number {
  for (let i = 0; i < lengthBytes; i++) kept[to + i] = kept[from + i]!;
  return to + lengthBytes;
}

/**
 * Calls `take` with the kept parts that make up the token, from the left: each is `kept[start .. end)`. A token may be as
 * deep as there are merges ("aaaa…" grown by one), so the stack is an array and not the call stack.
 */
export function forEachPart(
  tokens: TokenBytes,
  token: number,
  take: (start: number, end: number) => void,
): void {
  const { lengths, starts, left, right } = tokens;
  const stack = [token];
  while (stack.length > 0) {
    const top = stack.pop()!;
    const start = starts[top]!;
    if (start === notKept) stack.push(right[top - byteCount]!, left[top - byteCount]!);
    else take(start, start + lengths[top]!);
  }
}

/**
 * A copy of the token's bytes, or of its first `lengthMax`: for tokens that are shown, compared, or written in a form that
 * needs them whole.
 */
export function copyTokenBytes(
  tokens: TokenBytes,
  token: number,
  lengthMax = Number.POSITIVE_INFINITY,
): Uint8Array {
  const bytes = new Uint8Array(Math.min(tokens.lengths[token]!, lengthMax));
  const { kept } = tokens;
  let pos = 0;
  forEachPart(tokens, token, (start, end) => {
    // A part is a few bytes: a loop is faster than a call that copies.
    for (let from = start; from < end && pos < bytes.length; from++) bytes[pos++] = kept[from]!;
  });
  return bytes;
}
