import { escapeText } from "../bytes/escape.ts";
import type { Evaluation, Measures, TextMeasures, TokenizerResult } from "../evaluation/evaluation.ts";
import { type Line, type Piece, piece } from "./terminal.ts";
import { bytes, grouped } from "./units.ts";

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
  { name: "tokens", best: "least", value: ({ tokens }) => tokens, shown: grouped },
  { name: "bytes per token", best: "most", value: ({ bytesPerToken }) => bytesPerToken, shown: decimal(3) },
  {
    name: "characters per token",
    best: "most",
    value: ({ charactersPerToken }) => charactersPerToken,
    shown: decimal(3),
  },
  { name: "words per token", best: "most", value: ({ wordsPerToken }) => wordsPerToken, shown: decimal(3) },
  { name: "fertility", best: "least", value: ({ fertility }) => fertility, shown: decimal(3) },
  {
    name: "words of one token",
    best: "most",
    value: ({ singleTokenShare }) => singleTokenShare,
    shown: percent,
  },
  { name: "words continued", best: "least", value: ({ continuedShare }) => continuedShare, shown: percent },
  { name: "tokens used", best: null, value: ({ usedTokens }) => usedTokens, shown: grouped },
  {
    name: "vocabulary used",
    best: "most",
    value: ({ vocabularyUtilization }) => vocabularyUtilization,
    shown: percent,
  },
  { name: "Rényi entropy 2", best: null, value: ({ renyi }) => renyi[0]!.entropy, shown: decimal(3) },
  { name: "Rényi entropy 2.5", best: null, value: ({ renyi }) => renyi[1]!.entropy, shown: decimal(3) },
  { name: "Rényi efficiency 2", best: "most", value: ({ renyi }) => renyi[0]!.efficiency, shown: decimal(4) },
  {
    name: "Rényi efficiency 2.5",
    best: "most",
    value: ({ renyi }) => renyi[1]!.efficiency,
    shown: decimal(4),
  },
  { name: "not UTF-8", best: "least", value: ({ notUtf8Share }) => notUtf8Share, shown: percent },
];

const parityRows: readonly RowOf<TokenizerResult>[] = [
  {
    name: "Gini of fertility",
    best: "least",
    value: ({ parity }) => parity!.giniFertility,
    shown: decimal(4),
  },
  {
    name: "Gini of tokens per byte",
    best: "least",
    value: ({ parity }) => parity!.giniBytes,
    shown: decimal(4),
  },
  { name: "cheapest by word", best: null, value: ({ parity }) => parity!.cheapestText, shown: String },
  { name: "dearest by word", best: null, value: ({ parity }) => parity!.dearestText, shown: String },
  { name: "dearest by cheapest", best: "least", value: ({ parity }) => parity!.costRatio, shown: decimal(2) },
  { name: "cheapest by byte", best: null, value: ({ parity }) => parity!.cheapestTextByBytes, shown: String },
  { name: "dearest by byte", best: null, value: ({ parity }) => parity!.dearestTextByBytes, shown: String },
  {
    name: "dearest by cheapest",
    best: "least",
    value: ({ parity }) => parity!.costRatioByBytes,
    shown: decimal(2),
  },
];

/** The result for people: a table for each text, with a column for each tokenizer; the best of a row in bold. */
export function evaluationTable({ texts, tokenizers }: Evaluation, columns: number): Line[] {
  // As they are shown, which their widths depend on.
  const names = tokenizers.map(({ name }) => escapeText(name));
  const lines: Line[] = [];
  for (const [i, { name, bytes: size, characters, words, distinctWords }] of texts.entries()) {
    const title = `${name}: ${bytes(size)}, ${grouped(characters)} characters, ${grouped(words)} words, ${grouped(distinctWords)} of them distinct`;
    const measured = tokenizers.map((tokenizer) => tokenizer.texts[i]!);
    lines.push(title, ...tableLines(names, measured, measureRows, columns));
    for (const [t, measures] of measured.entries()) lines.push(...dearestLines(names[t]!, measures, columns));
    lines.push("");
  }
  if (texts.length > 1) {
    const overall = tokenizers.map((tokenizer) => tokenizer.overall);
    lines.push("all texts", ...tableLines(names, overall, measureRows, columns));
    if (tokenizers.every(({ parity }) => parity !== null)) {
      lines.push("", "parity of the texts", ...tableLines(names, tokenizers, parityRows, columns));
    }
    lines.push("");
  }
  return lines.slice(0, -1);
}

const gap = 2;

/** A table of as many columns as fit, and one more table for those that do not. */
function tableLines<T>(
  names: readonly string[],
  values: readonly T[],
  rows: readonly RowOf<T>[],
  columns: number,
): Line[] {
  const cells = rows.map(({ value, shown }) =>
    values.map((of) => {
      const found = value(of);
      return found === null ? "-" : typeof found === "string" ? escapeText(found) : shown(found);
    }),
  );
  const bests = rows.map((row) => bestOf(row, values));
  const headWidth = Math.max(...rows.map(({ name }) => name.length));
  const widths = names.map((name, t) => Math.max(name.length, ...cells.map((row) => row[t]!.length)));
  const lines: Line[] = [];
  for (let first = 0; first < names.length; ) {
    let end = first + 1;
    let width = headWidth + gap + widths[first]!;
    while (end < names.length && width + gap + widths[end]! <= columns) width += gap + widths[end++]!;
    const shownColumns = Array.from({ length: end - first }, (_, i) => first + i);
    const line = (head: string, cells: readonly string[], best: ReadonlySet<number>): Piece[] => [
      head.padEnd(headWidth),
      ...shownColumns.flatMap((t) => {
        const blank = " ".repeat(gap + widths[t]! - cells[t]!.length);
        return [blank, best.has(t) ? piece("bold", cells[t]!) : cells[t]!];
      }),
    ];
    if (first > 0) lines.push("");
    lines.push(line("", names, new Set()));
    for (const [r, { name }] of rows.entries()) lines.push(line(name, cells[r]!, bests[r]!));
    first = end;
  }
  return lines;
}

/** The columns with the best value of a row; none if all are equal. */
function bestOf<T>({ best, value }: RowOf<T>, values: readonly T[]): Set<number> {
  const numbers = values.map((of) => value(of)).map((found) => (typeof found === "number" ? found : null));
  const known = numbers.filter((number) => number !== null);
  if (best === null || new Set(known).size < 2) return new Set();
  const wanted = best === "least" ? Math.min(...known) : Math.max(...known);
  return new Set(numbers.flatMap((number, t) => (number === wanted ? [t] : [])));
}

const shownPiecesMax = 8;

/** The dearest words of a text: how often each occurs, and its tokens. */
function dearestLines(name: string, { dearestWords }: TextMeasures, columns: number): string[] {
  if (dearestWords.length === 0) return [];
  const items = dearestWords.map(({ word, count, pieces }) => {
    const shown = pieces.slice(0, shownPiecesMax).join("|").trimStart();
    // Pieces of characters do not show the word.
    const whole = pieces.some((piece) => piece.includes("\\x")) ? `${escapeText(word)} = ` : "";
    return `${grouped(count)} x ${whole}${shown}${pieces.length > shownPiecesMax ? "|…" : ""}`;
  });
  const lines = [`dearest words of ${name}:`];
  let line = "";
  for (const [i, item] of items.entries()) {
    const text = i < items.length - 1 ? `${item},` : item;
    if (line !== "" && gap + line.length + 1 + text.length > columns) {
      lines.push(" ".repeat(gap) + line);
      line = "";
    }
    line = line === "" ? text : `${line} ${text}`;
  }
  return [...lines, " ".repeat(gap) + line];
}
