import { grouped } from "../bytes/quantities.ts";
import type { Evaluation, Measures, Parity, TokenizerResult } from "../evaluation/evaluation.ts";
import type { ComparisonTable } from "../report/report-data.ts";

// The tables that people see of an evaluation: in a terminal and in the report.

/** A row of a table: a measure, which of its values is the best, and how it is shown. */
type RowOf<T> = {
  readonly name: string;
  readonly best: "least" | "most" | null;
  readonly value: (of: T) => number | string | null;
  readonly shown: (value: number) => string;
};

const decimal = (digits: number) => (value: number) => value.toFixed(digits);
const percent = (value: number) => `${(100 * value).toFixed(2)} %`;

const measureRows: readonly RowOf<Measures>[] = [
  { name: "tokens", best: "least", value: (of) => of.tokens, shown: grouped },
  { name: "bytes per token", best: "most", value: (of) => of.bytesPerToken, shown: decimal(3) },
  { name: "characters per token", best: "most", value: (of) => of.charactersPerToken, shown: decimal(3) },
  { name: "words per token", best: "most", value: (of) => of.wordsPerToken, shown: decimal(3) },
  { name: "fertility", best: "least", value: (of) => of.fertility, shown: decimal(3) },
  { name: "words of one token", best: "most", value: (of) => of.singleTokenShare, shown: percent },
  { name: "words continued", best: "least", value: (of) => of.continuedShare, shown: percent },
  { name: "tokens used", best: null, value: (of) => of.usedTokens, shown: grouped },
  { name: "vocabulary used", best: "most", value: (of) => of.vocabularyUtilization, shown: percent },
  { name: "Rényi entropy (α = 2)", best: null, value: (of) => of.renyi[0]!.entropy, shown: decimal(3) },
  { name: "Rényi entropy (α = 2.5)", best: null, value: (of) => of.renyi[1]!.entropy, shown: decimal(3) },
  {
    name: "Rényi efficiency (α = 2)",
    best: "most",
    value: (of) => of.renyi[0]!.efficiency,
    shown: decimal(4),
  },
  {
    name: "Rényi efficiency (α = 2.5)",
    best: "most",
    value: (of) => of.renyi[1]!.efficiency,
    shown: decimal(4),
  },
  { name: "not UTF-8", best: "least", value: (of) => of.notUtf8Share, shown: percent },
  { name: "mixed characters", best: "least", value: (of) => of.mixedTokens, shown: grouped },
  {
    name: "tokens per digit group",
    best: "least",
    value: (of) => of.numbers?.tokensPerDigitGroup ?? null,
    shown: decimal(3),
  },
  { name: "digit alignment", best: "most", value: (of) => of.numbers?.alignment ?? null, shown: decimal(3) },
  {
    name: "numbers from the right",
    best: "most",
    value: (of) => of.numbers?.fromRightShare ?? null,
    shown: percent,
  },
  {
    name: "numbers from the left",
    best: null,
    value: (of) => of.numbers?.fromLeftShare ?? null,
    shown: percent,
  },
];

const parityRows: readonly RowOf<Parity>[] = [
  { name: "Gini of fertility", best: "least", value: (of) => of.giniFertility, shown: decimal(4) },
  { name: "Gini of tokens per byte", best: "least", value: (of) => of.giniBytes, shown: decimal(4) },
  { name: "cheapest per word", best: null, value: (of) => of.cheapestText, shown: String },
  { name: "costliest per word", best: null, value: (of) => of.dearestText, shown: String },
  { name: "costliest divided by cheapest", best: "least", value: (of) => of.costRatio, shown: decimal(2) },
  { name: "cheapest per byte", best: null, value: (of) => of.cheapestTextByBytes, shown: String },
  { name: "costliest per byte", best: null, value: (of) => of.dearestTextByBytes, shown: String },
  {
    name: "costliest divided by cheapest",
    best: "least",
    value: (of) => of.costRatioByBytes,
    shown: decimal(2),
  },
  {
    name: "Gini of tokens per character",
    best: "least",
    value: (of) => of.giniCharacters,
    shown: decimal(4),
  },
  { name: "cheapest per character", best: null, value: (of) => of.cheapestTextByCharacters, shown: String },
  { name: "costliest per character", best: null, value: (of) => of.dearestTextByCharacters, shown: String },
  {
    name: "costliest divided by cheapest",
    best: "least",
    value: (of) => of.costRatioByCharacters,
    shown: decimal(2),
  },
  { name: "Gini of tokens", best: "least", value: (of) => of.giniTokens, shown: decimal(4) },
  { name: "cheapest, if parallel", best: null, value: (of) => of.cheapestTextByTokens, shown: String },
  { name: "costliest, if parallel", best: null, value: (of) => of.dearestTextByTokens, shown: String },
  {
    name: "costliest divided by cheapest",
    best: "least",
    value: (of) => of.costRatioByTokens,
    shown: decimal(2),
  },
];

const vocabularyRows: readonly RowOf<TokenizerResult>[] = [
  { name: "tokens", best: null, value: (of) => of.vocabularySize, shown: grouped },
  { name: "not UTF-8", best: "least", value: (of) => of.notUtf8InVocabulary, shown: grouped },
  { name: "mixed characters", best: "least", value: (of) => of.mixedInVocabulary, shown: grouped },
];

/** Two rows for each term. */
const termRows = ([first]: readonly TokenizerResult[]): RowOf<TokenizerResult>[] =>
  first!.terms.flatMap(({ term }, i) => {
    const name = term.length > shownTermMax ? `${term.slice(0, shownTermMax)}…` : term;
    return [
      { name, best: "least", value: (of) => of.terms[i]!.tokens, shown: grouped },
      {
        name: `${name}, behind a space`,
        best: "least",
        value: (of) => of.terms[i]!.tokensBehindSpace,
        shown: grouped,
      },
    ];
  });

const shownTermMax = 40;

/** The measures of one text. */
export const textTable = ({ texts, tokenizers }: Evaluation, i: number): ComparisonTable =>
  tableOf(
    texts[i]!.name,
    tokenizers.map((tokenizer) => tokenizer.texts[i]!),
    measureRows,
  );

/** What is said of all texts together, of the vocabularies and of the terms. */
export function overallTables({ texts, tokenizers }: Evaluation): ComparisonTable[] {
  const overall = tokenizers.map((tokenizer) => tokenizer.overall);
  const parities = tokenizers.flatMap(({ parity }) => parity ?? []);
  const tables = [
    tableOf("all texts", texts.length > 1 ? overall : [], measureRows),
    tableOf("parity of the texts", parities, parityRows),
    tableOf("vocabularies", tokenizers, vocabularyRows),
    tableOf("tokens of terms", tokenizers, termRows(tokenizers)),
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

/** Names and values are for people to escape where they are shown. Rows without any value are left out. */
const tableOf = <T>(title: string, values: readonly T[], rows: readonly RowOf<T>[]): ComparisonTable => ({
  title,
  rows: rows
    .filter(({ value }) => values.some((of) => value(of) !== null))
    .map((row) => ({
      name: row.name,
      cells: values.map((of) => cellText(row, of)),
      bests: bestOf(row, values),
    })),
});

function cellText<T>({ value, shown }: RowOf<T>, of: T): string {
  const found = value(of);
  return found === null ? "-" : typeof found === "string" ? found : shown(found);
}

/** The columns with the best value of a row; none if all are equal. */
function bestOf<T>({ best, value }: RowOf<T>, values: readonly T[]): Set<number> {
  const numbers = values.map((of) => value(of)).map((found) => (typeof found === "number" ? found : null));
  const known = numbers.filter((number) => number !== null);
  if (best === null || new Set(known).size < 2) return new Set();
  const wanted = best === "least" ? Math.min(...known) : Math.max(...known);
  return new Set(numbers.flatMap((number, t) => (number === wanted ? [t] : [])));
}
