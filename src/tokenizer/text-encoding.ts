import { betweenPairs, type Text } from "../bytes/text.ts";
import type { Kernel } from "../runtime/kernel.ts";
import { scaled } from "../runtime/scale.ts";
import type { Taker } from "../text/pretokens.ts";
import { pushedBytes, TextChain } from "../text/text-chain.ts";
import { EncodingKernel, type EncodingKernelOptions, IdBuffer } from "./encoding-kernel.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/** An added token that was found before the text was cut: the index of its id, and its size in bytes with white space. */
export type FoundAdded = { readonly index: number; byteCount: number };

/** Encodes pretokens; the ids go to `out`. */
export class EncodingTaker implements Taker {
  readonly kernel: Kernel;
  readonly out: IdBuffer;
  /** Where there is a list, added tokens that were found are noted in it. */
  found: FoundAdded[] | undefined;
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
    this.found?.push({ index: this.out.count, byteCount });
    this.out.push(id);
  }

  strip(byteCount: number): void {
    const last = this.found?.at(-1);
    if (last !== undefined) last.byteCount += byteCount;
  }

  kernelTook(done: number): void {
    this.encoding.takeIds(done < 0 ? -1 : this.kernel.exports.idCount(), this.out);
  }
}

/** From a text to its ids, which go to `out`. */
export class TextEncoding extends TextChain {
  readonly out: IdBuffer;
  private readonly takes: EncodingTaker;

  /** @param found a list for the added tokens that are found before the text is cut */
  constructor(parts: EncodingParts, found?: FoundAdded[], options?: EncodingKernelOptions) {
    const taker = new EncodingTaker(parts, options);
    super(parts, taker);
    this.out = taker.out;
    this.takes = taker;
    taker.found = found;
  }

  /** Notes the added tokens that are found before the text is cut in this list; with undefined nowhere. */
  set found(list: FoundAdded[] | undefined) {
    this.takes.found = list;
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
  return typeof text === "string" ? betweenPairs(text, wanted) : Math.min(text.length, wanted);
}

const encoder = new TextEncoder();

/** The bytes of a part of a text. Half a surrogate pair is a replacement character. */
export function bytesOf(text: string | Uint8Array, start: number, end: number): Uint8Array {
  if (typeof text === "string") return encoder.encode(text.slice(start, end));
  return start === 0 && end === text.length ? text : text.subarray(start, end);
}
