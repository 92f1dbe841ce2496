import { escapeText } from "#bytes";
import { styling, summaryRows } from "#terminal";

/** Values of subjects (such as tokenizers) on items (such as texts), for display on a terminal. */
export type Grid = {
  readonly subjects: Axis;
  readonly items: Axis;
  /** The value of a subject on an item: `cells[item][subject]`. */
  readonly cells: readonly (readonly string[])[];
  /** The subjects with the best value, for each item. If left out, no value is marked. */
  readonly bests?: readonly ReadonlySet<number>[];
};

/** The names of subjects or items. `noun` says what they name, in the plural. */
export type Axis = {
  readonly noun: string;
  readonly names: readonly string[];
  /** The name of a last column or row for all of these together. It is never shortened. */
  readonly sum?: string;
};

/** The mark that follows a best value. */
const bestMark = "*";

/** Returns a legend for the mark, if any cell has it. */
export const markText = ({ bests = [] }: Pick<Grid, "bests">) =>
  bests.some(({ size }) => size > 0) ? `; ${bestMark} marks the best` : "";

/** The space between two columns, including the mark of the left one. */
const gap = 2;
/** Names are not shortened to fewer columns than this, because little would be left. They become numbers instead. */
const nameColumnsLeast = 8;
/** The maximum width of the names above columns, if the columns are split into several tables. */
const splitNameColumns = 12;
const ellipsis = "…";

/**
 * Returns a table that is at most `columns` columns of the screen wide, in the first of these layouts that fits:
 *
 *   1. subjects are rows
 *   2. items are rows
 *   3. layouts 1 and 2, with the middle of long names left out
 *   4. items are rows, and subjects are numbers that a legend explains
 *   5. layout 4, with names of items shortened, or also numbers
 *
 * If none fits, returns several tables, each with all subjects.
 */
export function gridLines(grid: Grid, columns: number): styling.Line[] {
  const upright = tableWithSubjectRows(grid);
  const turned = tableWithItemRows(grid);
  const turnedByNumber = { ...turned, columns: numberNames(turned.columns) };
  const whole = Number.POSITIVE_INFINITY;
  const placed =
    fitNames(upright, columns, whole) ??
    fitNames(turned, columns, whole) ??
    withoutNumbers(narrow(upright, columns)) ??
    withoutNumbers(narrow(turned, columns)) ??
    fitNames(turnedByNumber, columns, whole) ??
    narrow(turnedByNumber, columns);
  if (placed !== undefined) return [...legendLines(placed, columns), ...blockLines(placed)];
  const rowColumns = Math.max(nameColumnsLeast, Math.floor(columns / 3));
  return splitLines({ ...upright, rows: shortAxis(upright.rows, rowColumns) }, columns);
}

/** The legend of names that became numbers. */
type Heads = { readonly legend?: readonly string[] };

/** A table whose names and cells are escaped, so that their widths are those on the screen. */
export type Table = {
  readonly rows: Axis & Heads;
  readonly columns: Axis & Heads;
  /** The text in a cell: `cells[row][column]`. */
  readonly cells: readonly (readonly Cell[])[];
  /** The width on the screen of the widest cell of each column. */
  readonly cellWidths: readonly number[];
  /** Text above the names of the rows. If there is one, the names of the rows are not shortened. */
  readonly corner?: string;
};

type Cell = { readonly text: string; readonly isBest: boolean };

function tableOf(rows: Axis, columns: Axis, cellAt: (row: number, column: number) => Cell): Table {
  const cells = headsOf(rows).map((_, row) => headsOf(columns).map((_, column) => cellAt(row, column)));
  const cellWidths = headsOf(columns).map((_, column) => widest(cells.map((row) => row[column]!.text)));
  return { rows: escapedAxis(rows), columns: escapedAxis(columns), cells, cellWidths };
}

const escapedAxis = (axis: Axis): Axis => ({ ...axis, names: axis.names.map(escapeText) });

/** Makes a table whose rows are the subjects. */
const tableWithSubjectRows = ({ subjects, items, cells, bests }: Grid): Table =>
  tableOf(subjects, items, (row, column) => ({
    text: escapeText(cells[column]![row]!),
    isBest: bests?.[column]?.has(row) ?? false,
  }));

/** Makes a table whose rows are the items. */
export const tableWithItemRows = ({ subjects, items, cells, bests }: Grid): Table =>
  tableOf(items, subjects, (row, column) => ({
    text: escapeText(cells[row]![column]!),
    isBest: bests?.[row]?.has(column) ?? false,
  }));

/**
 * Shortens names to `nameColumns` columns, and then gives the space that is left to the names of rows. Returns
 * undefined if the table is still too wide.
 */
function fitNames(table: Table, columns: number, nameColumns: number): Table | undefined {
  const shortRows = (width: number) =>
    table.corner === undefined ? shortAxis(table.rows, width) : table.rows;
  const short = { ...table, rows: shortRows(nameColumns), columns: shortAxis(table.columns, nameColumns) };
  const leftOver = columns - widthOf(short);
  if (leftOver < 0) return undefined;
  return { ...short, rows: shortRows(widest(headsOf(short.rows)) + leftOver) };
}

/** Returns the table, unless any of its names became a number. */
const withoutNumbers = (table: Table | undefined) =>
  table?.rows.legend === undefined && table?.columns.legend === undefined ? table : undefined;

/** Returns the table with the longest names with which it fits; undefined if it does not fit at all. */
function narrow(table: Table, columns: number): Table | undefined {
  for (let nameColumns = columns; nameColumns >= nameColumnsLeast; nameColumns--) {
    const found = fitNames(table, columns, nameColumns);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Leaves out the middle of long names. If this would make names equal, their common prefix and suffix are replaced by
 * ellipses before they are shortened. If some are still equal, all names become numbers.
 */
export function shortAxis(axis: Axis & Heads, columns: number): Axis & Heads {
  if (axis.names.every((name) => summaryRows.shownWidth(name) <= columns)) return axis;
  const short = new Map(axis.names.map((name) => [name, shortenName(name, columns)]));
  for (const alike of Map.groupBy(short.keys(), (name) => short.get(name)!).values()) {
    if (alike.length === 1) continue;
    for (const [i, own] of removeCommonAffixes(alike).entries())
      short.set(alike[i]!, shortenName(own, columns));
  }
  if (new Set(short.values()).size < short.size) return numberNames(axis);
  return { ...axis, names: axis.names.map((name) => short.get(name)!) };
}

/** Replaces the common prefix and the common suffix of names by an ellipsis each. */
function removeCommonAffixes(names: readonly string[]): string[] {
  const all = names.map(charactersOf);
  const least = Math.min(...all.map(({ length }) => length));
  const areEqual = (at: number) => all.every((characters) => characters.at(at) === all[0]!.at(at));
  let begin = 0;
  while (begin < least && areEqual(begin)) begin++;
  let end = 0;
  while (begin + end < least && areEqual(-1 - end)) end++;
  return all.map((characters) => {
    const own = characters.slice(begin, characters.length - end).join("");
    return `${begin > 0 ? ellipsis : ""}${own}${end > 0 ? ellipsis : ""}`;
  });
}

const numberNames = (axis: Axis): Axis & Heads => ({
  ...axis,
  names: axis.names.map((_, i) => String(i + 1)),
  legend: axis.names.map((name, i) => `${i === 0 ? `${axis.noun}: ` : ""}${i + 1} = ${name}`),
});

/** Returns the names, followed by `sum` if there is one. */
export const headsOf = ({ names, sum }: Axis): readonly string[] =>
  sum === undefined ? names : [...names, sum];

const legendLines = (table: Table, columns: number): string[] =>
  [table.rows, table.columns].flatMap(({ legend = [] }) => flowedLines(legend, columns));

const columnWidths = ({ columns, cellWidths }: Table): number[] =>
  headsOf(columns).map((name, column) => Math.max(summaryRows.shownWidth(name), cellWidths[column]!));

const rowHeadWidth = ({ rows, corner = "" }: Table) =>
  Math.max(widest(headsOf(rows)), summaryRows.shownWidth(corner));

const widthOf = (table: Table): number =>
  columnWidths(table).reduce((sum, width) => sum + gap + width, rowHeadWidth(table)) + bestMark.length;

/** Formats the table if it fits without names that are numbers; otherwise returns undefined. */
export function namedLines(table: Table, columns: number): styling.Line[] | undefined {
  const placed = withoutNumbers(narrow(table, columns));
  return placed && blockLines(placed);
}

/** Formats as many columns as fit, and the others in tables below. */
export function splitLines(whole: Table, columns: number): styling.Line[] {
  const table = { ...whole, columns: shortAxis(whole.columns, splitNameColumns) };
  const widths = columnWidths(table);
  const lines: styling.Line[] = legendLines(table, columns);
  for (let first = 0; first < widths.length; ) {
    let end = first;
    let width = rowHeadWidth(table) + bestMark.length;
    do width += gap + widths[end++]!;
    while (end < widths.length && width + gap + widths[end]! <= columns);
    if (first > 0) lines.push("");
    lines.push(...blockLines(table, first, end));
    first = end;
  }
  return lines;
}

/** Formats the columns [first, end). */
function blockLines(table: Table, first = 0, end = headsOf(table.columns).length): styling.Line[] {
  const { rows, columns, cells, corner = "" } = table;
  const widths = columnWidths(table);
  const headWidth = rowHeadWidth(table);
  const line = (head: string, cells: readonly Cell[]): styling.Piece[] => {
    const pieces: styling.Piece[] = [head];
    let blanks = headWidth - summaryRows.shownWidth(head);
    for (let column = first; column < end; column++) {
      const { text, isBest } = cells[column]!;
      pieces.push(" ".repeat(blanks + gap + widths[column]! - summaryRows.shownWidth(text)));
      pieces.push(isBest ? styling.piece("bold", text + bestMark) : text);
      blanks = isBest ? -bestMark.length : 0;
    }
    return pieces;
  };
  const heads = headsOf(columns).map((text) => ({ text, isBest: false }));
  return [line(corner, heads), ...headsOf(rows).map((name, row) => line(name, cells[row]!))];
}

const widest = (names: readonly string[]) => Math.max(...names.map(summaryRows.shownWidth));

/**
 * Splits text into grapheme clusters. Making the first segmenter takes 1.3 ms, so this is called only if a name is too
 * long.
 */
const charactersOf = (text: string) =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

/** Formats items separated by commas, as many on a line as fit. */
export const flowedLines = (items: readonly string[], columns: number): string[] =>
  summaryRows.packedLines(summaryRows.withCommas(items), columns);

/** Shortens a name to the given number of columns, by leaving out its middle. */
export function shortenName(name: string, columns: number): string {
  if (summaryRows.shownWidth(name) <= columns) return name;
  const characters = charactersOf(name);
  const room = Math.max(0, columns - summaryRows.shownWidth(ellipsis));
  const begin = takeColumns(characters, Math.ceil(room / 2));
  const end = takeColumns(characters.toReversed(), room - summaryRows.shownWidth(begin.join("")));
  return [...begin, ellipsis, ...end.toReversed()].join("");
}

/** Returns as many of the first characters as fit into the given number of columns. */
function takeColumns(characters: readonly string[], columns: number): string[] {
  const found: string[] = [];
  let width = 0;
  for (const character of characters) {
    width += summaryRows.shownWidth(character);
    if (width > columns) break;
    found.push(character);
  }
  return found;
}
