import type { Text } from "../bytes/text.ts";
import { methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import { buildQuadTables, type QuadTables } from "./four-byte-tables.ts";
import { type ScanCursor, scanCharacters, scanQuads } from "./scan.ts";
import { endColumn, noSlot, type ScanTables } from "./scan-tables.ts";
import type { Splitter } from "./splitter.ts";

/** Slots and the bin reach so far beyond the settled ends. */
export const spareEndCount = 2 * noSlot + 2;

/** Quad tables take 1 to 16 ms to build: as long as a byte a step takes for this much, or for some times as much. */
const quadsAfterBytes = 1 << 18;

/** One automaton over a document: every named pattern, and most that users write. */
export class AutomatonSplitter implements Splitter {
  static {
    spareThirdTier(...methodsOf(AutomatonSplitter));
  }

  ends = new Int32Array(1 << 12);
  private readonly tables: ScanTables;
  private readonly cursor: ScanCursor = {
    pos: 0,
    entry: 0,
    endCount: 1,
    invalidByteCount: 0,
    firstInvalidPos: -1,
  };

  /** undefined: not built yet; null: the automaton allows none. */
  private quadTables: QuadTables | null | undefined;
  private scannedBytes = 0;

  constructor(tables: ScanTables) {
    this.tables = tables;
    this.quadTables = tables.quads;
  }

  get endCount(): number {
    return this.cursor.endCount;
  }

  get pos(): number {
    return this.cursor.pos;
  }

  get invalidByteCount(): number {
    return this.cursor.invalidByteCount;
  }

  get firstInvalidPos(): number {
    return this.cursor.firstInvalidPos;
  }

  start(pos: number): void {
    this.cursor.pos = pos;
    this.cursor.entry = 0;
    this.cursor.endCount = 1;
    this.ends[0] = pos;
  }

  scan(text: Text, stop: number, limit: number): void {
    const { cursor, tables } = this;
    cursor.firstInvalidPos = -1;
    this.makeRoom(stop - cursor.pos);
    this.scannedBytes += stop - cursor.pos;
    if (this.quadTables === undefined && this.scannedBytes > quadsAfterBytes)
      this.quadTables = buildQuadTables(tables) ?? null;
    if (this.quadTables) scanQuads(cursor, tables, this.quadTables, text, stop, limit, this.ends);
    else scanCharacters(cursor, tables, text.bytes, stop, limit, this.ends);
  }

  finish(end: number): boolean {
    const { cursor } = this;
    this.makeRoom(0);
    const entry = this.tables.transitions[(cursor.entry >>> 8) + endColumn]!;
    this.ends[cursor.endCount + (entry & 15)] = end;
    cursor.endCount += (entry >> 4) & 15;
    cursor.entry = 0;
    return true;
  }

  take(): void {
    const { cursor, ends } = this;
    const from = cursor.endCount - 1;
    ends.copyWithin(0, from, from + 1 + this.tables.slotCount);
    cursor.endCount = 1;
  }

  shift(deltaBytes: number): void {
    const { cursor, ends } = this;
    cursor.pos -= deltaBytes;
    const count = cursor.endCount + this.tables.slotCount;
    for (let i = 0; i < count; i++) ends[i] = ends[i]! - deltaBytes;
  }

  private makeRoom(byteCount: number): void {
    const needed = this.cursor.endCount + byteCount + spareEndCount;
    if (needed <= this.ends.length) return;
    const longer = new Int32Array(2 * needed);
    longer.set(this.ends);
    this.ends = longer;
  }
}
