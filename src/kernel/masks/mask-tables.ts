// What the loops know of a pattern.
//
//   BYTES        MEANING
//   0            u32: the family, in the order of src/pattern/mask-formulas.ts; plus 4 for texts that end at line feeds
//   4            u32: the options that are on, a bit each
//   8            u32: digitCount
//   12           mainKinds, two bytes
//   16           lowNibbles, 16 bytes, at b & 15 for a lead byte b
//   32           highNibbles, 16 bytes, at b >> 4. They have common bits where all characters with the lead byte b, and a
//                second byte of at least firstSeconds[b & 15], are of one kind: one of the lower four bits for kind
//                mainKinds[0], one of the upper four for mainKinds[1]
//   48           firstSeconds, 16 bytes
//   64           kindOfColumn, 256 bytes: kind of the characters of each column; `noKind`: the automaton has to read it
//   320          kindMasks, 8 u64: for each kind the bytes of its characters in the block at hand; scratch
//   384          kindOfTwo, 2048 bytes: kind of each character of two bytes, at (first & 31) << 6 | second & 63
//   2432         kindOfCell: kind of each element of `columns` (src/pattern/scan-tables.ts)

export const noKind: u32 = 255;

const optionsAt: usize = 4;
const digitCountAt: usize = 8;
const lowNibblesAt: usize = 16;
const highNibblesAt: usize = 32;
const mainKindsAt: usize = 12;
const firstSecondsAt: usize = 48;
const kindOfColumnAt: usize = 64;
const kindMasksAt: usize = 320;
const kindOfTwoAt: usize = 384;
const kindOfCellAt: usize = 2432;

let tables: usize = 0;
let columnBlocks: usize = 0;

/** Bytes of the tables of a pattern with so many elements of `columns`. */
export function maskTablesBytes(columnsLength: u32): u32 {
  return <u32>kindOfCellAt + columnsLength;
}

/**
 * Takes tables whose first 320 bytes are filled, and fills the rest. Where `address` is 0, no masks are used. The other
 * arrays are the automaton's.
 */
export function useMaskTables(address: usize, blocks: usize, columns: usize, columnsLength: u32): void {
  tables = address;
  columnBlocks = blocks;
  if (address === 0) return;
  for (let i: usize = 0; i < columnsLength; i++) {
    store<u8>(address + kindOfCellAt + i, load<u8>(address + kindOfColumnAt + <usize>load<u8>(columns + i)));
  }
  for (let i: usize = 0; i < 2048; i++) {
    store<u8>(address + kindOfTwoAt + i, kindOfCell(i >> 6, i & 63));
  }
}

/** The kind of a character by its block of 64 and its place in it. */
export function kindOfCell(block: usize, place: usize): u8 {
  return load<u8>(tables + kindOfCellAt + (<usize>load<u16>(columnBlocks + (block << 1)) | place));
}

export function kindOfTwo(index: usize): u8 {
  return load<u8>(tables + kindOfTwoAt + index);
}

export function hasMasks(): bool {
  return tables !== 0;
}

export function family(): u32 {
  return load<u32>(tables);
}

/** All bits where the option is on. */
export function isOn(option: u32): u64 {
  return -(<u64>((load<u32>(tables, optionsAt) >> option) & 1));
}

export function digitCountOf(): u32 {
  return load<u32>(tables, digitCountAt);
}

export function lowNibbles(): v128 {
  return v128.load(tables, lowNibblesAt);
}

export function highNibbles(): v128 {
  return v128.load(tables, highNibblesAt);
}

export function firstSeconds(): v128 {
  return v128.load(tables, firstSecondsAt);
}

/** `which`: 0 or 1. */
export function mainKind(which: usize): u32 {
  return load<u8>(tables + which, mainKindsAt);
}

/** Address of the kind's mask. */
export function kindMaskAt(kind: u32): usize {
  return tables + kindMasksAt + ((<usize>kind) << 3);
}
