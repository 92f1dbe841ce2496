import { encodeWord } from "../../examples/learn.ts";
import { ranksOf } from "../merge/naive.ts";

/** A tokenizer in a few obvious lines: tokens are strings of code points 0-255. */
export type NaiveTokenizer = {
  readonly ids: ReadonlyMap<string, number>;
  /** Tokens that every vocabulary needs: bytes, and added tokens. */
  readonly fixed: ReadonlySet<string>;
  readonly merges: readonly (readonly [string, string])[];
  /** A pretoken that is a token is not merged. */
  readonly ignoresMerges: boolean;
};

/** Merges a pretoken, the lowest rank first, from the left, without making the token `without`. */
export function mergeNaively({ merges }: NaiveTokenizer, pretoken: string, without?: string): string[] {
  const kept = without === undefined ? merges : merges.filter(([left, right]) => left + right !== without);
  return encodeWord(pretoken, ranksOf(kept));
}

const isReachedByMerging = (tokenizer: NaiveTokenizer, token: string) =>
  mergeNaively(tokenizer, token).length === 1;

/** The tokens that stay, by the rule as it is told: everything is looked at anew for each token that goes. */
export function pruneNaively(
  tokenizer: NaiveTokenizer,
  counts: ReadonlyMap<string, number>,
  size: number,
): Set<string> {
  const { ids, fixed, ignoresMerges } = tokenizer;
  const now = new Map(counts);
  const left = new Set(ids.keys());
  for (const token of ids.keys()) {
    const isReached = fixed.has(token) || ignoresMerges || isReachedByMerging(tokenizer, token);
    if (!isReached) left.delete(token);
  }
  const give = (token: string, count: number) => {
    if (left.has(token)) now.set(token, (now.get(token) ?? 0) + count);
    else for (const part of mergeNaively(tokenizer, token, token)) give(part, count);
  };
  while (left.size > size) {
    const needed = new Set<string>();
    for (const token of left) {
      if (token.length === 1 || !isReachedByMerging(tokenizer, token)) continue;
      for (const part of mergeNaively(tokenizer, token, token)) needed.add(part);
    }
    const leaves = [...left].filter((token) => !needed.has(token) && !fixed.has(token));
    leaves.sort((a, b) => (now.get(a) ?? 0) - (now.get(b) ?? 0) || ids.get(b)! - ids.get(a)!);
    const rarest = leaves[0];
    if (rarest === undefined) break;
    left.delete(rarest);
    give(rarest, now.get(rarest) ?? 0);
  }
  return left;
}
