import { textStart } from "../regions";
import { foundLength, nextOccurrence, searchText } from "../text-loop";

/**
 * Finds places where a text may be cut, so that its parts are encoded on their own: between two ASCII characters, where the
 * pattern ends a pretoken whatever comes before (`findSafeCut` of src/pattern/pattern.ts), and not within an added token, or
 * where one begins.
 *
 *   ARRAY   TYPE        MEANING
 *   pairs   u8[2048]    bit 128 a + b: the text may be cut between a and b
 *
 * Why a place is certain though the text before it is not known: which tokens are found depends on what comes before, but each
 * of them is an occurrence of a token, and no occurrence reaches beyond the place. Those that begin so far before it that they
 * are not known end before it.
 */
let pairs: usize = 0;

/** Sets the address of the pairs. */
export function useCutPairs(address: usize): void {
  pairs = address;
}

/**
 * The first place in [from, stop) of a text where it may be cut; -1 without one. What is before `limit` is known, and the text
 * begins or ends there, or so much is known before `from` and after `stop` as the longest token has bytes.
 */
export function findCut(from: i32, stop: i32, limit: i32): i32 {
  searchText(limit);
  let next: i32 = 0;
  let reach: i32 = 0;
  for (let at = max(from, 1); at < stop; at++) {
    const before = <u32>load<u8>(textStart + at - 1);
    const after = <u32>load<u8>(textStart + at);
    if (
      (before | after) > 127 ||
      ((load<u8>(pairs + ((before << 4) | (after >> 3))) >> (after & 7)) & 1) === 0
    )
      continue;
    while (next <= at) {
      const found = nextOccurrence(next, at + 1, limit);
      next = found;
      if (found > at) break;
      reach = max(reach, found + foundLength);
      next++;
    }
    if (reach <= at) return at;
    at = reach - 1;
  }
  return -1;
}
