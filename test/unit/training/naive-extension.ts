import { countPairs, encodeWord, mergePair } from "../../../examples/learn.ts";
import { ranksOf } from "../merge/naive.ts";

/** Extends a tokenizer naively. A token is a string of GPT-2's characters, one for each of its bytes. */

export type NaiveBase = {
  readonly vocab: ReadonlyMap<string, number>;
  /** The merges in the order of their ranks. */
  readonly merges: readonly (readonly [string, string])[];
  readonly ignoresMerges: boolean;
};

/** Returns the tokens of a pretoken. The pair with the lowest rank is merged first, from the left. */
export function naiveTokens({ vocab, merges, ignoresMerges }: NaiveBase, pretoken: string): string[] {
  if (ignoresMerges && vocab.has(pretoken)) return [pretoken];
  return encodeWord(pretoken, ranksOf(merges));
}

/** Returns the merges that make `newTokenCount` tokens which the base does not have, or fewer if no pair is left. */
export function naiveExtension(
  base: NaiveBase,
  words: ReadonlyMap<string, number>,
  newTokenCount: number,
): [string, string][] {
  const texts = [...words].map(([word, count]) => ({ tokens: naiveTokens(base, word), count }));
  const made = new Set<string>();
  const merges: [string, string][] = [];
  while (made.size < newTokenCount) {
    const pairs = countPairs(texts);
    const [best] = pairs.sort(
      (p, q) => q.count - p.count || compare(p.left, q.left) || compare(p.right, q.right),
    );
    if (best === undefined) break;
    const { left, right } = best;
    merges.push([left, right]);
    if (!base.vocab.has(left + right)) made.add(left + right);
    for (const text of texts) text.tokens = mergePair(text.tokens, left, right);
  }
  return merges;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
