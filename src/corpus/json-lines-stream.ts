import { ascii, json } from "#bytes";
import { asOption, files, messages, phrase, UserError } from "#runtime";
import type { ByteStream } from "./byte-stream.ts";
import { placeIn } from "./input.ts";

/**
 * Rewrites a JSON file with an array or a sequence of records into lines, one for each record. The comma between two
 * records of an array, or the first whitespace after a record of a sequence, becomes a line feed. The brackets around
 * the array, and all other whitespace outside strings, become spaces. No byte is added or removed, so offsets in the
 * lines are also those in the file.
 */
export class JsonLinesStream implements ByteStream {
  private state: State = state.start;
  private isArray = false;
  /** How many objects and arrays of the current record are open. */
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
        while (
          pos < end &&
          bytes[pos] !== ascii.quote &&
          bytes[pos] !== ascii.backslash &&
          bytes[pos] !== ascii.lineFeed
        )
          pos++;
        if (pos === end) return;
        const byte = bytes[pos];
        if (byte === ascii.quote) this.state = state.inside;
        else if (byte === ascii.backslash) this.state = state.escape;
        else throw this.error("is not valid JSON");
      } else if (this.state === state.escape) {
        if (byte === ascii.lineFeed) throw this.error("is not valid JSON");
        this.state = state.string;
      } else if (json.isSpace(byte)) {
        bytes[pos] = ascii.space;
        if (this.state === state.after && !this.isArray) {
          bytes[pos] = ascii.lineFeed;
          this.state = state.before;
        }
      } else if (this.state === state.inside) this.goInside(byte);
      else bytes[pos] = this.goBetween(byte);
    }
  }

  private goInside(byte: number): void {
    if (byte === ascii.quote) this.state = state.string;
    else if (byte === ascii.openBrace || byte === ascii.openBracket) this.depth++;
    else if (byte === ascii.closeBrace || byte === ascii.closeBracket) {
      this.depth--;
      if (this.depth === 0) this.state = state.after;
    }
  }

  /** Processes a byte outside records, or the first byte of a record. Returns the byte that replaces it. */
  private goBetween(byte: number): number {
    const { state: now, isArray } = this;
    if (byte === ascii.openBrace && (now === state.start || now === state.before || now === state.first)) {
      this.state = state.inside;
      this.depth = 1;
      this.recordCount++;
      return byte;
    }
    if (now === state.start && byte === ascii.openBracket) {
      this.isArray = true;
      this.state = state.first;
      return ascii.space;
    }
    // One of the three bytes of the byte-order mark, which the reader of lines skips.
    if (now === state.start && (byte === 0xef || byte === 0xbb || byte === 0xbf)) return byte;
    if (isArray && now === state.after && byte === ascii.comma) {
      this.state = state.before;
      return ascii.lineFeed;
    }
    if (isArray && byte === ascii.closeBracket && (now === state.after || now === state.first)) {
      this.state = state.end;
      return ascii.space;
    }
    if (now === state.end) throw this.error("is the last of the array, but more follows the array");
    if (now !== state.after) throw this.error("is not a JSON object", now);
    throw this.error(isArray ? "is followed by neither a comma nor ]" : "is not followed by white space");
  }

  private end(): void {
    const { state: now, isArray } = this;
    if (
      now === state.end ||
      now === state.start ||
      (!isArray && (now === state.after || now === state.before))
    )
      return;
    throw new UserError(`${files.nameOf(this.path)} ends in the middle of its JSON`, {
      hint: "complete the JSON, or copy it again if it was cut short",
    });
  }

  private error(what: string, now: State = this.state): UserError {
    const isNext = now === state.start || now === state.first || now === state.before;
    const record = this.recordCount + (isNext ? 1 : 0);
    return new UserError(`${placeIn(this.path, `record ${record}`)} ${what}`, {
      hint: phrase`correct the JSON: it must be one array of objects, or objects separated by white space${messages.ifHas("input-format text", phrase`; if the file is plain text, use ${asOption("input-format", "text")}`)}`,
    });
  }
}

const state = {
  start: 0,
  /** After the opening bracket: a record or the end of the array follows. */
  first: 1,
  before: 2,
  inside: 3,
  string: 4,
  escape: 5,
  after: 6,
  end: 7,
} as const;
type State = (typeof state)[keyof typeof state];
