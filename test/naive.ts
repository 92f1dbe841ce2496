const gpt2 =
  /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** The bytes of a text as a string, a character a byte: the naive trainers' form of words and tokens. */
export const byteString = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** Words of a text with their counts, as `gpt2` splits it, without the special tokens. */
export function naiveWords(text: string, specialTokens: readonly string[] = []): Map<string, number> {
  const words = new Map<string, number>();
  for (const document of splitAtSpecialTokens(text, specialTokens)) {
    for (const [pretoken] of document.matchAll(gpt2)) {
      words.set(byteString(pretoken), (words.get(byteString(pretoken)) ?? 0) + 1);
    }
  }
  return words;
}

/** Words with their counts, sorted, as `entriesOf` gives those of a table. */
export const inOrder = (words: Iterable<[string, number]>) => [...words].sort(([a], [b]) => (a < b ? -1 : 1));

function splitAtSpecialTokens(text: string, specialTokens: readonly string[]): string[] {
  if (specialTokens.length === 0) return [text];
  const escaped = specialTokens.toSorted((a, b) => b.length - a.length).map((token) => RegExp.escape(token));
  return text.split(new RegExp(escaped.join("|")));
}
