/**
 * The trainer in a few obvious lines: what every engine here must agree with. Strings of one character a byte stand for
 * bytes, a Map for every table; everything is counted anew for each merge.
 */
const gpt2 =
  /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** Words of a text with their counts, as `gpt2` splits it, without the special tokens. */
export function naiveWords(text: string, specialTokens: readonly string[] = []): Map<string, number> {
  const words = new Map<string, number>();
  for (const document of splitAtSpecialTokens(text, specialTokens)) {
    for (const [pretoken] of document.matchAll(gpt2))
      words.set(utf8(pretoken), (words.get(utf8(pretoken)) ?? 0) + 1);
  }
  return words;
}

function splitAtSpecialTokens(text: string, specialTokens: readonly string[]): string[] {
  if (specialTokens.length === 0) return [text];
  const escaped = specialTokens.toSorted((a, b) => b.length - a.length).map((token) => RegExp.escape(token));
  return text.split(new RegExp(escaped.join("|")));
}

/** Merges of the words, `mergeCount` of them or as many as there are; of equal counts the greater pair of bytes wins. */
export function naiveMerges(words: Map<string, number>, mergeCount: number): [string, string][] {
  const texts = [...words].map(([word, count]) => ({ tokens: [...word], count }));
  const merges: [string, string][] = [];
  while (merges.length < mergeCount) {
    const pairs = new Map<string, { pair: [string, string]; count: number }>();
    for (const { tokens, count } of texts) {
      for (let i = 0; i + 1 < tokens.length; i++) {
        const pair: [string, string] = [tokens[i]!, tokens[i + 1]!];
        const entry = pairs.get(JSON.stringify(pair)) ?? { pair, count: 0 };
        entry.count += count;
        pairs.set(JSON.stringify(pair), entry);
      }
    }
    let best: { pair: [string, string]; count: number } | undefined;
    for (const entry of pairs.values()) if (best === undefined || isBetter(entry, best)) best = entry;
    if (best === undefined) return merges;
    const [left, right] = best.pair;
    merges.push(best.pair);
    for (const text of texts) {
      const merged: string[] = [];
      for (let i = 0; i < text.tokens.length; i++) {
        if (text.tokens[i] === left && text.tokens[i + 1] === right) merged.push(left + text.tokens[++i]!);
        else merged.push(text.tokens[i]!);
      }
      text.tokens = merged;
    }
  }
  return merges;
}

type Candidate = { pair: [string, string]; count: number };

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.count !== b.count) return a.count > b.count;
  return a.pair[0] !== b.pair[0] ? a.pair[0] > b.pair[0] : a.pair[1] > b.pair[1];
}
