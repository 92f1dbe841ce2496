import type { Text } from "#bytes";
import {
  type AnnotationTables,
  type CompiledPattern,
  notQuiet,
  type PatternTables,
} from "./compiled-pattern.ts";
import { columnAt, endColumn, noSlot, type ScanTables } from "./scan-tables.ts";

/**
 * Returns the ends of the pretokens of a short text. The kernel's scan gives the same ends, for texts of any length.
 */
export const cutText = ({ automata }: CompiledPattern, bytes: Uint8Array): number[] =>
  chainEnds(automata, bytes);

/**
 * Returns the ends that a chain of automata gives; each automaton cuts the pieces of the previous one as documents. For
 * `isWhole` and `stop` see `endsOfText`.
 */
export function chainEnds(
  [tables, ...rest]: readonly PatternTables[],
  bytes: Uint8Array,
  stop = bytes.length,
  isWhole = true,
): number[] {
  const { annotation } = tables!;
  const text = annotation ? annotate({ ...tables!, annotation }, bytes, 0, bytes.length) : bytes;
  const ends = endsOfText(tables!, text, stop, isWhole);
  if (rest.length === 0) return ends;
  return ends.flatMap((end, i) => {
    const start = ends[i - 1] ?? 0;
    return chainEnds(rest, bytes.subarray(start, end)).map((pieceEnd) => start + pieceEnd);
  });
}

/**
 * Returns the ends that one automaton gives. If `isWhole` is false, the document continues after `stop`, and only ends
 * that are settled by then are returned.
 */
export function endsOfText(
  tables: ScanTables,
  bytes: Uint8Array,
  stop = bytes.length,
  isWhole = true,
): number[] {
  const { transitions, columnBlocks, columns } = tables;
  const settled: number[] = [];
  const slots = new Int32Array(noSlot + 1);
  let state = 0;
  for (let pos = 0; pos < stop || isWhole; ) {
    let column = endColumn;
    let length = 0;
    if (pos < stop) {
      column = bytes[pos]!;
      length = 1;
      if (column >= 0x80) {
        const found = columnAt(bytes, pos, bytes.length, columnBlocks, columns);
        column = found & 255;
        length = found >> 8;
      }
    }
    const entry = transitions[(state << 8) | column]!;
    slots[entry & 15] = pos;
    const commitCount = (entry >> 4) & 15;
    if (commitCount > 0) {
      for (let slot = 0; slot < commitCount; slot++) settled.push(slots[slot]!);
      slots.copyWithin(0, commitCount, noSlot);
    }
    if (length === 0) break;
    state = entry >>> 16;
    pos += length;
  }
  return settled;
}

/**
 * Returns bytes [start, end), annotated for the automaton (compiled-pattern.ts). `endState` is the annotating
 * automaton's state at `end`; 0 if the text ends there.
 */
function annotate(
  { columnBlocks, columns, annotation }: ScanTables & { readonly annotation: AnnotationTables },
  bytes: Uint8Array,
  start: number,
  end: number,
  endState = 0,
): Uint8Array {
  // Not `slice`, which does not copy if it is called on a Buffer.
  const written = new Uint8Array(bytes.subarray(start, end));
  const found: { pos: number; column: number; length: number }[] = [];
  for (let pos = start, length = 1; pos < end; pos += length) {
    const at = bytes[pos]! < 0x80 ? bytes[pos]! | (1 << 8) : columnAt(bytes, pos, end, columnBlocks, columns);
    length = at >> 8;
    found.push({ pos: pos - start, column: at & 255, length });
  }
  let state = endState;
  for (const { pos, column, length } of found.reverse()) {
    if (annotation.quiet[column] !== notQuiet) {
      state = annotation.quiet[column]!;
      continue;
    }
    const step = annotation.steps[(state << 8) | column]!;
    state = step >>> 16;
    if (length === 1) written[pos] = step;
    else if ((step & 0xffff) > 0) {
      const packedBytes = annotation.replacements[((step & 0xffff) << 2) | (length - 1)]!;
      for (let i = 0; i < length; i++) written[pos + i] = packedBytes >>> (8 * i);
    }
  }
  return written;
}

/**
 * Finds the first *safe cut* in [from, stop): a position where a document can be divided between independent readers.
 * Position i is safe if, whatever precedes `from`, a pretoken ends at i and the automaton continues as it would from
 * the start of a document. To find one, the automaton runs from `from` in every state at once. Position i is safe if,
 * on the character at i, every state that is still alive
 *   - settles everything up to i: the last slot that it commits (scan-tables.ts) was written at i, and
 *   - has the same next state as the start of a document.
 * Text of one kind (digits only, Han only) may have no safe cut.
 *
 * The second condition matters for patterns with look-behind. With (?<=a)bc|[abc], all states settle an end before the
 * "b" of "abc", but after it the pattern can still match "bc", which it could not at the start of a document.
 *
 * The reader on the left also scans the character *at* the cut, which settles its last pretoken, and then discards its
 * state. It must not treat the cut as the end of a document, because the document continues there.
 *
 * Returns the cut, or -1. Reads only bytes before `limit`. Requires that `limit > stop + 3`, or that the document ends
 * at `limit`.
 */
export function findSafeCut(
  compiled: CompiledPattern,
  text: Text,
  from: number,
  stop: number,
  limit: number,
): number {
  // A safe cut of the first automaton suffices, because the others never see past one of its pieces.
  const tables = compiled.automata[0]!;
  const { stateCount, transitions, columnBlocks, columns, annotation } = tables;
  const { bytes } = text;
  const columnIn = (of: Uint8Array, at: number, end: number) =>
    of[at]! < 128 ? of[at]! | (1 << 8) : columnAt(of, at, end, columnBlocks, columns);
  let pos = from;
  while (pos < stop && (bytes[pos]! & 0xc0) === 0x80) pos++;

  let alive = Array.from({ length: stateCount }, (_, state) => state);
  while (pos < stop) {
    const runStart = pos;
    let found = columnIn(bytes, pos, limit);
    // A cut is safe only at a quiet character: the text before such a character is annotated in the same way, whatever
    // follows it. The reader on the left also reads that character, so it annotates the text before the cut as in the
    // whole text.
    while (annotation?.quiet[found & 255] === notQuiet) {
      pos += found >> 8;
      if (pos >= stop) return -1;
      found = columnIn(bytes, pos, limit);
    }
    if (annotation !== undefined && pos > runStart) {
      const run = annotate({ ...tables, annotation }, bytes, runStart, pos, annotation.quiet[found & 255]);
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
