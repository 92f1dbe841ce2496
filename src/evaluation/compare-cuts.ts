import type { PlacedWords } from "./text-words.ts";
import type { WordEncoder, WordEncoding, WordSlice } from "./word-encoder.ts";

/** A tokenizer with the encoder of its words. */
export type WordCutter = { readonly tokenizer: WordEncoding; readonly encoder: WordEncoder };

/** Marks those of the placed words [first, end) that two tokenizers cut into different sequences of bytes. */
export function compareCuts(
  words: PlacedWords,
  { first, end }: WordSlice,
  [a, b]: readonly [WordCutter, WordCutter],
  isDifferent: Uint8Array,
): void {
  for (let placed = first; placed < end; placed++) {
    const idsOfA = a.encoder.allIdsOf(words, placed);
    const idsOfB = b.encoder.allIdsOf(words, placed);
    isDifferent[placed] = isSameCut(a.tokenizer, idsOfA, b.tokenizer, idsOfB) ? 0 : 1;
  }
}

type Ids = Uint16Array | Uint32Array;

function isSameCut(a: WordEncoding, idsOfA: Ids, b: WordEncoding, idsOfB: Ids): boolean {
  if (idsOfA.length !== idsOfB.length) return false;
  for (let i = 0; i < idsOfA.length; i++) {
    const startOfA = a.tokenStarts[idsOfA[i]!]!;
    const startOfB = b.tokenStarts[idsOfB[i]!]!;
    const length = a.tokenStarts[idsOfA[i]! + 1]! - startOfA;
    if (b.tokenStarts[idsOfB[i]! + 1]! - startOfB !== length) return false;
    for (let j = 0; j < length; j++) {
      if (a.tokenBytes[startOfA + j] !== b.tokenBytes[startOfB + j]) return false;
    }
  }
  return true;
}
