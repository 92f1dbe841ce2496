import type { Text } from "../bytes/text.ts";
import { characterLengthAt, codePointBefore, codePointOf } from "../bytes/utf8.ts";
import type { ScriptPattern } from "./compiled-pattern.ts";
import { cursorAt, finishDocument, type ScanTables, scanCharacters, spareEndCount } from "./scan-tables.ts";
import { isLetter, neutralEnd } from "./script-cut.ts";
import { isLetterwise, scriptNumbers, scriptOf, scriptTable } from "./scripts.ts";
import { DocumentTail, type Splitter } from "./splitter.ts";

/**
 * Cuts a document into stretches of one script each, and each stretch into pretokens by one of two automata.
 *
 * A stretch ends behind its last character that is not Common, when a character of another script comes; what is Common
 * between the two begins the next stretch. So Common characters wait until it is known whose they are. The automaton is
 * given what is certain: it stands at `cursor.pos`, and [cursor.pos, pos) waits.
 *
 * An invalid byte is a pretoken, and the text on each side is cut as if it ended there.
 */
export class ScriptSplitter implements Splitter {
  ends = new Int32Array(1 << 12);
  pos = 0;
  invalidByteCount = 0;
  firstInvalidPos = -1;
  /** A safe cut is the end of a pretoken whatever follows. */
  readonly settlesAtCuts = true;
  /** The automaton of the stretch, or of the text before it, if no character has shown its script yet. */
  private tables: ScanTables;
  private readonly cursor = cursorAt(0, 1);
  /** The stretch's script; common while it is not known. */
  private script: number = scriptNumbers.common;
  /** End of the last character that is the stretch's for certain. */
  private stretchEnd = 0;
  private readonly tail = new DocumentTail();
  /** So much text may wait before a place is looked for up to which it can be settled. */
  private waitingBytesMax = leastWaitingBytes;
  private readonly slotCountMax: number;
  private readonly asciiScripts = Uint8Array.from({ length: 128 }, (_, code) =>
    scriptOf(scriptTable(), code),
  );

  constructor(private readonly pattern: ScriptPattern) {
    this.tables = pattern.word;
    this.slotCountMax = Math.max(pattern.word.slotCount, pattern.letters.slotCount);
  }

  get endCount(): number {
    return this.cursor.endCount;
  }

  start(pos: number): void {
    this.cursor.endCount = 1;
    this.ends[0] = pos;
    this.pos = pos;
    this.startText(pos, this.pattern.word);
  }

  scan({ bytes }: Text, stop: number, limit: number): void {
    this.firstInvalidPos = -1;
    this.makeRoom(stop - this.cursor.pos);
    const scripts = scriptTable();
    const { asciiScripts } = this;
    let { pos, script } = this;
    while (pos < stop) {
      const byte = bytes[pos]!;
      let next = pos + 1;
      let found: number;
      if (byte < 0x80) found = asciiScripts[byte]!;
      else {
        const length = characterLengthAt(bytes, pos, limit);
        if (length === 0) {
          this.takeInvalidByte(bytes, pos);
          script = scriptNumbers.common;
          pos = next;
          continue;
        }
        next = pos + length;
        found = scriptOf(scripts, codePointOf(bytes, pos));
      }
      pos = next;
      if (found === scriptNumbers.common) continue;
      if (found !== script && found !== scriptNumbers.inherited) {
        this.startStretch(bytes, found);
        script = found;
      }
      this.stretchEnd = pos;
    }
    this.pos = pos;
    if (script !== scriptNumbers.common) this.feed(bytes, this.stretchEnd);
    if (pos - this.cursor.pos > this.waitingBytesMax) this.settleWaiting(bytes);
    this.tail.keep(bytes, this.cursor.pos, pos);
  }

  finish(end: number): boolean {
    this.makeRoom(end - this.cursor.pos);
    const { bytes, startPos } = this.tail;
    const base = Math.max(0, startPos);
    // Positions are made those of the tail's bytes, and then of the text again.
    this.shift(base);
    this.finishText(bytes, end - base);
    this.shift(-base);
    this.pos = end;
    this.startText(end, this.pattern.word);
    return true;
  }

  take(): void {
    const { cursor, ends } = this;
    const from = cursor.endCount - 1;
    ends.copyWithin(0, from, from + 1 + this.slotCountMax);
    cursor.endCount = 1;
  }

  shift(deltaBytes: number): void {
    const { cursor, ends } = this;
    this.pos -= deltaBytes;
    this.stretchEnd -= deltaBytes;
    cursor.pos -= deltaBytes;
    this.tail.shift(deltaBytes);
    const count = cursor.endCount + this.slotCountMax;
    for (let i = 0; i < count; i++) ends[i] = ends[i]! - deltaBytes;
  }

  /** A text begins at `pos`; `tables` cut it if it ends without a character that has a script. */
  private startText(pos: number, tables: ScanTables): void {
    this.cursor.pos = pos;
    this.cursor.entry = 0;
    this.tables = tables;
    this.script = scriptNumbers.common;
    this.stretchEnd = pos;
    this.waitingBytesMax = leastWaitingBytes;
    this.tail.clear();
  }

  /** A character of another script was read: ends the stretch, if there is one, and begins the next. */
  private startStretch(bytes: Uint8Array, script: number): void {
    if (this.script !== scriptNumbers.common) this.finishText(bytes, this.stretchEnd);
    this.cursor.entry = 0;
    this.script = script;
    this.tables = isLetterwise(script) ? this.pattern.letters : this.pattern.word;
    this.waitingBytesMax = leastWaitingBytes;
  }

  private takeInvalidByte(bytes: Uint8Array, pos: number): void {
    this.finishText(bytes, pos);
    this.ends[this.cursor.endCount++] = pos + 1;
    this.invalidByteCount++;
    if (this.firstInvalidPos < 0) this.firstInvalidPos = pos;
    this.startText(pos + 1, this.pattern.word);
  }

  /** The automaton reads on up to `end`, where a character ends. */
  private feed(bytes: Uint8Array, end: number): void {
    scanCharacters(this.cursor, this.tables, bytes, end, end, this.ends);
  }

  private finishText(bytes: Uint8Array, end: number): void {
    this.feed(bytes, end);
    finishDocument(this.cursor, this.tables, end, this.ends);
  }

  /**
   * Much Common text waits, a table of numbers perhaps. Settles it up to a place where every automaton cuts, if there is one
   * before which all of them cut alike; behind that place the text goes on as if it began there.
   */
  private settleWaiting(bytes: Uint8Array): void {
    const { cursor, pos, tables, script } = this;
    const isKnown = script === scriptNumbers.common || this.isBehindLetter(bytes);
    const end = isKnown ? neutralEnd(bytes, cursor.pos, pos) : cursor.pos;
    if (end === cursor.pos) {
      this.waitingBytesMax *= 2;
      return;
    }
    this.finishText(bytes, end);
    this.startText(end, tables);
  }

  /** Whether the automaton stands behind a letter: then it cuts there, unless a letter or a mark follows. */
  private isBehindLetter(bytes: Uint8Array): boolean {
    return isLetter(codePointBefore(bytes, this.cursor.pos));
  }

  private makeRoom(byteCount: number): void {
    const needed = this.cursor.endCount + byteCount + spareEndCount;
    if (needed <= this.ends.length) return;
    const longer = new Int32Array(2 * needed);
    longer.set(this.ends);
    this.ends = longer;
  }
}

const leastWaitingBytes = 1 << 16;
