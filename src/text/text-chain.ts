import type { Text } from "#bytes";
import { scaled } from "#runtime";
import { type Cutting, canBeCut, isCutUnchanged, sectionSettings, tokensWhileCutting } from "./cutting.ts";
import * as normalForms from "./normalization.ts";
import { Pretokens, type Taker } from "./pretokens.ts";
import * as textParts from "./text-part.ts";
import { TextSections, type TextSink } from "./text-sections.ts";
import { makeWindow } from "./window-of-text.ts";

/**
 * A part of a text, trusted or not. An added token is found only if it is inside one segment, and a special token only
 * if that segment is trusted.
 */
export type TextSegment = { readonly bytes: Uint8Array; readonly isTrusted: boolean };

/** A search for a safe cut in [from, to), which may read bytes [start, limit) of the text. */
type CutSearch = {
  readonly text: Uint8Array;
  readonly start: number;
  readonly limit: number;
  readonly from: number;
  readonly to: number;
  readonly wantsLast: boolean;
};

/**
 * The chain that processes a text: sections, window, pretokens, taker. The sections are the text between added tokens,
 * normalized. A text goes directly to the window if it has no segments and the pattern is certain to see it unchanged.
 */
export class TextChain {
  /** The maximum number of bytes that are pushed in one step. */
  static readonly pushedBytes = scaled(1 << 18, 16);

  protected readonly window: TextWindow;
  private sections: TextSections | undefined;
  private direct = false;
  private opened: number | undefined;
  /**
   * Whether the bytes of a text alone do not tell where it can be cut (`canBeCut`). Safe cuts are then searched for in
   * a normalized part of the text.
   */
  private readonly usesWindows: boolean;

  /** @param pretokens cuts the text; by default it is created from `cutting` */
  constructor(
    private readonly cutting: Cutting,
    readonly taker: Taker,
    readonly pretokens: Pretokens = new Pretokens(
      cutting.pattern.automata,
      tokensWhileCutting(cutting),
      taker,
    ),
  ) {
    this.window = new TextWindow(pretokens, taker);
    this.usesWindows = !canBeCut({ ...cutting, specialTokensAsText: false });
    this.open(cutting.specialTokensAsText ?? false);
  }

  /**
   * Whether the pattern is certain to see texts unchanged (`isCutUnchanged`). If so, a caller may bypass the chain, and
   * write a text directly into the memory of the taker (`Taker.text`).
   */
  get isDirect(): boolean {
    return this.direct;
  }

  /**
   * Sets, for the following texts, whether special tokens stay text, and whether the taker receives the changes of
   * normalization. With `continues`, the next text is the rest of a text from a safe cut on.
   */
  open(specialTokensAsText: boolean, notesChanges = false, continues = false): void {
    const opened = Number(specialTokensAsText) | (2 * Number(notesChanges));
    if (opened === this.opened && !continues) return;
    this.opened = continues ? undefined : opened;
    const cutting = { ...this.cutting, specialTokensAsText };
    this.direct = isCutUnchanged(cutting);
    this.pretokens.lookForTokens(this.direct, specialTokensAsText);
    if (!this.direct) this.madeSections.open(specialTokensAsText, notesChanges, false, continues);
  }

  private get madeSections(): TextSections {
    this.sections ??= new TextSections(sectionSettings(this.cutting));
    return this.sections;
  }

  /**
   * The number of bytes that were pushed but not taken yet. Text that is already normalized counts in its normal form.
   */
  get pendingBytes(): number {
    return this.window.pendingBytes + (this.sections?.pendingBytes ?? 0);
  }

  /**
   * The bytes of memory to claim for the pending text. They may be more than its own bytes, because bytes that wait for
   * their normal form count 16 times: sorting a run of combining marks takes that much memory.
   */
  get waitingBytes(): number {
    return this.window.pendingBytes + (this.sections?.pendingNeed ?? 0);
  }

  /** After `end(following)`: whether a document continues across the cut; false if one begins right after it. */
  get endedInside(): boolean {
    return this.window.endedInside;
  }

  /** Takes the next bytes of the text; the caller may overwrite them afterwards. */
  push(bytes: Uint8Array, start: number, end: number): void {
    if (this.direct) this.window.push(bytes, start, end);
    else this.sections!.push(bytes, start, end, this.window);
  }

  /**
   * Ends the text; another text may follow. With `following`, only a part of the text ends, at a safe cut, and another
   * call or thread takes the rest. `following` has the first bytes of the rest in normalized form, except that ASCII
   * letters may still be in upper case.
   */
  end(following?: Uint8Array): void {
    if (!this.direct) this.sections!.end(this.window, following !== undefined);
    if (following !== undefined) {
      const lowers = this.cutting.normalization?.includes("lowercase") ?? false;
      this.window.end(lowers ? normalForms.loweredAscii(following) : following);
    } else if (this.direct) this.window.end();
  }

  /**
   * Takes a text that consists of segments. With `continues`, the text begins at a safe cut; with `following`, it ends
   * at one (see `end`). Call `open` before the next text.
   */
  pushSegments(
    segments: readonly TextSegment[],
    notesChanges: boolean,
    following?: Uint8Array,
    continues = false,
  ): void {
    this.opened = undefined;
    this.direct = false;
    this.pretokens.lookForTokens(false, false);
    const sections = this.madeSections;
    const filled = segments.filter(({ bytes }) => bytes.length > 0);
    sections.open(filled[0]?.isTrusted === false, notesChanges, true, continues);
    for (const [i, { bytes, isTrusted }] of filled.entries()) {
      if (i > 0) sections.endSegment(!isTrusted);
      sections.push(bytes, 0, bytes.length, this.window);
    }
    this.end(following);
  }

  /**
   * Takes a part of a text, given as segments. The part begins and ends at safe cuts or at the ends of the text; with
   * `follows`, it does not begin the text. `after` is the text after the part: all of it, or at least `cutReach` bytes.
   * It is absent if the part ends the text.
   */
  pushPart(segments: readonly TextSegment[], follows: boolean, after?: Uint8Array): void {
    const [first, second] = segments;
    if (first === undefined) return;
    const isChanged = after !== undefined && this.usesWindows;
    // Copied, because `following` returns memory of the kernel, which processing the part overwrites.
    const following = (isChanged ? this.madeSections.following(after) : after)?.slice(
      0,
      textParts.lookaheadBytes,
    );
    if (isChanged) this.opened = undefined;
    if (second !== undefined) {
      this.pushSegments(segments, false, following, follows);
      return;
    }
    const { bytes } = first;
    this.open(!first.isTrusted, false, follows);
    if (following === undefined) this.pushText(bytes, 0, bytes.length);
    else {
      for (let pos = 0; pos < bytes.length; pos += TextChain.pushedBytes)
        this.push(bytes, pos, Math.min(bytes.length, pos + TextChain.pushedBytes));
      this.end(following);
    }
  }

  /** The number of bytes on each side of a position that suffice to decide whether it is a safe cut. */
  get cutReach(): number {
    return this.usesWindows
      ? this.madeSections.kernel.exports.windowReach()
      : this.pretokens.tokenBytesMax + textParts.lookaheadBytes;
  }

  /**
   * Returns the first safe cut in [from, to) of the text, or with `wantsLast` the last one; -1 if none is found. Call
   * it only between two texts, and call `open` before the next text.
   */
  findSafeCut(text: Uint8Array, from: number, to: number, wantsLast: boolean): number {
    const { cutReach, usesWindows, pretokens } = this;
    this.opened = undefined;
    pretokens.lookForTokens(!usesWindows, false);
    const start = Math.max(0, from - (usesWindows ? cutReach : pretokens.tokenBytesMax));
    const limit = Math.min(text.length, to + cutReach);
    const range = { text, start, limit, from, to, wantsLast };
    const cut = usesWindows ? this.findInWindow(range) : this.findInText(range);
    return cut < 0 ? -1 : start + cut;
  }

  private findInText({ text, start, limit, from, to, wantsLast }: CutSearch): number {
    this.window.place(text, start, limit);
    return this.pretokens.findSafeCut(from - start, to - start, limit - start, start === 0, wantsLast);
  }

  private findInWindow({ text, start, limit, from, to, wantsLast }: CutSearch): number {
    const { kernel } = this.madeSections;
    const made = makeWindow(kernel, text.subarray(start, limit), start === 0);
    if (made === undefined) return -1;
    const { bytes, textBytes } = made;
    this.window.place(bytes, 0, bytes.length);
    this.pretokens.useHoles(made);
    const [first, stop] = [from, to].map((position) => kernel.exports.windowPosition(position - start));
    const isStart = start === 0 && !this.cutting.addsPrefixSpace;
    const cut = this.pretokens.findSafeCut(first!, stop!, textBytes, isStart, wantsLast);
    return cut < 0 ? -1 : kernel.exports.givenPosition(cut);
  }

  /** Takes a whole text, or the rest of one, like `push` and `end` in fewer steps. */
  pushText(bytes: Uint8Array, start: number, end: number): void {
    if (!this.direct) {
      this.sections!.pushText(bytes, start, end, this.window);
      return;
    }
    for (let pos = start; pos < end; pos += TextChain.pushedBytes) {
      const stop = Math.min(end, pos + TextChain.pushedBytes);
      if (stop === end) this.window.append(bytes, pos, stop);
      else this.window.push(bytes, pos, stop);
    }
    this.window.end();
  }
}

/**
 * The window of a chain. It gathers a section in the taker's memory, where the kernel cuts the section and passes the
 * pretokens to the taker.
 */
export class TextWindow implements TextSink {
  private capacityBytes = scaled(1 << 12, 64);
  private text: Text;
  /** The number of bytes of the section in memory. */
  private limit = 0;
  endedInside = false;

  constructor(
    private readonly pretokens: Pretokens,
    private readonly taker: Taker,
  ) {
    this.text = taker.text(this.capacityBytes);
    pretokens.start(0, false);
  }

  get pendingBytes(): number {
    return this.limit - this.pretokens.keepPos;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.append(bytes, start, end);
    this.take(textParts.before(this.limit, this.pretokens.tokenBytesMax));
  }

  /** Appends bytes to the section. They are taken when the section ends, or together with the next pushed bytes. */
  append(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    this.write(bytes, start, end);
    this.limit += end - start;
    this.pretokens.searchText(this.limit);
  }

  end(following?: Uint8Array): void {
    if (following !== undefined) this.endInside(following);
    else if (this.limit > 0) this.take(textParts.to(this.limit));
    if (this.limit > 0) this.restart();
  }

  /**
   * Ends the section inside a document. To decide where the last pretoken ends, reads the first character of
   * `following`.
   */
  private endInside(following: Uint8Array): void {
    const { pretokens } = this;
    this.append(following, 0, following.length);
    const end = this.limit - following.length;
    this.take(textParts.to(end, false, this.limit));
    pretokens.lookAhead(end, this.limit);
    this.endedInside = pretokens.isInside;
  }

  token(id: number, _: Uint8Array, start: number, end: number): void {
    this.taker.takeToken?.(id, end - start);
  }

  strip(_: Uint8Array, start: number, end: number): void {
    this.taker.strip?.(end - start);
  }

  space(bytes: Uint8Array): void {
    this.taker.takeSpace?.();
    this.push(bytes, 0, bytes.length);
  }

  change(start: number, end: number, newSize: number): void {
    this.taker.change?.(start, end, newSize);
  }

  /** Copies bytes [start, end) to the taker's text. Only allowed between two texts. */
  place(bytes: Uint8Array, start: number, end: number): void {
    this.makeRoom(end - start);
    this.write(bytes, start, end);
  }

  /** Takes pretokens that are already cut: words [first, end) of a table. Only allowed between two texts. */
  cutPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    const start = starts[first]!;
    this.place(bytes, start, starts[end]!);
    const ends = Int32Array.from(starts.subarray(first, end + 1), (position) => position - start);
    this.taker.take(ends, ends.length);
  }

  private take(part: textParts.TextPart): void {
    while (!this.pretokens.take(part));
  }

  private restart(): void {
    this.limit = 0;
    this.pretokens.start(0, false);
  }

  private write(bytes: Uint8Array, start: number, end: number): void {
    const { limit } = this;
    const to = this.text.bytes;
    if (end - start < 64) for (let pos = start; pos < end; pos++) to[limit + pos - start] = bytes[pos]!;
    else to.set(bytes.subarray(start, end), limit);
  }

  private makeRoom(byteCount: number): void {
    if (this.limit + byteCount <= this.capacityBytes) return;
    const { pretokens } = this;
    const { keepPos } = pretokens;
    this.text.bytes.copyWithin(0, keepPos, this.limit);
    pretokens.shift(keepPos);
    this.limit -= keepPos;
    if (this.limit + byteCount <= this.capacityBytes) return;
    this.capacityBytes = Math.ceil(1.25 * (this.limit + byteCount));
    this.text = this.taker.text(this.capacityBytes);
  }
}
