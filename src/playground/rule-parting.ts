import type { Compat } from "#merge";
import { bytesOf } from "#pages";
import { type Learned, mergeCountOf, tokenOf, vocabularyOfLearned } from "./learned.ts";
import { countPairs, type JoinedWords, topPairs } from "./pair-ranking.ts";

/** What a rule learned from a text. */
export type RuleResult = { readonly rule: Compat; readonly learned: Learned; readonly words: JoinedWords };

export type PairBytes = { readonly left: Uint8Array; readonly right: Uint8Array; readonly count: number };

/** What a rule takes as the merge at which rules part. */
export type Choice = {
  readonly rule: Compat;
  /** Null: it stopped before. */
  readonly taken: PairBytes | null;
  /** All pairs that stand as often as the most frequent one, as this rule counts, the first ones of them. */
  readonly tied: readonly PairBytes[];
  readonly tiedCount: number;
};

export type Parting = {
  /** How many merges are the same before. */
  readonly same: number;
  readonly choices: readonly Choice[];
  /** Whether all count alike, so that only the tie parts them. */
  readonly isTie: boolean;
};

/** How many merges two rules make alike, from the first. */
export function sameMerges(a: Learned, b: Learned): number {
  const most = Math.min(mergeCountOf(a), mergeCountOf(b));
  for (let merge = 0; merge < most; merge++) {
    // Tokens have the same numbers as long as all merges were the same.
    if (a.left[merge] !== b.left[merge] || a.right[merge] !== b.right[merge]) return merge;
  }
  return most;
}

const tiedMost = 2000;
const tiedShown = 12;

/** The first merge at which not all rules make the same; null if all make the same to the end. */
export function partingOf(results: readonly [RuleResult, ...RuleResult[]]): Parting | null {
  const [first, ...others] = results;
  const same = Math.min(...others.map(({ learned }) => sameMerges(first.learned, learned)));
  if (results.every(({ learned }) => mergeCountOf(learned) === same)) return null;
  const choices = results.map((result) => choiceOf(result, same));
  const tops = choices.map(({ taken, tiedCount }) => `${taken?.count} ${tiedCount}`);
  return { same, choices, isTie: new Set(tops).size === 1 && choices[0]!.tiedCount > 1 };
}

function choiceOf({ rule, learned, words }: RuleResult, merge: number): Choice {
  const vocabulary = vocabularyOfLearned(learned);
  const bytes = (left: number, right: number, count: number): PairBytes => ({
    left: bytesOf(tokenOf(learned, vocabulary, left)),
    right: bytesOf(tokenOf(learned, vocabulary, right)),
    count,
  });
  const taken =
    merge < mergeCountOf(learned)
      ? bytes(learned.left[merge]!, learned.right[merge]!, learned.pairCounts[merge]!)
      : null;
  const top = topPairs(countPairs(words, merge), tiedMost);
  const tied = top.filter(({ count }) => count === top[0]!.count);
  return {
    rule,
    taken,
    tied: tied.slice(0, tiedShown).map(({ left, right, count }) => bytes(left, right, count)),
    tiedCount: tied.length,
  };
}
