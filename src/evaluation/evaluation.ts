import { isUtf8 } from "node:buffer";
import type { Input } from "#corpus";
import { fingerprints, type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";
import type { Excerpt } from "./excerpts.ts";
import {
  alphas,
  type Measures,
  type NumberMeasures,
  type Parity,
  type TermTokens,
  type VocabularyFacts,
} from "./measures.ts";
import type * as modelCosts from "./model-cost.ts";
import { type ModelCost, modelCost } from "./model-cost.ts";
import { NumberCounts } from "./number-counts.ts";
import { placedWordPattern, type TextWords } from "./text-words.ts";
import type { Share } from "./vocabulary-statistics.ts";

/** The measurements of tokenizers on texts. docs/evaluate.md has the formulas. */
export type Evaluation = {
  readonly format: "bpe-evaluation";
  readonly version: 2;
  /**
   * The regular expression that splits the texts into words and other whitespace. A word includes the whitespace
   * character before it.
   */
  readonly wordPattern: string;
  /** The model whose costs are computed; null if none is given. */
  readonly model: modelCosts.Shape | null;
  readonly texts: readonly TextFacts[];
  readonly tokenizers: readonly TokenizerResult[];
};

/** The output of `bpe eval --json`, whose schema is docs/evaluation.schema.json. */
export type FullEvaluation = Omit<Evaluation, "tokenizers"> & {
  readonly tokenizers: readonly (TokenizerResult & VocabularyDetails)[];
  readonly excerpts: readonly Excerpt[];
};

/** The contents of a vocabulary without added tokens. */
export type VocabularyDetails = {
  /** The number of tokens by the script of their first letter, or by kind; the most frequent first. */
  readonly scripts: readonly Share[];
  /** The number of tokens by length in bytes, ascending. */
  readonly lengths: readonly Share[];
  /** The longest tokens with a letter, escaped for people to read. */
  readonly longestTokens: readonly { readonly id: number; readonly bytes: number; readonly token: string }[];
};

/** Facts about a text that do not depend on tokenizers. */
export type TextFacts = {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly bytes: number;
  readonly characters: number;
  readonly words: number;
  readonly distinctWords: number;
  /** Bytes that are not valid UTF-8. */
  readonly invalidBytes: number;
  /** Whether spaces separate the words: at most half of the characters are of scripts without spaces. */
  readonly isSpaced: boolean;
  /** Names of the tokenizers that were trained on this text: their training.json lists one of its inputs. */
  readonly trainedBy: readonly string[];
};

export type TokenizerResult = VocabularyFacts & {
  readonly name: string;
  readonly path: string;
  /** The kind of the files that the tokenizer was loaded from. */
  readonly kind: string;
  /** A digest of the ids into which the tokenizer encodes a fixed text. */
  readonly fingerprint: string;
  readonly pattern: string | null;
  /** The measures on each text, in the order of the texts. */
  readonly texts: readonly TextMeasures[];
  /** The measures on all texts together. */
  readonly overall: Measures;
  /** null if fewer than two texts have words. */
  readonly parity: Parity | null;
  /** The terms in the order in which they were given. */
  readonly terms: readonly TermTokens[];
  /** null if no model is given. */
  readonly modelCost: ModelCost | null;
};

export type TextMeasures = Measures & {
  readonly text: string;
  readonly costliestWords: readonly CostliestWord[];
};

/**
 * A word, cut off if it is long, with U+FFFD for bytes that are not UTF-8. In its pieces, `\xNN` is an unprintable
 * byte.
 */
export type CostliestWord = {
  readonly word: string;
  /** The length of the whole word in bytes. */
  readonly bytes: number;
  readonly count: number;
  readonly tokens: number;
  readonly tokensBeyondFirst: number;
  readonly pieces: readonly string[];
};

const shownBytesMax = 160;

/** Cuts a word or token of more than `shownBytesMax` bytes to at most this many, but not inside a character. */
export function truncate(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= shownBytesMax) return bytes;
  let end = shownBytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** A text to compare tokenizers on. Its inputs are read several times, so none of them is a stream. */
export type NamedText = {
  readonly name: string;
  readonly inputs: readonly Input[];
  /** The names of the inputs in the result. */
  readonly paths: readonly string[];
  /** Names of the tokenizers that were trained on one of the inputs. */
  readonly trainedBy?: readonly string[];
};

/** A tokenizer to compare. */
export type NamedTokenizer = { readonly name: string; readonly path: string; readonly parts: TokenizerParts };

/** The costs of a text's words for a tokenizer. */
export type WordCosts = Pick<TextMeasures, "singleTokenWords" | "continuedWords" | "costliestWords">;

/** The counts from which the measures of words and numbers are computed. */
type Counted = Pick<WordCosts, "singleTokenWords" | "continuedWords"> & {
  readonly numbers: NumberCounts | null;
};

export function textFacts(
  of: Pick<TextFacts, "name" | "inputs" | "invalidBytes" | "trainedBy">,
  words: TextWords,
): TextFacts {
  const { textBytes: bytes, characterCount: characters, wordCount, distinctCount: distinctWords } = words;
  const isSpaced = words.unspacedCount <= characters / 2;
  const { name, inputs, invalidBytes, trainedBy } = of;
  const counts = { bytes, characters, words: wordCount, distinctWords, invalidBytes };
  return { name, inputs, ...counts, isSpaced, trainedBy };
}

/** Gathers the results of one tokenizer, text by text. */
export class TokenizerMeasures {
  private readonly texts: TextMeasures[] = [];
  private readonly allCounts: CountsById;
  private allNumbers: NumberCounts | null = null;
  private readonly classes: ReturnType<typeof classesOf>;
  private readonly modelCost: ModelCost | null;

  constructor(
    private readonly tokenizer: NamedTokenizer,
    private readonly terms: readonly TermTokens[],
    model: modelCosts.Shape | null,
  ) {
    const { tokens } = tokenizer.parts;
    this.modelCost = model && modelCost(model, tokens.idLimit);
    this.allCounts = new Float64Array(tokens.idLimit);
    this.classes = classesOf(tokenizer.parts);
  }

  add(facts: TextFacts, tokenCounts: CountsById, costs: WordCosts, numbers: NumberCounts | null): void {
    addCounts(this.allCounts, tokenCounts);
    if (numbers !== null) (this.allNumbers ??= new NumberCounts()).addAll(numbers);
    const { costliestWords } = costs;
    const measures = this.measure(facts, tokenCounts, { ...costs, numbers });
    this.texts.push({ text: facts.name, ...measures, costliestWords });
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
      numbers: this.allNumbers,
    };
    return {
      name,
      path,
      kind: description.kind,
      fingerprint: fingerprints.ofBehavior(parts),
      pattern: description.patternName,
      vocabularySize: tokens.tokenCount,
      notUtf8InVocabulary: this.classes.notUtf8Count,
      mixedInVocabulary: this.classes.mixedCount,
      texts: this.texts,
      overall: this.measure(all, this.allCounts, costs),
      parity: parityOf(facts, this.texts),
      terms: this.terms,
      modelCost: this.modelCost,
    };
  }

  private measure(
    { bytes, characters, words }: Pick<TextFacts, "bytes" | "characters" | "words">,
    tokenCounts: CountsById,
    { singleTokenWords, continuedWords, numbers }: Counted,
  ): Measures {
    const tokens = sumOf(tokenCounts);
    const usedTokens = usedCount(tokenCounts);
    const { specialCount, notUtf8Tokens, mixedTokens } = countClasses(tokenCounts, this.classes);
    return {
      tokens,
      bytesPerToken: ratio(bytes, tokens),
      charactersPerToken: ratio(characters, tokens),
      tokensPerCharacter: ratio(tokens, characters),
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
      mixedTokens,
      numbers: numbers && numberMeasures(numbers),
      flopsPerByte: this.modelCost && ratio(this.modelCost.flopsPerToken * tokens, bytes),
      relativeCost: null,
    };
  }
}

/** Combines the results of all tokenizers on all texts. */
export function of(
  facts: readonly TextFacts[],
  tokenizers: readonly TokenizerMeasures[],
  model: modelCosts.Shape | null,
): Evaluation {
  const results = tokenizers.map((measures) => measures.result(facts));
  const [first] = results;
  const withRelativeCost = <Of extends Measures>(of: Of, other: Measures): Of => ({
    ...of,
    relativeCost: of.flopsPerByte && ratio(of.flopsPerByte, other.flopsPerByte!),
  });
  return {
    format: "bpe-evaluation",
    version: 2,
    wordPattern: placedWordPattern,
    model,
    texts: facts,
    tokenizers: results.map((result) => ({
      ...result,
      texts: result.texts.map((text, i) => withRelativeCost(text, first!.texts[i]!)),
      overall: withRelativeCost(result.overall, first!.overall),
    })),
  };
}

// The classes of tokens. 0 is for tokens of whole characters.
/** A part of one character. */
const partOfCharacter = 1;
/** Bytes of several characters, at least one of them incomplete. */
const mixed = 2;
/** An added token, whether special or not. */
const special = 3;

/**
 * Returns the class of each token, by id. `notUtf8Count` is the number of tokens that are neither added tokens nor
 * whole UTF-8 characters. `mixedCount` is the number of those that are of the class `mixed`.
 */
function classesOf(parts: TokenizerParts) {
  const { tokens } = parts;
  const classes = new Uint8Array(tokens.idLimit);
  let [notUtf8Count, mixedCount] = [0, 0];
  for (const { id } of tokenizers.allAddedTokens(parts)) classes[id] = special;
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (classes[id] === special || isUtf8(bytes)) continue;
    classes[id] = isPartOfOne(bytes) ? partOfCharacter : mixed;
    notUtf8Count++;
    if (classes[id] === mixed) mixedCount++;
  }
  return { classes, notUtf8Count, mixedCount };
}

/**
 * Whether these bytes, which are not UTF-8, are a single byte, a lead byte with too few continuation bytes, or up to
 * three continuation bytes.
 */
function isPartOfOne(bytes: Uint8Array): boolean {
  const isContinuation = (byte: number) => byte >> 6 === 2;
  const [lead] = bytes;
  const length = isContinuation(lead!) ? 4 : lead! < 0xc2 ? 1 : lead! < 0xe0 ? 2 : lead! < 0xf0 ? 3 : 4;
  return bytes.length === 1 || (bytes.length < length && bytes.subarray(1).every(isContinuation));
}

function countClasses(tokenCounts: CountsById, { classes }: ReturnType<typeof classesOf>) {
  const byClass = [0, 0, 0, 0];
  for (let id = 0; id < tokenCounts.length; id++) byClass[classes[id]!]! += tokenCounts[id]!;
  const mixedTokens = byClass[mixed]!;
  return {
    specialCount: byClass[special]!,
    notUtf8Tokens: byClass[partOfCharacter]! + mixedTokens,
    mixedTokens,
  };
}

function parityOf(facts: readonly TextFacts[], texts: readonly TextMeasures[]): Parity | null {
  const measured = texts.flatMap((text, i) =>
    text.fertility === null ? [] : [{ ...text, facts: facts[i]! }],
  );
  if (measured.length < 2) return null;
  const compare = (costOf: (of: (typeof measured)[0]) => number) => {
    const costs = measured.map((of) => ({ text: of.text, cost: costOf(of) })).sort((a, b) => a.cost - b.cost);
    const [cheapest, costliest] = [costs[0]!, costs.at(-1)!];
    const all = costs.map(({ cost }) => cost);
    return { gini: gini(all), cheapest, costliest, costRatio: ratio(costliest.cost, cheapest.cost) };
  };
  const byWords = compare(({ fertility }) => fertility!);
  const byBytes = compare(({ tokens, facts }) => tokens / facts.bytes);
  const byCharacters = compare(({ tokens, facts }) => tokens / facts.characters);
  const byTokens = compare(({ tokens }) => tokens);
  return {
    giniFertility: byWords.gini,
    giniBytes: byBytes.gini,
    cheapestText: byWords.cheapest.text,
    costliestText: byWords.costliest.text,
    costRatio: byWords.costRatio,
    cheapestTextByBytes: byBytes.cheapest.text,
    costliestTextByBytes: byBytes.costliest.text,
    costRatioByBytes: byBytes.costRatio,
    giniCharacters: byCharacters.gini,
    cheapestTextByCharacters: byCharacters.cheapest.text,
    costliestTextByCharacters: byCharacters.costliest.text,
    costRatioByCharacters: byCharacters.costRatio,
    giniTokens: byTokens.gini,
    cheapestTextByTokens: byTokens.cheapest.text,
    costliestTextByTokens: byTokens.costliest.text,
    costRatioByTokens: byTokens.costRatio,
  };
}

function numberMeasures(counts: NumberCounts): NumberMeasures {
  const { count, digitGroups, tokens, longCount, fromRight, fromLeft } = counts;
  const scores = [...counts.scores].sort(([a], [b]) => a - b);
  const scoreSum = scores.reduce((sum, [score, numbers]) => sum + score * numbers, 0);
  return {
    count,
    digitGroups,
    tokens,
    tokensPerDigitGroup: ratio(tokens, digitGroups),
    alignment: ratio(scoreSum, count),
    longCount,
    fromRight,
    fromRightShare: ratio(fromRight, longCount),
    fromLeft,
    fromLeftShare: ratio(fromLeft, longCount),
  };
}

// Sums over tokens are computed in the order of ids, so that they do not depend on which thread counted which tokens.

/** The number of occurrences of each token, by id. */
export type CountsById = Float64Array;

/**
 * Returns the Rényi entropy, in bits, of a distribution given by counts: log2(sum of p^alpha) / (1 - alpha);
 * 0 if there are no counts. `alpha` must not be 1. (Rényi 1961; TokEval's `compute_renyi_entropy`.)
 */
export function renyiEntropy(counts: CountsById, alpha: number): number {
  const total = sumOf(counts);
  if (total === 0) return 0;
  let sum = 0;
  for (let id = 0; id < counts.length; id++) if (counts[id]! > 0) sum += (counts[id]! / total) ** alpha;
  // A single token would give -0.
  return Math.log2(sum) / (1 - alpha) + 0;
}

/**
 * Returns the entropy, divided by the largest entropy that is possible with as many distinct tokens; null if fewer than
 * two tokens occur.
 */
export function renyiEfficiency(counts: CountsById, alpha: number): number | null {
  const used = usedCount(counts);
  return used < 2 ? null : renyiEntropy(counts, alpha) / Math.log2(used);
}

/** Returns the number of distinct tokens that occur. */
export const usedCount = (counts: CountsById) =>
  counts.reduce((used, count) => (count > 0 ? used + 1 : used), 0);

export function addCounts(sum: CountsById, counts: CountsById): void {
  for (let id = 0; id < counts.length; id++) sum[id]! += counts[id]!;
}

export const sumOf = (counts: CountsById) => counts.reduce((sum, count) => sum + count, 0);

/**
 * Returns the Gini coefficient of equally weighted costs: the sum of |a - b| over all ordered pairs (a, b), divided by
 * 2 n² and the mean. 0 is parity.
 */
export function gini(costs: readonly number[]): number {
  const sorted = costs.toSorted((a, b) => a - b);
  const count = sorted.length;
  const total = sorted.reduce((sum, cost) => sum + cost, 0);
  if (total === 0) return 0;
  // This is half the sum of |a - b| over all ordered pairs.
  const weighted = sorted.reduce((sum, cost, i) => sum + (2 * i - count + 1) * cost, 0);
  return weighted / (count * total);
}

/** Returns a quotient; null if the divisor is 0. */
export const ratio = (of: number, by: number): number | null => (by === 0 ? null : of / by);
