/** The columns (character classes) of non-ASCII characters in the current automaton (scanner.ts). */
let columnBlocksStart: usize = 0;
let columnsStart: usize = 0;

export const invalidColumn: u32 = 254;
const threeByteBlocks: u32 = 32;
const fourByteBlocks: u32 = 32 + 1024;

export function useColumns(columnBlocks: usize, columns: usize): void {
  columnBlocksStart = columnBlocks;
  columnsStart = columns;
}

/** Returns the column of a character of three bytes, which are the low bytes of `word`, the first byte lowest. */
export function columnOfThree(word: u32): u32 {
  const block = threeByteBlocks + (((word & 15) << 6) | ((word >> 8) & 63));
  return columnIn(block, (word >> 16) & 63);
}

/** Returns the column of a character of two bytes, which are the low bytes of `word`, the first byte lowest. */
export function columnOfTwo(word: u32): u32 {
  return columnIn(word & 31, (word >> 8) & 63);
}

function columnOfFour(word: u32): u32 {
  const block = fourByteBlocks + (((word & 7) << 12) | (((word >> 8) & 63) << 6) | ((word >> 16) & 63));
  return columnIn(block, (word >> 24) & 63);
}

function columnIn(block: u32, last: u32): u32 {
  return load<u8>(columnsStart + (load<u16>(columnBlocksStart + (block << 1)) | last));
}

/**
 * Returns column | length << 8 for the character at `pos`, which is not ASCII. A byte that is not part of valid UTF-8
 * has `invalidColumn` and length 1.
 */
export function columnAt(text: usize, pos: i32, limit: i32): u32 {
  // This load may read up to 3 bytes after `limit`. They do not affect the result.
  const word = load<u32>(text + pos);
  let column = invalidColumn;
  let length: u32 = 1;
  if ((word & 0xc0e0) === 0x80c0) {
    length = 2;
    column = columnOfTwo(word);
  } else if ((word & 0xc0c0f0) === 0x8080e0) {
    length = 3;
    column = columnOfThree(word);
  } else if ((word & 0xc0c0c0f8) === 0x808080f0) {
    length = 4;
    column = columnOfFour(word);
  }
  if (column === invalidColumn || pos + <i32>length > limit) return invalidColumn | (1 << 8);
  return column | (length << 8);
}
