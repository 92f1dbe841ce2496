import { byteToCharacter } from "../../src/bytes/byte-characters.ts";
import type { Compat } from "../../src/merge/merges.ts";
import { mergePair, type NaiveMerge, type NaiveWords } from "./naive.ts";
import { naiveMayJoin } from "./naive-whole-characters.ts";

type Pair = readonly [left: string, right: string];

/** Encodes as HF and tiktoken do: of all pairs, the merge of the lowest rank first. A token is the string of its bytes. */
export function naiveEncode(word: string, merges: readonly Pair[]): string[] {
  let tokens = [...word];
  for (;;) {
    const best = merges.find(([left, right]) =>
      tokens.some((token, i) => token === left && tokens[i + 1] === right),
    );
    if (best === undefined) return tokens;
    tokens = mergePair(tokens, best[0], best[1], best[0] + best[1]);
  }
}

/** The merges of the seeds, each a string of code points 0-255. */
export function naiveSeedMerges(seeds: readonly string[]): Pair[] {
  const merges: Pair[] = [];
  for (const seed of seeds) {
    for (;;) {
      const tokens = naiveEncode(seed, merges);
      if (tokens.length === 1) break;
      const i = tokens.findIndex((token, k) => naiveMayJoin(token, tokens[k + 1] ?? "\xff"));
      merges.push([tokens[i]!, tokens[i + 1]!]);
    }
  }
  return merges;
}

type SeededOptions = {
  mergeCount: number;
  minFrequency: number;
  lengthMax: number;
  mayJoin: (left: string, right: string) => boolean;
};

/** Makes the merges of the seeds, then counts all pairs, merges the best, begins again. */
export function naiveSeeded(
  compat: Compat,
  words: NaiveWords,
  seeds: readonly string[],
  { mergeCount, minFrequency, lengthMax, mayJoin }: SeededOptions,
): NaiveMerge[] {
  const texts = [...words].map(([word, count]) => ({ tokens: [...word], count }));
  const places = [...byteToCharacter.keys()].sort((a, b) =>
    compat === "huggingface" ? (byteToCharacter[a]! < byteToCharacter[b]! ? -1 : 1) : a - b,
  );
  const ids = new Map(places.map((byte, id) => [String.fromCharCode(byte), id]));
  const wins = (a: NaiveMerge, b: NaiveMerge) => {
    if (a.count !== b.count) return a.count > b.count;
    const [p, q] = a.left === b.left ? [a.right, b.right] : [a.left, b.left];
    return compat === "cs336" ? p > q : ids.get(p)! < ids.get(q)!;
  };
  const named = naiveSeedMerges(seeds);
  const merges: NaiveMerge[] = [];
  while (merges.length < mergeCount) {
    const counts = new Map<string, NaiveMerge>();
    for (const { tokens, count } of texts) {
      for (let i = 0; i + 1 < tokens.length; i++) {
        const [left, right] = [tokens[i]!, tokens[i + 1]!];
        const key = `${left}\u{10000}${right}`;
        const pair = counts.get(key) ?? { left, right, count: 0 };
        counts.set(key, { ...pair, count: pair.count + count });
      }
    }
    let best: NaiveMerge | undefined;
    const next = named[merges.length];
    if (next !== undefined) {
      best = counts.get(next.join("\u{10000}")) ?? { left: next[0], right: next[1], count: 0 };
    } else {
      for (const pair of counts.values()) {
        const size = pair.left.length + pair.right.length;
        const isShort = size <= lengthMax || (compat === "huggingface" && size === 2);
        if (!isShort || pair.count < Math.max(1, minFrequency) || !mayJoin(pair.left, pair.right)) continue;
        if (best === undefined || wins(pair, best)) best = pair;
      }
    }
    if (best === undefined) break;
    const { left, right } = best;
    merges.push(best);
    ids.set(left + right, ids.size);
    for (const text of texts) text.tokens = mergePair(text.tokens, left, right, left + right);
  }
  return merges;
}
