import { groupDigits } from "#bytes";
import type { ModelCost } from "./model-cost.ts";

// What is measured: the types of the results, and behind them the one list of measures that CSV, the terminal and the report
// are made of.

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
  /** Occurrences of tokens that are not whole UTF-8 characters. */
  readonly notUtf8Tokens: number;
  /** Of the tokens that are not special. */
  readonly notUtf8Share: number | null;
  /** Occurrences of tokens that are not UTF-8 and join a character with a part of another one. */
  readonly mixedTokens: number;
  /** null where they are not asked for. */
  readonly numbers: NumberMeasures | null;
  /** Of a model; null without one. */
  readonly flopsPerByte: number | null;
  /** Divided by those of the first tokenizer. */
  readonly relativeCost: number | null;
};

/** The numbers of a text, which are runs of decimal digits, and how its tokens cut them. docs/evaluate.md has the formulas. */
export type NumberMeasures = {
  readonly count: number;
  /** Groups of three digits from the right; the first has one to three. */
  readonly digitGroups: number;
  /** Tokens that hold a part of a number. */
  readonly tokens: number;
  readonly tokensPerDigitGroup: number | null;
  /** How well token borders match group borders, from 0 to 1: the mean of F1. */
  readonly alignment: number | null;
  /** Numbers of more than three digits. */
  readonly longCount: number;
  /** Those of them whose tokens are their groups of three, from the right, and from the left. */
  readonly fromRight: number;
  readonly fromRightShare: number | null;
  readonly fromLeft: number;
  readonly fromLeftShare: number | null;
};

type Renyi = { readonly alpha: number; readonly entropy: number; readonly efficiency: number | null };

/**
 * How evenly tokens are spread over the texts: per word, per byte, per character, and for whole texts if they are parallel.
 * The names are keys of the JSON that is printed.
 */
export type Parity = {
  /** Of tokens per word. */
  readonly giniFertility: number;
  /** Of tokens per byte. */
  readonly giniBytes: number;
  readonly cheapestText: string;
  readonly costliestText: string;
  /** Tokens per word of the costliest text, divided by those of the cheapest. */
  readonly costRatio: number | null;
  readonly cheapestTextByBytes: string;
  readonly costliestTextByBytes: string;
  readonly costRatioByBytes: number | null;
  /** Of tokens per character. */
  readonly giniCharacters: number;
  readonly cheapestTextByCharacters: string;
  readonly costliestTextByCharacters: string;
  readonly costRatioByCharacters: number | null;
  /** Of tokens. */
  readonly giniTokens: number;
  readonly cheapestTextByTokens: string;
  readonly costliestTextByTokens: string;
  readonly costRatioByTokens: number | null;
};

/** The vocabulary of a tokenizer. */
export type VocabularyFacts = {
  readonly vocabularySize: number;
  /** Tokens that are not special and no whole UTF-8 characters. */
  readonly notUtf8InVocabulary: number;
  /** Those of them that join a character with a part of another one. */
  readonly mixedInVocabulary: number;
};

/** How many tokens a term is encoded into, and how many with a space before it. */
export type TermTokens = {
  readonly term: string;
  readonly tokens: number;
  readonly tokensBehindSpace: number;
};

/** The orders of Rényi entropy. */
export const alphas = [2, 2.5];

/** A measure as people and programs know it. `Of` is the result that holds its value. */
export type Measure<Of> = {
  /** Its column in CSV, and the value of `--measure`. */
  readonly key: string;
  /** In running text, without a capital. */
  readonly name: string;
  /** Which values are better; null: neither. */
  readonly better: "higher" | "lower" | null;
  /** What it is, in a line. */
  readonly formula: string;
  /** It says something only of texts with spaces between words. */
  readonly isOfWords?: boolean;
  /** null where there is none. */
  readonly value: (of: Of) => number | null;
  /** The value with its unit. */
  readonly shown: (value: number) => string;
};

const decimal = (digits: number) => (value: number) => value.toFixed(digits);
const percent = (value: number) => `${(100 * value).toFixed(2)} %`;
/** 7241748480 -> "7.24 G" */
function scaled(value: number): string {
  const unit = Math.min(5, Math.max(0, Math.floor(Math.log10(Number(value.toPrecision(3))) / 3)));
  return `${Number((value / 1000 ** unit).toPrecision(3))} ${["", "k", "M", "G", "T", "P"][unit]}`.trim();
}

/** A measure that is a field of the result: `bytesPerToken` is `bytes_per_token`. */
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

/** The same of texts with spaces between words. */
const wordField = <Name extends string>(...about: Parameters<typeof field<Name>>) => ({
  ...field(...about),
  isOfWords: true,
});

/** The same of the numbers of a text. */
function ofNumbers(...about: Parameters<typeof field<keyof NumberMeasures>>): Measure<Measures> {
  const { value, ...measure } = field(...about);
  return { ...measure, value: ({ numbers }) => numbers && value(numbers) };
}

/** The measures of a tokenizer on a text, and on all of them together, in the order of the columns of CSV. */
export const textMeasures: readonly Measure<Measures>[] = [
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
    // A small vocabulary is used more on the same text, and is none the better for it.
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
      "mean F1 of where tokens end against where groups of three digits end",
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
    "long numbers whose tokens are threes from the right, divided by all",
    percent,
  ),
  ofNumbers(
    "fromLeftShare",
    "numbers cut from the left",
    null,
    "long numbers whose tokens are threes from the left, divided by all",
    percent,
  ),
  field(
    "flopsPerByte",
    "FLOPs per byte",
    "lower",
    "FLOPs of the model for a token, divided by bytes per token",
    scaled,
  ),
  field(
    "relativeCost",
    "cost beside the first",
    "lower",
    "FLOPs per byte divided by those of the first tokenizer",
    decimal(3),
  ),
];

const from = (key: string) => textMeasures.findIndex((measure) => measure.key === key);

const repeated = new Set([
  "words_per_token",
  "tokens_per_character",
  "continued_words",
  "continued_share",
  "single_token_words",
]);

/** Whether another measure says the same: a count whose share is a measure, or what is left of 1 or turned over. */
export const repeatsAnother = ({ key }: Measure<never>) => repeated.has(key);

/** Those that are measured only when they are asked for. */
export const digitMeasures = textMeasures.slice(from("numbers"), from("flops_per_byte"));

/** Those that need a model. */
export const costMeasures = textMeasures.slice(from("flops_per_byte"));

/** What a vocabulary costs a model, whatever the text. */
export const modelMeasures: readonly Measure<ModelCost>[] = [
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

/** The measures of a vocabulary, without any text. */
export const vocabularyMeasures: readonly Measure<VocabularyFacts>[] = [
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

/** What `parity` says of one kind of cost. */
export type CostParity = {
  readonly gini: number;
  readonly costRatio: number | null;
  readonly cheapestText: string;
  readonly costliestText: string;
};

/** Where `parity` has the Gini coefficient of a cost, and how its other keys end. */
const costOf =
  (gini: "giniFertility" | "giniBytes" | "giniCharacters" | "giniTokens", by: `By${string}` | "") =>
  (parity: Parity): CostParity => ({
    gini: parity[gini],
    costRatio: parity[`costRatio${by}` as "costRatio"],
    cheapestText: parity[`cheapestText${by}` as "cheapestText"],
    costliestText: parity[`costliestText${by}` as "costliestText"],
  });

/** The costs by which texts are compared. */
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

/** Texts whose characters differ by less than this factor may say the same. */
const parallelFactor = 2;

/** The costs that say something of these texts: as wholes only texts that may say the same are compared. */
export function costsOf(texts: readonly { readonly characters: number }[]) {
  const characters = texts.map((text) => text.characters);
  const mayBeParallel = Math.max(...characters) < parallelFactor * Math.min(...characters);
  return parityCosts.filter(({ name }) => mayBeParallel || name !== "whole text");
}

/** How alike the texts are in what they cost, of each cost. */
export const parityMeasures: readonly Measure<CostParity>[] = [
  field("gini", "Gini coefficient", "lower", "0 is parity", decimal(4)),
  field("costRatio", "cost ratio", "lower", "costliest text divided by cheapest", decimal(2)),
];

/** How many tokens a term takes. */
export const termMeasures: readonly Measure<TermTokens>[] = [
  field("tokens", "tokens of terms", "lower", "as texts of their own", groupDigits),
  field(
    "tokensBehindSpace",
    "tokens of terms behind a space",
    "lower",
    "with a space before each",
    groupDigits,
  ),
];

/** Where the best of some values stand, all of equal ones; nowhere if no direction is better, or if all values are equal. */
export function bestOf(
  { better }: Pick<Measure<never>, "better">,
  values: readonly (number | null)[],
): Set<number> {
  const known = values.filter((value) => value !== null);
  if (better === null || new Set(known).size < 2) return new Set();
  const best = better === "lower" ? Math.min(...known) : Math.max(...known);
  return new Set(values.flatMap((value, i) => (value === best ? [i] : [])));
}

/** The value as people see it; a dash where there is none. */
export function shownValue<Of>({ value, shown }: Measure<Of>, of: Of): string {
  const found = value(of);
  return found === null ? "-" : shown(found);
}
