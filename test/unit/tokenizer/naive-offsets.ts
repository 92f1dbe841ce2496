import { isUtf8 } from "node:buffer";
import * as ascii from "../../../src/bytes/ascii.ts";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import type { AddedToken } from "../../../src/text/cutting.ts";
import * as obstacles from "../../../src/tokenizer/offset-obstacles.ts";
import type { TextNotes } from "../../../src/tokenizer/text-encoding.ts";
import type { TokenTable } from "../../../src/tokenizer/token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";

/**
 * The positions of the tokens in a text: token i is text[starts[i] .. ends[i]). In characters, a token spans every
 * character that has a byte in it, so "é" as two tokens is [0, 1) twice.
 */
export type Offsets = { readonly starts: Uint32Array; readonly ends: Uint32Array };

export type OffsetUnit = "bytes" | "characters";

export class OffsetFinder {
  private readonly added: ReadonlyMap<number, AddedToken>;

  /** Throws a UserError for a tokenizer whose tokens do not always have the bytes of the text. */
  constructor(private readonly parts: TokenizerParts) {
    const obstacle = obstacles.toOffsets(parts);
    if (obstacle !== undefined) throw new UserError(obstacle);
    this.added = new Map(allAddedTokens(parts).map((token) => [token.id, token]));
  }

  /** Returns the offsets of the ids of a text. `notes` are those of the encoding of this text. */
  find(text: Uint8Array, ids: ArrayLike<number>, notes: TextNotes, unit: OffsetUnit): Offsets {
    const noted = readNotes(notes);
    const all = tokenStarts(this.parts.tokens, ids, noted, text.length);
    if (all === null) throw new UserError("this text has no offsets: its tokens decode to a different text");
    const [starts, ends] = [all.slice(0, -1), all.slice(1)];
    if (unit === "bytes") return { starts, ends };
    const obstacle = obstacles.toTrims(this.parts);
    if (obstacle !== undefined) throw new UserError(obstacle);
    if (!isUtf8(text)) throw new UserError("offsets in characters need a text that is UTF-8");
    return this.inCharacters(text, ids, noted.found, { starts, ends });
  }

  private inCharacters(
    text: Uint8Array,
    ids: ArrayLike<number>,
    found: readonly FoundAdded[],
    { starts, ends }: Offsets,
  ): Offsets {
    const { trims = [] } = this.parts.postProcessing ?? {};
    let pos = 0;
    /** The number of characters that begin before `pos`. */
    let count = 0;
    const countTo = (end: number) => {
      for (; pos < end; pos++) if ((text[pos]! & 0xc0) !== 0x80) count++;
      return count;
    };
    let nextFound = 0;
    for (let i = 0; i < ids.length; i++) {
      const [startByte, endByte] = [starts[i]!, ends[i]!];
      // The token's first character contains the byte at `startByte`, but may begin before it.
      let start = countTo(startByte + 1) - 1;
      let end = countTo(endByte);
      const isFound = found[nextFound]?.index === i;
      if (isFound) nextFound++;
      if (trims.length > 0) {
        const token = isFound ? text.subarray(startByte, endByte) : null;
        const spaces = token === null ? this.spacesOf(ids[i]!) : spacesAround(utf8.decode(token));
        for (const keepsOne of trims) [start, end] = trimmed(start, end, spaces, keepsOne);
      }
      starts[i] = start;
      ends[i] = end;
    }
    return { starts, ends };
  }

  /**
   * Returns how many spaces a token begins and ends with. They are counted in the text of an added token, and in
   * GPT-2's characters of any other token.
   */
  private spacesOf(id: number): Spaces {
    const { bytes, starts } = this.parts.tokens;
    return spacesAround(
      this.added.get(id)?.content ?? byteCharacters.encode(bytes.subarray(starts[id]!, starts[id + 1]!)),
    );
  }
}

type Spaces = { readonly before: number; readonly after: number };

/**
 * Trims the characters of a token by HF's rule: at each end, as many as the token has spaces there. With `keepsOne`, a
 * single space at the start of the text stays.
 */
function trimmed(
  start: number,
  end: number,
  { before, after }: Spaces,
  keepsOne: boolean,
): [start: number, end: number] {
  const from = start === 0 && keepsOne && before === 1 ? start : Math.min(start + before, end);
  return [from, after > 0 && end >= after ? Math.max(end - after, from) : end];
}

function spacesAround(spelled: string): Spaces {
  const isSpace = (character: string) =>
    character === spelledSpace || unicode.contains(unicode.whiteSpace, character.codePointAt(0)!);
  const characters = [...spelled];
  const first = characters.findIndex((character) => !isSpace(character));
  if (first < 0) return { before: characters.length, after: characters.length };
  const last = characters.findLastIndex((character) => !isSpace(character));
  return { before: first, after: characters.length - 1 - last };
}

const spelledSpace = byteCharacters.encode(Uint8Array.of(ascii.space));
/** Keeps a byte order mark, which counts as a character. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** An added token found in a text: the index of its id, and its size in bytes, including white space that it strips. */
type FoundAdded = { readonly index: number; byteCount: number };

/**
 * Bytes [start, end) of a text, which became bytes [toStart, toEnd) of the normalized text. Spaces that were put before
 * sections do not count.
 */
type NormalizedStretch = {
  readonly start: number;
  readonly end: number;
  readonly toStart: number;
  readonly toEnd: number;
};

type Noted = {
  readonly found: readonly FoundAdded[];
  /** Indices of ids whose first byte is a space that was put before a section (src/kernel/text/sections.ts). */
  readonly spaces: readonly number[];
  readonly changes: readonly NormalizedStretch[];
};

export function readNotes({ list }: TextNotes): Noted {
  const found: FoundAdded[] = [];
  const spaces: number[] = [];
  const changes: NormalizedStretch[] = [];
  for (let at = 0; at < list.length; at += 4) {
    const [kind, a, b, c] = [...list.subarray(at, at + 4)] as [number, number, number, number];
    if (kind === 2) found.push({ index: c, byteCount: b });
    else if (kind === 3) found.at(-1)!.byteCount += a;
    else if (kind === 4) spaces.push(c);
    else {
      const before = changes.at(-1);
      const toStart = a - (before?.end ?? 0) + (before?.toEnd ?? 0);
      changes.push({ start: a, end: b, toStart, toEnd: toStart + c });
    }
  }
  return { found, spaces, changes };
}

/**
 * Returns the start of each token in a text, and the end of the text. The tokens are adjacent. Returns null if together
 * they are shorter or longer than the text.
 */
export function tokenStarts(
  { starts: tokenBytes }: Pick<TokenTable, "starts">,
  ids: ArrayLike<number>,
  { found, spaces, changes }: Noted,
  byteCount: number,
): Uint32Array | null {
  const starts = new Uint32Array(ids.length + 1);
  let pos = 0;
  let [nextFound, nextSpace] = [0, 0];
  for (let i = 0; i < ids.length; i++) {
    if (found[nextFound]?.index === i) pos += found[nextFound++]!.byteCount;
    else {
      const size = tokenBytes[ids[i]! + 1]! - tokenBytes[ids[i]!]!;
      const hasSpace = spaces[nextSpace] === i;
      if (hasSpace) nextSpace++;
      pos += size - Number(hasSpace && size > 0);
    }
    starts[i + 1] = pos;
  }
  const all = inText(starts, changes);
  return all.at(-1) === byteCount ? all : null;
}

/**
 * Converts positions in the normalized text to positions in the text. Inside a changed part, positions are scaled in
 * proportion.
 */
function inText(positions: Uint32Array, changes: readonly NormalizedStretch[]): Uint32Array {
  if (changes.length === 0) return positions;
  let next = 0;
  let before: NormalizedStretch = { start: 0, end: 0, toStart: 0, toEnd: 0 };
  return positions.map((position) => {
    while (next < changes.length && changes[next]!.toStart < position) before = changes[next++]!;
    const { start, end, toStart, toEnd } = before;
    if (position >= toEnd) return end + position - toEnd;
    const share = ((position - toStart) * (end - start)) / (toEnd - toStart);
    return start + Math.max(1, Math.floor(share));
  });
}
