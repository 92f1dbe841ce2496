import type { Text } from "../corpus/text.ts";
import { DocumentTail } from "./document-tail.ts";
import type { Splitter } from "./splitter.ts";
import { characterLengthAt } from "./utf8.ts";

const newline = 10;
/** Ends settled in one call: some 20 ms. */
const endsAtOnce = 1 << 14;

/**
 * The fallback: JavaScript regular expressions over decoded text. They cannot stop and go on where bytes are still to come, so
 * a document is settled when it ends: at an invalid byte, behind a line (lineWise), or in `finish`; until then its bytes
 * must stay. A long one is then settled in portions.
 */
export class RegExpSplitter implements Splitter {
  ends = new Int32Array(1 << 10);
  endCount = 1;
  invalidByteCount = 0;
  firstInvalidPos = -1;
  pos = 0;
  private readonly regexps: readonly RegExp[];
  private readonly lineWise: boolean;
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly tail = new DocumentTail();
  /** What is being settled: ends still to come, as offsets from `cuttingPos`. */
  private cutting: Generator<number, undefined> | null = null;
  private cuttingPos = 0;

  constructor(sources: readonly string[], lineWise: boolean) {
    this.regexps = sources.map((source) => new RegExp(source, "gv"));
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
    while (this.pos < stop) {
      const pos = this.pos;
      const length = characterLengthAt(bytes, pos, limit);
      const next = pos + Math.max(1, length);
      if (length === 0) {
        if (!this.settle(bytes, 0, pos)) return;
        this.addEnd(next);
        this.invalidByteCount++;
        if (this.firstInvalidPos < 0) this.firstInvalidPos = pos;
      } else if (this.lineWise && bytes[pos] === newline) {
        if (!this.settle(bytes, 0, next)) return;
      }
      this.pos = next;
    }
    this.tail.keep(bytes, this.ends[this.endCount - 1]!, this.pos);
  }

  finish(end: number): boolean {
    if (!this.settle(this.tail.bytes, this.tail.startPos, end)) return false;
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
   * The text behind the last end is whole and ends at `end`; `bytes` begin at position `basePos`. Adds its ends, but no
   * more than `endsAtOnce`: false if there are others, which the next call goes on with.
   */
  private settle(bytes: Uint8Array, basePos: number, end: number): boolean {
    if (this.cutting === null) {
      const start = this.ends[this.endCount - 1]!;
      if (start === end) return true;
      const content = this.decoder.decode(bytes.subarray(start - basePos, end - basePos));
      this.cutting = cutText(content, this.regexps, content.length === end - start);
      this.cuttingPos = start;
    }
    for (let count = 0; count < endsAtOnce; count++) {
      const { done, value } = this.cutting.next();
      if (done) {
        this.cutting = null;
        return true;
      }
      this.addEnd(this.cuttingPos + value);
    }
    return false;
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

/** Ends, in bytes, of the pieces that the splits cut a text into, one split after the other. */
function* cutText(
  content: string,
  regexps: readonly RegExp[],
  isAscii: boolean,
): Generator<number, undefined> {
  let bytePos = 0;
  let unit = 0;
  for (const end of pieceEnds(content, regexps, 0)) {
    bytePos += isAscii ? end - unit : Buffer.byteLength(content.slice(unit, end));
    unit = end;
    yield bytePos;
  }
}

/** The same in UTF-16 units, for the splits from `level` on. */
function* pieceEnds(content: string, regexps: readonly RegExp[], level: number): Generator<number, void> {
  const ends = matchEnds(content, regexps[level]!);
  if (level === regexps.length - 1) return yield* ends;
  let start = 0;
  for (const end of ends) {
    for (const inner of pieceEnds(content.slice(start, end), regexps, level + 1)) yield start + inner;
    start = end;
  }
}

/** Where matches end, and what is between them. */
function* matchEnds(content: string, regexp: RegExp): Generator<number, void> {
  let settled = 0;
  regexp.lastIndex = 0;
  for (let match = regexp.exec(content); match !== null; match = regexp.exec(content)) {
    const matchEnd = match.index + match[0].length;
    if (match[0].length === 0) {
      regexp.lastIndex += content.codePointAt(matchEnd)! > 0xffff ? 2 : 1;
      continue;
    }
    if (match.index > settled) yield match.index;
    yield matchEnd;
    settled = matchEnd;
  }
  if (settled < content.length) yield content.length;
}
