import type { Text } from "#bytes";
import { type CompiledPattern, notQuiet, type PatternTables, type ShadowTables } from "./compiled-pattern.ts";
import { columnAt, endColumn, noSlot, type ScanTables } from "./scan-tables.ts";

/** The ends of the pretokens of a short text: the twin of the kernel's scan. */
export const cutText = ({ automata }: CompiledPattern, bytes: Uint8Array): number[] =>
  chainEnds(automata, bytes);

/** Each automaton cuts the pieces of the one before, as documents of their own. With `stop` as `endsOfText` has it. */
export function chainEnds(
  [tables, ...rest]: readonly PatternTables[],
  bytes: Uint8Array,
  stop = bytes.length,
  isWhole = true,
): number[] {
  const { shadow } = tables!;
  const text = shadow ? shadowOf({ ...tables!, shadow }, bytes, 0, bytes.length) : bytes;
  const ends = endsOfText(tables!, text, stop, isWhole);
  if (rest.length === 0) return ends;
  return ends.flatMap((end, i) => {
    const start = ends[i - 1] ?? 0;
    return chainEnds(rest, bytes.subarray(start, end)).map((pieceEnd) => start + pieceEnd);
  });
}

/**
 * The same by the tables of one automaton, a character at a time. With `isWhole` false the document goes on behind `stop`: only
 * the ends that are settled by then.
 */
export function endsOfText(
  tables: ScanTables,
  bytes: Uint8Array,
  stop = bytes.length,
  isWhole = true,
): number[] {
  const { transitions, columnBlocks, columns } = tables;
  const settled: number[] = [];
  let slots: number[] = [];
  let state = 0;
  const read = (column: number, pos: number) => {
    const entry = transitions[(state << 8) | column]!;
    slots[entry & 15] = pos;
    const commitCount = (entry >> 4) & 15;
    settled.push(...slots.slice(0, commitCount));
    slots = slots.slice(commitCount, noSlot);
    state = entry >>> 16;
  };
  for (let pos = 0; pos < stop; ) {
    const found =
      bytes[pos]! < 0x80 ? bytes[pos]! | (1 << 8) : columnAt(bytes, pos, bytes.length, columnBlocks, columns);
    read(found & 255, pos);
    pos += found >> 8;
  }
  if (isWhole) read(endColumn, bytes.length);
  return settled;
}

/**
 * The shadow of [start, end): the twin of the kernel's writer. `endState` is the state at `end`: 0 where the text ends
 * there.
 */
function shadowOf(
  { columnBlocks, columns, shadow }: ScanTables & { readonly shadow: ShadowTables },
  bytes: Uint8Array,
  start: number,
  end: number,
  endState = 0,
): Uint8Array {
  // The slice of a Buffer is no copy.
  const written = new Uint8Array(bytes.subarray(start, end));
  const found: { pos: number; column: number; length: number }[] = [];
  for (let pos = start, length = 1; pos < end; pos += length) {
    const at = bytes[pos]! < 0x80 ? bytes[pos]! | (1 << 8) : columnAt(bytes, pos, end, columnBlocks, columns);
    length = at >> 8;
    found.push({ pos: pos - start, column: at & 255, length });
  }
  let state = endState;
  for (const { pos, column, length } of found.reverse()) {
    if (shadow.quiet[column] !== notQuiet) {
      state = shadow.quiet[column]!;
      continue;
    }
    const step = shadow.steps[(state << 8) | column]!;
    state = step >>> 16;
    if (length === 1) written[pos] = step;
    else if ((step & 0xffff) > 0) {
      const packedBytes = shadow.replacements[((step & 0xffff) << 2) | (length - 1)]!;
      for (let i = 0; i < length; i++) written[pos + i] = packedBytes >>> (8 * i);
    }
  }
  return written;
}

/**
 * Safe cuts: places where a document can be divided among readers that know nothing of each other. Position i is one
 * if, whatever was read before `from`, a pretoken ends at i and the automaton goes on as it would from the start of a
 * document. It is found by running the automaton from `from` in every state at once: i is safe if on the character at
 * i every state still alive
 *   - settles everything up to i: its last commit is a slot written right there, and
 *   - goes to the state that the start of a document goes to.
 * Text of one kind (digits only, Han only) may hold none. So the search has an end, and without a cut the parts are joined.
 *
 * The second condition matters for patterns that look left: with (?<=a)bc|[abc], all states settle an end before the "b" of
 * "abc", but behind it the pattern hopes for "bc", and at the start of a document it would not.
 *
 * The reader on the left scans the character *at* the cut as well, which settles its last pretoken, and then forgets
 * its state: at the cut the document goes on, so `finish` would be wrong.
 *
 * In a chain the cut of the first automaton serves: the others never see past a piece of it.
 *
 * With shadows, a cut is safe only at a quiet character. The reader on the left reads that character, so its shadow
 * before the cut is that of the whole text. Runs of other characters are read up to a quiet one.
 *
 * Returns the first safe cut in [from, stop), or -1. Only bytes before `limit` are looked at; `limit > stop + 3` or the
 * document ends at `limit`.
 */
export function findSafeCut(
  compiled: CompiledPattern,
  text: Text,
  from: number,
  stop: number,
  limit: number,
): number {
  const tables = compiled.automata[0]!;
  const { stateCount, transitions, columnBlocks, columns, shadow } = tables;
  const { bytes } = text;
  const columnIn = (of: Uint8Array, at: number, end: number) =>
    of[at]! < 128 ? of[at]! | (1 << 8) : columnAt(of, at, end, columnBlocks, columns);
  let pos = from;
  while (pos < stop && (bytes[pos]! & 0xc0) === 0x80) pos++;

  let alive = Array.from({ length: stateCount }, (_, state) => state);
  while (pos < stop) {
    const runStart = pos;
    let found = columnIn(bytes, pos, limit);
    while (shadow?.quiet[found & 255] === notQuiet) {
      pos += found >> 8;
      if (pos >= stop) return -1;
      found = columnIn(bytes, pos, limit);
    }
    if (shadow !== undefined && pos > runStart) {
      const run = shadowOf({ ...tables, shadow }, bytes, runStart, pos, shadow.quiet[found & 255]);
      for (let at = 0, length = 1; at < run.length; at += length) {
        const inRun = columnIn(run, at, run.length);
        length = inRun >> 8;
        alive = [...new Set(alive.map((state) => transitions[(state << 8) + (inRun & 255)]! >>> 16))];
      }
    }
    const column = found & 255;
    const length = found >> 8;
    const freshState = transitions[column]! >>> 16;
    const next = new Set<number>();
    let isSafe = true;
    for (const state of alive) {
      const entry = transitions[(state << 8) + column]!;
      const slot = entry & 15;
      const commitCount = (entry >> 4) & 15;
      next.add(entry >>> 16);
      isSafe &&=
        commitCount > 0 && slot !== noSlot && slot === commitCount - 1 && entry >>> 16 === freshState;
    }
    if (isSafe) return pos;
    alive = [...next];
    pos += length;
  }
  return -1;
}
