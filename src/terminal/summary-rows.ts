import { escapeText } from "#bytes";
import { shellLine } from "#runtime";

// Rows for people: a name, and what there is to say beside it, on lines that fit.

/** A text, or a list whose items stay whole where lines end. One that says nothing is no row. */
export type Row = readonly [name: string, text: string | readonly string[]];

/** How rows of an embedding move from one tokenizer to another. */
export const embeddingsRow = (before: string, after: string) =>
  ["embeddings", `${shellLine(["bpe", "diff", before, after, "--pieces"])} FILE has the old ids`] as const;

/** Rows that people read elsewhere than on a terminal, and what is fitted for all of them. */
export const usualColumns = 80;
export const nameColumns = 12;
/** With less room than this beside its name, a text stands below it. */
const textColumnsLeast = 24;
const narrowIndent = 2;

/**
 * Rows as lines, their texts below each other. A text that is wider than the terminal goes on below itself; elsewhere a row
 * is a line, for `grep`.
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
  // Escaped first: what is escaped is wider.
  const whole = escapeText(typeof text === "string" ? text : text.join(" "));
  if (widthOf(whole) <= width) return [whole];
  return packedLines(typeof text === "string" ? itemsOf(whole, width) : text.map(escapeText), width);
}

/** Items as they are shown, in lines as full as they can be; only a line of one item is wider. */
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

/** What stands between commas stays whole if it can. */
const itemsOf = (text: string, width: number): string[] =>
  text.split(/(?<=[,;]) /).flatMap((phrase) => (widthOf(phrase) <= width ? [phrase] : phrase.split(" ")));

/** A list of names with commas, in at most `width` columns: as many as fit, the first one always, and how many more. */
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

/** The columns that a terminal shows a text in: two for a Chinese character. */
export const shownWidth = (text: string): number => Bun.stringWidth(text);

/** Those of a text when it is escaped. */
export const widthOf = (text: string) => shownWidth(escapeText(text));
