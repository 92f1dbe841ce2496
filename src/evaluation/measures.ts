import { groupDigits } from "#bytes";
import type { ModelCost } from "./model-cost.ts";

// The types of results, and the measures: their names, formulas and values.

export type Measures = {
  readonly tokens: number;
  readonly bytesPerToken: number | null;
  readonly charactersPerToken: number | null;
  readonly tokensPerCharacter: number | null;
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
  /** Number of occurrences of tokens that are not whole UTF-8 characters. */
  readonly notUtf8Tokens: number;
  /** `notUtf8Tokens` divided by the number of occurrences of all tokens but added ones. */
  readonly notUtf8Share: number | null;
  /** Occurrences of tokens that are not UTF-8 and join a character, or part of one, with a part of another. */
  readonly mixedTokens: number;
  /** null unless requested. */
  readonly numbers: NumberMeasures | null;
  /** FLOPs of a model per byte; null without a model, or without bytes. */
  readonly flopsPerByte: number | null;
  /** `flopsPerByte` divided by that of the first tokenizer; null if `flopsPerByte` is null. */
  readonly relativeCost: number | null;
};

/** The numbers of a text: runs of decimal digits. docs/evaluate.md has the formulas. */
export type NumberMeasures = {
  readonly count: number;
  /** The number of groups of three digits, from the right; the first may be shorter. */
  readonly digitGroups: number;
  /** The number of tokens that contain a part of a number, added up over all numbers. */
  readonly tokens: number;
  readonly tokensPerDigitGroup: number | null;
  /** How well boundaries of tokens match boundaries of groups, from 0 to 1: the mean F1 score. */
  readonly alignment: number | null;
  /** The number of numbers with more than three digits. */
  readonly longCount: number;
  /** How many long numbers consist of one token per group of three digits, counted from the right. */
  readonly fromRight: number;
  readonly fromRightShare: number | null;
  /** How many long numbers consist of one token per group of three digits, counted from the left. */
  readonly fromLeft: number;
  readonly fromLeftShare: number | null;
};

type Renyi = { readonly alpha: number; readonly entropy: number; readonly efficiency: number | null };

/** How evenly tokens are spread over the texts. The names are keys of the printed JSON. */
export type Parity = {
  /** Gini coefficient of tokens per word. */
  readonly giniFertility: number;
  /** Gini coefficient of tokens per byte. */
  readonly giniBytes: number;
  readonly cheapestText: string;
  readonly costliestText: string;
  /** Tokens per word of the costliest text, divided by those of the cheapest. */
  readonly costRatio: number | null;
  readonly cheapestTextByBytes: string;
  readonly costliestTextByBytes: string;
  readonly costRatioByBytes: number | null;
  /** Gini coefficient of tokens per character. */
  readonly giniCharacters: number;
  readonly cheapestTextByCharacters: string;
  readonly costliestTextByCharacters: string;
  readonly costRatioByCharacters: number | null;
  /** Gini coefficient of tokens per whole text. */
  readonly giniTokens: number;
  readonly cheapestTextByTokens: string;
  readonly costliestTextByTokens: string;
  readonly costRatioByTokens: number | null;
};

/** The vocabulary of a tokenizer. */
export type VocabularyFacts = {
  readonly vocabularySize: number;
  /** Number of tokens that are neither added tokens nor whole UTF-8 characters. */
  readonly notUtf8InVocabulary: number;
  /** Number of tokens that are not UTF-8 and join a character, or a part of one, with a part of another. */
  readonly mixedInVocabulary: number;
};

/** The numbers of tokens of a term, and of the term after a space. */
export type TermTokens = {
  readonly term: string;
  readonly tokens: number;
  readonly tokensBehindSpace: number;
};

/** The orders of Rényi entropy that are measured. */
export const alphas = [2, 2.5];

/** A measure, for people and programs. `Of` is the type of the result that contains its value. */
export type Measure<Of> = {
  /** For a measure in `ofText`, the name of its column in CSV, and the value of `--measure` that selects it. */
  readonly key: string;
  /** The name, spelled as in the middle of a sentence. */
  readonly name: string;
  /** Which values are better; null if neither higher nor lower ones are. */
  readonly better: "higher" | "lower" | null;
  /** The definition, in one line. */
  readonly formula: string;
  /** Whether it applies only to texts with spaces between words. */
  readonly isOfWords?: boolean;
  /** What the measure needs in addition to tokenizers and texts; undefined if nothing. */
  readonly needs?: "numbers" | "model";
  /** Returns the value; null if there is none. */
  readonly value: (of: Of) => number | null;
  /** Formats the value, with its unit if it has one. */
  readonly shown: (value: number) => string;
};

const decimal = (digits: number) => (value: number) => value.toFixed(digits);
const percent = (value: number) => `${(100 * value).toFixed(2)} %`;
/** Formats a number with a unit: 7241748480 -> "7.24 G". */
function scaled(value: number): string {
  const unit = Math.min(5, Math.max(0, Math.floor(Math.log10(Number(value.toPrecision(3))) / 3)));
  return `${Number((value / 1000 ** unit).toPrecision(3))} ${["", "k", "M", "G", "T", "P"][unit]}`.trim();
}

/** Makes a measure from a field of the result: `bytesPerToken` becomes `bytes_per_token`. */
function field<Name extends string>(
  of: Name,
  name: string,
  better: Measure<never>["better"],
  formula: string,
  shown: (value: number) => string,
): Measure<Readonly<Record<Name, number | null>>> {
  const key = of.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { key, name, better, formula, value: (result) => result[of], shown };
}

/** Makes a measure from a field, for texts with spaces between words. */
const wordField = <Name extends string>(...about: Parameters<typeof field<Name>>) => ({
  ...field(...about),
  isOfWords: true,
});

/** Makes a measure from a field of `NumberMeasures`. */
function ofNumbers(...about: Parameters<typeof field<keyof NumberMeasures>>): Measure<Measures> {
  const { value, ...measure } = field(...about);
  return { ...measure, needs: "numbers", value: ({ numbers }) => numbers && value(numbers) };
}

/** Makes a measure from a field that needs a model. */
const costField = <Name extends string>(...about: Parameters<typeof field<Name>>) => ({
  ...field(...about),
  needs: "model" as const,
});

/** The measures of a tokenizer on a text, in the order of the CSV columns. */
export const ofText: readonly Measure<Measures>[] = [
  field("tokens", "tokens", "lower", "tokens that the text is encoded into", groupDigits),
  field("bytesPerToken", "bytes per token", "higher", "bytes divided by tokens", decimal(3)),
  field("charactersPerToken", "characters per token", "higher", "characters divided by tokens", decimal(3)),
  wordField("wordsPerToken", "words per token", "higher", "words divided by tokens", decimal(3)),
  wordField("fertility", "fertility", "lower", "tokens divided by words", decimal(3)),
  wordField("singleTokenWords", "one-token words", "higher", "words that are one token", groupDigits),
  wordField(
    "singleTokenShare",
    "share of one-token words",
    "higher",
    "one-token words divided by words",
    percent,
  ),
  wordField("continuedWords", "continued words", "lower", "words of two or more tokens", groupDigits),
  wordField(
    "continuedShare",
    "share of continued words",
    "lower",
    "continued words divided by words",
    percent,
  ),
  field("usedTokens", "tokens used", null, "different tokens that occur", groupDigits),
  field(
    "vocabularyUtilization",
    "vocabulary used",
    // On the same text, a larger share of a small vocabulary is used, which does not make it better.
    null,
    "tokens used divided by the size of the vocabulary",
    percent,
  ),
  ...alphas.flatMap((alpha, i): Measure<Measures>[] => [
    {
      key: `renyi_entropy_${alpha}`,
      name: `Rényi entropy (α = ${alpha})`,
      better: null,
      formula: "log2 of the sum of p^α, divided by 1 - α; p is a token's share of the text's tokens",
      value: (of) => of.renyi[i]!.entropy,
      shown: decimal(3),
    },
    {
      key: `renyi_efficiency_${alpha}`,
      name: `Rényi efficiency (α = ${alpha})`,
      better: "higher",
      formula: "Rényi entropy divided by log2 of the tokens used",
      value: (of) => of.renyi[i]!.efficiency,
      shown: decimal(4),
    },
  ]),
  field(
    "notUtf8Tokens",
    "tokens that are not UTF-8",
    "lower",
    "tokens that are not whole characters",
    groupDigits,
  ),
  field(
    "notUtf8Share",
    "share of tokens that are not UTF-8",
    "lower",
    "these divided by the tokens that are not special",
    percent,
  ),
  field("tokensPerCharacter", "tokens per character", "lower", "tokens divided by characters", decimal(3)),
  field(
    "mixedTokens",
    "mixed tokens",
    "lower",
    "tokens that join a character with a part of another one",
    groupDigits,
  ),
  { ...ofNumbers("count", "numbers", null, "runs of decimal digits in words", groupDigits), key: "numbers" },
  ofNumbers(
    "tokensPerDigitGroup",
    "tokens per digit group",
    "lower",
    "tokens of numbers divided by their groups of three digits",
    decimal(3),
  ),
  {
    ...ofNumbers(
      "alignment",
      "digit alignment",
      "higher",
      "mean F1 of the ends of tokens against the ends of groups of three digits",
      decimal(3),
    ),
    key: "digit_alignment",
  },
  {
    ...ofNumbers("longCount", "long numbers", null, "numbers of more than three digits", groupDigits),
    key: "long_numbers",
  },
  ofNumbers(
    "fromRightShare",
    "numbers cut from the right",
    "higher",
    "long numbers whose tokens are groups of three digits from the right, divided by all long numbers",
    percent,
  ),
  ofNumbers(
    "fromLeftShare",
    "numbers cut from the left",
    null,
    "long numbers whose tokens are groups of three digits from the left, divided by all long numbers",
    percent,
  ),
  costField(
    "flopsPerByte",
    "FLOPs per byte",
    "lower",
    "FLOPs of the model for a token, divided by bytes per token",
    scaled,
  ),
  costField(
    "relativeCost",
    "cost relative to the first",
    "lower",
    "FLOPs per byte divided by those of the first tokenizer",
    decimal(3),
  ),
];

const repeatedKeys = new Set([
  "words_per_token",
  "tokens_per_character",
  "continued_words",
  "continued_share",
  "single_token_words",
]);

/**
 * Whether a table of all measures leaves this one out, because another measure expresses the same as a share, as the
 * complement or as the reciprocal.
 */
export const repeatsAnother = ({ key }: Measure<never>) => repeatedKeys.has(key);

/** Measures of how numbers are cut, which are computed only on request. */
export const ofDigits = ofText.filter(({ needs }) => needs === "numbers");

/** Measures that need a model. */
export const ofCosts = ofText.filter(({ needs }) => needs === "model");

/** Measures of what a vocabulary costs a model. They do not depend on texts. */
export const ofModel: readonly Measure<ModelCost>[] = [
  field("flopsPerToken", "FLOPs per token", null, "of a forward pass", scaled),
  field("headFlopsShare", "of these the head", null, "FLOPs of the head divided by all", percent),
  {
    key: "parameters",
    name: "parameters",
    better: null,
    formula: "of embedding, head and layers",
    value: (of) => of.embeddingParameters + of.headParameters + of.layerParameters,
    shown: scaled,
  },
  field(
    "vocabularyShare",
    "of these embedding and head",
    null,
    "parameters of embedding and head divided by all",
    percent,
  ),
];

/** Measures of a vocabulary. They do not depend on texts. */
export const ofVocabulary: readonly Measure<VocabularyFacts>[] = [
  field("vocabularySize", "tokens", null, "tokens of the vocabulary", groupDigits),
  field("notUtf8InVocabulary", "not UTF-8", "lower", "tokens that are not whole characters", groupDigits),
  field(
    "mixedInVocabulary",
    "mixed",
    "lower",
    "those that join a character with a part of another one",
    groupDigits,
  ),
];

/** The parity of one kind of cost: tokens per word, byte, character or whole text. */
export type CostParity = {
  readonly gini: number;
  readonly costRatio: number | null;
  readonly cheapestText: string;
  readonly costliestText: string;
};

/**
 * Returns a function that reads one kind of cost from `parity`. `gini` is the key of its Gini coefficient, and `by` the
 * suffix of its other keys.
 */
const costOf =
  (gini: "giniFertility" | "giniBytes" | "giniCharacters" | "giniTokens", by: `By${string}` | "") =>
  (parity: Parity): CostParity => ({
    gini: parity[gini],
    costRatio: parity[`costRatio${by}` as "costRatio"],
    cheapestText: parity[`cheapestText${by}` as "cheapestText"],
    costliestText: parity[`costliestText${by}` as "costliestText"],
  });

/** The kinds of cost by which texts are compared. */
export const parityCosts: readonly {
  readonly name: string;
  readonly isOfWords?: boolean;
  readonly of: (parity: Parity) => CostParity;
}[] = [
  { name: "per word", isOfWords: true, of: costOf("giniFertility", "") },
  { name: "per byte", of: costOf("giniBytes", "ByBytes") },
  { name: "per character", of: costOf("giniCharacters", "ByCharacters") },
  { name: "whole text", of: costOf("giniTokens", "ByTokens") },
];

/** Texts whose numbers of characters differ by less than this factor may be translations of each other. */
const parallelFactor = 2;

/** Returns the kinds of cost that apply: whole texts are only compared if they may be parallel. */
export function costsOf(texts: readonly { readonly characters: number }[]) {
  const characters = texts.map((text) => text.characters);
  const mayBeParallel = Math.max(...characters) < parallelFactor * Math.min(...characters);
  return parityCosts.filter(({ name }) => mayBeParallel || name !== "whole text");
}

/** The parity measures of each cost. */
export const ofParity: readonly Measure<CostParity>[] = [
  field("gini", "Gini coefficient", "lower", "0 is parity", decimal(4)),
  field("costRatio", "cost ratio", "lower", "costliest text divided by cheapest", decimal(2)),
];

/** The measures of the tokens of terms. */
export const ofTerms: readonly Measure<TermTokens>[] = [
  field("tokens", "tokens of terms", "lower", "as texts of their own", groupDigits),
  field(
    "tokensBehindSpace",
    "tokens of terms after a space",
    "lower",
    "with a space before each",
    groupDigits,
  ),
];

/** Returns the indices of the best values; none if all are equal, or no direction is better. */
export function bestOf(
  { better }: Pick<Measure<never>, "better">,
  values: readonly (number | null)[],
): Set<number> {
  const known = values.filter((value) => value !== null);
  if (better === null || new Set(known).size < 2) return new Set();
  const best = better === "lower" ? Math.min(...known) : Math.max(...known);
  return new Set(values.flatMap((value, i) => (value === best ? [i] : [])));
}

/** Formats the value; a dash if there is none. */
export function shownValue<Of>({ value, shown }: Measure<Of>, of: Of): string {
  const found = value(of);
  return found === null ? "-" : shown(found);
}
