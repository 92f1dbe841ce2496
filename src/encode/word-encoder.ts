import type { Text } from "../corpus/text.ts";
import { EncodingKernel } from "./encoding-kernel.ts";
import type { IdBuffer } from "./id-buffer.ts";
import type { EncodingModel } from "./model.ts";

/** Pretokens to ids, in the kernel: it finds each one in its cache of words, or merges it. */
export class WordEncoder {
  private readonly kernel: EncodingKernel;

  /** The cache of words is 2^cacheShrinkBits times smaller than usual: for tests. */
  constructor(model: EncodingModel, isNarrow: boolean, cacheShrinkBits?: number) {
    this.kernel = new EncodingKernel(model, isNarrow, cacheShrinkBits);
  }

  /** Where the text to encode has to stand; replaced by `reserveText`. */
  get text(): Text {
    return this.kernel.text;
  }

  /** Makes room for so many bytes of text; what stands there stays. */
  reserveText(capacityBytes: number): void {
    this.kernel.reserveText(capacityBytes);
  }

  /** Appends the ids of pretokens [ends[i], ends[i + 1]) of `text` for i in 0 .. endCount - 1. */
  encode(ends: Int32Array, endCount: number, out: IdBuffer): void {
    const { kernel } = this;
    const wordsMax = kernel.ends.length - 1;
    for (let first = 0; first < endCount - 1; first += wordsMax) {
      const wordCount = Math.min(wordsMax, endCount - 1 - first);
      kernel.ends.set(ends.subarray(first, first + wordCount + 1));
      out.append(kernel.encode(wordCount + 1));
    }
  }
}
