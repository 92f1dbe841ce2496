import { EncodingKernel } from "./encoding-kernel.ts";
import type { EncodingModel } from "./encoding-model.ts";

/** Merges pretokens, one at a time: for what is asked of a tokenizer while it is loaded. */
export class WordMerger {
  readonly kernel: EncodingKernel;
  private capacityBytes = 0;

  constructor(model: EncodingModel) {
    this.kernel = new EncodingKernel(model, false);
  }

  /** The ids of a pretoken, or of a part of one; they are written over by the next ones. */
  merge(bytes: Uint8Array): Int32Array {
    if (bytes.length > this.capacityBytes) {
      this.capacityBytes = 2 * bytes.length;
      this.kernel.reserveText(this.capacityBytes);
    }
    this.kernel.text.bytes.set(bytes);
    return this.kernel.merge(bytes.length);
  }
}
