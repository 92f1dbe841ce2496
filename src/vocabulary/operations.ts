import type { Merges } from "../merge/merges.ts";
import { SpelledTokens } from "./spelled-tokens.ts";

/**
 * Operations: merges and supermerges in one order, as a training with both learns them. Numbers are token numbers (see
 * `Vocabulary`).
 *
 *   ARRAY    TYPE          LENGTH           MEANING
 *   areSuper Uint8Array    operationCount   1: joins whole pretokens; 0: merges inside of a pretoken
 *   left     Int32Array    operationCount   the halves
 *   right    Int32Array    operationCount
 *   made     Int32Array    operationCount   the token that has their bytes
 *   counts   Float64Array  operationCount   occurrences of the pair that were replaced
 *
 * An operation may make a token that is there already, by other halves: it is a *repeat*, and adds no token. All others
 * make tokens 256, 257, … in their order.
 */
export type Operations = {
  readonly operationCount: number;
  readonly areSuper: Uint8Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly made: Int32Array;
  readonly counts: Float64Array;
};

/** The supermerges of runs. Numbers are those of run tokens first; each new token of the supermerges has the next one. */
export type LearnedSupermerges = {
  /** For each run token: its token number among the merges of words. */
  readonly runTokens: Int32Array;
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly made: readonly number[];
  readonly counts: readonly number[];
};

/**
 * Puts merges and supermerges into one order: a supermerge comes next if its count is greater than that of the next merge.
 * It ends when there are as many tokens as all merges alone would make, or nothing is left. Yields between slices of work.
 */
export function* orderOperations(
  words: Merges,
  supers: LearnedSupermerges,
): Generator<undefined, Operations> {
  const all = byteSpelling();
  const tokenMax = 256 + words.mergeCount;
  const wordNumbers = new Int32Array(tokenMax).map((_, token) => (token < 256 ? token : -1));
  const superNumbers: number[] = [];
  const rows: [isSuper: number, left: number, right: number, made: number, count: number][] = [];
  // Of a run token that a supermerge spells, too, whichever comes first makes it.
  const superNumber = (id: number) => superNumbers[id] ?? wordNumbers[supers.runTokens[id]!]!;
  for (let w = 0, s = 0; all.count < tokenMax; ) {
    if (rows.length % operationsPerSlice === 0) yield;
    const wordCount = w < words.mergeCount ? words.counts[w]! : -1;
    if (s < supers.counts.length && supers.counts[s]! > wordCount) {
      const left = superNumber(supers.left[s]!);
      const right = superNumber(supers.right[s]!);
      const made = all.join(left, right);
      superNumbers[supers.made[s]!] = made;
      rows.push([1, left, right, made, supers.counts[s++]!]);
    } else if (w < words.mergeCount) {
      const left = wordNumbers[words.left[w]!]!;
      const right = wordNumbers[words.right[w]!]!;
      const made = all.join(left, right);
      wordNumbers[256 + w] = made;
      rows.push([0, left, right, made, words.counts[w++]!]);
    } else break;
  }
  return {
    operationCount: rows.length,
    areSuper: Uint8Array.from(rows, (row) => row[0]),
    left: Int32Array.from(rows, (row) => row[1]),
    right: Int32Array.from(rows, (row) => row[2]),
    made: Int32Array.from(rows, (row) => row[3]),
    counts: Float64Array.from(rows, (row) => row[4]),
  };
}

const operationsPerSlice = 1 << 12;

const byteSpelling = () =>
  new SpelledTokens(
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
    Array.from({ length: 257 }, (_, byte) => byte),
  );

/** Whether each operation is a repeat. */
export function repeatsOf({ made }: Pick<Operations, "made">): boolean[] {
  let tokenCount = 256;
  return Array.from(made, (token) => {
    const isRepeat = token < tokenCount;
    if (!isRepeat) tokenCount++;
    return isRepeat;
  });
}

/** The operations that make tokens, as merges. */
export function mergesOfOperations(operations: Operations): Merges {
  const { left, right, counts } = operations;
  const repeats = repeatsOf(operations);
  const isNew = (_: number, index: number) => !repeats[index];
  const newCounts = counts.filter(isNew);
  return {
    startCount: 256,
    mergeCount: newCounts.length,
    left: left.filter(isNew),
    right: right.filter(isNew),
    counts: newCounts,
    replacedCounts: newCounts,
  };
}

/** The counts of a ledger (ledger.ts). */
type TokenCounts = {
  readonly birthCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly tokensAfter: Float64Array;
};

/** Adds to the ledger of `mergesOfOperations` what repeats replaced. */
export function noteRepeats(ledger: TokenCounts, operations: Operations): void {
  const { left, right, made, counts } = operations;
  const { birthCounts, endCounts, tokensAfter } = ledger;
  let mergeCount = 0;
  for (const [k, isRepeat] of repeatsOf(operations).entries()) {
    if (!isRepeat) {
      mergeCount++;
      continue;
    }
    birthCounts[made[k]!]! += counts[k]!;
    endCounts[made[k]!]! += counts[k]!;
    endCounts[left[k]!]! -= counts[k]!;
    endCounts[right[k]!]! -= counts[k]!;
    for (let m = mergeCount; m < tokensAfter.length; m++) tokensAfter[m]! -= counts[k]!;
  }
}
