import { forEachToken, type JoinedText, tokenCountOf } from "./joined-text.ts";

/** Words, their counts, and the merges that join their bytes. */
export type JoinedWords = JoinedText & {
  readonly starts: Uint32Array;
  readonly counts: Float64Array;
};

/** Two adjacent tokens and their count in the corpus. */
export type RankedPair = { readonly left: number; readonly right: number; readonly count: number };

/**
 * PairCounts: counts of all pairs in the words after a number of merges, as an open-addressing hash table. It has at
 * least two slots for each token in the words.
 *
 *   ARRAY   TYPE           LENGTH    MEANING
 *   lefts   Int32Array     slots     the left token of the pair, plus 1; 0 in a free slot
 *   rights  Int32Array     slots     the right token of the pair
 *   counts  Float64Array   slots     occurrences of the pair in the corpus
 */
export type PairCounts = {
  readonly lefts: Int32Array;
  readonly rights: Int32Array;
  readonly counts: Float64Array;
};

export function countPairs({ bytes, joinedBy, starts, counts }: JoinedWords, merges: number): PairCounts {
  const slots = 2 ** Math.ceil(Math.log2(2 * tokenCountOf({ joinedBy }, merges) + 2));
  const table = {
    lefts: new Int32Array(slots),
    rights: new Int32Array(slots),
    counts: new Float64Array(slots),
  };
  const text = { bytes, joinedBy };
  for (let w = 0; w + 1 < starts.length; w++) {
    let before = -1;
    const count = counts[w]!;
    forEachToken(text, merges, [starts[w]!, starts[w + 1]!], (token) => {
      if (before >= 0) add(table, before, token, count);
      before = token;
    });
  }
  return table;
}

function slotOf({ lefts, rights }: PairCounts, left: number, right: number): number {
  const last = lefts.length - 1;
  let slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 0;
  slot = (slot ^ (slot >>> 15)) & last;
  while (lefts[slot] !== 0 && (lefts[slot] !== left + 1 || rights[slot] !== right)) slot = (slot + 1) & last;
  return slot;
}

function add(table: PairCounts, left: number, right: number, count: number): void {
  const slot = slotOf(table, left, right);
  table.lefts[slot] = left + 1;
  table.rights[slot] = right;
  table.counts[slot]! += count;
}

export const countOfPair = (table: PairCounts, left: number, right: number): number =>
  table.counts[slotOf(table, left, right)]!;

/**
 * Returns the most frequent pairs, at most `most`. Of equally frequent pairs, the one with the smaller tokens comes
 * first.
 */
export function topPairs({ lefts, rights, counts }: PairCounts, most: number): RankedPair[] {
  const top: RankedPair[] = [];
  for (let slot = 0; slot < lefts.length; slot++) {
    const count = counts[slot]!;
    if (lefts[slot] === 0 || (top.length === most && count < top.at(-1)!.count)) continue;
    const pair = { left: lefts[slot]! - 1, right: rights[slot]!, count };
    let at = top.length;
    while (at > 0 && comesBefore(pair, top[at - 1]!)) at--;
    top.splice(at, 0, pair);
    if (top.length > most) top.pop();
  }
  return top;
}

/** Returns how many pairs occur `count` times. */
export const pairsWithCount = ({ lefts, counts }: PairCounts, count: number): number =>
  lefts.reduce((sum, left, slot) => sum + Number(left !== 0 && counts[slot] === count), 0);

const comesBefore = (a: RankedPair, b: RankedPair) =>
  a.count !== b.count ? a.count > b.count : a.left !== b.left ? a.left < b.left : a.right < b.right;
