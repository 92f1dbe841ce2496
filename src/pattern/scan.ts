import type { Text } from "../bytes/text.ts";
import { columnAt } from "./columns.ts";
import type { QuadTables } from "./four-byte-tables.ts";
import { fourByteBlocks, invalidColumn, type ScanTables, threeByteBlocks } from "./scan-tables.ts";

/**
 * Where a scan stands between two calls. The loops below keep it in locals while they run.
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
  /** -1 = none. */
  firstInvalidPos: number;
};

/** Reads characters up to `stop`, a table step each. `ends` has room for an end a byte and 32 more. */
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

/**
 * The same, but returns early where eight ASCII bytes lie ahead. A character is taken apart from one load of four bytes
 * by the marks of its length. What fits no mark, or might end behind `limit`, leaves the loop for `scanCharacters`: a
 * call inside it would cost every turn 13 %.
 */
function scanUntilAscii(
  cursor: ScanCursor,
  tables: ScanTables,
  { bytes, view }: Text,
  stop: number,
  limit: number,
  ends: Int32Array,
): void {
  const { transitions, columnBlocks, columns } = tables;
  const lastOctetPos = stop - 8;
  const lastWholePos = limit - 4;
  let { pos, entry, endCount } = cursor;
  let isRare = false;
  while (pos < stop) {
    const word = view.getInt32(pos, true);
    let column = word & 255;
    let length = 1;
    if (column < 0x80) {
      if (pos <= lastOctetPos && ((word | view.getInt32(pos + 4, true)) & nonAsciiBits) === 0) break;
    } else {
      if (pos > lastWholePos) {
        column = invalidColumn;
      } else if ((word & 0xc0c0f0) === 0x8080e0) {
        const block = threeByteBlocks + (((word & 15) << 6) | ((word >> 8) & 63));
        column = columns[columnBlocks[block]! | ((word >> 16) & 63) | 0]!;
        length = 3;
      } else if ((word & 0xc0e0) === 0x80c0) {
        column = columns[columnBlocks[word & 31]! | ((word >> 8) & 63) | 0]!;
        length = 2;
      } else if ((word & 0xc0c0c0f8) === fourByteMarks) {
        const block = fourByteBlocks + (((word & 7) << 12) | (((word >> 8) & 63) << 6) | ((word >> 16) & 63));
        column = columns[columnBlocks[block]! | ((word >> 24) & 63) | 0]!;
        length = 4;
      } else {
        column = invalidColumn;
      }
      isRare = column === invalidColumn;
      if (isRare) break;
    }
    entry = transitions[((entry >>> 8) + column) | 0]!;
    ends[(endCount + (entry & 15)) | 0] = pos;
    endCount = (endCount + ((entry >> 4) & 15)) | 0;
    pos = (pos + length) | 0;
  }
  cursor.pos = pos;
  cursor.entry = entry;
  cursor.endCount = endCount;
  if (isRare) scanCharacters(cursor, tables, bytes, pos + 1, limit, ends);
}

/** The marks of a four-byte character as a signed number, for that is what bit operators give. */
const fourByteMarks = 0x808080f0 | 0;
const nonAsciiBits = 0x80808080;

/**
 * Reads up to `stop`, eight ASCII bytes a turn. Both quads are named before either is written down, so that the second
 * lookup does not wait for the first one's stores. Every step writes into its slot, the bin if it has none: a store that
 * nobody reads costs less than a branch that is guessed wrong.
 */
export function scanQuads(
  cursor: ScanCursor,
  tables: ScanTables,
  quadTables: QuadTables,
  text: Text,
  stop: number,
  limit: number,
  ends: Int32Array,
): void {
  const { pairs, quads, quadEntries } = quadTables;
  const { view } = text;
  // The state is carried in the upper bits of an entry: state << quadStateShift in `quadEntries`, state << 16 elsewhere.
  const quadStateShift = quadTables.quadBits + 15;
  const lastOctetPos = stop - 8;
  const lastQuadPos = stop - 4;
  for (;;) {
    let { pos, endCount } = cursor;
    let entry = (cursor.entry >>> 16) << quadStateShift;
    while (pos <= lastOctetPos) {
      const low = view.getInt32(pos, true);
      const high = view.getInt32(pos + 4, true);
      if (((low | high) & nonAsciiBits) !== 0) break;
      const lowQuad = quads[(pairs[low & 0xffff]! << 8) | pairs[low >>> 16]!]!;
      const highQuad = quads[(pairs[high & 0xffff]! << 8) | pairs[high >>> 16]!]!;
      const lowEntry = quadEntries[((entry >>> 15) + lowQuad) | 0]!;
      entry = quadEntries[((lowEntry >>> 15) + highQuad) | 0]!;
      ends[(endCount + (lowEntry & 7)) | 0] = pos;
      ends[(endCount + ((lowEntry >> 3) & 7)) | 0] = pos + 1;
      ends[(endCount + ((lowEntry >> 6) & 7)) | 0] = pos + 2;
      ends[(endCount + ((lowEntry >> 9) & 7)) | 0] = pos + 3;
      endCount = (endCount + ((lowEntry >> 12) & 7)) | 0;
      ends[(endCount + (entry & 7)) | 0] = pos + 4;
      ends[(endCount + ((entry >> 3) & 7)) | 0] = pos + 5;
      ends[(endCount + ((entry >> 6) & 7)) | 0] = pos + 6;
      ends[(endCount + ((entry >> 9) & 7)) | 0] = pos + 7;
      endCount = (endCount + ((entry >> 12) & 7)) | 0;
      pos = (pos + 8) | 0;
    }
    if (pos <= lastQuadPos) {
      const low = view.getInt32(pos, true);
      if ((low & nonAsciiBits) === 0) {
        entry = quadEntries[((entry >>> 15) + quads[(pairs[low & 0xffff]! << 8) | pairs[low >>> 16]!]!) | 0]!;
        ends[(endCount + (entry & 7)) | 0] = pos;
        ends[(endCount + ((entry >> 3) & 7)) | 0] = pos + 1;
        ends[(endCount + ((entry >> 6) & 7)) | 0] = pos + 2;
        ends[(endCount + ((entry >> 9) & 7)) | 0] = pos + 3;
        endCount = (endCount + ((entry >> 12) & 7)) | 0;
        pos = (pos + 4) | 0;
      }
    }
    cursor.pos = pos;
    cursor.endCount = endCount;
    cursor.entry = (entry >>> quadStateShift) << 16;
    if (pos >= stop) return;
    scanUntilAscii(cursor, tables, text, stop, limit, ends);
    if (cursor.pos >= stop) return;
  }
}

function noteInvalidByte(cursor: ScanCursor, pos: number): void {
  if (cursor.firstInvalidPos < 0) cursor.firstInvalidPos = pos;
  cursor.invalidByteCount++;
}
