import { hasWordFacts, wordFacts } from "./merge-regions";

/**
 * What is known of the words in a token, where tokens go over spaces: words are what stands between spaces (0x20). It decides
 * which tokens are too much of a sentence. A fact of the joined token follows from those of its halves.
 *
 *   REGION      ELEMENT   ELEMENTS        MEANING
 *   wordFacts   u8        tokenCapacity   of each token the bits below; JavaScript writes those of the start tokens
 *                                         (src/merge/fill-word-facts.ts)
 *
 *   BITS   MEANING
 *   0-2    how many words it has, 5 for more
 *   3, 4   it begins, ends with a space
 *   5      it ends with a colon
 *   6      it has a colon before a space
 */
const countBits: u32 = 7;
const beginsWithSpace: u32 = 1 << 3;
const endsWithSpace: u32 = 1 << 4;
const endsWithColon: u32 = 1 << 5;
const hasColonAndSpace: u32 = 1 << 6;

/** A token may have so many words. */
const wordsMax: u32 = 4;

export function factsOf(id: u32): u32 {
  return load<u8>(wordFacts + id);
}

function joinedFacts(left: u32, right: u32): u32 {
  const a = factsOf(left);
  const b = factsOf(right);
  const isOneWord = (a & endsWithSpace) === 0 && (b & beginsWithSpace) === 0;
  const count = min((a & countBits) + (b & countBits) - u32(isOneWord), wordsMax + 1);
  const meet = (a & endsWithColon) !== 0 && (b & beginsWithSpace) !== 0 ? hasColonAndSpace : 0;
  return (
    count |
    (a & beginsWithSpace) |
    (b & (endsWithSpace | endsWithColon)) |
    ((a | b) & hasColonAndSpace) |
    meet
  );
}

/** Whether the token of two others has not too many words, and no colon before a space. */
export function mayJoinWords(left: u32, right: u32): bool {
  if (!hasWordFacts) return true;
  const joined = joinedFacts(left, right);
  return (joined & countBits) <= wordsMax && (joined & hasColonAndSpace) === 0;
}

/** Gives the token `left right` its facts. */
export function giveWordFacts(id: u32, left: u32, right: u32): void {
  if (hasWordFacts) store<u8>(wordFacts + id, <u8>joinedFacts(left, right));
}
