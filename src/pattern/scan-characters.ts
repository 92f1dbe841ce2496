import { columnAt, endColumn, invalidColumn, noSlot, type ScanTables } from "./scan-tables.ts";

/**
 * An automaton in JavaScript, a table step a character. The kernel does the same faster (src/kernel/scan). This is its twin in
 * tests, and cuts what the kernel does not: pieces of a chain of automata, and text for which the kernel has no room.
 *
 *   ends[0 .. endCount)                       settled (see Splitter)
 *   ends[endCount .. endCount + slotCount)    the slots: part of the automaton's state
 */
export type ScanCursor = {
  pos: number;
  /** The last entry of `transitions`: its upper bits are the state. 0 at the start of a document. */
  entry: number;
  endCount: number;
  invalidByteCount: number;
  /** Position of the first invalid byte; -1 = none. */
  firstInvalidPos: number;
};

/** `ends` has room for an end a byte and so many more: for slots, and for the bin that nobody reads. */
export const spareEndCount = 2 * noSlot + 2;

/** A document begins at `pos`, and its ends go to `ends` from `endCount` on. */
export function cursorAt(pos: number, endCount: number): ScanCursor {
  return { pos, entry: 0, endCount, invalidByteCount: 0, firstInvalidPos: -1 };
}

/** Reads characters up to `stop`; one that begins before it is read whole. Bytes before `limit` may be looked at. */
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
    if (column >= 0x80) {
      const found = columnAt(bytes, pos, limit, columnBlocks, columns);
      column = found & 255;
      length = found >> 8;
      if (column === invalidColumn) noteInvalidByte(cursor, pos);
    }
    entry = transitions[((entry >>> 8) + column) | 0]!;
    ends[(endCount + (entry & 15)) | 0] = pos;
    endCount = (endCount + ((entry >> 4) & 15)) | 0;
    pos = (pos + length) | 0;
  }
  cursor.pos = pos;
  cursor.entry = entry;
  cursor.endCount = endCount;
}

function noteInvalidByte(cursor: ScanCursor, pos: number): void {
  if (cursor.firstInvalidPos < 0) cursor.firstInvalidPos = pos;
  cursor.invalidByteCount++;
}

/** The document ends at `end`, where the scan has arrived: everything is settled, and the next document may begin there. */
export function finishDocument(
  cursor: ScanCursor,
  { transitions }: ScanTables,
  end: number,
  ends: Int32Array,
): void {
  const entry = transitions[(cursor.entry >>> 8) + endColumn]!;
  ends[cursor.endCount + (entry & 15)] = end;
  cursor.endCount += (entry >> 4) & 15;
  cursor.entry = 0;
}

/** The ends of the pretokens of a whole text. */
export function endsOfText(tables: ScanTables, bytes: Uint8Array): number[] {
  const ends = new Int32Array(bytes.length + spareEndCount);
  const cursor = cursorAt(0, 0);
  scanCharacters(cursor, tables, bytes, bytes.length, bytes.length, ends);
  finishDocument(cursor, tables, bytes.length, ends);
  return Array.from(ends.subarray(0, cursor.endCount));
}
