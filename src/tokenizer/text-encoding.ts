import type { Text } from "../bytes/text.ts";
import type { Kernel } from "../runtime/kernel.ts";
import type { FoundToken } from "../text/cutting.ts";
import { tokensWhileCutting } from "../text/cutting.ts";
import { createPretokens, type Taker } from "../text/pretokens.ts";
import { TextChain } from "../text/text-chain.ts";
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

  /** @param found a list for the added tokens that are found before the text is cut */
  constructor(parts: EncodingParts, found?: FoundAdded[], options?: EncodingKernelOptions) {
    const tokens = tokensWhileCutting(parts);
    const taker = new EncodingTaker(parts, tokens, options);
    super(parts, taker, createPretokens(parts.pattern, tokens, taker));
    this.out = taker.out;
    taker.found = found;
  }

  /** Encodes each of the words [first, end) of a table as one pretoken that is cut already. Only between two texts. */
  pushPretokens(bytes: Uint8Array, starts: Uint32Array, first: number, end: number): void {
    this.window.cutPretokens(bytes, starts, first, end);
  }
}
