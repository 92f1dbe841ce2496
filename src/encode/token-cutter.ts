import { SpecialTokenFinder } from "../corpus/special-tokens.ts";
import { PendingBytes, type TextSink } from "./text-sink.ts";
import type { AddedToken } from "./tokenizer-parts.ts";

/** Bytes that may have to be seen beyond a token: the character before or behind it. */
const contextBytes = 4;

/**
 * Finds added tokens in a text: from the left, of those that begin at one place the longest, not overlapping. What is
 * between them goes on as pieces. A match that does not count (a special token that is to stay text, one that touches a
 * word and must not) still takes its place: the search goes on behind it, as in HF.
 */
export class TokenCutter implements TextSink {
  private readonly finder: SpecialTokenFinder;
  private readonly tokens: ReadonlyMap<string, AddedToken>;
  private readonly looksAround: boolean;
  private readonly stripsLeft: boolean;
  /** Begins with up to `contextBytes` bytes that went on already, `doneCount` of them. */
  private readonly pending = new PendingBytes();
  private doneCount = 0;
  /** Where the search goes on: behind the last match, though it may have stayed text. */
  private searchPos = 0;
  /** Nothing of the text was dropped yet: position 0 is its start. */
  private isWhole = true;
  /** The last token takes the white space that follows. */
  private isSkipping = false;

  constructor(
    tokens: readonly AddedToken[],
    private readonly specialTokensAsText: boolean,
    private readonly next: TextSink,
  ) {
    const contents = tokens.map((token) => Buffer.from(token.content));
    this.finder = new SpecialTokenFinder(contents);
    this.tokens = new Map(tokens.map((token, i) => [contents[i]!.toString("latin1"), token]));
    this.looksAround = tokens.some((token) => token.singleWord || token.lstrip || token.rstrip);
    this.stripsLeft = tokens.some((token) => token.lstrip);
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.pending.append(bytes, start, end);
    const unsure = this.finder.longestBytes - 1 + (this.looksAround ? contextBytes : 0);
    this.cutTo(this.pending.length - unsure, false);
  }

  end(): void {
    this.cutTo(this.pending.length, true);
    this.pending.length = this.doneCount = this.searchPos = 0;
    this.isWhole = true;
    this.isSkipping = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  settle(): void {
    this.cutTo(this.pending.length, true);
    this.next.settle();
  }

  /** Sends on what is certain: tokens that begin before `sureEnd`, and the text between and behind them up to there. */
  private cutTo(sureEnd: number, atEnd: boolean): void {
    const { pending, finder, next } = this;
    const { bytes, length } = pending;
    let done = this.doneCount;
    if (this.isSkipping) done = this.skipSpace(done);
    let searchPos = Math.max(this.searchPos, done);
    finder.reset(bytes.subarray(0, length));
    while (!this.isSkipping) {
      const pos = finder.find(searchPos, length);
      if (pos >= sureEnd) break;
      const end = pos + finder.lengthAt(pos, length);
      searchPos = end;
      const token = this.tokens.get(Buffer.from(bytes.buffer, pos, end - pos).toString("latin1"))!;
      if (!this.counts(token, pos, end)) continue;
      const start = token.lstrip ? Math.max(done, spaceBefore(bytes, pos)) : pos;
      if (start > done) next.push(bytes, done, start);
      next.end();
      next.token(token.id);
      done = end;
      if (token.rstrip) {
        this.isSkipping = true;
        done = this.skipSpace(done);
        searchPos = Math.max(searchPos, done);
      }
    }
    if (atEnd) this.isSkipping = false;
    let stop = Math.max(done, Math.min(sureEnd, length));
    if (this.stripsLeft && !atEnd) {
      while (stop > done && (bytes[stop]! & 0xc0) === 0x80) stop--;
      stop = Math.max(done, spaceBefore(bytes, stop));
    }
    if (stop > done) next.push(bytes, done, stop);
    const dropCount = Math.max(0, stop - contextBytes);
    pending.drop(dropCount);
    this.doneCount = stop - dropCount;
    this.searchPos = Math.max(0, searchPos - dropCount);
    this.isWhole &&= dropCount === 0;
  }

  private counts(token: AddedToken, pos: number, end: number): boolean {
    if (token.special && this.specialTokensAsText) return false;
    if (!token.singleWord) return true;
    const { bytes, length } = this.pending;
    const isStart = this.isWhole && pos === 0;
    const before = isStart ? "" : lastCharacter(bytes, pos);
    const behind = end === length ? "" : firstCharacter(bytes, end, length);
    return !wordCharacter.test(before) && !wordCharacter.test(behind);
  }

  /** Behind the white space at `pos`; whoever sees its end is done with skipping. */
  private skipSpace(pos: number): number {
    const { bytes, length } = this.pending;
    while (pos < length) {
      const character = firstCharacter(bytes, pos, length);
      if (!whiteSpace.test(character)) {
        // The first bytes of a character that is not all there yet.
        if (pos + contextBytes > length && bytes[pos]! >= 0x80) break;
        this.isSkipping = false;
        break;
      }
      pos += Buffer.byteLength(character);
    }
    return pos;
  }
}

/** What Rust's `regex` takes for `\w` and `\s`. */
const wordCharacter = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const whiteSpace = /^\p{White_Space}/u;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function firstCharacter(bytes: Uint8Array, pos: number, limit: number): string {
  const text = decoder.decode(bytes.subarray(pos, Math.min(limit, pos + contextBytes)));
  return String.fromCodePoint(text.codePointAt(0)!);
}

function lastCharacter(bytes: Uint8Array, end: number): string {
  let start = end - 1;
  while (start > 0 && end - start < contextBytes && (bytes[start]! & 0xc0) === 0x80) start--;
  return decoder.decode(bytes.subarray(start, end));
}

/** Where the run of white space that ends at `end` begins. */
function spaceBefore(bytes: Uint8Array, end: number): number {
  while (end > 0) {
    const character = lastCharacter(bytes, end);
    if (!/^\p{White_Space}$/u.test(character)) break;
    end -= Buffer.byteLength(character);
  }
  return end;
}
