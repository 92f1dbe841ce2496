import type { Text } from "../bytes/text.ts";
import type { Kernel } from "../runtime/kernel.ts";
import type { FoundToken, KernelTaker } from "../text/pretokens.ts";
import { EncodingKernel, type EncodingKernelOptions } from "./encoding-kernel.ts";
import { packTokens } from "./encoding-model.ts";
import { IdBuffer } from "./id-buffer.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/** Encodes pretokens; the ids go to `out`. */
export class EncodingTaker implements KernelTaker {
  readonly kernel: Kernel;
  readonly out: IdBuffer;
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

  takeToken(id: number): void {
    this.out.push(id);
  }

  kernelTook(done: number): void {
    this.encoding.takeIds(done < 0 ? -1 : this.kernel.exports.idCount(), this.out);
  }
}
