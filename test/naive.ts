import { wordsOf } from "../examples/learn.ts";

/**
 * Returns the words of a text with their counts, without special tokens. `cut` splits a document into words, by default
 * like gpt2.
 */
export function naiveWords(
  text: string,
  specialTokens: readonly string[] = [],
  cut: (document: string) => Iterable<string> = wordsOf,
): Map<string, number> {
  const words = new Map<string, number>();
  for (const document of splitAtSpecialTokens(text, specialTokens)) {
    for (const word of cut(document)) words.set(word, (words.get(word) ?? 0) + 1);
  }
  return words;
}

/** Sorts words with their counts by the words. */
export const inOrder = (words: Iterable<[string, number]>) => [...words].sort(([a], [b]) => (a < b ? -1 : 1));

function splitAtSpecialTokens(text: string, specialTokens: readonly string[]): string[] {
  if (specialTokens.length === 0) return [text];
  const escaped = specialTokens.toSorted((a, b) => b.length - a.length).map((token) => RegExp.escape(token));
  return text.split(new RegExp(escaped.join("|")));
}
