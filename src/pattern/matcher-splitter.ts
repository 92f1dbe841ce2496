import type { Text } from "../bytes/text.ts";
import { characterLengthAt } from "../bytes/utf8.ts";
import { DocumentTail } from "./document-tail.ts";
import { Matcher, noMatch, unfinished } from "./matcher.ts";
import type { Program } from "./matcher-program.ts";
import type { Splitter } from "./splitter.ts";

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
    if (this.endCount === this.ends.length) {
      const longer = new Int32Array(2 * this.ends.length);
      longer.set(this.ends);
      this.ends = longer;
    }
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
