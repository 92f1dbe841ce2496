/**
 * Continued merging as the reference for extensions does it, with strings in byte-to-character form and Maps (its rules 2
 * to 6): count all pairs, merge the best, begin again. A token is its string.
 */

export type NaiveBase = {
  readonly vocab: ReadonlyMap<string, number>;
  /** In the order of their ranks. */
  readonly merges: readonly (readonly [string, string])[];
  readonly ignoresMerges: boolean;
};

/** The tokens of a pretoken: the pair of the lowest rank first, from the left. */
export function naiveTokens({ vocab, merges, ignoresMerges }: NaiveBase, pretoken: string): string[] {
  if (ignoresMerges && vocab.has(pretoken)) return [pretoken];
  const ranks = new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  const tokens = [...pretoken];
  for (;;) {
    let [best, place] = [Infinity, 0];
    for (let i = 0; i + 1 < tokens.length; i++) {
      const rank = ranks.get(`${tokens[i]} ${tokens[i + 1]}`) ?? Infinity;
      if (rank < best) [best, place] = [rank, i];
    }
    if (best === Infinity) return tokens;
    tokens.splice(place, 2, tokens[place]! + tokens[place + 1]!);
  }
}

/** The merges that make `newTokenCount` tokens which the base does not have; ties go to the smaller strings. */
export function naiveExtension(
  base: NaiveBase,
  words: ReadonlyMap<string, number>,
  newTokenCount: number,
): [string, string][] {
  const texts = [...words].map(([word, count]) => ({ tokens: naiveTokens(base, word), count }));
  const made = new Set<string>();
  const merges: [string, string][] = [];
  while (made.size < newTokenCount) {
    const counts = new Map<string, number>();
    for (const { tokens, count } of texts) {
      for (let i = 0; i + 1 < tokens.length; i++) {
        const pair = `${tokens[i]} ${tokens[i + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + count);
      }
    }
    const [best] = [...counts].sort(([p, n], [q, m]) => m - n || comparePairs(p, q));
    if (best === undefined) break;
    const [left, right] = best[0].split(" ") as [string, string];
    merges.push([left, right]);
    if (!base.vocab.has(left + right)) made.add(left + right);
    for (const { tokens } of texts) {
      for (let i = 0; i + 1 < tokens.length; i++) {
        if (tokens[i] === left && tokens[i + 1] === right) tokens.splice(i, 2, left + right);
      }
    }
  }
  return merges;
}

function comparePairs(p: string, q: string): number {
  const [a, b] = p.split(" ") as [string, string];
  const [c, d] = q.split(" ") as [string, string];
  if (a !== c) return a < c ? -1 : 1;
  return b < d ? -1 : 1;
}
