import { deepseek } from "./loops/deepseek";
import { deepseekLines } from "./loops/deepseek-lines";
import { gpt2 } from "./loops/gpt2";
import { gpt2Lines } from "./loops/gpt2-lines";
import { modern } from "./loops/modern";
import { modernCased } from "./loops/modern-cased";
import { modernCasedLines } from "./loops/modern-cased-lines";
import { modernLines } from "./loops/modern-lines";
import { superwords } from "./loops/superwords";
import { superwordsLines } from "./loops/superwords-lines";
import { endsAfter } from "./mask-operators";
import { family } from "./mask-tables";

/**
 * The number of bytes that masks need from the start of a block of 64 bytes on: the block, the next one, and four more
 * bytes.
 */
export const masksLookAhead: i32 = 132;

/**
 * Finds ends of pretokens by masks (docs/internals/masks.md), for a pattern that has a formula. Without SIMD it finds
 * none.
 *
 * @param start a known end of a pretoken; all positions are relative to `text`
 * @param stop finds ends up to this position, which is after `start`
 * @param limit bytes from here on are not read; at most the document's end
 * @param ends receives the ends after `start`, in order; needs space for one per byte up to `stop`, and 68 more
 * @returns the position up to which all ends were written: at most stop + 63; less than `stop` if masks are not certain
 *   there, or would need bytes from `limit` on. `masksEnd` is the address after the last end
 */
export function scanMasks(text: usize, start: u32, stop: u32, limit: u32, ends: usize): u32 {
  if (ASC_FEATURE_SIMD) {
    switch (family()) {
      case 0:
        return gpt2(text, start, stop, limit, ends);
      case 1:
        return modern(text, start, stop, limit, ends);
      case 2:
        return modernCased(text, start, stop, limit, ends);
      case 3:
        return deepseek(text, start, stop, limit, ends);
      case 4:
        return superwords(text, start, stop, limit, ends);
      case 5:
        return gpt2Lines(text, start, stop, limit, ends);
      case 6:
        return modernLines(text, start, stop, limit, ends);
      case 7:
        return modernCasedLines(text, start, stop, limit, ends);
      case 8:
        return deepseekLines(text, start, stop, limit, ends);
      case 9:
        return superwordsLines(text, start, stop, limit, ends);
    }
  }
  return start;
}

/** Returns the address after the last end that `scanMasks` wrote. */
export function masksEnd(): usize {
  return endsAfter;
}
