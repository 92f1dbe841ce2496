import type { Text } from "../bytes/text.ts";
import { AutomatonSplitter } from "./automaton-splitter.ts";
import { DocumentTail } from "./document-tail.ts";
import { cursorAt, finishDocument, scanCharacters, spareEndCount } from "./scan-characters.ts";
import type { ScanTables } from "./scan-tables.ts";
import type { Splitter } from "./splitter.ts";

/** Splits that do not fuse into one automaton: the first cuts the document, each further one the pieces of the one before. */
export class ChainSplitter implements Splitter {
  ends = new Int32Array(1 << 12);
  endCount = 1;
  private readonly first: AutomatonSplitter;
  private readonly rest: readonly ScanTables[];
  private readonly tail = new DocumentTail();

  constructor(automata: readonly ScanTables[]) {
    this.first = new AutomatonSplitter(automata[0]!);
    this.rest = automata.slice(1);
  }

  get pos(): number {
    return this.first.pos;
  }

  get invalidByteCount(): number {
    return this.first.invalidByteCount;
  }

  get firstInvalidPos(): number {
    return this.first.firstInvalidPos;
  }

  start(pos: number): void {
    this.first.start(pos);
    this.ends[0] = pos;
    this.endCount = 1;
    this.tail.clear();
  }

  scan(text: Text, stop: number, limit: number): void {
    this.first.scan(text, stop, limit);
    this.cutPieces(text.bytes, 0);
    this.tail.keep(text.bytes, this.first.ends[0]!, this.first.pos);
  }

  finish(end: number): boolean {
    this.first.finish(end);
    this.cutPieces(this.tail.bytes, this.tail.startPos);
    this.tail.clear();
    return true;
  }

  take(): void {
    this.ends[0] = this.ends[this.endCount - 1]!;
    this.endCount = 1;
  }

  shift(deltaBytes: number): void {
    this.first.shift(deltaBytes);
    this.tail.shift(deltaBytes);
    for (let i = 0; i < this.endCount; i++) this.ends[i] = this.ends[i]! - deltaBytes;
  }

  /** Cuts the pieces that the first automaton has settled by all others. `bytes` begin at position `basePos`. */
  private cutPieces(bytes: Uint8Array, basePos: number): void {
    let ends: Int32Array = this.first.ends.slice(0, this.first.endCount);
    if (basePos !== 0) addToAll(ends, -basePos);
    this.first.take();
    for (const tables of this.rest) ends = cutAgain(ends, tables, bytes);

    const needed = this.endCount + ends.length;
    if (needed > this.ends.length) {
      const longer = new Int32Array(2 * needed);
      longer.set(this.ends);
      this.ends = longer;
    }
    if (basePos !== 0) addToAll(ends, basePos);
    this.ends.set(ends.subarray(1), this.endCount);
    this.endCount += ends.length - 1;
  }
}

function addToAll(positions: Int32Array, delta: number): void {
  for (let i = 0; i < positions.length; i++) positions[i] = positions[i]! + delta;
}

/** Every piece [ends[i], ends[i + 1]) cut by one automaton, as a document of its own. */
function cutAgain(ends: Int32Array, tables: ScanTables, bytes: Uint8Array): Int32Array {
  const finer = new Int32Array(ends.at(-1)! - ends[0]! + 1 + spareEndCount);
  finer[0] = ends[0]!;
  const cursor = cursorAt(ends[0]!, 1);
  for (const end of ends.subarray(1)) {
    scanCharacters(cursor, tables, bytes, end, end, finer);
    finishDocument(cursor, tables, end, finer);
  }
  return finer.subarray(0, cursor.endCount);
}
