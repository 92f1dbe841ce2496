import { columnAt, firstClassColumn, invalidColumn, type ScanTables } from "../scan-tables.ts";
import { type ClassSystem, contractionLetters } from "./class-systems.ts";

/** What formula and automaton read in the proof: all characters that neither of them tells apart are one symbol. */
export type MaskSymbol = {
  /** Of the automaton's tables. */
  readonly column: number;
  /** Those of the formula. */
  readonly classes: ReadonlySet<string>;
  /** What it is in a contraction, see `letterOf`. */
  readonly letter: string;
  /** A character. */
  readonly example: string;
};

/** An automaton's columns, as a class system sees them. */
export type SymbolSet = {
  readonly symbols: readonly MaskSymbol[];
  /** For each column that characters beyond ASCII have, what they are like: an index into the system's examples. */
  readonly exampleOf: ReadonlyMap<number, number>;
};

/** undefined where some characters are like no example. */
export function symbolsOf(tables: ScanTables, system: ClassSystem): SymbolSet | undefined {
  const rows = new RowNumbers(tables);
  const exampleColumns = system.examples.map(({ codePoint }) => columnOf(tables, codePoint));
  const exampleRows = exampleColumns.map((column) => rows.of(column));
  const exampleOf = new Map<number, number>();
  for (const column of wideColumns(tables)) {
    const example = exampleRows.indexOf(rows.of(column));
    if (example < 0) return undefined;
    exampleOf.set(column, example);
  }

  const symbols = new Map<string, MaskSymbol>();
  const add = (column: number, classes: readonly string[], character: string) => {
    const letter = letterOf(character);
    const key = `${rows.of(column)} ${letter} ${[...classes].sort()}`;
    if (!symbols.has(key))
      symbols.set(key, { column, classes: new Set(classes), letter, example: character });
  };
  const asciiClasses = Object.entries(system.ascii);
  for (let byte = 0; byte < 128; byte++) {
    const character = String.fromCharCode(byte);
    const classes = asciiClasses.filter(([, members]) => members.includes(character));
    const names = classes.map(([name]) => name);
    add(byte, names, character);
  }
  for (const id of new Set(exampleOf.values())) {
    const { codePoint, classes } = system.examples[id]!;
    add(exampleColumns[id]!, classes, String.fromCodePoint(codePoint));
  }
  return { symbols: [...symbols.values()], exampleOf };
}

/**
 * What a character is to a contraction: "s" for s, d, m and t; "r" for r and v; "l"; "e"; capital for capital letters; "" for
 * all others.
 */
export function letterOf(character: string): string {
  if (!contractionLetters.includes(character.toLowerCase())) return "";
  return character.replace(/[dmt]/, "s").replace(/[DMT]/, "S").replace("v", "r").replace("V", "R");
}

/** The column of a character; an ASCII character's is its byte. */
function columnOf({ columnBlocks, columns }: ScanTables, codePoint: number): number {
  if (codePoint < 128) return codePoint;
  const bytes = new Uint8Array(8);
  const { written } = new TextEncoder().encodeInto(String.fromCodePoint(codePoint), bytes);
  return columnAt(bytes, 0, written, columnBlocks, columns) & 255;
}

/** The columns that characters beyond ASCII have. */
function wideColumns({ columnBlocks, columns }: ScanTables): number[] {
  const isUsed = new Uint8Array(256);
  for (const offset of new Set(columnBlocks)) {
    for (let i = 0; i < 64; i++) isUsed[columns[offset + i]!] = 1;
  }
  const wide: number[] = [];
  for (let column = firstClassColumn; column < invalidColumn; column++) {
    if (isUsed[column] === 1) wide.push(column);
  }
  return wide;
}

/** Numbers columns by what the automaton does at them, in all states: columns of one number are alike. */
class RowNumbers {
  private readonly ids = new Map<string, number>();
  private readonly known = new Map<number, number>();

  constructor(private readonly tables: ScanTables) {}

  of(column: number): number {
    let id = this.known.get(column);
    if (id !== undefined) return id;
    const { transitions, stateCount } = this.tables;
    const entries = Array.from({ length: stateCount }, (_, state) => transitions[(state << 8) | column]!);
    const key = entries.join();
    id = this.ids.get(key) ?? this.ids.size;
    this.ids.set(key, id);
    this.known.set(column, id);
    return id;
  }
}
