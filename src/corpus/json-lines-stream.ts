import {
  backslash,
  carriageReturn,
  closeBrace,
  closeBracket,
  comma,
  lineFeed,
  openBrace,
  openBracket,
  quote,
  space,
  tab,
} from "../bytes/text.ts";
import { UserError } from "../errors.ts";
import type { ByteStream } from "./byte-stream.ts";

/**
 * Rewrites a JSON file that is one array of records, or records one after the other, into lines: white space between
 * tokens becomes spaces, and what separates two records becomes a line feed. No byte is added or removed, so offsets are
 * those of the file, and line n is record n. What is around the records is checked here; each record is checked by the
 * reader of its line.
 */
export class JsonLinesStream implements ByteStream {
  private state: State = state.start;
  private isArray = false;
  /** How many objects and arrays are open in the current record. */
  private depth = 0;
  private recordCount = 0;

  constructor(
    private readonly from: ByteStream,
    private readonly path: string,
  ) {}

  get inputBytes(): number {
    return this.from.inputBytes;
  }

  async read(into: Uint8Array, from: number): Promise<number> {
    const readBytes = await this.from.read(into, from);
    if (readBytes > 0) this.rewrite(into, from, from + readBytes);
    else this.end();
    return readBytes;
  }

  close(): void {
    this.from.close();
  }

  private rewrite(bytes: Uint8Array, from: number, end: number): void {
    for (let pos = from; pos < end; pos++) {
      const byte = bytes[pos]!;
      if (this.state === state.string) {
        while (pos < end && bytes[pos] !== quote && bytes[pos] !== backslash && bytes[pos] !== lineFeed)
          pos++;
        if (pos === end) return;
        const byte = bytes[pos];
        if (byte === quote) this.state = state.inside;
        else if (byte === backslash) this.state = state.escape;
        else throw this.error("is not valid JSON");
      } else if (this.state === state.escape) {
        if (byte === lineFeed) throw this.error("is not valid JSON");
        this.state = state.string;
      } else if (byte === space || byte === tab || byte === lineFeed || byte === carriageReturn) {
        bytes[pos] = space;
        if (this.state === state.after && !this.isArray) {
          bytes[pos] = lineFeed;
          this.state = state.before;
        }
      } else if (this.state === state.inside) this.goInside(byte);
      else bytes[pos] = this.goBetween(byte);
    }
  }

  private goInside(byte: number): void {
    if (byte === quote) this.state = state.string;
    else if (byte === openBrace || byte === openBracket) this.depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      this.depth--;
      if (this.depth === 0) this.state = state.after;
    }
  }

  /** Takes a byte that is outside of records, or begins one; returns the byte to put there. */
  private goBetween(byte: number): number {
    const { state: now, isArray } = this;
    if (byte === openBrace && (now === state.start || now === state.before || now === state.first)) {
      this.state = state.inside;
      this.depth = 1;
      this.recordCount++;
      return byte;
    }
    if (now === state.start && byte === openBracket) {
      this.isArray = true;
      this.state = state.first;
      return space;
    }
    // The three bytes of the byte-order mark, which the reader of lines skips.
    if (now === state.start && (byte === 0xef || byte === 0xbb || byte === 0xbf)) return byte;
    if (isArray && now === state.after && byte === comma) {
      this.state = state.before;
      return lineFeed;
    }
    if (isArray && byte === closeBracket && (now === state.after || now === state.first)) {
      this.state = state.end;
      return space;
    }
    if (now === state.end) throw this.error("is followed by something else behind its array");
    throw this.error(now === state.after ? "is followed by something else" : "is not a JSON object", now);
  }

  private end(): void {
    const { state: now, isArray } = this;
    if (
      now === state.end ||
      now === state.start ||
      (!isArray && (now === state.after || now === state.before))
    )
      return;
    throw new UserError(`"${this.path}" ends in the middle of its JSON`, {
      hint: "it was cut short: copy it again",
    });
  }

  private error(what: string, now: State = this.state): UserError {
    const isNext = now === state.start || now === state.first || now === state.before;
    const record = this.recordCount + (isNext ? 1 : 0);
    return new UserError(`"${this.path}" record ${record} ${what}`, {
      hint: "as json are read one array of objects, or objects with white space between; text is --input-format text",
    });
  }
}

/** Where the next byte is. */
const state = {
  start: 0,
  /** After the opening bracket: a record, or the end of the array. */
  first: 1,
  /** A record has to begin. */
  before: 2,
  inside: 3,
  string: 4,
  escape: 5,
  /** After a record. */
  after: 6,
  /** After the array. */
  end: 7,
} as const;
type State = (typeof state)[keyof typeof state];
