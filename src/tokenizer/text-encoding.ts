import { skipSplitPair, type Text } from "#bytes";
import { type Kernel, scaled } from "#runtime";
import { pushedBytes, type Taker, TextChain } from "#text";
import { EncodingKernel, type EncodingKernelOptions, IdBuffer } from "./encoding-kernel.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/** An added token that was found before the text was cut: the index of its id, and its size in bytes with white space. */
export type FoundAdded = { readonly index: number; byteCount: number };

/** A stretch of a text that normalization has changed: bytes [start, end) became bytes [toStart, toEnd) of the result. */
export type NormalizedStretch = {
  readonly start: number;
  readonly end: number;
  readonly toStart: number;
  readonly toEnd: number;
};

/** What is noted of a text, so that its tokens can be found in it. */
export class TextNotes {
  readonly found: FoundAdded[] = [];
  /** Indices of ids whose first byte is a space that is put before the section. */
  readonly spaces: number[] = [];
  /** Ascending; `toStart` and `toEnd` are positions in the whole text with its sections normalized. */
  readonly changes: NormalizedStretch[] = [];

  addChange(start: number, end: number, newSize: number): void {
    const before = this.changes.at(-1);
    const toStart = start - (before?.end ?? 0) + (before?.toEnd ?? 0);
    this.changes.push({ start, end, toStart, toEnd: toStart + newSize });
  }

  clear(): void {
    this.found.length = this.spaces.length = this.changes.length = 0;
  }
}

/** Encodes pretokens; the ids go to `out`. */
export class EncodingTaker implements Taker {
  readonly kernel: Kernel;
  readonly out: IdBuffer;
  /** Where a text is noted, if it is. */
  notes: TextNotes | undefined;
  private readonly encoding: EncodingKernel;

  constructor(
    { model, isNarrow }: Pick<EncodingParts, "model" | "isNarrow">,
    options: EncodingKernelOptions = {},
  ) {
    this.encoding = new EncodingKernel(model, isNarrow, options);
    this.kernel = this.encoding.kernel;
    this.out = new IdBuffer(isNarrow);
  }

  text(capacityBytes: number): Text {
    return this.encoding.reserveText(capacityBytes);
  }

  take(ends: Int32Array, endCount: number): void {
    this.encoding.encode(ends, endCount, this.out);
  }

  takeToken(id: number, byteCount: number): void {
    this.notes?.found.push({ index: this.out.count, byteCount });
    this.out.push(id);
  }

  strip(byteCount: number): void {
    const last = this.notes?.found.at(-1);
    if (last !== undefined) last.byteCount += byteCount;
  }

  takeSpace(): void {
    this.notes?.spaces.push(this.out.count);
  }

  change(start: number, end: number, newSize: number): void {
    this.notes?.addChange(start, end, newSize);
  }

  kernelTook(done: number): void {
    this.encoding.takeIds(done < 0 ? -1 : this.kernel.exports.idCount(), this.out);
  }
}

/** From a text to its ids, which go to `out`. */
export class TextEncoding extends TextChain {
  readonly out: IdBuffer;
  private readonly takes: EncodingTaker;

  /** @param notes where the texts are noted, all of them */
  constructor(parts: EncodingParts, notes?: TextNotes, options?: EncodingKernelOptions) {
    const taker = new EncodingTaker(parts, options);
    super(parts, taker);
    this.out = taker.out;
    this.takes = taker;
    this.noteIn(notes, parts.specialTokensAsText ?? false);
  }

  /** From the next text on, it is noted there; with undefined nowhere. */
  noteIn(notes: TextNotes | undefined, specialTokensAsText: boolean): void {
    this.takes.notes = notes;
    this.open(specialTokensAsText, notes !== undefined);
  }

  /**
   * Takes a text until it is certain that it has more than `idsMax` ids, or all of it. Returns where it stopped, in bytes, or
   * in characters of a string. `out` has the ids, or only their count: those behind the certain ones are of no use.
   */
  pushUntil(text: string | Uint8Array, idsMax: number, keepsIds: boolean): number {
    const { out } = this;
    const before = out.totalCount;
    let pos = 0;
    for (let isDone = false; !isDone; ) {
      const missing = idsMax + 1 - (out.totalCount - before);
      if (missing > 0) {
        const length = Math.max(bytesOfId * missing, pos >> 2, stepBytesLeast);
        const stop = stepEnd(text, pos + Math.min(length, pushedBytes));
        const bytes = bytesOf(text, pos, stop);
        pos = stop;
        isDone = stop === text.length;
        if (isDone) this.pushText(bytes, 0, bytes.length);
        else this.push(bytes, 0, bytes.length);
      } else {
        this.end();
        isDone = true;
      }
      if (!keepsIds) out.flush();
    }
    return pos;
  }

  /** Encodes each of the words [first, end) of a table as one pretoken that is cut already. Only between two texts. */
  pushPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    this.window.cutPretokens(bytes, starts, first, end);
  }
}

/** How a text is read until it has enough ids: as long as most are at most, then by quarters, but not byte by byte. */
const bytesOfId = 4;
const stepBytesLeast = scaled(64, 4);

/** The end of a step, which does not part a character of a string. */
function stepEnd(text: string | Uint8Array, wanted: number): number {
  return typeof text === "string" ? skipSplitPair(text, wanted) : Math.min(text.length, wanted);
}

const encoder = new TextEncoder();

/** The bytes of a part of a text. Half a surrogate pair is a replacement character. */
export function bytesOf(text: string | Uint8Array, start: number, end: number): Uint8Array {
  if (typeof text === "string") return encoder.encode(text.slice(start, end));
  return start === 0 && end === text.length ? text : text.subarray(start, end);
}
