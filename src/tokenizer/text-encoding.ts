import { type Text, utf8 } from "#bytes";
import { type kernels, scaled } from "#runtime";
import { type Taker, TextChain } from "#text";
import { EncodingKernel, type EncodingKernelOptions, IdBuffer } from "./encoding-kernel.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/** The kinds of notes: events of src/kernel/text/sections.ts. */
const tokenNote = 2;
const strippedNote = 3;
const spaceNote = 4;
const changeNote = 5;
const noteNumbers = 4;

/** Notes on a text, for locating its tokens (src/kernel/text/offsets.ts). */
export class TextNotes {
  private numbers = new Uint32Array(noteNumbers * scaled(16, 1));
  count = 0;

  add(kind: number, a: number, b: number, c: number): void {
    const at = noteNumbers * this.count++;
    if (at === this.numbers.length) {
      const longer = new Uint32Array(2 * at);
      longer.set(this.numbers);
      this.numbers = longer;
    }
    this.numbers.set([kind, a, b, c], at);
  }

  clear(): void {
    this.count = 0;
  }

  /** Returns the notes, four numbers for each, valid until the next note is added. */
  get list(): Uint32Array {
    return this.numbers.subarray(0, noteNumbers * this.count);
  }

  /**
   * The size in bytes of the text's first token with the whitespace that it strips, if that token is an added token that
   * was found before the text was cut; otherwise undefined.
   */
  get firstTokenBytes(): number | undefined {
    const { list } = this;
    let size: number | undefined;
    for (let at = 0; at < list.length; at += noteNumbers) {
      const [kind, a, b, index] = list.subarray(at) as unknown as [number, number, number, number];
      if (kind === strippedNote && size !== undefined) size += a;
      if (kind !== tokenNote) continue;
      if (size !== undefined || index > 0) break;
      size = b;
    }
    return size;
  }
}

/** Encodes pretokens, and appends the ids to `out`. */
export class EncodingTaker implements Taker {
  readonly kernel: kernels.Kernel;
  readonly out: IdBuffer;
  /** Receives notes on the text; undefined if none are wanted. */
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
    this.notes?.add(tokenNote, id, byteCount, this.out.count);
    this.out.push(id);
  }

  strip(byteCount: number): void {
    this.notes?.add(strippedNote, byteCount, 0, this.out.count);
  }

  takeSpace(): void {
    this.notes?.add(spaceNote, 0, 0, this.out.count);
  }

  change(start: number, end: number, newSize: number): void {
    this.notes?.add(changeNote, start, end, newSize);
  }

  kernelTook(done: number): void {
    this.encoding.takeIds(done < 0 ? -1 : this.kernel.exports.idCount(), this.out);
  }
}

/** Encodes texts, and appends the ids to `out`. */
export class TextEncoding extends TextChain {
  readonly out: IdBuffer;
  private readonly takes: EncodingTaker;

  /** @param notes receives notes on texts until `noteIn` sets another receiver */
  constructor(parts: EncodingParts, notes?: TextNotes, options?: EncodingKernelOptions) {
    const taker = new EncodingTaker(parts, options);
    super(parts, taker);
    this.out = taker.out;
    this.takes = taker;
    this.noteIn(notes, parts.specialTokensAsText ?? false);
  }

  /** Sets, from the next text on, the receiver of notes (undefined for none) and whether special tokens stay text. */
  noteIn(notes: TextNotes | undefined, specialTokensAsText: boolean): void {
    this.takes.notes = notes;
    this.open(specialTokensAsText, notes !== undefined);
  }

  /**
   * Encodes the text until it certainly has more than `idsMax` ids, or to its end. Returns the end of the encoded part,
   * in UTF-16 code units for a string, otherwise in bytes. If this is not the end of the text, ids after the first
   * `idsMax` + 1 are not valid. If `keepsIds` is false, the ids are only counted.
   */
  pushUntil(text: string | Uint8Array, idsMax: number, keepsIds: boolean): number {
    const { out } = this;
    const before = out.totalCount;
    let pos = 0;
    for (let isDone = false; !isDone; ) {
      const missing = idsMax + 1 - (out.totalCount - before);
      if (missing > 0) {
        const length = Math.max(bytesOfId * missing, pos >> 2, stepBytesLeast);
        const stop = stepEnd(text, pos + Math.min(length, TextChain.pushedBytes));
        const bytes = utf8.encodeRange(text, pos, stop);
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

  /** Returns the number of ids of a text, or `idsMax` + 1 if it has more. */
  countIds(text: string | Uint8Array, idsMax: number): number {
    const before = this.out.totalCount;
    this.pushUntil(text, idsMax, false);
    return Math.min(this.out.totalCount - before, idsMax + 1);
  }

  /** Encodes words [first, end) of a table, each as one pretoken. Not allowed in the middle of a text. */
  pushPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    this.window.cutPretokens(bytes, starts, first, end);
  }
}

/**
 * How many code units or bytes a step of `pushUntil` takes for each id still missing, and the least that it takes. Only
 * the last step of a text may take less.
 */
const bytesOfId = 4;
const stepBytesLeast = scaled(64, 4);

/** Returns the end of a step, which does not split a surrogate pair of a string. */
function stepEnd(text: string | Uint8Array, wanted: number): number {
  return typeof text === "string" ? utf8.skipSplitPair(text, wanted) : Math.min(text.length, wanted);
}
