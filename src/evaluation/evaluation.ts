import { isUtf8 } from "node:buffer";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { placedWordPattern, type TextWords } from "./text-words.ts";

/** What `bpe eval --json` prints. docs/eval.md has the formulas, docs/evaluation.schema.json the schema. */
export type Evaluation = {
  readonly format: "bpe-evaluation";
  readonly version: 1;
  /** The regular expression that finds the words, each with the white space before it: one for all tokenizers. */
  readonly wordPattern: string;
  readonly texts: readonly TextFacts[];
  readonly tokenizers: readonly TokenizerResult[];
};

/** A text, without any tokenizer. */
export type TextFacts = {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly bytes: number;
  readonly characters: number;
  readonly words: number;
  readonly distinctWords: number;
  /** Bytes that are not valid UTF-8. */
  readonly invalidBytes: number;
};

export type TokenizerResult = {
  readonly name: string;
  readonly path: string;
  /** What kind of files it was loaded from. */
  readonly kind: string;
  readonly pattern: string | null;
  readonly vocabularySize: number;
  /** Of each text, in their order. */
  readonly texts: readonly TextMeasures[];
  /** Of all texts together. */
  readonly overall: Measures;
  /** null with fewer than two texts that have words. */
  readonly parity: Parity | null;
};

export type Measures = {
  readonly tokens: number;
  readonly bytesPerToken: number | null;
  readonly charactersPerToken: number | null;
  readonly wordsPerToken: number | null;
  /** Tokens per word. */
  readonly fertility: number | null;
  readonly singleTokenWords: number;
  readonly singleTokenShare: number | null;
  readonly continuedWords: number;
  readonly continuedShare: number | null;
  readonly usedTokens: number;
  readonly vocabularyUtilization: number;
  readonly renyi: readonly Renyi[];
  /** Occurrences of tokens that are not whole UTF-8 characters. */
  readonly notUtf8Tokens: number;
  /** Of the tokens that are not special. */
  readonly notUtf8Share: number | null;
};

export type TextMeasures = Measures & {
  readonly text: string;
  readonly dearestWords: readonly DearestWord[];
};

type Renyi = { readonly alpha: number; readonly entropy: number; readonly efficiency: number | null };

/**
 * The word itself, U+FFFD in the place of what is not UTF-8; of a long one the beginning. Its pieces are escaped for people:
 * `\xNN` stands for a byte that cannot be shown.
 */
export type DearestWord = {
  readonly word: string;
  /** Of the whole word. */
  readonly bytes: number;
  readonly count: number;
  readonly tokens: number;
  readonly tokensBeyondFirst: number;
  readonly pieces: readonly string[];
};

/** How alike the texts are in what they cost, by words and by bytes. */
export type Parity = {
  /** Of tokens per word. */
  readonly giniFertility: number;
  /** Of tokens per byte. */
  readonly giniBytes: number;
  readonly cheapestText: string;
  readonly dearestText: string;
  /** Tokens per word of the dearest text, by those of the cheapest. */
  readonly costRatio: number | null;
  readonly cheapestTextByBytes: string;
  readonly dearestTextByBytes: string;
  readonly costRatioByBytes: number | null;
};

export const alphas = [2, 2.5];
const shownBytesMax = 160;

/** The first bytes, whole characters of them. */
export function beginningOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= shownBytesMax) return bytes;
  let end = shownBytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** A tokenizer among those that are compared. */
export type NamedTokenizer = { readonly name: string; readonly path: string; readonly parts: TokenizerParts };

/** What the words of a text cost a tokenizer. */
export type WordCosts = Pick<TextMeasures, "singleTokenWords" | "continuedWords" | "dearestWords">;

export function textFacts(
  { name, inputs, invalidBytes }: Pick<TextFacts, "name" | "inputs" | "invalidBytes">,
  words: TextWords,
): TextFacts {
  const { textBytes: bytes, characterCount: characters, wordCount, distinctCount: distinctWords } = words;
  return { name, inputs, bytes, characters, words: wordCount, distinctWords, invalidBytes };
}

/** Gathers the results of one tokenizer, text by text. */
export class TokenizerMeasures {
  private readonly texts: TextMeasures[] = [];
  private readonly allCounts: TokenCounts;
  private readonly classes: ReturnType<typeof classesOf>;

  constructor(private readonly tokenizer: NamedTokenizer) {
    const { tokens } = tokenizer.parts;
    this.allCounts = new Float64Array(tokens.idLimit);
    this.classes = classesOf(tokenizer.parts);
  }

  add(facts: TextFacts, tokenCounts: TokenCounts, costs: WordCosts): void {
    addCounts(this.allCounts, tokenCounts);
    const { dearestWords } = costs;
    this.texts.push({ text: facts.name, ...this.measure(facts, tokenCounts, costs), dearestWords });
  }

  result(facts: readonly TextFacts[]): TokenizerResult {
    const { name, path, parts } = this.tokenizer;
    const { description, tokens } = parts;
    const total = <Of>(all: readonly Of[], numberOf: (one: Of) => number) =>
      all.reduce((sum, one) => sum + numberOf(one), 0);
    const all = {
      bytes: total(facts, ({ bytes }) => bytes),
      characters: total(facts, ({ characters }) => characters),
      words: total(facts, ({ words }) => words),
    };
    const costs = {
      singleTokenWords: total(this.texts, ({ singleTokenWords }) => singleTokenWords),
      continuedWords: total(this.texts, ({ continuedWords }) => continuedWords),
    };
    return {
      name,
      path,
      kind: description.kind,
      pattern: description.patternName,
      vocabularySize: tokens.tokenCount,
      texts: this.texts,
      overall: this.measure(all, this.allCounts, costs),
      parity: parityOf(facts, this.texts),
    };
  }

  private measure(
    { bytes, characters, words }: Pick<TextFacts, "bytes" | "characters" | "words">,
    tokenCounts: TokenCounts,
    { singleTokenWords, continuedWords }: Pick<WordCosts, "singleTokenWords" | "continuedWords">,
  ): Measures {
    const tokens = sumOf(tokenCounts);
    const usedTokens = usedCount(tokenCounts);
    const { specialCount, notUtf8Tokens } = countClasses(tokenCounts, this.classes);
    return {
      tokens,
      bytesPerToken: ratio(bytes, tokens),
      charactersPerToken: ratio(characters, tokens),
      wordsPerToken: ratio(words, tokens),
      fertility: ratio(tokens, words),
      singleTokenWords,
      singleTokenShare: ratio(singleTokenWords, words),
      continuedWords,
      continuedShare: ratio(continuedWords, words),
      usedTokens,
      vocabularyUtilization: usedTokens / this.tokenizer.parts.tokens.tokenCount,
      renyi: alphas.map((alpha) => ({
        alpha,
        entropy: renyiEntropy(tokenCounts, alpha),
        efficiency: renyiEfficiency(tokenCounts, alpha),
      })),
      notUtf8Tokens,
      notUtf8Share: ratio(notUtf8Tokens, tokens - specialCount),
    };
  }
}

/** The result of all tokenizers on all texts. */
export const evaluationOf = (
  facts: readonly TextFacts[],
  tokenizers: readonly TokenizerMeasures[],
): Evaluation => ({
  format: "bpe-evaluation",
  version: 1,
  wordPattern: placedWordPattern,
  texts: facts,
  tokenizers: tokenizers.map((measures) => measures.result(facts)),
});

/** Which tokens are special, and which are no whole UTF-8 characters, by id. */
function classesOf(parts: TokenizerParts) {
  const { tokens } = parts;
  const isSpecial = new Uint8Array(tokens.idLimit);
  const isNotUtf8 = new Uint8Array(tokens.idLimit);
  for (const { id } of allAddedTokens(parts)) isSpecial[id] = 1;
  for (let id = 0; id < tokens.idLimit; id++) if (!isUtf8(tokenBytesOf(tokens, id))) isNotUtf8[id] = 1;
  return { isSpecial, isNotUtf8 };
}

function countClasses(tokenCounts: TokenCounts, { isSpecial, isNotUtf8 }: ReturnType<typeof classesOf>) {
  let specialCount = 0;
  let notUtf8Tokens = 0;
  for (let id = 0; id < tokenCounts.length; id++) {
    if (isSpecial[id] === 1) specialCount += tokenCounts[id]!;
    else if (isNotUtf8[id] === 1) notUtf8Tokens += tokenCounts[id]!;
  }
  return { specialCount, notUtf8Tokens };
}

function parityOf(facts: readonly TextFacts[], texts: readonly TextMeasures[]): Parity | null {
  const costs = texts.flatMap(({ text, tokens, fertility }, i) =>
    fertility === null ? [] : [{ text, byWords: fertility, byBytes: tokens / facts[i]!.bytes }],
  );
  if (costs.length < 2) return null;
  const byWords = costs.toSorted((a, b) => a.byWords - b.byWords);
  const byBytes = costs.toSorted((a, b) => a.byBytes - b.byBytes);
  return {
    giniFertility: gini(costs.map((cost) => cost.byWords)),
    giniBytes: gini(costs.map((cost) => cost.byBytes)),
    cheapestText: byWords[0]!.text,
    dearestText: byWords.at(-1)!.text,
    costRatio: ratio(byWords.at(-1)!.byWords, byWords[0]!.byWords),
    cheapestTextByBytes: byBytes[0]!.text,
    dearestTextByBytes: byBytes.at(-1)!.text,
    costRatioByBytes: ratio(byBytes.at(-1)!.byBytes, byBytes[0]!.byBytes),
  };
}

// The formulas of docs/eval.md: numbers in, numbers out. Sums go by ascending id, so that they do not depend on who counted.

/** Tokens of a text, by id. */
export type TokenCounts = Float64Array;

/**
 * Rényi entropy in bits of a distribution given by counts: log2(sum of p^alpha) / (1 - alpha); 0 without any count. `alpha` is
 * not 1. (Rényi 1961; TokEval's `compute_renyi_entropy`.)
 */
export function renyiEntropy(counts: TokenCounts, alpha: number): number {
  const total = sumOf(counts);
  if (total === 0) return 0;
  let sum = 0;
  for (let id = 0; id < counts.length; id++) if (counts[id]! > 0) sum += (counts[id]! / total) ** alpha;
  // One token alone gives -0.
  return Math.log2(sum) / (1 - alpha) + 0;
}

/** The entropy as a share of the largest one that as many different tokens could have; null for fewer than two. */
export function renyiEfficiency(counts: TokenCounts, alpha: number): number | null {
  const used = usedCount(counts);
  return used < 2 ? null : renyiEntropy(counts, alpha) / Math.log2(used);
}

/** How many different tokens occur. */
export const usedCount = (counts: TokenCounts) =>
  counts.reduce((used, count) => (count > 0 ? used + 1 : used), 0);

export function addCounts(sum: TokenCounts, counts: TokenCounts): void {
  for (let id = 0; id < counts.length; id++) sum[id]! += counts[id]!;
}

export const sumOf = (counts: TokenCounts) => counts.reduce((sum, count) => sum + count, 0);

/**
 * Gini coefficient of costs, each of equal weight: the sum of |a - b| over all pairs (a, b), in both orders, by 2 n^2 and their
 * mean. 0 is parity. Sorted ascending, that is the sum of (2i - n + 1) cost(i), by n times the sum of costs.
 */
export function gini(costs: readonly number[]): number {
  const sorted = costs.toSorted((a, b) => a - b);
  const count = sorted.length;
  const total = sorted.reduce((sum, cost) => sum + cost, 0);
  if (total === 0) return 0;
  const weighted = sorted.reduce((sum, cost, i) => sum + (2 * i - count + 1) * cost, 0);
  return weighted / (count * total);
}

/** null where there is nothing to divide by. */
export const ratio = (of: number, by: number): number | null => (by === 0 ? null : of / by);
