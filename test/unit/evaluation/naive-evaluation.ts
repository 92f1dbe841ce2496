import type { Tokenizer } from "../../../src/library/tokenizer.ts";

// Computes the measures of an evaluation in simple code. Texts must be valid UTF-8.

const whitespace = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;

/** Returns the words that Python's `str.split()` finds, each with the white-space character before it, if any. */
export const naiveWords = (text: string) =>
  [...text.matchAll(new RegExp(`(${whitespace}?)((?:(?!${whitespace})[^])+)`, "gu"))].map(
    ([, before, word]) => ({
      before: before!,
      word: word!,
    }),
  );

/** Changes a text as the tokenizer does before it cuts. */
export type Normalize = (text: string) => string;

/** Encodes the word together with the white space before it, and returns the tokens that contain a byte of the word. */
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

/**
 * Measures how a number with `digitCount` digits is cut, by TokEval's formulas. `borders` are the offsets at which its
 * tokens begin, except 0.
 */
export function naiveNumber(digitCount: number, borders: readonly number[]) {
  const groups = (first: number) =>
    Array.from({ length: digitCount }, (_, k) => k).filter((k) => k > 0 && (k - first) % 3 === 0);
  const [fromRight, fromLeft] = [groups(digitCount % 3), groups(0)];
  const hits = borders.filter((border) => fromRight.includes(border)).length;
  const precision = borders.length === 0 ? 1 : hits / borders.length;
  const recall = fromRight.length === 0 ? 1 : hits / fromRight.length;
  const isLong = digitCount > 3;
  return {
    groups: fromRight.length + 1,
    tokens: borders.length + 1,
    score: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    isLong,
    fromRight: isLong && String(borders) === String(fromRight),
    fromLeft: isLong && String(borders) === String(fromLeft),
  };
}

/**
 * Returns the measures of each number in a text. A special token ends a number. A border within the bytes of digit k
 * has the offset k + 0.5.
 */
function naiveNumbers(tokenizer: Tokenizer, text: string) {
  const specials = new Set(tokenizer.specialTokens.values());
  const pieces = [...tokenizer.encode(text)].map((id) =>
    specials.has(id) ? "\0" : Buffer.from(tokenizer.tokenBytes(id)).toString("latin1"),
  );
  const borders = new Set<number>();
  for (let i = 0, end = 0; i < pieces.length; i++) borders.add((end += pieces[i]!.length));
  const said = Buffer.from(pieces.join(""), "latin1").toString("utf8");
  return [...said.matchAll(/\p{Nd}+/gu)].map(({ 0: number, index }) => {
    const start = Buffer.byteLength(said.slice(0, index));
    const sizes = [...number].map((digit) => Buffer.byteLength(digit));
    const inside: number[] = [];
    for (let k = 0, at = start; k < sizes.length; at += sizes[k++]!) {
      if (k > 0 && borders.has(at)) inside.push(k);
      for (let part = 1; part < sizes[k]!; part++) if (borders.has(at + part)) inside.push(k + 0.5);
    }
    return naiveNumber(sizes.length, inside);
  });
}

/** Classifies the bytes of a token. */
function brokenness(bytes: Uint8Array): "whole" | "part of a character" | "mixed" {
  const shown = new TextDecoder().decode(bytes);
  if (Buffer.from(shown).equals(bytes)) return "whole";
  // Bytes are a part of a character if some bytes before and after complete it.
  const fronts = [[], [0xc2], [0xe1], [0xe1, 0x80], [0xf1], [0xf1, 0x80], [0xf1, 0x80, 0x80]];
  const backs = [0x80, 0xa0, 0x90].flatMap((next) =>
    [1, 2, 3].map((more) => [next, 0x80, 0x80].slice(0, more)),
  );
  const isPart = fronts.some((front) =>
    [[], ...backs].some((back) => {
      const text = new TextDecoder().decode(Buffer.concat([Buffer.from(front), bytes, Buffer.from(back)]));
      return !text.includes("\ufffd") && [...text].length === 1;
    }),
  );
  return bytes.length === 1 || isPart ? "part of a character" : "mixed";
}

export type NaiveMeasures = ReturnType<typeof naiveMeasures>;

/** Returns the measures of a tokenizer on these texts, each of which is encoded separately. */
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
  const numbers = words.flatMap(({ before, word }) => naiveNumbers(tokenizer, before + word));
  const total = (numberOf: (of: (typeof numbers)[0]) => number) =>
    numbers.reduce((sum, of) => sum + numberOf(of), 0);
  const classOf = (id: number) => (specials.has(id) ? "whole" : brokenness(tokenizer.tokenBytes(id)));
  const allIds = Array.from({ length: tokenizer.idLimit }, (_, id) => id);
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
    mixed: [...counts].reduce((sum, [id, count]) => sum + (classOf(id) === "mixed" ? count : 0), 0),
    notUtf8InVocabulary: allIds.filter((id) => classOf(id) !== "whole").length,
    mixedInVocabulary: allIds.filter((id) => classOf(id) === "mixed").length,
    numbers: {
      count: numbers.length,
      digitGroups: total(({ groups }) => groups),
      tokens: total(({ tokens }) => tokens),
      longCount: total(({ isLong }) => Number(isLong)),
      fromRight: total(({ fromRight }) => Number(fromRight)),
      fromLeft: total(({ fromLeft }) => Number(fromLeft)),
    },
    scoreSum: total(({ score }) => score),
    content: [...counts].reduce((sum, [id, count]) => sum + (specials.has(id) ? 0 : count), 0),
    costliest: [...costs]
      .map(([word, { count, tokens }]) => ({ word, count, tokens, beyond: tokens - count }))
      .filter(({ beyond }) => beyond > 0)
      .sort((a, b) => b.beyond - a.beyond || Buffer.compare(Buffer.from(a.word), Buffer.from(b.word)))
      .slice(0, 20),
  };
}

/** Returns the Gini coefficient by TokEval's formula, from all pairs. */
export function naiveGini(costs: readonly number[]): number {
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
  const differences = costs.flatMap((a) => costs.map((b) => Math.abs(a - b)));
  return differences.reduce((sum, difference) => sum + difference, 0) / (2 * costs.length ** 2 * mean);
}
