import { fourByteBlocks, invalidColumn, threeByteBlocks } from "./scan-tables.ts";

/**
 * Column of the character that begins at `pos` with a byte from 0x80 up, and its length in bytes: column | length << 8.
 * A byte that is not part of valid UTF-8 is one byte in `invalidColumn`. The text ends at `limit`; what stands behind it
 * may be read, but counts for nothing.
 */
export function columnAt(
  bytes: Uint8Array,
  pos: number,
  limit: number,
  columnBlocks: Uint16Array,
  columns: Uint8Array,
): number {
  const lead = bytes[pos]!;
  // A continuation byte without its mark is below 64.
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
