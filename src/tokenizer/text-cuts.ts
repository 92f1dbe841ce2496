import { characterLengthAt } from "#bytes";
import { UserError } from "#runtime";
import type { NormalizedStretch, TextEncoding, TextNotes } from "./text-encoding.ts";
import { tokenStarts } from "./token-starts.ts";
import { haveAllBytes } from "./token-table.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/** Bytes [start, end) of a text. */
export type TextPart = { readonly start: number; readonly end: number };

/**
 * A text with its tokens, to be cut into parts that are encoded on their own, by the rules that `TextTokenizer` states. A part
 * may have more ids than it has tokens of the text: "it'll" is "it", "'l" and "l", and "it'l" is "it", "'" and "l". So each is
 * encoded, and its ids are counted. Cut off from the letter behind it, an added token that stands alone (`singleWord`) may
 * begin to count.
 *
 * Tokens are numbered as they are in the text; positions are bytes of the text.
 */
export class TextCuts {
  /** Where each token begins, and where the last one ends. One inside a changed stretch is inside it, in proportion. */
  private readonly starts: Uint32Array;
  /** Stretches of the text that its normal form changes, ascending. */
  private readonly changes: readonly NormalizedStretch[];

  /** A UserError if the text is not in its tokens. */
  constructor(
    readonly text: Uint8Array,
    ids: ArrayLike<number>,
    notes: TextNotes,
    { model, tokens }: TokenizerParts,
    private readonly encoding: TextEncoding,
  ) {
    const starts = haveAllBytes(model.byteIds, tokens) ? tokenStarts(tokens, ids, notes, text.length) : null;
    if (starts === null)
      throw new NoCut("this text cannot be cut: its tokens do not have all of its bytes", {
        hint: "its vocabulary lacks some bytes, or two of its tokens have one id",
      });
    this.changes = notes.changes;
    this.starts = starts;
  }

  private get tokenCount(): number {
    return this.starts.length - 1;
  }

  /** The end of the longest part that begins at `start` and has at most `idsMax` ids; `start` if not even a character fits. */
  endOfPart(start: number, idsMax: number): number {
    const { starts } = this;
    const first = this.tokenAt(start);
    const last = Math.min(this.tokenCount, first + idsMax);
    const fits = (end: number) => end <= start || this.fits(start, end, idsMax);
    const end = firstFitting(last - first, (i) => this.cutBefore(starts[last - i]!), fits);
    if (end > start) return end;
    // Not even the first token fits: as many of its characters as do. A changed stretch is parted if it is all there is.
    const endBefore = (position: number) => {
      const end = this.cutBefore(position);
      return end > start ? end : (this.characterAround(position)?.start ?? position);
    };
    const behindFirst = this.cutBehind(starts[this.tokenOver(start) + 1]!);
    const top = Math.min(behindFirst, this.behindCharacter(starts[last]!));
    return Math.max(
      start,
      firstFitting(top - start, (i) => endBefore(top - i), fits),
    );
  }

  /** The start of the longest part that ends where the text does, which has more than `idsMax` ids. */
  startOfLastPart(idsMax: number): number {
    const { tokenCount, starts, text } = this;
    const size = text.length;
    const fits = (start: number) => start >= size || this.fits(start, size, idsMax);
    const start = firstFitting(idsMax, (i) => this.cutBehind(starts[tokenCount - idsMax + i]!), fits);
    if (start >= 0 && start < size) return start;
    const startBehind = (position: number) => {
      const start = this.cutBehind(position);
      return start < size ? start : this.behindCharacter(position);
    };
    const beforeLast = this.cutBefore(starts[tokenCount - 1]!);
    const before = starts[tokenCount - idsMax]!;
    const low = Math.max(beforeLast, this.characterAround(before)?.start ?? before);
    const inside = firstFitting(size - low, (i) => startBehind(low + i), fits);
    return inside < 0 ? size : inside;
  }

  /**
   * The parts of the text, as they follow each other: each has at most `idsMax` ids, and begins where the last `overlap` tokens
   * of the part before do. It begins later where it would not begin or not end behind that one's.
   */
  parts(idsMax: number, overlap: number): TextPart[] {
    const parts: TextPart[] = [];
    let part: TextPart = { start: 0, end: 0 };
    while (part.end < this.text.length) {
      part = this.nextPart(part, idsMax, overlap);
      parts.push(part);
    }
    return parts;
  }

  /** These parts, of the text as it was given; their starts ascend, and so do their ends. */
  slices(given: string | Uint8Array, parts: readonly TextPart[]): (string | Uint8Array)[] {
    if (typeof given !== "string") return parts.map(({ start, end }) => given.slice(start, end));
    const [starts, ends] = [new CharacterCounter(this.text), new CharacterCounter(this.text)];
    return parts.map(({ start, end }) => given.slice(starts.countBefore(start), ends.countBefore(end)));
  }

  private nextPart({ start, end }: TextPart, idsMax: number, overlap: number): TextPart {
    const behind = this.tokenAt(end);
    let tries = 0;
    for (let shared = Math.min(overlap, behind); shared > 0; ) {
      const from = this.cutBehind(this.starts[behind - shared]!);
      if (from > start && from < end) {
        const to = this.endOfPart(from, idsMax);
        if (to > end) return { start: from, end: to };
        tries++;
      }
      shared = tries < triesOneByOne ? shared - 1 : shared >> 1;
    }
    const to = this.endOfPart(end, idsMax);
    if (to > end) return { start: end, end: to };
    throw this.tooSmall(end, idsMax);
  }

  private tooSmall(start: number, idsMax: number): NoCut {
    const end = this.behindCharacter(start + 1);
    const character = decoder.decode(this.text.subarray(start, end));
    return new NoCut(
      `chunks: "${character}" at byte ${start} has ${this.idCount(start, end)} tokens: more than size, which is ${idsMax}`,
    );
  }

  private fits(start: number, end: number, idsMax: number): boolean {
    return this.idCount(start, end) <= idsMax;
  }

  private idCount(start: number, end: number): number {
    this.encoding.pushText(this.text, start, end);
    return this.encoding.out.flush().length;
  }

  /** The first token that ends behind `position`, or begins there; behind the last one at the text's end. */
  private tokenAt(position: number): number {
    const { starts } = this;
    let token = this.tokenOver(position);
    // A space that is put before the text may be a token that has none of it.
    while (starts[token] === position && starts[token - 1] === position) token--;
    return token;
  }

  /** The token that has the byte there. */
  private tokenOver(position: number): number {
    return lastAtMost(this.starts.length, position, (i) => this.starts[i]!);
  }

  /** The last position up to this one where the text may be cut. */
  private cutBefore(position: number): number {
    const change = this.changeAround(position);
    if (change !== undefined) return change.start;
    return this.characterAround(position)?.start ?? position;
  }

  /** The first position from this one on where the text may be cut. */
  private cutBehind(position: number): number {
    const change = this.changeAround(position);
    if (change !== undefined) return change.end;
    return this.behindCharacter(position);
  }

  private behindCharacter(position: number): number {
    return this.characterAround(position)?.end ?? position;
  }

  private changeAround(position: number): NormalizedStretch | undefined {
    const { changes } = this;
    const change = changes[lastAtMost(changes.length, position, (i) => changes[i]!.start)];
    return change !== undefined && change.start < position && position < change.end ? change : undefined;
  }

  private characterAround(position: number) {
    const { text } = this;
    for (let start = position - 1; start >= Math.max(0, position - 3); start--) {
      const end = start + characterLengthAt(text, start, text.length);
      if (end > position) return { start, end };
    }
    return undefined;
  }
}

/** How many edges are tried one by one. Another number gives other parts only where one does not fit and a longer one does. */
const triesOneByOne = 16;

/**
 * The first edge that fits, of those of `count` parts, each no longer than the one before; -1 where none does. To try one costs
 * as much as its part is long. So after some that do not fit, the distance doubles from one to the next, and what fits then is
 * made longer by halves of the last distance.
 */
function firstFitting(count: number, edgeAt: (i: number) => number, fits: (edge: number) => boolean): number {
  let [failed, i, step, tries, tried] = [-1, 0, 1, 0, -1];
  for (; i < count; failed = i, i = Math.min(i + step, count - 1)) {
    const edge = edgeAt(i);
    if (edge !== tried) {
      if (fits(edge)) break;
      tried = edge;
      if (++tries >= triesOneByOne) step *= 2;
    }
    if (i === count - 1) return -1;
  }
  while (i - failed > 1) {
    const middle = (failed + i) >> 1;
    if (fits(edgeAt(middle))) i = middle;
    else failed = middle;
  }
  return i < count ? edgeAt(i) : -1;
}

/** Why a text was not cut. */
export class NoCut extends UserError {}

/** Characters of a string before positions in its bytes, which ascend. */
class CharacterCounter {
  private position = 0;
  private count = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** JavaScript counts a character of four bytes twice. */
  countBefore(end: number): number {
    const { bytes } = this;
    for (; this.position < end; this.position++) {
      const byte = bytes[this.position]!;
      if ((byte & 0xc0) !== 0x80) this.count += byte < 0xf0 ? 1 : 2;
    }
    return this.count;
  }
}

/** The last of `count` ascending values that is at most `limit`; -1 if none is. */
function lastAtMost(count: number, limit: number, valueAt: (i: number) => number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
