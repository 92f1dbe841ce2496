import { grown } from "../bytes/arrays.ts";
import { characterLengthAt, type Text } from "../bytes/text.ts";
import type { CompiledPattern } from "./compiled-pattern.ts";
import { Matcher, noMatch, unfinished } from "./matcher.ts";

const newline = 10;
/** Steps of the matcher in one call: some 10 ms. */
const stepsAtOnce = 1 << 20;

/**
 * Cuts documents into pretokens by the backtracking matcher. It reads a document piece by piece as the bytes arrive and hands
 * out the ends of the pretokens that are settled; positions are offsets into the text it is given.
 *
 *   ends[0]                 start of the first pretoken not yet taken
 *   ends[1 .. endCount)     ends of the settled pretokens, ascending; pretoken i is [ends[i], ends[i + 1])
 *
 * Calls for one document: start, then any number of scan / take / shift, then finish, take, until finish returns true.
 *
 * The matcher may look at a text as far as it goes, so a text is settled when it ends: at an invalid byte, behind a line
 * (lineWise), or in `finish`; until then its bytes are kept. It is settled in portions.
 */
export class MatcherSplitter {
  /** May be replaced by a longer array in `scan` and `finish`: read it anew after each. */
  ends = new Int32Array(1 << 10);
  endCount = 1;
  /** Bytes that were not part of valid UTF-8, each a pretoken of its own, since the splitter was made. */
  invalidByteCount = 0;
  /** Position of the first invalid byte met by the last `scan`, or -1. */
  firstInvalidPos = -1;
  /** Where the next `scan` goes on. */
  pos = 0;
  private readonly matchers: readonly Matcher[];
  private readonly lineWise: boolean;
  private readonly steps = { left: 0 };
  private readonly tail = new DocumentTail();
  /** What is being settled: ends still to come, as offsets from `cuttingPos`. */
  private cutting: Generator<number, void> | null = null;
  private cuttingPos = 0;

  constructor({ programs, lineWise }: CompiledPattern & { kind: "programs" }) {
    this.matchers = programs.map((program) => new Matcher(program, this.steps));
    this.lineWise = lineWise;
  }

  /** A document begins at `pos`. */
  start(pos: number): void {
    this.pos = pos;
    this.ends[0] = pos;
    this.endCount = 1;
    this.tail.clear();
    this.cutting = null;
  }

  /**
   * Reads on up to `stop`; a character that begins before `stop` is read whole. Bytes before `limit` may be looked at.
   * `limit > stop + 3`, or the document ends at `limit`. May return before it is there, with as many ends as are settled at a
   * time: `pos` tells.
   */
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

  /**
   * The document ends at `end`, where `scan` has arrived: settles everything, or as much as is settled at a time. Then it
   * returns false: take it, and call again.
   */
  finish(end: number): boolean {
    this.steps.left = stepsAtOnce;
    if (!this.settle(null, end)) return false;
    this.tail.clear();
    return true;
  }

  /** Forgets the settled pretokens: the last end becomes `ends[0]`. */
  take(): void {
    this.ends[0] = this.ends[this.endCount - 1]!;
    this.endCount = 1;
  }

  /** The text was moved: every position kept falls by `deltaBytes`. */
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

/**
 * The bytes of a document that are read and not settled, in a copy of its own: when `finish` comes, the text that they
 * were read from may have moved elsewhere. Each byte is copied once, however long the tail grows.
 */
class DocumentTail {
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
