import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { TextWords } from "./text-words.ts";

/**
 * How often each special token occurs in a text, found from the left, longest first, not overlapping, as encoding finds
 * them. It is enough to look into the distinct words, because no special token may hold white space: so each occurrence, and
 * each other that may be in its way, is within one text word. Yields between slices of work.
 */
export function* countSpecialTokens(
  words: TextWords,
  tokens: readonly Uint8Array[],
): Generator<undefined, Float64Array> {
  const { bytes, starts, counts, placedCount } = words;
  const occurrences = new Float64Array(tokens.length);
  const indexOf = new Map(tokens.map((token, i) => [Buffer.from(token).toString("latin1"), i]));
  const inAll = new SpecialTokenFinder(tokens);
  const inOne = new SpecialTokenFinder(tokens);
  inAll.reset(bytes);
  // Words stand end to end, so a token may seem to begin in one word and to end in another. Such a place hides no other:
  // every word that it touches is looked at by itself.
  for (let p = 0, pos = 0, round = 0; p < placedCount; round++) {
    if (round % placesPerSlice === 0) yield;
    const found = inAll.find(pos, bytes.length);
    if (found >= bytes.length) break;
    const foundEnd = found + inAll.lengthAt(found, bytes.length);
    p = Math.max(p, placedWordAt(starts, placedCount, found));
    for (; p < placedCount && starts[p]! < foundEnd; p++) {
      const start = starts[p]!;
      const length = starts[p + 1]! - start;
      inOne.reset(bytes.subarray(start, start + length));
      for (let at = inOne.find(0, length); at < length; ) {
        const end = at + inOne.lengthAt(at, length);
        const text = Buffer.from(bytes.subarray(start + at, start + end)).toString("latin1");
        occurrences[indexOf.get(text)!]! += counts[p]!;
        at = inOne.find(end, length);
      }
    }
    // What is left of the last word that was looked at is done, too.
    pos = Math.max(foundEnd, starts[p]!);
  }
  return occurrences;
}

const placesPerSlice = 1 << 10;

/** The placed word that holds the byte at `pos`. */
function placedWordAt(starts: Uint32Array, placedCount: number, pos: number): number {
  let low = 0;
  let high = placedCount;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= pos) low = middle;
    else high = middle;
  }
  return low;
}
