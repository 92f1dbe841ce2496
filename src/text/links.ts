import { grown } from "../bytes/arrays.ts";
import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import {
  byteCountOf,
  characterLengthAt,
  codePointAt,
  codePointBefore,
  isUnfinished,
  lineFeed,
} from "../bytes/text.ts";
import { type CodePointSet, contains, emptySet, whiteSpace, wordCharacters } from "../pattern/unicode.ts";
import type { AddedToken, NormalizationForm } from "./cutting.ts";

/**
 * A TextSink takes a text as sections, which are the text between two added tokens, and the tokens between them. A chain of
 * sinks changes a text on its way to the pattern; each does one thing: find added tokens, normalize, put a space before.
 */
export interface TextSink {
  /** Takes the next bytes of the section; the caller may overwrite them afterwards. */
  push(bytes: Uint8Array, start: number, end: number): void;
  /** Ends the section. */
  end(): void;
  /** Takes the id of a token between two sections. */
  token(id: number): void;
}

/** Bytes that wait until the next ones have come: bytes[0 .. length). */
export class PendingBytes {
  bytes = new Uint8Array(1 << 12);
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

  end(): void {
    this.cutTo(this.pending.length, true);
    this.pending.length = this.doneCount = this.searchPos = this.spaceEnd = 0;
    this.isWhole = true;
    this.isSkipping = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
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
      next.token(token.id);
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

  /** Position behind the white space at `pos`. Skipping is over where its end has come. */
  private skipSpace(pos: number, atEnd: boolean): number {
    const { bytes, length } = this.pending;
    while (pos < length) {
      const codePoint = codePointAt(bytes, pos, length);
      if (!contains(whiteSpace, codePoint)) {
        this.isSkipping = !atEnd && isUnfinished(bytes, pos, length);
        break;
      }
      pos += byteCountOf(codePoint);
    }
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

/**
 * Brings text into a Unicode normalization form. No normalization reaches across the start of an ASCII character, so text up
 * to the last one is normalized and the rest waits. Bytes that are not valid UTF-8 stay as they are; the text before and
 * behind them is normalized separately.
 */
export class Normalizer implements TextSink {
  private readonly pending = new PendingBytes();
  /** Text that has only bytes below this one is in the form already. */
  private readonly firstChangingByte: number;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(
    private readonly form: NormalizationForm,
    private readonly next: TextSink,
  ) {
    // NFC changes nothing below U+0300, which is CC 80; the other forms change some Latin-1 letters.
    this.firstChangingByte = form === "NFC" ? 0xcc : 0x80;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    const { pending } = this;
    const waitingLength = pending.length;
    pending.append(bytes, start, end);
    let stop = pending.length;
    while (stop > waitingLength && pending.bytes[stop - 1]! >= 0x80) stop--;
    if (stop === waitingLength) return;
    this.normalizeTo(stop - 1);
  }

  end(): void {
    this.normalizeTo(this.pending.length);
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  private normalizeTo(stop: number): void {
    const { bytes } = this.pending;
    if (!this.changes(stop)) {
      if (stop > 0) this.next.push(bytes, 0, stop);
    } else {
      for (let pos = 0; pos < stop; ) {
        let end = pos;
        for (let length = 1; end < stop; end += length) {
          length = characterLengthAt(bytes, end, stop);
          if (length === 0) break;
        }
        if (end > pos) this.normalizeValid(pos, end);
        if (end < stop) this.next.push(bytes, end, end + 1);
        pos = end + 1;
      }
    }
    this.pending.drop(stop);
  }

  private changes(stop: number): boolean {
    const { bytes } = this.pending;
    for (let pos = 0; pos < stop; pos++) if (bytes[pos]! >= this.firstChangingByte) return true;
    return false;
  }

  private normalizeValid(start: number, end: number): void {
    const { bytes } = this.pending;
    const text = this.decoder.decode(bytes.subarray(start, end));
    const normalized = normalize(text, this.form);
    const result = normalized === text ? bytes.subarray(start, end) : this.encoder.encode(normalized);
    this.next.push(result, 0, result.length);
  }
}

/**
 * Characters that are newer than Unicode 9.0 and that later versions decompose, compose or reorder. The normalizers of HF
 * `tokenizers` use the tables of 9.0, where these characters have no properties.
 */
const newerCharacters = [
  String.raw`\u07fd\u0897-\u089f\u08ca-\u08d3\u09fe\u0c3c\u0d3b\u0d3c\u0eba\u1715\u1abf-\u1add\u1ae0-\u1aeb`,
  String.raw`\u1df6-\u1dfa\u32ff\ua7f1-\ua7f4\ua82c\uab69\u{105c9}\u{105d2}\u{105da}\u{105e4}\u{10781}-\u{10785}`,
  String.raw`\u{10787}-\u{107b0}\u{107b2}-\u{107ba}\u{10d24}-\u{10d27}\u{10d69}-\u{10d6d}\u{10eab}\u{10eac}\u{10efa}`,
  String.raw`\u{10efb}\u{10efd}-\u{10eff}\u{10f46}-\u{10f50}\u{10f82}-\u{10f85}\u{11070}\u{1133b}\u{11382}-\u{11385}`,
  String.raw`\u{1138b}\u{1138e}\u{11390}\u{11391}\u{113b8}\u{113bb}\u{113c2}\u{113c5}\u{113c7}-\u{113c9}`,
  String.raw`\u{113ce}-\u{113d0}\u{1145e}\u{11839}\u{1183a}\u{11930}\u{11935}\u{11938}\u{1193d}\u{1193e}\u{11943}`,
  String.raw`\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11d42}\u{11d44}\u{11d45}\u{11d97}\u{11f41}\u{11f42}`,
  String.raw`\u{1611e}-\u{16129}\u{1612f}\u{16d63}\u{16d67}-\u{16d6a}\u{16ff0}\u{16ff1}\u{1ccd6}-\u{1ccf9}`,
  String.raw`\u{1e030}-\u{1e06d}\u{1e08f}\u{1e130}-\u{1e136}\u{1e2ae}\u{1e2ec}-\u{1e2ef}\u{1e4ec}-\u{1e4ef}\u{1e5ee}`,
  String.raw`\u{1e5ef}\u{1e6e3}\u{1e6e6}\u{1e6ee}\u{1e6ef}\u{1e6f5}\u{1f16c}\u{1fbf0}-\u{1fbf9}`,
].join("");
const newer = new RegExp(`[${newerCharacters}]`, "u");
/** With a capture group, so that `split` keeps them. */
const newerRuns = new RegExp(`([${newerCharacters}]+)`, "u");

/**
 * The text in a normalization form, as HF computes it. Nothing is composed with a character without properties, and no mark
 * moves across it, so the text before and behind it is normalized separately. If the engine's newer tables change nothing,
 * neither do the older ones, because each part of a normalized text is normalized.
 */
export function normalize(text: string, form: NormalizationForm): string {
  const normalized = text.normalize(form);
  if (normalized === text || !newer.test(text)) return normalized;
  const parts = text.split(newerRuns);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.normalize(form))).join("");
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

  end(): void {
    this.isInside = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }
}
