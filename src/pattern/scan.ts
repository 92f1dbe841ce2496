import { columnAt } from "./columns.ts";
import { invalidColumn, type ScanTables } from "./tables.ts";

/**
 * Where a scan stands between two calls. Written by the loops below, which keep it in locals while they run.
 *
 *   ends[0 .. endCount)                        settled (see Splitter)
 *   ends[endCount .. endCount + slotCount)     the slots: part of the automaton's state
 */
export type ScanCursor = {
  pos: number;
  /** The last table entry: the state is in its upper bits. 0 at the start of a document. */
  entry: number;
  endCount: number;
  invalidByteCount: number;
  /** -1 = none. */
  firstInvalidPos: number;
};

/** Reads characters up to `stop`, one table step each. `ends` has room for all bytes and 16 more. */
export function scanCharacters(
  cursor: ScanCursor,
  tables: ScanTables,
  bytes: Uint8Array,
  stop: number,
  limit: number,
  ends: Int32Array,
): void {
  const { transitions, columnBlocks, columns } = tables;
  let { pos, entry, endCount } = cursor;
  while (pos < stop) {
    let column = bytes[pos]!;
    let length = 1;
    if (column >= 128) {
      const found = columnAt(bytes, pos, limit, columnBlocks, columns);
      column = found & 255;
      length = found >> 8;
      if (column === invalidColumn) noteInvalidByte(cursor, pos);
    }
    entry = transitions[(entry >>> 8) + column]!;
    ends[endCount + (entry & 15)] = pos;
    endCount = (endCount + ((entry >> 4) & 15)) | 0;
    pos = (pos + length) | 0;
  }
  cursor.pos = pos;
  cursor.entry = entry;
  cursor.endCount = endCount;
}

export function noteInvalidByte(cursor: ScanCursor, pos: number): void {
  if (cursor.firstInvalidPos < 0) cursor.firstInvalidPos = pos;
  cursor.invalidByteCount++;
}
