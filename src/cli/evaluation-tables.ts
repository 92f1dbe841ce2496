import type { Evaluation } from "../evaluation/evaluation.ts";
import {
  bestOf,
  type CostParity,
  type Measure,
  type Parity,
  parityCosts,
  parityMeasures,
  shownValue,
  termMeasures,
  textMeasures,
  vocabularyMeasures,
} from "../evaluation/measures.ts";
import type { ComparisonTable } from "../report/report-data.ts";

// The tables of an evaluation with a column for each tokenizer: in a terminal and in the report.

type Row = ComparisonTable["rows"][number];

/** The measures of one text. */
export const textTable = ({ texts, tokenizers }: Evaluation, i: number): ComparisonTable => ({
  title: texts[i]!.name,
  rows: measureRows(
    textMeasures,
    tokenizers.map((tokenizer) => tokenizer.texts[i]!),
  ),
});

/** What is said of all texts together, of the vocabularies and of the terms. */
export function overallTables({ texts, tokenizers }: Evaluation): ComparisonTable[] {
  const overall = tokenizers.map((tokenizer) => tokenizer.overall);
  const parities = tokenizers.flatMap(({ parity }) => parity ?? []);
  const terms = tokenizers[0]!.terms.flatMap(({ term }, i): Row[] => {
    const name = term.length > shownTermMax ? `${term.slice(0, shownTermMax)}…` : term;
    return termMeasures.map((measure, m) => ({
      ...rowOf(
        measure,
        tokenizers.map((tokenizer) => tokenizer.terms[i]!),
      ),
      name: m === 0 ? name : `${name}, behind a space`,
    }));
  });
  const tables = [
    { title: "all texts", rows: texts.length > 1 ? measureRows(textMeasures, overall) : [] },
    { title: "parity of the texts", rows: parities.length > 0 ? parityRows(parities) : [] },
    { title: "vocabularies", rows: measureRows(vocabularyMeasures, tokenizers) },
    { title: "tokens of terms", rows: terms },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

const shownTermMax = 40;

function parityRows(parities: readonly Parity[]): Row[] {
  return parityCosts.flatMap(({ name, of }) => {
    const costs = parities.map(of);
    const text = (what: string, textOf: (cost: CostParity) => string): Row => ({
      name: `${what} text, ${name}`,
      cells: costs.map(textOf),
      bests: new Set(),
    });
    return [
      ...measureRows(parityMeasures, costs).map((row) => ({ ...row, name: `${row.name}, ${name}` })),
      text("cheapest", ({ cheapestText }) => cheapestText),
      text("costliest", ({ costliestText }) => costliestText),
    ];
  });
}

/** A row for each measure that has a value. Names and values are for people to escape where they are shown. */
const measureRows = <Of>(measures: readonly Measure<Of>[], results: readonly Of[]): Row[] =>
  measures
    .filter(({ value }) => results.some((of) => value(of) !== null))
    .map((measure) => rowOf(measure, results));

const rowOf = <Of>(measure: Measure<Of>, results: readonly Of[]): Row => ({
  name: measure.name,
  cells: results.map((of) => shownValue(measure, of)),
  bests: bestOf(measure, results.map(measure.value)),
});
