import type { CharacterClasses } from "./automaton.ts";
import { columnAt, firstClassColumn, type ScanTables } from "./scan-tables.ts";
import { type CodePointSet, codePointRange, intersectionOf, lastCodePoint } from "./unicode.ts";

/*
 * A *shadow* of a text has a character for each character of the text, of the same length. Which one it is says what follows in
 * the text, as far as the pattern asks (foreseen.ts). For \d{1,3}(?=(?:\d{3})*(?!\d)) a shadow of "a 1234567" is "a 0210210": a
 * digit says how many more follow, modulo three.
 */

/**
 * ShadowTables: how a shadow is written, from right to left. Columns are those of the automaton that reads it.
 *
 *   ARRAY         TYPE          LENGTH            MEANING
 *   steps         Uint32Array   stateCount << 8   of state << 8 | column: state before << 16 | what stands in the shadow: an
 *                                                 ASCII byte, else a number of `replacements`; 0: the character itself
 *   replacements  Uint32Array   count * 4         at number << 2 | length - 1: the bytes, the first one lowest
 *   quiet         Uint16Array   256               the state before a character of the column whatever follows it;
 *                                                 `notQuiet`: it depends. Those that do not depend stay as they are
 *   live          Uint8Array    32                a byte b may begin a character that is not quiet if
 *                                                 live[b & 15] & live[16 + (b >> 4)] is not 0
 *
 * State 0 is that at the end of a text, and before an invalid byte.
 */
export type ShadowTables = {
  readonly steps: Uint32Array;
  readonly replacements: Uint32Array;
  readonly quiet: Uint16Array;
  readonly live: Uint8Array;
};

export const notQuiet = 0xffff;

/** In scripts of characters of one length, those that UTF-8 writes in one to four bytes. */
export const rangesOfLengths = [
  codePointRange(0, 0x7f),
  codePointRange(0x80, 0x7ff),
  [0x800, 0xd7ff, 0xe000, 0xffff],
  codePointRange(0x10000, 0x10ffff),
];

export const classAt = ({ runStarts, runClasses }: CharacterClasses, point: number) =>
  runClasses[runStarts.findLastIndex((start) => start <= point)]!;

export function setsOfClasses({ classCount, runStarts, runClasses }: CharacterClasses): CodePointSet[] {
  const ranges: number[][] = Array.from({ length: classCount }, () => []);
  for (const [run, start] of runStarts.entries())
    ranges[runClasses[run]!]!.push(start, (runStarts[run + 1] ?? lastCodePoint + 1) - 1);
  return ranges;
}

/** The class of each column of characters. */
export function columnsOf(classes: CharacterClasses): number[] {
  const ascii = Array.from({ length: firstClassColumn }, (_, point) => classAt(classes, point));
  return [...ascii, ...Array(classes.classCount).keys()];
}

/** The bytes of a character, the first one lowest. */
export function packed(point: number | undefined): number {
  if (point === undefined) return 0;
  return (
    new TextEncoder()
      .encode(String.fromCodePoint(point))
      .reduce((word, byte, i) => word | (byte << (8 * i)), 0) >>> 0
  );
}

const firstBytes = [0, 0xc0, 0xe0, 0xf0];

/** Rows of bytes with the same upper half: equal rows share a bit, and from the eighth on all do. */
export function liveRows(set: CodePointSet): Uint8Array {
  const isLive = new Uint8Array(256);
  rangesOfLengths.forEach((range, i) => {
    const members = intersectionOf(set, range);
    const leadOf = (point: number) => firstBytes[i]! | (point >> (6 * i));
    for (let r = 0; r < members.length; r += 2)
      isLive.fill(1, leadOf(members[r]!), leadOf(members[r + 1]!) + 1);
  });
  const live = new Uint8Array(32);
  const bits = new Map<string, number>();
  for (let high = 0; high < 16; high++) {
    const row = isLive.subarray(high << 4, (high + 1) << 4);
    if (!row.includes(1)) continue;
    const key = row.join();
    const bit = bits.get(key) ?? 1 << Math.min(7, bits.size);
    bits.set(key, bit);
    live[16 + high]! |= bit;
    for (let low = 0; low < 16; low++) live[low]! |= row[low]! * bit;
  }
  return live;
}

/**
 * The shadow of [start, end): the twin of the kernel's writer. `endState` is the state at `end`: 0 where the text ends
 * there.
 */
export function shadowOf(
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
