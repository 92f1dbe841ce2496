import { endsOfText } from "../../src/pattern/cut-text.ts";
import { findLiveSlots } from "../../src/pattern/four-byte-tables.ts";
import {
  type Boundaries,
  boundariesOf,
  type ClassSystem,
  contractionLetters,
  families,
} from "../../src/pattern/mask-formulas.ts";
import {
  columnAt,
  endColumn,
  firstClassColumn,
  invalidColumn,
  noSlot,
  type ScanTables,
} from "../../src/pattern/scan-tables.ts";
import {
  type BitOps,
  type MaskSymbol,
  pendingCountMax,
  proveFormula,
  situationCountMax,
} from "./prove-formula.ts";

/** A formula with its options: the subject of a proof. */
export type Member = {
  /** A key of `families`. */
  readonly family: string;
  /** The options that are enabled. */
  readonly options: readonly string[];
  readonly digitCount: number;
  /** Whether each line, with its line feed, is cut as a text of its own. */
  readonly lines: boolean;
};

export type FoundFormula = { readonly member: Member; readonly symbols: SymbolSet };

/**
 * Returns a formula that provably cuts every text of valid characters as the automaton does; undefined if none is
 * found.
 */
export function findFormula(tables: ScanTables): FoundFormula | undefined {
  const member = guessMember(tables);
  const symbols = symbolsOf(tables, families[member.family]!.classes);
  if (symbols === undefined) return undefined;
  const isProved =
    proveFormula(tables, symbols.symbols, bitFormula(member)).holds && canRestart(tables, symbols.symbols);
  return isProved ? { member, symbols } : undefined;
}

function guessMember(tables: ScanTables): Member {
  const endsOf = (text: string) => endsOfText(tables, Buffer.from(text));
  const pretokenCount = (text: string) => endsOf(text).length;
  const family =
    pretokenCount("a a") === 1
      ? "superwords"
      : pretokenCount("aA") === 2
        ? "modernCased"
        : pretokenCount("!a") === 2
          ? "gpt2"
          : pretokenCount("!é") === 2
            ? "deepseek"
            : "modern";
  const options = Object.entries(families[family]!.options).filter(([, signs]) =>
    signs.some(([text, count]) => pretokenCount(text) === count),
  );
  const digitText = "1".repeat(digitCountMax + 1);
  const [firstEnd] = endsOf(digitText);
  return {
    family,
    options: options.map(([name]) => name),
    digitCount: firstEnd! > digitCountMax ? 0 : firstEnd!,
    lines: pretokenCount("\n\n") === 2,
  };
}

/** `guessMember` does not distinguish groups of more digits than this from groups of any number of digits. */
const digitCountMax = 8;

/** Returns the formula of a member, in the form that the proof runs. */
export function bitFormula({ family: name, options, digitCount, lines }: Member) {
  const family = families[name]!;
  const classNames = Object.keys(family.classes.ascii);
  const optionMasks = maskRecord(Object.keys(family.options), (option) => options.includes(option));
  const count = { name: "digitCount", value: digitCount };
  return (ops: BitOps, classes: ReadonlySet<string>): Boundaries<boolean> =>
    boundariesOf(
      family,
      lines,
      ops,
      maskRecord(classNames, (name) => classes.has(name)),
      optionMasks,
      count,
    );
}

function maskRecord(names: readonly string[], isSet: (name: string) => boolean): Record<string, boolean> {
  return Object.fromEntries(names.map((name) => [name, isSet(name)]));
}

/** How the columns of an automaton correspond to the classes of a formula (`ClassSystem`). */
type SymbolSet = {
  readonly symbols: readonly MaskSymbol[];
  /**
   * For each column of characters beyond ASCII, the example that the automaton treats like these characters, as an
   * index into the system's `examples`.
   */
  readonly exampleOf: ReadonlyMap<number, number>;
};

/**
 * Returns the symbols of an automaton for a class system; undefined if some characters beyond ASCII behave like none of
 * the system's examples.
 */
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
 * Returns the role of a character in contractions: "s" for s, d, m and t; "r" for r and v; "l"; "e"; the same in upper
 * case for capital letters; "" for all others.
 */
export function letterOf(character: string): string {
  if (!contractionLetters.includes(character.toLowerCase())) return "";
  return character.replace(/[dmt]/, "s").replace(/[DMT]/, "S").replace("v", "r").replace("V", "R");
}

/** Returns the column of a character. That of an ASCII character is its byte. */
function columnOf({ columnBlocks, columns }: ScanTables, codePoint: number): number {
  if (codePoint < 128) return codePoint;
  const bytes = new Uint8Array(8);
  const { written } = new TextEncoder().encodeInto(String.fromCodePoint(codePoint), bytes);
  return columnAt(bytes, 0, written, columnBlocks, columns) & 255;
}

/** Returns the columns of characters beyond ASCII. */
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

/** Numbers the columns. Columns with equal transitions in all states get the same number. */
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

/**
 * Returns whether the automaton can be restarted at any end of a pretoken that it has settled (is sure of): whether it
 * then finds the same later ends as without the restart. Also returns false if the search becomes too large.
 * src/pattern/scan-tables.ts explains slots.
 *
 * The search runs two copies of the automaton side by side. The *whole* one reads a text from its start. The *fresh*
 * one starts at a possible end: a position that the whole one has written into a slot. Whether this is an end turns out
 * later; if it is not, the search drops the pair of copies.
 */
export function canRestart(tables: ScanTables, symbols: readonly MaskSymbol[]): boolean {
  const { transitions } = tables;
  const columns = [...symbols.map(({ column }) => column), invalidColumn];
  const liveSlots = findLiveSlots(tables);
  const found = new Set<string>();
  const queue: Pair[] = [];
  const push = (pair: Pair): void => {
    const next = renumbered(pair, liveSlots);
    const key = JSON.stringify([next.isEnd, next.whole, next.fresh]);
    if (found.has(key)) return;
    found.add(key);
    queue.push(next);
  };
  // A slot that the whole automaton writes may hold an end, so a fresh one starts there.
  for (let state = 0; state < tables.stateCount; state++) {
    for (const column of columns) {
      const entry = transitions[(state << 8) | column]!;
      if ((entry & 15) === noSlot) continue;
      const slots = new Array<number>(entry & 15).fill(before);
      const whole = advance({ state, slots, ends: [] }, entry, 0);
      const fresh = advance({ state: 0, slots: [], ends: [] }, transitions[column]!, 0);
      const pair = compared({ isEnd: false, whole, fresh });
      if (pair !== undefined) push(pair);
    }
  }
  for (const pair of queue) {
    for (const column of [...columns, endColumn]) {
      const { isEnd } = pair;
      const next = compared({
        isEnd,
        whole: advance(pair.whole, transitions[(pair.whole.state << 8) | column]!, here),
        fresh: advance(pair.fresh, transitions[(pair.fresh.state << 8) | column]!, here),
      });
      if (next === undefined) continue;
      const isTooLong = next.whole.ends.length + next.fresh.ends.length > pendingCountMax;
      const isDifferent =
        next.isEnd &&
        next.whole.ends.some((end, i) => i < next.fresh.ends.length && end !== next.fresh.ends[i]);
      const isLeft = column === endColumn && next.isEnd && next.whole.ends.length !== next.fresh.ends.length;
      if (isTooLong || isDifferent || isLeft || queue.length > situationCountMax) return false;
      if (column !== endColumn) push(next);
    }
  }
  return true;
}

// Positions are relative to the start of the fresh automaton, which is 0, and only their order matters. Ends before
// that start are not compared, so `before` is used for all positions there.
const before = -1;
/** The position of the current character. It is above every other position, because `renumbered` keeps those small. */
const here = 1 << 20;

/** `ends`: ends that this automaton has settled, and the other one has not. */
type Runner = { readonly state: number; readonly slots: readonly number[]; readonly ends: readonly number[] };
/** `isEnd`: the start of `fresh` was settled as an end. */
type Pair = { readonly isEnd: boolean; readonly whole: Runner; readonly fresh: Runner };

function advance({ slots, ends }: Runner, entry: number, pos: number): Runner {
  const written = slots.slice();
  if ((entry & 15) !== noSlot) written[entry & 15] = pos;
  const commitCount = (entry >> 4) & 15;
  return {
    state: entry >>> 16,
    slots: written.slice(commitCount),
    ends: [...ends, ...written.slice(0, commitCount)],
  };
}

/**
 * Drops the ends that both automata have settled. Returns undefined if the start of the fresh automaton turns out not
 * to be an end.
 */
function compared({ isEnd, whole, fresh }: Pair): Pair | undefined {
  let ends = whole.ends.filter((end) => end !== before);
  if (!isEnd && ends.length > 0) {
    if (ends[0] !== 0) return undefined;
    isEnd = true;
    ends = ends.slice(1);
  }
  let same = 0;
  while (isEnd && same < ends.length && ends[same] === fresh.ends[same]) same++;
  return {
    isEnd,
    whole: { ...whole, ends: ends.slice(same) },
    fresh: { ...fresh, ends: fresh.ends.slice(same) },
  };
}

/** Renumbers positions 0, 1, …, in order, so that equivalent pairs are equal. */
function renumbered({ isEnd, whole, fresh }: Pair, liveSlots: Int32Array): Pair {
  const live = ({ state, slots }: Runner) =>
    slots.map((pos, slot) => ((liveSlots[state]! >> slot) & 1 ? pos : before));
  const wholeSlots = live(whole);
  const freshSlots = live(fresh);
  const positions = new Set([before, 0, ...wholeSlots, ...freshSlots, ...whole.ends, ...fresh.ends]);
  const order = [...positions].filter((pos) => pos !== undefined).sort((a, b) => a - b);
  const number = (pos: number) => order.indexOf(pos) - 1;
  const rename = (runner: Runner, slots: number[]) => ({
    state: runner.state,
    slots: slots.map(number),
    ends: runner.ends.map(number),
  });
  return { isEnd, whole: rename(whole, wholeSlots), fresh: rename(fresh, freshSlots) };
}
