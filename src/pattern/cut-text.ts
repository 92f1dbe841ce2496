import type { CompiledPattern, PatternTables } from "./compiled-pattern.ts";
import { columnAt, endColumn, noSlot, type ScanTables } from "./scan-tables.ts";
import { shadowOf } from "./shadow.ts";

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
