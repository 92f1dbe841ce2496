import { cutText } from "../pattern/cut-text.ts";
import type { Cutting } from "../text/cutting.ts";
import { sectionsOf } from "../tokenizer/explain.ts";
import { addPair, allocatePairs, findPair, noRank, type PairTable } from "../tokenizer/merge-by-rank.ts";
import type { WordTable } from "../words/word-table.ts";

/**
 * JoinedText: how a text is cut into tokens after any number of merges. A border between two bytes goes with one merge, and
 * never comes back, so a number for each border says it all: nothing is stored for a step.
 *
 *   ARRAY     TYPE         LENGTH    MEANING
 *   bytes     Uint8Array   length    the text
 *   joinedBy  Int32Array   length    the merge that joins byte p with the one before; `stays`: none does; `stays` - 1 - s: special
 *                                    token s begins here; -1: byte p is inside of it, and was from the start
 *
 * Merges "t h" (0) and "th e" (1) give "the" joinedBy = [stays, 0, 1]: after one merge it is "th e".
 */
export type JoinedText = { readonly bytes: Uint8Array; readonly joinedBy: Int32Array };

export const stays = 0x7fffffff;
/** Borders from here on no merge joins. There are fewer merges, and fewer special tokens above it. */
export const neverJoined = 0x70000000;

/** Tokens as the merge engine numbers them: bytes, then what the merges make. Special token s is -1 - s. */
export const byteCount = 256;

/** The merges by their pairs. */
export function pairsOfMerges(left: Int32Array, right: Int32Array): PairTable {
  const pairs = allocatePairs(left.length, left.length);
  for (let merge = 0; merge < left.length; merge++) addPair(pairs, left[merge]!, right[merge]!, merge);
  return pairs;
}

/** The words of a training; a word is bytes [starts[w] .. starts[w + 1]). */
export function joinWords({ bytes, starts, wordCount }: WordTable, pairs: PairTable): JoinedText {
  const joinedBy = new Int32Array(bytes.length).fill(stays);
  for (let w = 0; w < wordCount; w++) joinPretoken(bytes, starts[w]!, starts[w + 1]!, pairs, joinedBy);
  return { bytes, joinedBy };
}

/** A text as a training cuts it: at special tokens, then by the pattern. */
export function joinText(text: Uint8Array, cutting: Cutting, pairs: PairTable): JoinedText {
  const joinedBy = new Int32Array(text.length).fill(stays);
  let pos = 0;
  for (const section of sectionsOf(cutting, text)) {
    if (typeof section === "number") {
      const token = cutting.addedTokens.find(({ id }) => id === section)!;
      const end = pos + new TextEncoder().encode(token.content).length;
      joinedBy[pos] = stays - 1 - section;
      joinedBy.fill(-1, pos + 1, end);
      pos = end;
      continue;
    }
    let start = 0;
    for (const end of cutText(cutting.pattern, section)) {
      joinPretoken(text, pos + start, pos + end, pairs, joinedBy);
      start = end;
    }
    pos += section.length;
  }
  return { bytes: text, joinedBy };
}

/** Of the pretoken at hand: its tokens, where they start, and the rank of each with the next one. Longer ones make it larger. */
let [tokens, starts, ranks] = [new Int32Array(0), new Int32Array(0), new Int32Array(0)];

/**
 * Makes the merges of a pretoken in their order: the lowest that applies, everywhere in it, from the left. That is what the
 * training did with it, since a merge never makes a pair of an earlier one.
 */
function joinPretoken(bytes: Uint8Array, start: number, end: number, pairs: PairTable, joinedBy: Int32Array) {
  let count = end - start;
  if (tokens.length < count) {
    tokens = new Int32Array(2 * count);
    starts = new Int32Array(2 * count);
    ranks = new Int32Array(2 * count);
  }
  for (let i = 0; i < count; i++) {
    tokens[i] = bytes[start + i]!;
    starts[i] = start + i;
    if (i > 0) ranks[i - 1] = findPair(pairs, tokens[i - 1]!, tokens[i]!);
  }
  for (;;) {
    let lowest = noRank;
    for (let i = 0; i + 1 < count; i++) if (ranks[i]! < lowest) lowest = ranks[i]!;
    if (lowest === noRank) return;
    const made = byteCount + lowest;
    let kept = 0;
    for (let i = 0; i < count; i++, kept++) {
      const joins = i + 1 < count && ranks[i] === lowest;
      tokens[kept] = joins ? made : tokens[i]!;
      starts[kept] = starts[i]!;
      if (joins) joinedBy[starts[++i]!] = lowest;
      ranks[kept] = ranks[i]!;
      const isNew = kept > 0 && (tokens[kept] === made || tokens[kept - 1] === made);
      if (isNew) ranks[kept - 1] = findPair(pairs, tokens[kept - 1]!, tokens[kept]!);
    }
    count = kept;
  }
}

/** Calls `take` with the tokens of bytes [from, end) after so many merges; token borders lie at both. */
export function forEachToken(
  { bytes, joinedBy }: JoinedText,
  merges: number,
  [from, end]: readonly [from: number, end: number],
  take: (token: number, start: number, end: number) => void,
): void {
  for (let start = from; start < end; ) {
    const isSpecial = joinedBy[start]! >= neverJoined && joinedBy[start]! < stays;
    let token = isSpecial ? joinedBy[start]! - stays : bytes[start]!;
    let pos = start + 1;
    for (; pos < end && joinedBy[pos]! < merges; pos++) {
      // The last merge in it made it: a merge never joins what a later one made.
      if (joinedBy[pos]! >= 0) token = Math.max(token, byteCount + joinedBy[pos]!);
    }
    take(token, start, pos);
    start = pos;
  }
}

/** How many tokens a text is after so many merges. */
export function tokenCountOf({ joinedBy }: Pick<JoinedText, "joinedBy">, merges: number): number {
  let count = 0;
  for (let pos = 0; pos < joinedBy.length; pos++) if (joinedBy[pos]! >= merges) count++;
  return count;
}

/** How many places of a text each merge changes. */
export function placesOfMerges({ joinedBy }: JoinedText, mergeCount: number): Uint32Array {
  const places = new Uint32Array(mergeCount);
  for (let pos = 0; pos < joinedBy.length; pos++) {
    const merge = joinedBy[pos]!;
    if (merge >= 0 && merge < mergeCount) places[merge]!++;
  }
  return places;
}
