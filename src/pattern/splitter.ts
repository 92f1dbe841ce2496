import { grown } from "../bytes/arrays.ts";
import { characterLengthAt, type Text } from "../bytes/text.ts";
import { Matcher, noMatch, unfinished } from "./matcher.ts";
import type { Program } from "./matcher-program.ts";
import {
  cursorAt,
  finishDocument,
  type ScanCursor,
  type ScanTables,
  scanCharacters,
  spareEndCount,
} from "./scan-tables.ts";

/**
 * A Splitter cuts documents into pretokens. It reads a document piece by piece as the bytes arrive and hands out the
 * ends of the pretokens that are settled; positions are offsets into the text it is given.
 *
 *   ends[0]                 start of the first pretoken not yet taken
 *   ends[1 .. endCount)     ends of the settled pretokens, ascending; pretoken i is [ends[i], ends[i + 1])
 *
 * A document "ab c" at 0 gives, after `start(0)`, `scan(text, 4, 4)`, `finish(4)`: ends = [0, 2, 4], endCount = 3.
 * Calls for one document: start, then any number of scan / take / shift, then finish, take, until finish returns true.
 */
export interface Splitter {
  /** May be replaced by a longer array in `scan` and `finish`: read it anew after each. */
  readonly ends: Int32Array;
  readonly endCount: number;
  /** Bytes that were not part of valid UTF-8, each a pretoken of its own, since the splitter was made. */
  readonly invalidByteCount: number;
  /** Position of the first invalid byte met by the last `scan`, or -1. */
  readonly firstInvalidPos: number;

  /** A document begins at `pos`. */
  start(pos: number): void;
  /**
   * Reads on from where the last call stood up to `stop`; a character that begins before `stop` is read whole.
   * Bytes before `limit` may be looked at. `limit > stop + 3`, or the document ends at `limit`. May return before it is
   * there, with as many ends as are settled at a time: `pos` tells.
   */
  scan(text: Text, stop: number, limit: number): void;
  /** Where the next `scan` goes on. */
  readonly pos: number;
  /**
   * The document ends at `end`, where `scan` has arrived: settles everything, or as much as is settled at a time. Then it
   * returns false: take it, and call again.
   */
  finish(end: number): boolean;
  /** Forgets the settled pretokens: the last end becomes `ends[0]`. */
  take(): void;
  /** The text was moved: every position kept falls by `deltaBytes`. */
  shift(deltaBytes: number): void;
}

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
    if (needed > this.ends.length) this.ends = grown(this.ends, needed);
  }
}

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
    if (needed > this.ends.length) this.ends = grown(this.ends, needed);
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

/**
 * The bytes of a document that are read and not settled, in a copy of its own: when `finish` comes, the text that they
 * were read from may have moved elsewhere. Each byte is copied once, however long the tail grows.
 */
export class DocumentTail {
  /** Position of the first byte kept; -1 = nothing is kept. */
  startPos = -1;
  private buffer = new Uint8Array(1 << 10);
  private sizeBytes = 0;

  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.sizeBytes);
  }

  clear(): void {
    this.startPos = -1;
    this.sizeBytes = 0;
  }

  /** Keeps [start, end) of a text; what was kept before from the same start on is not copied again. */
  keep(bytes: Uint8Array, start: number, end: number): void {
    if (start !== this.startPos) {
      this.startPos = start;
      this.sizeBytes = 0;
    }
    const neededBytes = end - start;
    if (neededBytes > this.buffer.length) this.buffer = grown(this.buffer, neededBytes);
    this.buffer.set(bytes.subarray(start + this.sizeBytes, end), this.sizeBytes);
    this.sizeBytes = neededBytes;
  }

  shift(deltaBytes: number): void {
    if (this.startPos >= 0) this.startPos -= deltaBytes;
  }
}

const newline = 10;
/** Steps of the matcher in one call: some 10 ms. */
const stepsAtOnce = 1 << 20;

/**
 * The fallback: programs that a backtracking matcher runs. They may look at a text as far as it goes, so it is settled when it
 * ends: at an invalid byte, behind a line (lineWise), or in `finish`; until then its bytes are kept. It is settled in
 * portions.
 */
export class MatcherSplitter implements Splitter {
  ends = new Int32Array(1 << 10);
  endCount = 1;
  invalidByteCount = 0;
  firstInvalidPos = -1;
  pos = 0;
  private readonly matchers: readonly Matcher[];
  private readonly lineWise: boolean;
  private readonly steps = { left: 0 };
  private readonly tail = new DocumentTail();
  /** What is being settled: ends still to come, as offsets from `cuttingPos`. */
  private cutting: Generator<number, void> | null = null;
  private cuttingPos = 0;

  constructor(programs: readonly Program[], lineWise: boolean) {
    this.matchers = programs.map((program) => new Matcher(program, this.steps));
    this.lineWise = lineWise;
  }

  start(pos: number): void {
    this.pos = pos;
    this.ends[0] = pos;
    this.endCount = 1;
    this.tail.clear();
    this.cutting = null;
  }

  scan({ bytes }: Text, stop: number, limit: number): void {
    this.firstInvalidPos = -1;
    this.steps.left = stepsAtOnce;
    while (this.pos < stop) {
      const pos = this.pos;
      const length = characterLengthAt(bytes, pos, limit);
      const next = pos + Math.max(1, length);
      if (length === 0) {
        if (!this.settle(bytes, pos)) return;
        this.addEnd(next);
        this.invalidByteCount++;
        if (this.firstInvalidPos < 0) this.firstInvalidPos = pos;
      } else if (this.lineWise && bytes[pos] === newline) {
        if (!this.settle(bytes, next)) return;
      }
      this.pos = next;
    }
    this.tail.keep(bytes, this.ends[this.endCount - 1]!, this.pos);
  }

  finish(end: number): boolean {
    this.steps.left = stepsAtOnce;
    if (!this.settle(null, end)) return false;
    this.tail.clear();
    return true;
  }

  take(): void {
    this.ends[0] = this.ends[this.endCount - 1]!;
    this.endCount = 1;
  }

  shift(deltaBytes: number): void {
    this.pos -= deltaBytes;
    this.cuttingPos -= deltaBytes;
    this.tail.shift(deltaBytes);
    for (let i = 0; i < this.endCount; i++) this.ends[i] = this.ends[i]! - deltaBytes;
  }

  /**
   * The text behind the last end is whole and ends at `end`; what is not in the tail yet is in `bytes`. Adds its ends, as
   * far as the steps go: false if there are others, which the next call goes on with.
   */
  private settle(bytes: Uint8Array | null, end: number): boolean {
    if (this.cutting === null) {
      const start = this.ends[this.endCount - 1]!;
      if (start === end) return true;
      if (bytes !== null) this.tail.keep(bytes, start, end);
      this.cutting = pieceEnds(this.tail.bytes, this.matchers, 0, 0, end - start);
      this.cuttingPos = start;
    }
    for (;;) {
      const { done, value } = this.cutting.next();
      if (done) break;
      if (value === unfinished) return false;
      this.addEnd(this.cuttingPos + value);
    }
    this.cutting = null;
    return true;
  }

  private addEnd(pos: number): void {
    if (this.endCount === this.ends.length) this.ends = grown(this.ends);
    this.ends[this.endCount++] = pos;
  }
}

/**
 * Ends of the pieces that the splits from `level` on cut [start, end) into, what is not matched included; `unfinished` where
 * steps are needed to go on.
 */
function* pieceEnds(
  bytes: Uint8Array,
  matchers: readonly Matcher[],
  level: number,
  start: number,
  end: number,
): Generator<number, void> {
  const matcher = matchers[level]!;
  const isLast = level === matchers.length - 1;
  matcher.begin(bytes, start, end);
  for (let pieceStart = start; pieceStart < end; ) {
    const matchEnd = matcher.find();
    if (matchEnd === unfinished) {
      yield unfinished;
      continue;
    }
    const gapEnd = matchEnd === noMatch ? end : matcher.matchStart;
    if (gapEnd > pieceStart) {
      if (isLast) yield gapEnd;
      else yield* pieceEnds(bytes, matchers, level + 1, pieceStart, gapEnd);
    }
    if (matchEnd === noMatch) return;
    if (isLast) yield matchEnd;
    else yield* pieceEnds(bytes, matchers, level + 1, gapEnd, matchEnd);
    pieceStart = matchEnd;
  }
}
