import { betweenPairs, type Text } from "../bytes/text.ts";
import type { Kernel } from "../runtime/kernel.ts";
import { scaled } from "../runtime/scale.ts";
import type { FoundToken } from "../text/cutting.ts";
import { tokensWhileCutting } from "../text/cutting.ts";
import { Pretokens, type Taker } from "../text/pretokens.ts";
import { pushedBytes, TextChain } from "../text/text-chain.ts";
import { EncodingKernel, type EncodingKernelOptions, IdBuffer } from "./encoding-kernel.ts";
import { packTokens } from "./encoding-model.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/** An added token that was found before the text was cut: the index of its id, and its bytes in the text beside its content. */
export type FoundAdded = { readonly index: number; strippedBytes: number };

/** Encodes pretokens; the ids go to `out`. */
export class EncodingTaker implements Taker {
  readonly kernel: Kernel;
  readonly out: IdBuffer;
  /** Where there is a list, added tokens that were found are noted in it. */
  found: FoundAdded[] | undefined;
  private readonly encoding: EncodingKernel;

  /** @param tokens those that are found in the text: the kernel knows their ids */
  constructor(
    { model, isNarrow }: Pick<EncodingParts, "model" | "isNarrow">,
    tokens: readonly FoundToken[] = [],
    options: EncodingKernelOptions = {},
  ) {
    // Of equal ones the last counts.
    const ids = new Map(tokens.map(({ bytes, id }) => [Buffer.from(bytes).toString("latin1"), id]));
    this.encoding = new EncodingKernel(model, isNarrow, { addedTokens: packTokens(ids), ...options });
    this.kernel = this.encoding.kernel;
    this.out = new IdBuffer(isNarrow);
  }

  text(capacityBytes: number): Text {
    return this.encoding.reserveText(capacityBytes);
  }

  take(ends: Int32Array, endCount: number): void {
    this.encoding.encode(ends, endCount, this.out);
  }

  takeToken(id: number, strippedBytes = 0): void {
    this.found?.push({ index: this.out.count, strippedBytes });
    this.out.push(id);
  }

  stripBehind(byteCount: number): void {
    const last = this.found?.at(-1);
    if (last !== undefined) last.strippedBytes += byteCount;
  }

  kernelTook(done: number): void {
    this.encoding.takeIds(done < 0 ? -1 : this.kernel.exports.idCount(), this.out);
  }
}

/** From a text to its ids, which go to `out`. */
export class TextEncoding extends TextChain {
  readonly out: IdBuffer;
  private readonly takes: EncodingTaker;

  /**
   * @param found a list for the added tokens that are found before the text is cut
   * @param shared an encoding with the same pattern and model, for a cutting without tokens to find while it cuts
   */
  constructor(
    parts: EncodingParts,
    found?: FoundAdded[],
    options?: EncodingKernelOptions,
    shared?: TextEncoding,
  ) {
    const tokens = tokensWhileCutting(parts);
    const taker = shared?.takes ?? new EncodingTaker(parts, tokens, options);
    super(
      parts,
      taker,
      shared?.pretokens.withoutTokens() ?? new Pretokens(parts.pattern.automata, tokens, taker),
    );
    this.out = taker.out;
    this.takes = taker;
    taker.found = found;
  }

  /**
   * An encoding by the same pattern and model that finds added tokens as `cutting` says: in the same memory where that looks for
   * none while it cuts. Then one of the two is used at a time, from `resume` on.
   */
  cuttingAs(parts: EncodingParts): TextEncoding {
    return tokensWhileCutting(parts).length > 0
      ? new TextEncoding(parts)
      : new TextEncoding(parts, undefined, undefined, this);
  }

  /** To be called before a text, after one that another encoding took in the same memory. */
  resume(): void {
    this.pretokens.lookForTokens();
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
