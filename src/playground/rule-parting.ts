import { unpacked } from "#pages";
import type { Compat } from "#tokenizer";
import { type Learned, mergeCountOf, tokenOf, vocabularyOfLearned } from "./learned.ts";
import { countPairs, type JoinedWords, pairsWithCount, topPairs } from "./pair-ranking.ts";

/** The merges that a rule learns from a text. */
export type RuleResult = { readonly rule: Compat; readonly learned: Learned; readonly words: JoinedWords };

export type PairBytes = { readonly left: Uint8Array; readonly right: Uint8Array; readonly count: number };

/** The merge that a rule makes where the rules diverge. */
export type Choice = {
  readonly rule: Compat;
  /** The pair that the rule merges; null if the rule makes no further merge. */
  readonly taken: PairBytes | null;
  /** The first few of the pairs tied as the most frequent, by this rule's counts. */
  readonly tied: readonly PairBytes[];
  readonly tiedCount: number;
};

export type Parting = {
  /** How many merges, from the first on, are the same under all rules. */
  readonly same: number;
  readonly choices: readonly Choice[];
  /**
   * Whether the rules diverge only in how they break a tie: they agree on the highest count, and on the number of pairs
   * that have this count, which is at least two.
   */
  readonly isTie: boolean;
};

/** Counts the identical first merges of two rules. */
export function sameMerges(a: Learned, b: Learned): number {
  const most = Math.min(mergeCountOf(a), mergeCountOf(b));
  for (let merge = 0; merge < most; merge++) {
    // If all earlier merges are identical, equal token numbers mean equal tokens.
    if (a.left[merge] !== b.left[merge] || a.right[merge] !== b.right[merge]) return merge;
  }
  return most;
}

const tiedShown = 12;

/** Finds the first merge at which the rules diverge; null if all their merges are identical. */
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
    left: unpacked.bytesOf(tokenOf(learned, vocabulary, left)),
    right: unpacked.bytesOf(tokenOf(learned, vocabulary, right)),
    count,
  });
  const taken =
    merge < mergeCountOf(learned)
      ? bytes(learned.left[merge]!, learned.right[merge]!, learned.pairCounts[merge]!)
      : null;
  const counts = countPairs(words, merge);
  const top = topPairs(counts, tiedShown);
  const tied = top.filter(({ count }) => count === top[0]!.count);
  return {
    rule,
    taken,
    tied: tied.map(({ left, right, count }) => bytes(left, right, count)),
    tiedCount: top.length === 0 ? 0 : pairsWithCount(counts, top[0]!.count),
  };
}
