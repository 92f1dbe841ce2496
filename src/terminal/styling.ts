import { fstatSync } from "node:fs";
import { escapeText } from "#bytes";
import { host } from "#runtime";
import { usualColumns } from "./summary-rows.ts";

// The terminal: whether there is one, its width, and text styles.

type Descriptor = 1 | 2;

export const isTerminal = (fd: Descriptor): boolean => columnsOf(fd) !== undefined;

/**
 * Returns the number of columns of a terminal, 0 if that is unknown; undefined if there is no terminal. On Linux, asks
 * the system, because loading the runtime's code for this takes 9 ms.
 */
function columnsOf(fd: Descriptor): number | undefined {
  if (!isDevice(fd)) return undefined;
  const libc = host.openLibc("ioctl");
  if (libc === null) {
    const stream = fd === 1 ? process.stdout : process.stderr;
    return stream.isTTY === true ? (stream.getWindowSize?.()[0] ?? 0) : undefined;
  }
  const rowsColumns = new Uint16Array(4);
  return libc.ioctl(fd, TIOCGWINSZ, rowsColumns) === 0 ? rowsColumns[1] : undefined;
}

const TIOCGWINSZ = 0x5413;

function isDevice(fd: Descriptor): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    return false;
  }
}

/** Whether the terminal cannot move its cursor, as in some editors. */
export const isDumb = () => process.env.TERM === "dumb";

/** Returns the current width of the terminal; 80 if unknown. */
export const terminalColumns = (fd: Descriptor): number => columnsOf(fd) || usualColumns;

/** Returns the column where lines for people have to end: the terminal's width; null if there is no terminal. */
export const lineColumns = (fd: Descriptor): number | null => (isTerminal(fd) ? terminalColumns(fd) : null);

const codes = { bold: "1", red: "1;31", yellow: "1;33", cyan: "36" };

/** Functions that wrap a text in the codes of a style. */
export type Styles = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/**
 * Returns the styles for text that goes to `fd`. They do nothing if there is no terminal, if NO_COLOR is set and not
 * empty, or if TERM is dumb.
 */
export const stylesFor = (fd: Descriptor): Styles =>
  process.env.NO_COLOR || isDumb() || !isTerminal(fd) ? plainStyles : colourStyles;

const stylesOf = (style: (text: string, code: string) => string) =>
  Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [name, (text: string) => style(text, code)]),
  ) as Styles;

export const plainStyles = stylesOf((text) => text);
const styled = (text: string, code: string) => `\x1b[${code}m${text}\x1b[0m`;
export const colourStyles = stylesOf(styled);

/** A line for people: text, which is escaped when printed, and styled pieces. */
export type Line = string | readonly Piece[];
export type Piece = string | { readonly text: string; readonly code: string };

export const piece = (style: keyof Styles, text: string): Piece => ({ text, code: codes[style] });

/** Highlights the first occurrence of a figure in some lines. */
export function withFigure(lines: readonly string[], figure: string | undefined): Line[] {
  const found = figure === undefined ? -1 : lines.findIndex((line) => line.includes(figure));
  if (found < 0) return [...lines];
  const [before, ...rest] = lines[found]!.split(figure!) as [string, ...string[]];
  return lines.with(found, [before, piece("bold", figure!), rest.join(figure)] as never) as Line[];
}

/**
 * Formats lines for printing. Escapes their text, because it may have the name of a file or a token that contains line
 * ends or terminal codes.
 */
export function formatLines(lines: string | readonly Line[], styles: Styles = plainStyles): string {
  const shown = (piece: Piece) => {
    if (typeof piece === "string") return escapeText(piece);
    return styles === plainStyles ? escapeText(piece.text) : styled(escapeText(piece.text), piece.code);
  };
  return (typeof lines === "string" ? [lines] : lines)
    .map((line) => (typeof line === "string" ? escapeText(line) : line.map(shown).join("")))
    .join("\n");
}
