import type { Tokenizer } from "../../src/pipeline/tokenizer.ts";

// The measures in a few obvious lines, with strings and Maps. Texts are valid UTF-8.

const blank = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;

/** The words of a text, as Python's `str.split()` finds them, each with the one white space before it. */
export const naiveWords = (text: string) =>
  [...text.matchAll(new RegExp(`(${blank}?)((?:(?!${blank})[^])+)`, "gu"))].map(([, before, word]) => ({
    before: before!,
    word: word!,
  }));

/** The text as the tokenizer cuts it. */
export type Normalize = (text: string) => string;

/** The tokens that hold a byte of the word, of the text that is the white space and the word. */
export function naivePieces(
  tokenizer: Tokenizer,
  { before, word }: { before: string; word: string },
  normalize: Normalize = (text) => text,
): number[] {
  const ids = [...tokenizer.encode(before + word)];
  const lengthOf = (id: number) => tokenizer.tokenBytes(id).length;
  const total = ids.reduce((sum, id) => sum + lengthOf(id), 0);
  let left = total - Buffer.byteLength(normalize(word));
  return ids.filter((id) => {
    left -= lengthOf(id);
    return left < 0;
  });
}

export type NaiveMeasures = ReturnType<typeof naiveMeasures>;

/** @param documents the texts that are encoded each by itself */
export function naiveMeasures(tokenizer: Tokenizer, documents: readonly string[], normalize?: Normalize) {
  const counts = new Map<number, number>();
  for (const id of documents.flatMap((text) => [...tokenizer.encode(text)])) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const words = documents.flatMap(naiveWords);
  const costs = new Map<string, { count: number; tokens: number }>();
  let single = 0;
  let continued = 0;
  for (const placed of words) {
    const { word } = placed;
    const tokens = naivePieces(tokenizer, placed, normalize).length;
    if (tokens === 1) single++;
    if (tokens > 1) continued++;
    const sum = costs.get(word) ?? { count: 0, tokens: 0 };
    costs.set(word, { count: sum.count + 1, tokens: sum.tokens + tokens });
  }
  const tokens = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const specials = new Set(tokenizer.specialTokens.values());
  const isWhole = (id: number) => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(tokenizer.tokenBytes(id));
      return true;
    } catch {
      return false;
    }
  };
  const entropy = (alpha: number) => {
    const sum = [...counts.values()].reduce((all, count) => all + (count / tokens) ** alpha, 0);
    return (1 / (1 - alpha)) * Math.log2(sum);
  };
  const bytes = documents.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return {
    counts,
    tokens,
    bytes,
    characters: documents.reduce((sum, text) => sum + [...text].length, 0),
    words: words.length,
    distinctWords: costs.size,
    fertility: tokens / words.length,
    single,
    continued,
    used: counts.size,
    entropies: [entropy(2), entropy(2.5)],
    notUtf8: [...counts].reduce((sum, [id, count]) => sum + (specials.has(id) || isWhole(id) ? 0 : count), 0),
    content: [...counts].reduce((sum, [id, count]) => sum + (specials.has(id) ? 0 : count), 0),
    dearest: [...costs]
      .map(([word, { count, tokens }]) => ({ word, count, tokens, beyond: tokens - count }))
      .filter(({ beyond }) => beyond > 0)
      .sort((a, b) => b.beyond - a.beyond || Buffer.compare(Buffer.from(a.word), Buffer.from(b.word)))
      .slice(0, 20),
  };
}

/** TokEval's formula, pair by pair. */
export function naiveGini(costs: readonly number[]): number {
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
  const differences = costs.flatMap((a) => costs.map((b) => Math.abs(a - b)));
  return differences.reduce((sum, difference) => sum + difference, 0) / (2 * costs.length ** 2 * mean);
}
