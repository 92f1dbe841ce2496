import { isUtf8 } from "node:buffer";
import { encodeBytes } from "../../../src/bytes/byte-characters.ts";
import { space } from "../../../src/bytes/text.ts";
import { contains, whiteSpace } from "../../../src/pattern/unicode.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import type { AddedToken } from "../../../src/text/cutting.ts";
import { offsetObstacle, trimObstacle } from "../../../src/tokenizer/offsets.ts";
import type { FoundAdded, TextNotes } from "../../../src/tokenizer/text-encoding.ts";
import { tokenStarts } from "../../../src/tokenizer/token-starts.ts";
import { allAddedTokens, type TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";

/**
 * Where the tokens of a text are in it: token i is text[starts[i] .. ends[i]). In bytes, each is where its own bytes are, so
 * that the tokens follow each other without gaps. In characters it is as HF has it: the characters that have a byte in the
 * token, without what a post-processor trims; a space that is put before the text counts as its first character.
 *
 * "é" as two tokens is [0, 1), [1, 2) in bytes, and [0, 1) twice in characters.
 */
export type Offsets = { readonly starts: Uint32Array; readonly ends: Uint32Array };

export type OffsetUnit = "bytes" | "characters";

export class OffsetFinder {
  private readonly added: ReadonlyMap<number, AddedToken>;

  /** A UserError if text and tokens do not have the same bytes. */
  constructor(private readonly parts: TokenizerParts) {
    const obstacle = offsetObstacle(parts);
    if (obstacle !== undefined) throw new UserError(obstacle);
    this.added = new Map(allAddedTokens(parts).map((token) => [token.id, token]));
  }

  /**
   * The offsets of the ids of a text.
   *
   * @param notes of the text
   */
  find(text: Uint8Array, ids: ArrayLike<number>, notes: TextNotes, unit: OffsetUnit): Offsets {
    const all = tokenStarts(this.parts.tokens, ids, notes, text.length);
    if (all === null) throw new UserError("the tokens of this text do not spell it, so it has no offsets");
    const [starts, ends] = [all.slice(0, -1), all.slice(1)];
    if (unit === "bytes") return { starts, ends };
    const obstacle = trimObstacle(this.parts);
    if (obstacle !== undefined) throw new UserError(obstacle);
    if (!isUtf8(text)) throw new UserError("offsets in characters need a text that is UTF-8");
    return this.inCharacters(text, ids, notes.found, { starts, ends });
  }

  private inCharacters(
    text: Uint8Array,
    ids: ArrayLike<number>,
    found: readonly FoundAdded[],
    { starts, ends }: Offsets,
  ): Offsets {
    const { trims = [] } = this.parts.postProcessing ?? {};
    /** `count` characters begin before `pos`. */
    let pos = 0;
    let count = 0;
    const countTo = (end: number) => {
      for (; pos < end; pos++) if ((text[pos]! & 0xc0) !== 0x80) count++;
      return count;
    };
    let nextFound = 0;
    for (let i = 0; i < ids.length; i++) {
      const [startByte, endByte] = [starts[i]!, ends[i]!];
      // The first one has the byte at `startByte`, though it may begin before.
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

  /** As a token is spelled: an added one as text, others in GPT-2's characters. */
  private spacesOf(id: number): Spaces {
    const { bytes, starts } = this.parts.tokens;
    return spacesAround(
      this.added.get(id)?.content ?? encodeBytes(bytes.subarray(starts[id]!, starts[id + 1]!)),
    );
  }
}

type Spaces = { readonly before: number; readonly behind: number };

/** HF's rule: as many characters as the token has spaces before and behind, but not beyond its other end. */
function trimmed(
  start: number,
  end: number,
  { before, behind }: Spaces,
  keepsOne: boolean,
): [start: number, end: number] {
  const from = start === 0 && keepsOne && before === 1 ? start : Math.min(start + before, end);
  return [from, behind > 0 && end >= behind ? Math.max(end - behind, from) : end];
}

function spacesAround(spelled: string): Spaces {
  const isSpace = (character: string) =>
    character === spelledSpace || contains(whiteSpace, character.codePointAt(0)!);
  const characters = [...spelled];
  const first = characters.findIndex((character) => !isSpace(character));
  if (first < 0) return { before: characters.length, behind: characters.length };
  const last = characters.findLastIndex((character) => !isSpace(character));
  return { before: first, behind: characters.length - 1 - last };
}

const spelledSpace = encodeBytes(Uint8Array.of(space));
/** A byte order mark is a character. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
