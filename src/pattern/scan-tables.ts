/**
 * ScanTables: an automaton in the scanner's layout, as plain data.
 *
 *   ARRAY          TYPE         LENGTH              MEANING
 *   transitions    Int32Array   stateCount << 8     entry of state s and column c at s << 8 | c
 *   columnBlocks   Uint16Array  32 + 1024 + 32768   offset into `columns` of the 64 columns of characters that share
 *                                                   all bytes but the last
 *   columns        Uint8Array   blockCount * 64     the column of each such character; equal blocks are stored once
 *
 * An entry is next state << 16 | commits << 4 | slot: write the position into the slot (`noSlot`: into a bin that is
 * never read), then settle the first `commits` slots. The scanner carries the entry itself from step to step.
 *
 * Columns 0-127 are the ASCII characters. Any other character has the column `firstClassColumn` + its class. A byte
 * that is not part of valid UTF-8 has `invalidColumn`, and the end of the document has `endColumn`.
 *
 * columnBlocks, by the bytes of the character without their marker bits (110…, 10…):
 *   two bytes    b0                              blocks 0-1 are invalid (overlong)
 *   three bytes  32 + (b0 << 6 | b1)             blocks 0-31 are invalid (overlong), and those of surrogates
 *   four bytes   1056 + (b0 << 12 | b1 << 6 | b2)  blocks below 1024 are overlong, from 17408 on beyond U+10FFFF
 *
 * "é" is c3 a9, its two-byte block 3, so its column is columns[columnBlocks[3] | 0x29].
 */
export type ScanTables = {
  readonly stateCount: number;
  readonly classCount: number;
  /**
   * An upper bound of the number of slots that are written but not settled. The ends in these slots are carried over
   * from one call of the scanner to the next.
   */
  readonly slotCount: number;
  readonly transitions: Int32Array;
  readonly columnBlocks: Uint16Array;
  readonly columns: Uint8Array;
};

/** The maximum number of classes: one byte numbers the classes, the 128 ASCII characters and two other symbols. */
export const classCountMax = 126;
export const firstClassColumn = 128;
export const invalidColumn = firstClassColumn + classCountMax;
export const endColumn = invalidColumn + 1;
export const noSlot = 15;

export const threeByteBlocks = 32;
export const fourByteBlocks = 32 + 1024;
export const blockTotal = 32 + 1024 + 32768;
export const blockBits = 6;

/**
 * Returns the column of the character that begins at `pos` with a byte of at least 0x80, and the character's length in
 * bytes: column | length << 8. A byte that is not part of valid UTF-8 has `invalidColumn` and length 1. Bytes from
 * `limit` on may be read, but do not affect the result.
 */
export function columnAt(
  bytes: Uint8Array,
  pos: number,
  limit: number,
  columnBlocks: Uint16Array,
  columns: Uint8Array,
): number {
  const lead = bytes[pos]!;
  // The XOR turns a continuation byte into a number below 64, and any other byte into a larger one.
  const second = bytes[(pos + 1) | 0]! ^ 0x80;
  if (lead < 0xe0) {
    if (lead >= 0xc0 && second < 64 && pos + 2 <= limit) {
      const column = columns[columnBlocks[lead & 31]! | second]!;
      if (column !== invalidColumn) return column | (2 << 8);
    }
    return invalidColumn | (1 << 8);
  }
  const third = bytes[(pos + 2) | 0]! ^ 0x80;
  if (lead < 0xf0) {
    if ((second | third) < 64 && pos + 3 <= limit) {
      const column = columns[columnBlocks[threeByteBlocks + (((lead & 15) << 6) | second)]! | third]!;
      if (column !== invalidColumn) return column | (3 << 8);
    }
    return invalidColumn | (1 << 8);
  }
  const fourth = bytes[(pos + 3) | 0]! ^ 0x80;
  if ((second | third | fourth) < 64 && lead < 0xf8 && pos + 4 <= limit) {
    const column =
      columns[columnBlocks[fourByteBlocks + (((lead & 7) << 12) | (second << 6) | third)]! | fourth]!;
    if (column !== invalidColumn) return column | (4 << 8);
  }
  return invalidColumn | (1 << 8);
}
