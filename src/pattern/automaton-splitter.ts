import type { Text } from "../bytes/text.ts";
import {
  cursorAt,
  finishDocument,
  type ScanCursor,
  scanCharacters,
  spareEndCount,
} from "./scan-characters.ts";
import type { ScanTables } from "./scan-tables.ts";
import type { Splitter } from "./splitter.ts";

/** One automaton over a document. */
export class AutomatonSplitter implements Splitter {
  ends = new Int32Array(1 << 12);
  private readonly cursor: ScanCursor = cursorAt(0, 1);

  constructor(private readonly tables: ScanTables) {}

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

  scan({ bytes }: Text, stop: number, limit: number): void {
    const { cursor } = this;
    cursor.firstInvalidPos = -1;
    this.makeRoom(stop - cursor.pos);
    scanCharacters(cursor, this.tables, bytes, stop, limit, this.ends);
  }

  finish(end: number): boolean {
    this.makeRoom(0);
    finishDocument(this.cursor, this.tables, end, this.ends);
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
