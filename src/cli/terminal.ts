// What is known of the terminal that people read: whether there is one, its width, and how text stands out on it.
import { fstatSync } from "node:fs";
import { escapeText } from "../bytes/escape.ts";

type Descriptor = 1 | 2;

/** Making the stream of a terminal takes 1.3 ms, which files and pipes do without. */
export const isTerminal = (fd: Descriptor): boolean => isDevice(fd) && stream(fd).isTTY === true;

function isDevice(fd: Descriptor): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    return false;
  }
}

const stream = (fd: Descriptor) => (fd === 1 ? process.stdout : process.stderr);

/** A terminal that cannot move its cursor, as that of an editor. */
export const isDumb = () => process.env.TERM === "dumb";

const usualColumns = 80;

/** The width of the terminal as it is now; 80 where it is unknown. */
export function terminalColumns(fd: Descriptor): number {
  if (!isTerminal(fd)) return usualColumns;
  const [columns] = stream(fd).getWindowSize?.() ?? [];
  return columns || usualColumns;
}

const codes = { bold: "1", red: "1;31", yellow: "1;33", cyan: "36" };

/** Each gives its text with the codes that make it stand out. */
export type Styles = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Styles of a text that goes to `fd`. They do nothing where no terminal reads it, with NO_COLOR, or if TERM is dumb. */
export const stylesFor = (fd: Descriptor): Styles =>
  process.env.NO_COLOR || isDumb() || !isTerminal(fd) ? plain : coloured;

const stylesOf = (style: (code: string, text: string) => string) =>
  Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [name, (text: string) => style(code, text)]),
  ) as Styles;

/** A line for people: text, which is escaped where it is printed, and pieces of it that stand out. */
export type Line = string | readonly Piece[];
export type Piece = string | { readonly text: string; readonly code: string };

export const piece = (style: keyof typeof codes, text: string): Piece => ({ text, code: codes[style] });

/**
 * Lines as they are printed: here all is escaped that people see. A line may name a file, or show a token, that holds line
 * ends and codes for the terminal.
 */
export function printable(lines: string | readonly Line[], styles: Styles = plain): string {
  const shown = (piece: Piece) => {
    if (typeof piece === "string") return escapeText(piece);
    return styles === plain ? escapeText(piece.text) : styled(piece.code, escapeText(piece.text));
  };
  return (typeof lines === "string" ? [lines] : lines)
    .map((line) => (typeof line === "string" ? escapeText(line) : line.map(shown).join("")))
    .join("\n");
}

const styled = (code: string, text: string) => `\x1b[${code}m${text}\x1b[0m`;

export const plain: Styles = stylesOf((_, text) => text);
export const coloured: Styles = stylesOf(styled);
