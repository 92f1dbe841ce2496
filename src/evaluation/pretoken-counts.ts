import { EncodingKernel } from "../tokenizer/encoding-kernel.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";

/** Words of a table, without their counts. */
export type WordBytes = { readonly bytes: Uint8Array; readonly starts: Uint32Array };

/** Bytes of words that are encoded between two copies into the kernel's memory. */
const blockSizeBytes = 1 << 20;

/** Counts the tokens of words: each is encoded once, and its tokens occur as often as the word does. */
export class PretokenEncoder {
  private readonly kernel: EncodingKernel;
  private capacityBytes = 0;

  constructor(parts: EncodingParts) {
    this.kernel = new EncodingKernel(parts.model, parts.isNarrow);
  }

  /** Adds the tokens of words [first, end), each as often as `counts` says, to `tokenCounts`, by id. */
  addTokens(
    { bytes, starts }: WordBytes,
    counts: Float64Array,
    { first, end }: { readonly first: number; readonly end: number },
    tokenCounts: Float64Array,
  ): void {
    const { kernel } = this;
    const { ends } = kernel;
    for (let blockStart = first, blockEnd = first; blockStart < end; blockStart = blockEnd) {
      const base = starts[blockStart]!;
      do blockEnd++;
      while (blockEnd < end && starts[blockEnd + 1]! - base <= blockSizeBytes);
      this.load(bytes.subarray(base, starts[blockEnd]!));
      for (let word = blockStart; word < blockEnd; word++) {
        ends[0] = starts[word]! - base;
        ends[1] = starts[word + 1]! - base;
        const ids = kernel.idsOf(kernel.kernel.exports.encodeWords(2));
        const count = counts[word]!;
        for (let i = 0; i < ids.length; i++) tokenCounts[ids[i]!]! += count;
      }
    }
  }

  private load(bytes: Uint8Array): void {
    if (bytes.length > this.capacityBytes) {
      this.capacityBytes = Math.max(blockSizeBytes, bytes.length);
      this.kernel.reserveText(this.capacityBytes);
    }
    this.kernel.text.bytes.set(bytes);
  }
}
