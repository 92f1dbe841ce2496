import { escapeText } from "#bytes";
import { shell } from "#runtime";

// Rows for people: a name and a text, on lines that fit.

/** A row of a summary. If its text is a list, no item is split across lines. An empty text makes no row. */
export type Row = readonly [name: string, text: string | readonly string[]];

/** Returns the summary row that says how to carry a model's embeddings over from one tokenizer to another. */
export const embeddingsRow = (before: string, after: string) =>
  [
    "embeddings",
    `${shell.line(["bpe", "diff", before, after, "--pieces"])} FILE maps each new token to old ids`,
  ] as const;

/** The usual width of lines, for example if that of the terminal is unknown. */
export const usualColumns = 80;
/** The width of the column of names, with the gap after it. */
export const nameColumns = 12;
/** The least number of columns for a text next to its row's name. If fewer remain, the text is put below the name. */
const textColumnsLeast = 24;
const narrowIndent = 2;

/**
 * Formats rows as lines with aligned texts. On a terminal, a text that is too wide is wrapped; elsewhere each row is
 * one line, for `grep`.
 */
export function rowLines(
  rows: readonly Row[],
  columns: number | null = null,
  indent: number = nameColumns,
): string[] {
  const told = rows.filter(([, text]) => text.length > 0);
  const width = columns === null ? Number.POSITIVE_INFINITY : columns - indent;
  if (columns !== null && width < textColumnsLeast) {
    const below = (text: Row[1]) => linesOf(text, Math.max(1, columns - narrowIndent));
    return told.flatMap(([name, text]) => [
      ...(name.trim() === "" ? [] : [name]),
      ...below(text).map((line) => " ".repeat(narrowIndent) + line),
    ]);
  }
  return told.flatMap(([name, text]) =>
    linesOf(text, width).map((line, i) => (i === 0 ? name : "").padEnd(indent) + line),
  );
}

function linesOf(text: string | readonly string[], width: number): string[] {
  // The text is escaped before it is measured, because escaping can make it wider.
  const whole = escapeText(typeof text === "string" ? text : text.join(" "));
  if (widthOf(whole) <= width) return [whole];
  return packedLines(typeof text === "string" ? itemsOf(whole, width) : text.map(escapeText), width);
}

/** Fills lines with as many items as fit into `width` columns. Only a line of one item may be wider. */
export function packedLines(items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let used = 0;
  for (const item of items) {
    const itemWidth = shownWidth(item);
    if (lines.length > 0 && used + 1 + itemWidth <= width) {
      lines[lines.length - 1] += ` ${item}`;
      used += 1 + itemWidth;
    } else {
      lines.push(item);
      used = itemWidth;
    }
  }
  return lines;
}

/** Splits a text at commas and semicolons. A phrase that is still too wide is split at spaces. */
const itemsOf = (text: string, width: number): string[] =>
  text.split(/(?<=[,;]) /).flatMap((phrase) => (widthOf(phrase) <= width ? [phrase] : phrase.split(" ")));

/**
 * Formats names, separated by commas, in at most `width` columns: as many as fit, but at least the first, and the
 * number of the others.
 */
export function namesWithin(names: readonly string[], width: number): string {
  const text = names.join(", ");
  if (names.length < 2 || widthOf(text) <= width) return text;
  for (let count = names.length - 1; ; count--) {
    const some = `${names.slice(0, count).join(", ")} and ${names.length - count} more`;
    if (count <= 1 || widthOf(some) <= width) return some;
  }
}

export const withCommas = (items: readonly string[]) =>
  items.map((item, i) => item + (i < items.length - 1 ? "," : ""));

/** Returns the width of a text on a terminal, where a Chinese character takes two columns. */
export const shownWidth = (text: string): number => Bun.stringWidth(text);

/** Returns the width of a text after escaping. */
export const widthOf = (text: string) => shownWidth(escapeText(text));
