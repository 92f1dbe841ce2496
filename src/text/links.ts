import { grown } from "../bytes/arrays.ts";
import { type Normalization, TextNormalizer } from "../bytes/normalization.ts";
import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import { byteCountOf, codePointAt, codePointBefore, isUnfinished, lineFeed } from "../bytes/text.ts";
import { type CodePointSet, contains, emptySet, whiteSpace, wordCharacters } from "../pattern/unicode.ts";
import { scaled } from "../runtime/scale.ts";
import type { AddedToken } from "./cutting.ts";

/**
 * A TextSink takes a text as sections, which are the text between two added tokens, and the tokens between them. A chain of
 * sinks changes a text on its way to the pattern; each does one thing: find added tokens, normalize, put a space before.
 */
export interface TextSink {
  /** Takes the next bytes of the section; the caller may overwrite them afterwards. */
  push(bytes: Uint8Array, start: number, end: number): void;
  /** Ends the section; or the part of it that is this range's: it goes on with the settled characters of `behind`. */
  end(behind?: Uint8Array): void;
  /** Takes the id of a token between two sections, and how many bytes of white space before it went with it. */
  token(id: number, strippedBytes: number): void;
  /** The last token takes along so many bytes of white space behind it. */
  stripBehind(byteCount: number): void;
}

/** Bytes that wait until the next ones have come: bytes[0 .. length). */
export class PendingBytes {
  bytes = new Uint8Array(scaled(1 << 12, 64));
  length = 0;

  append(from: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (needed > this.bytes.length) this.bytes = grown(this.bytes, needed);
    if (end - start < 64)
      for (let pos = start; pos < end; pos++) this.bytes[this.length + pos - start] = from[pos]!;
    else this.bytes.set(from.subarray(start, end), this.length);
    this.length = needed;
  }

  /** Forgets the first `count` bytes. */
  drop(count: number): void {
    if (count > 0 && count < this.length) this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }
}

/** Most bytes of the character before or behind a token, which may decide whether it counts. */
const contextBytes = 4;

/**
 * Finds added tokens in a text: from the left, the longest at each place, not overlapping. The text between them goes on as
 * sections. A match that does not count (a token that stays text, whose id is below 0, or a `single_word` token that touches a word)
 * still takes its place: the search goes on behind it, as in HF.
 */
export class TokenCutter implements TextSink {
  private readonly finder: SpecialTokenFinder;
  private readonly tokens: ReadonlyMap<string, AddedToken>;
  /** What `\w` is in Rust's `regex`; empty if no token needs it. */
  private readonly wordCharacters: CodePointSet;
  private readonly looksAround: boolean;
  private readonly stripsLeft: boolean;
  /** Begins with `doneCount` bytes that went on already, at most `contextBytes`. */
  private readonly pending = new PendingBytes();
  private doneCount = 0;
  /** Where the search goes on. */
  private searchPos = 0;
  /** From `doneCount` to here there is only white space. It waits, because a token behind it may take it along. */
  private spaceEnd = 0;
  /** Nothing was dropped yet: position 0 is the text's start. */
  private isWhole = true;
  private spaceCount = 0;
  /** The last token takes along the white space that follows. */
  private isSkipping = false;

  constructor(
    tokens: readonly AddedToken[],
    private readonly next: TextSink,
  ) {
    const contents = tokens.map((token) => Buffer.from(token.content));
    this.finder = new SpecialTokenFinder(contents);
    this.tokens = new Map(tokens.map((token, i) => [contents[i]!.toString("latin1"), token]));
    this.wordCharacters = tokens.some((token) => token.singleWord) ? wordCharacters() : emptySet;
    this.looksAround = tokens.some((token) => token.singleWord || token.lstrip || token.rstrip);
    this.stripsLeft = tokens.some((token) => token.lstrip);
  }

  /** For tests: bytes searched for tokens, and characters searched for white space before them. */
  get visitedCount(): number {
    return this.finder.visitedByteCount + this.spaceCount;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.pending.append(bytes, start, end);
    const unsure = this.finder.longestBytes - 1 + (this.looksAround ? contextBytes : 0);
    this.cutTo(Math.max(0, this.pending.length - unsure), false);
  }

  end(behind?: Uint8Array): void {
    this.cutTo(this.pending.length, true);
    this.pending.length = this.doneCount = this.searchPos = this.spaceEnd = 0;
    this.isWhole = true;
    this.isSkipping = false;
    this.next.end(behind);
  }

  token(id: number, strippedBytes: number): void {
    this.next.token(id, strippedBytes);
  }

  stripBehind(byteCount: number): void {
    this.next.stripBehind(byteCount);
  }

  /** Sends on what is certain: tokens that begin before `sureEnd`, and the text between and behind them up to it. */
  private cutTo(sureEnd: number, atEnd: boolean): void {
    const { pending, finder, next } = this;
    const { bytes, length } = pending;
    let done = this.doneCount;
    if (this.isSkipping) done = this.skipSpace(done, atEnd);
    let searchPos = Math.max(this.searchPos, done);
    finder.reset(bytes.subarray(0, length));
    while (!this.isSkipping) {
      const pos = finder.find(searchPos, length);
      if (pos >= sureEnd) {
        searchPos = Math.max(searchPos, sureEnd);
        break;
      }
      const end = pos + finder.lengthAt(pos, length);
      searchPos = end;
      const token = this.tokens.get(Buffer.from(bytes.buffer, pos, end - pos).toString("latin1"))!;
      if (!this.counts(token, pos, end)) continue;
      const start = token.lstrip ? this.spaceStart(done, pos) : pos;
      if (start > done) next.push(bytes, done, start);
      next.end();
      next.token(token.id, pos - start);
      done = end;
      if (token.rstrip) {
        this.isSkipping = true;
        done = this.skipSpace(done, atEnd);
        searchPos = Math.max(searchPos, done);
      }
    }
    if (atEnd) this.isSkipping = false;
    let stop = Math.max(done, sureEnd);
    if (this.stripsLeft && !atEnd) {
      while (stop > done && (bytes[stop]! & 0xc0) === 0x80) stop--;
      const start = this.spaceStart(done, stop);
      this.spaceEnd = stop;
      stop = start;
    }
    if (stop > done) next.push(bytes, done, stop);
    const dropCount = Math.max(0, stop - contextBytes);
    pending.drop(dropCount);
    this.doneCount = stop - dropCount;
    this.searchPos = Math.max(0, searchPos - dropCount);
    this.spaceEnd -= dropCount;
    this.isWhole &&= dropCount === 0;
  }

  private counts(token: AddedToken, pos: number, end: number): boolean {
    if (token.id < 0) return false;
    if (!token.singleWord) return true;
    const { bytes, length } = this.pending;
    const isStart = this.isWhole && pos === 0;
    return !(
      (!isStart && contains(this.wordCharacters, codePointBefore(bytes, pos))) ||
      contains(this.wordCharacters, codePointAt(bytes, end, length))
    );
  }

  /** Position behind the white space at `start`. Skipping is over where its end has come. */
  private skipSpace(start: number, atEnd: boolean): number {
    const { bytes, length } = this.pending;
    let pos = start;
    while (pos < length) {
      const codePoint = codePointAt(bytes, pos, length);
      if (!contains(whiteSpace, codePoint)) {
        this.isSkipping = !atEnd && isUnfinished(bytes, pos, length);
        break;
      }
      pos += byteCountOf(codePoint);
    }
    this.next.stripBehind(pos - start);
    return pos;
  }

  /** Start of the white space that ends at `end`, not before `done`. No byte of it is looked at twice. */
  private spaceStart(done: number, end: number): number {
    const { bytes } = this.pending;
    const known = Math.max(done, this.spaceEnd);
    while (end > known) {
      this.spaceCount++;
      const codePoint = codePointBefore(bytes, end);
      if (!contains(whiteSpace, codePoint)) return end;
      end -= byteCountOf(codePoint);
    }
    return done;
  }
}

/** Brings text into the form of a normalization. */
export class Normalizer implements TextSink {
  private readonly normalizer: TextNormalizer;
  private readonly take: (bytes: Uint8Array, start: number, end: number) => void;

  constructor(
    normalization: Normalization,
    private readonly next: TextSink,
  ) {
    this.normalizer = new TextNormalizer(normalization);
    this.take = (bytes, start, end) => next.push(bytes, start, end);
  }

  get pendingBytes(): number {
    return this.normalizer.pendingBytes;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.normalizer.push(bytes, start, end, this.take);
  }

  end(behind?: Uint8Array): void {
    this.normalizer.end(this.take);
    this.next.end(behind && this.normalizer.lowered(behind));
  }

  token(id: number, strippedBytes: number): void {
    this.next.token(id, strippedBytes);
  }

  stripBehind(byteCount: number): void {
    this.next.stripBehind(byteCount);
  }
}

const spaceByte = 0x20;
const space = Uint8Array.of(spaceByte);

/** Puts a space before each section that does not begin with one; before each line, if texts are fed line by line. */
export class PrefixSpace implements TextSink {
  private isInside = false;

  constructor(
    private readonly next: TextSink,
    private readonly isLinewise = false,
  ) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    for (let pos = start; pos < end; ) {
      if (!this.isInside && bytes[pos] !== spaceByte) this.next.push(space, 0, 1);
      const lineEnd = this.isLinewise ? bytes.subarray(pos, end).indexOf(lineFeed) + 1 : 0;
      const stop = lineEnd === 0 ? end : pos + lineEnd;
      this.next.push(bytes, pos, stop);
      this.isInside = lineEnd === 0;
      pos = stop;
    }
  }

  end(behind?: Uint8Array): void {
    this.isInside = false;
    this.next.end(behind);
  }

  token(id: number, strippedBytes: number): void {
    this.next.token(id, strippedBytes);
  }

  stripBehind(byteCount: number): void {
    this.next.stripBehind(byteCount);
  }
}
