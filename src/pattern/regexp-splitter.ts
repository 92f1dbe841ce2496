import type { Text } from "../corpus/text.ts";
import { DocumentTail } from "./document-tail.ts";
import type { Splitter } from "./splitter.ts";
import { characterLengthAt } from "./utf8.ts";

const newline = 10;

/**
 * The fallback: JavaScript regular expressions over decoded text. They cannot stop and go on, so a document is settled
 * when it ends: at an invalid byte, behind a line (lineWise), or in `finish`; until then its bytes must stay.
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

  constructor(sources: readonly string[], lineWise: boolean) {
    this.regexps = sources.map((source) => new RegExp(source, "gv"));
    this.lineWise = lineWise;
  }

  start(pos: number): void {
    this.pos = pos;
    this.ends[0] = pos;
    this.endCount = 1;
    this.tail.clear();
  }

  scan({ bytes }: Text, stop: number, limit: number): void {
    this.firstInvalidPos = -1;
    while (this.pos < stop) {
      const pos = this.pos;
      const length = characterLengthAt(bytes, pos, limit);
      this.pos += Math.max(1, length);
      if (length === 0) {
        this.settle(bytes, 0, pos);
        this.addEnd(pos + 1);
        this.invalidByteCount++;
        if (this.firstInvalidPos < 0) this.firstInvalidPos = pos;
      } else if (this.lineWise && bytes[pos] === newline) {
        this.settle(bytes, 0, pos + 1);
      }
    }
    this.tail.keep(bytes, this.ends[this.endCount - 1]!, this.pos);
  }

  finish(end: number): void {
    this.settle(this.tail.bytes, this.tail.startPos, end);
    this.tail.clear();
  }

  take(): void {
    this.ends[0] = this.ends[this.endCount - 1]!;
    this.endCount = 1;
  }

  shift(deltaBytes: number): void {
    this.pos -= deltaBytes;
    this.tail.shift(deltaBytes);
    for (let i = 0; i < this.endCount; i++) this.ends[i] = this.ends[i]! - deltaBytes;
  }

  /** The text behind the last end is whole and ends at `end`; `bytes` begin at position `basePos`. */
  private settle(bytes: Uint8Array, basePos: number, end: number): void {
    const start = this.ends[this.endCount - 1]!;
    if (start === end) return;
    const content = this.decoder.decode(bytes.subarray(start - basePos, end - basePos));
    const isAscii = content.length === end - start;
    let bytePos = start;
    let unit = 0;
    for (const pieceEnd of splitText(content, this.regexps)) {
      bytePos += isAscii ? pieceEnd - unit : Buffer.byteLength(content.slice(unit, pieceEnd));
      unit = pieceEnd;
      this.addEnd(bytePos);
    }
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

/** Ends (in UTF-16 units) of the pieces that the splits cut a text into, one split after the other. */
function splitText(content: string, regexps: readonly RegExp[]): number[] {
  let ends = [content.length];
  for (const regexp of regexps) {
    const finer: number[] = [];
    let start = 0;
    for (const end of ends) {
      const piece = content.slice(start, end);
      let settled = 0;
      regexp.lastIndex = 0;
      for (let match = regexp.exec(piece); match !== null; match = regexp.exec(piece)) {
        const matchEnd = match.index + match[0].length;
        if (match[0].length === 0) {
          regexp.lastIndex += piece.codePointAt(matchEnd)! > 0xffff ? 2 : 1;
          continue;
        }
        if (match.index > settled) finer.push(start + match.index);
        finer.push(start + matchEnd);
        settled = matchEnd;
      }
      if (settled < piece.length) finer.push(end);
      start = end;
    }
    ends = finer;
  }
  return ends;
}
