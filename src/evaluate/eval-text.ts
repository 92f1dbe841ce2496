import { escapeText, formatBytes, groupDigits, spacesWithSigns } from "#bytes";
import { type evaluations, measures } from "#evaluation";
import { styling, summaryRows } from "#terminal";
import {
  type Axis,
  flowedLines,
  type Grid,
  gridLines,
  headsOf,
  markText,
  namedLines,
  shortAxis,
  shortenName,
  splitLines,
  tableWithItemRows,
} from "./grid.ts";
import { shownWords } from "./shown-words.ts";

// The result of `bpe eval` for people to read.

/** The requested tables. */
export type EvaluationView = {
  /** The values of `--measure`, or the default ones. */
  readonly measures: readonly string[];
  /** The number of costliest words for each tokenizer and text. */
  readonly wordCount: number;
};

/** The name of the column, or row, for all texts together. */
export const allTexts = "(all)";

export function evaluationLines(
  evaluation: evaluations.Evaluation,
  view: EvaluationView,
  columns: number,
): styling.Line[] {
  const { texts, tokenizers } = evaluation;
  const isAll = view.measures.includes("all");
  const chosen = isAll
    ? measures.ofText.filter(
        (measure) =>
          !measures.repeatsAnother(measure) &&
          tokenizers.some(({ overall }) => measure.value(overall) !== null),
      )
    : view.measures.flatMap((name) => measures.ofText.find(({ key }) => key === name) ?? []);
  const flat = chosen.length > 1 ? flatSection(evaluation, chosen, isAll, columns) : undefined;
  const isAsked = (table: string) => (isAll ? flat === undefined : view.measures.includes(table));
  const sections = [
    ...(isAsked("texts") ? [textsSection(evaluation, columns)] : []),
    ...(flat === undefined ? measureSections(evaluation, chosen, columns) : [flat]),
    ...(isAsked("parity") && texts.length > 1 ? paritySections(evaluation, columns) : []),
    ...(isAsked("vocabulary") ? [vocabularySection(evaluation, columns)] : []),
    ...(isAsked("model") && evaluation.model !== null ? [modelSection(evaluation, columns)] : []),
    ...termSections(evaluation, columns),
    ...(view.wordCount > 0 ? wordSections(evaluation, view.wordCount, columns) : []),
  ];
  return sections.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

/** Formats a heading. It starts with a name, which is highlighted if it fits into the first line. */
function headLines(name: string, text: string, columns: number): styling.Line[] {
  const [first = "", ...rest] = Bun.wrapAnsi(escapeText(`${name}: ${text}`), columns).split("\n");
  return [first.startsWith(name) ? [styling.piece("bold", name), first.slice(name.length)] : first, ...rest];
}

/** States which values are better, and explains the mark of the best ones. */
function directionOf({ better }: Pick<measures.Measure<never>, "better">, grid: Grid): string {
  if (better === null) return "Neither higher nor lower is better.";
  return `${better === "higher" ? "Higher" : "Lower"} is better${markText(grid)}.`;
}

const tokenizersOf = ({ tokenizers }: evaluations.Evaluation) => ({
  noun: "tokenizers",
  names: tokenizers.map(({ name }) => name),
});

/** Makes a grid with the value of a measure for each tokenizer and item. `of` returns the object that has the value. */
function measureGrid<Of>(
  evaluation: evaluations.Evaluation,
  items: Grid["items"],
  measure: measures.Measure<Of>,
  of: (tokenizer: evaluations.Evaluation["tokenizers"][number], item: number) => Of,
): Grid {
  const rows = headsOf(items).map((_, item) =>
    flatRow(
      measure,
      evaluation.tokenizers.map((tokenizer) => of(tokenizer, item)),
    ),
  );
  return { ...flatGrid(tokenizersOf(evaluation), rows, true), items };
}

function measureSection<Of>(measure: measures.Measure<Of>, grid: Grid, columns: number): styling.Line[] {
  const text = `${measure.formula}. ${directionOf(measure, grid)}`;
  return [...headLines(measure.name, text, columns), ...gridLines(grid, columns)];
}

/** Formats a table for each measure. */
function measureSections(
  evaluation: evaluations.Evaluation,
  measures: readonly measures.Measure<measures.Measures>[],
  columns: number,
): styling.Line[][] {
  return measures.map((measure) =>
    measureSection(measure, measureGrid(evaluation, textsOf(evaluation), measure, measuresOf), columns),
  );
}

const textsOf = ({ texts }: evaluations.Evaluation): Grid["items"] => {
  const axis = { noun: "texts", names: texts.map(({ name }) => name) };
  return texts.length > 1 ? { ...axis, sum: allTexts } : axis;
};

const measuresOf = (
  { texts, overall }: evaluations.Evaluation["tokenizers"][number],
  text: number,
): measures.Measures => texts[text] ?? overall;

/** The row of a measure, with a column for each tokenizer or text. */
type FlatRow = Pick<measures.Measure<never>, "name" | "better"> & {
  readonly cells: readonly string[];
  readonly bests: ReadonlySet<number>;
};

/**
 * Formats one table with a row for each measure. Its columns are the tokenizers or, for one tokenizer on several texts,
 * the texts. Returns undefined if `columns` is less than `flatColumnsLeast`. Unless all measures are requested
 * (`isAll`), also returns undefined for several tokenizers on several texts, or if the tokenizers do not fit side by
 * side.
 */
function flatSection(
  evaluation: evaluations.Evaluation,
  measures: readonly measures.Measure<measures.Measures>[],
  isAll: boolean,
  columns: number,
): styling.Line[] | undefined {
  const { texts, tokenizers } = evaluation;
  const isByText = texts.length > 1 && tokenizers.length === 1;
  if ((texts.length > 1 && !isByText && !isAll) || columns < flatColumnsLeast) return undefined;
  const [first] = tokenizers;
  const results = isByText
    ? [...first!.texts, first!.overall]
    : tokenizers.map(({ texts: [only, ...others], overall }) => (others.length === 0 ? only! : overall));
  const rows = measures.map((measure) => flatRow(measure, results));
  // The rows of `rowsOfTokenizers` have no values for single texts. If columns are texts, these rows fill only the last
  // column, for all texts together.
  if (isAll)
    for (const row of rowsOfTokenizers(evaluation))
      rows.push(isByText ? { ...row, cells: [...texts.map(() => "-"), ...row.cells] } : row);
  const subjects = isByText ? textsOf(evaluation) : tokenizersOf(evaluation);
  const heads = rows.map((row) => headOf(rows, row));
  const grid = flatGrid(subjects, rows, !isByText, heads);
  const corner = headOf(rows, { name: "", better: "better" });
  const table = { ...tableWithItemRows(grid), corner };
  const fitted = isByText ? splitLines(table, columns) : namedLines(table, columns);
  if (fitted === undefined && !isAll) return undefined;
  // If the table does not fit, `gridLines` chooses another layout, e.g. with numbers in place of tokenizers' names.
  const named = rows.map(({ name, better }) => (better === null ? name : `${name} (${better})`));
  const lines = fitted ?? gridLines({ ...grid, items: { noun: "measures", names: named } }, columns);
  const marked = markText(grid);
  const about = isByText
    ? headLines(escapeText(first!.name), "its measures on each text.", columns)
    : texts.length === 1
      ? headLines(escapeText(texts[0]!.name), `${sizesOf(texts[0]!)}${marked}.`, columns)
      : headLines(
          "all texts together",
          `${sumText(sumOfTexts(texts))}${marked}. --measure NAME prints each text.`,
          columns,
        );
  return [...about, ...lines];
}

const flatRow = <Of>(
  measure: measures.Measure<Of>,
  results: readonly Of[],
  name = measure.name,
): FlatRow => ({
  name,
  better: measure.better,
  cells: results.map((result) => measures.shownValue(measure, result)),
  bests: measures.bestOf(measure, results.map(measure.value)),
});

function rowsOfTokenizers({ texts, tokenizers }: evaluations.Evaluation): FlatRow[] {
  const compared = texts.length > 1 ? measures.costsOf(texts) : [];
  const ofParity = compared.flatMap((cost) =>
    measures.ofParity.map((measure) => {
      const results = tokenizers.map(({ parity }) => cost.of(parity!));
      return flatRow(measure, results, `${measure.name} ${cost.name}`);
    }),
  );
  const ofVocabulary = measures.ofVocabulary.map((measure) =>
    flatRow(measure, tokenizers, `vocabulary, ${measure.name}`),
  );
  const costs = tokenizers.flatMap(({ modelCost }) => modelCost ?? []);
  const ofModel = costs.length === 0 ? [] : measures.ofModel.map((measure) => flatRow(measure, costs));
  return [...ofParity, ...ofVocabulary, ...ofModel];
}

/**
 * Makes a grid of rows, by default named after their measures. `areCompared` says whether best values are marked, which
 * makes no sense if the subjects are texts.
 */
const flatGrid = (
  subjects: Axis,
  rows: readonly FlatRow[],
  areCompared: boolean,
  names = rows.map(({ name }) => name),
): Grid => ({
  subjects,
  items: { noun: "measures", names },
  cells: rows.map(({ cells }) => cells),
  ...(areCompared && { bests: rows.map(({ bests }) => bests) }),
});

/** Formats the name of a measure, and in a second column which values are better. */
function headOf(rows: readonly FlatRow[], { name, better }: { name: string; better: string | null }): string {
  const width = Math.max(...rows.map((row) => summaryRows.shownWidth(row.name)));
  return `${name}${" ".repeat(width - summaryRows.shownWidth(name) + 2)}${better ?? "-"}`;
}

const sizesOf = (text: evaluations.TextFacts) =>
  `${sumText(text)}, ${groupDigits(text.distinctWords)} distinct`;

export function sumOfTexts(texts: readonly evaluations.TextFacts[]) {
  const sum = (field: "bytes" | "characters" | "words") =>
    texts.reduce((total, text) => total + text[field], 0);
  return { bytes: sum("bytes"), characters: sum("characters"), words: sum("words") };
}

const sumText = ({ bytes: size, characters, words }: ReturnType<typeof sumOfTexts>) =>
  `${formatBytes(size)}, ${groupDigits(characters)} characters, ${groupDigits(words)} words`;

/**
 * The minimum width of a terminal for the table of `flatSection`. The table has the names of measures, a column that
 * says which values are better, and at least one column of numbers.
 */
const flatColumnsLeast = 60;

/** Formats a table of facts about the texts. */
function textsSection({ texts }: evaluations.Evaluation, columns: number): styling.Line[] {
  const facts = texts.map(({ bytes: size, characters, words, distinctWords }) => [
    formatBytes(size),
    ...[characters, words, distinctWords].map(groupDigits),
  ]);
  const names = ["size", "characters", "words", "distinct words"];
  const grid = {
    subjects: { noun: "texts", names: texts.map(({ name }) => name) },
    items: { noun: "facts", names },
    cells: names.map((_, fact) => facts.map((of) => of[fact]!)),
  };
  return [...headLines("texts", "the size of each.", columns), ...gridLines(grid, columns)];
}

/** Formats the tables of parity. In each of them, the items are the kinds of cost. */
function paritySections(evaluation: evaluations.Evaluation, columns: number): styling.Line[][] {
  const items = { noun: "costs", names: measures.parityCosts.map(({ name }) => name) };
  const costOf = ({ parity }: evaluations.Evaluation["tokenizers"][number], cost: number) =>
    parity && measures.parityCosts[cost]!.of(parity);
  const measured = measures.ofParity.map(({ value, ...measure }) => {
    const orNone: measures.Measure<measures.CostParity | null> = {
      ...measure,
      value: (of) => of && value(of),
    };
    const named = { ...orNone, name: `parity, ${measure.name}` };
    return measureSection(named, measureGrid(evaluation, items, orNone, costOf), columns);
  });
  const typed = evaluation.texts.map(({ name }) => name);
  const short = shortAxis({ noun: "texts", names: typed.map(escapeText) }, parityTextColumns);
  const nameOf = new Map(typed.map((name, i) => [name, short.names[i]!]));
  const textGrid = (textOf: (cost: measures.CostParity) => string): Grid => ({
    subjects: tokenizersOf(evaluation),
    items,
    cells: items.names.map((_, cost) =>
      evaluation.tokenizers.map((tokenizer) => {
        const of = costOf(tokenizer, cost);
        return of === null ? "-" : nameOf.get(textOf(of))!;
      }),
    ),
  });
  const texts = [
    [
      "parity, cheapest text",
      "the text with the fewest tokens",
      (of: measures.CostParity) => of.cheapestText,
    ],
    [
      "parity, costliest text",
      "the text with the most tokens",
      (of: measures.CostParity) => of.costliestText,
    ],
  ] as const;
  return [
    ...measured,
    ...texts.map(([name, text, textOf]) => [
      ...headLines(name, `${text}.`, columns),
      ...flowedLines(short.legend ?? [], columns),
      ...gridLines(textGrid(textOf), columns),
    ]),
  ];
}

const parityTextColumns = 16;

function vocabularySection(evaluation: evaluations.Evaluation, columns: number): styling.Line[] {
  const { tokenizers } = evaluation;
  const rows = measures.ofVocabulary.map((measure) => flatRow(measure, tokenizers));
  const grid = flatGrid(tokenizersOf(evaluation), rows, true);
  const text = `tokens; those that are not whole characters; and those that join parts of several. For the last two, lower is better${markText(grid)}.`;
  return [...headLines("vocabulary", text, columns), ...gridLines(grid, columns)];
}

/** Formats a table of the costs of a model. */
function modelSection(evaluation: evaluations.Evaluation, columns: number): styling.Line[] {
  const costs = evaluation.tokenizers.map(({ modelCost }) => modelCost!);
  const rows = measures.ofModel.map((measure) => flatRow(measure, costs));
  const grid = flatGrid(tokenizersOf(evaluation), rows, false);
  const { d, layers, context } = evaluation.model!;
  const text = `${groupDigits(layers)} layers of width ${groupDigits(d)}, a context of ${groupDigits(context)} tokens.`;
  return [...headLines("model", text, columns), ...gridLines(grid, columns)];
}

function termSections(evaluation: evaluations.Evaluation, columns: number): styling.Line[][] {
  const [first] = evaluation.tokenizers;
  const items = { noun: "terms", names: first!.terms.map(({ term }) => term) };
  if (items.names.length === 0) return [];
  return measures.ofTerms.map((measure) => {
    const grid = measureGrid(evaluation, items, measure, ({ terms }, term) => terms[term]!);
    return measureSection(measure, grid, columns);
  });
}

/** Signs to put between pieces: the first one that no piece contains, or else the very first. */
const borders = ["·", "|", "¦", "‖"];

/** Formats the first pieces of a word. */
export function piecesText(pieces: readonly string[], shownMax: number): string {
  const border = borders.find((sign) => !pieces.some((piece) => piece.includes(sign))) ?? borders[0]!;
  const shown = pieces.length > shownMax ? [...pieces.slice(0, shownMax), "…"] : pieces;
  return spacesWithSigns(shown.join(border));
}

const shownPiecesMax = 8;
const indent = 2;

/** Formats the costliest words of each tokenizer, for each text. */
function wordSections(
  { texts, tokenizers }: evaluations.Evaluation,
  wordCount: number,
  columns: number,
): styling.Line[][] {
  return texts.map(({ name }, i) => [
    ...headLines(`costliest words of ${escapeText(name)}`, "how often each occurs, and its tokens.", columns),
    ...tokenizers.flatMap(({ name: tokenizer, texts }) => {
      const items = shownWords(texts[i]!.costliestWords, wordCount).map((word) =>
        shortenName(wordText(word), columns - indent - 1),
      );
      const flowed =
        items.length === 0 ? ["none: no word has more than one token"] : flowedLines(items, columns - indent);
      return [`${tokenizer}:`, ...flowed.map((line) => " ".repeat(indent) + line)];
    }),
  ]);
}

function wordText({ word, count, pieces }: evaluations.CostliestWord): string {
  // Pieces with escaped bytes, such as parts of characters, do not show the word, so the whole word is printed first.
  const whole = pieces.some((piece) => piece.includes("\\x")) ? `${escapeText(word)} = ` : "";
  return `${groupDigits(count)} x ${whole}${piecesText(pieces, shownPiecesMax).trimStart()}`;
}
