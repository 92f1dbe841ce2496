import { deepseek } from "./loops/deepseek";
import { deepseekLines } from "./loops/deepseek-lines";
import { gpt2 } from "./loops/gpt2";
import { gpt2Lines } from "./loops/gpt2-lines";
import { modern } from "./loops/modern";
import { modernCased } from "./loops/modern-cased";
import { modernCasedLines } from "./loops/modern-cased-lines";
import { modernLines } from "./loops/modern-lines";
import { endsBehind } from "./mask-operators";
import { family } from "./mask-tables";

/** Masks judge a block only where so much of the document is left from its first byte on: the next block, and four bytes. */
export const masksLookAhead: i32 = 132;

/**
 * Ends of pretokens from masks (docs/masks.md), for a pattern that has a formula. Needs SIMD: elsewhere it does nothing.
 *
 * Writes the ends behind `start`, which is an end itself, in order, to `ends` and on; `masksEnd` is the address behind the last
 * one. There is room for an end a byte up to `stop`, and 68 more. Returns the position up to which all ends are written:
 * `stop`, which is behind `start`, or up to 63 bytes more, or less where masks are not certain. Nothing at or behind `limit` is read, and it is at most
 * the document's end. Positions count from `text`.
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
        return gpt2Lines(text, start, stop, limit, ends);
      case 5:
        return modernLines(text, start, stop, limit, ends);
      case 6:
        return modernCasedLines(text, start, stop, limit, ends);
      case 7:
        return deepseekLines(text, start, stop, limit, ends);
    }
  }
  return start;
}

/** Address behind the last end that `scanMasks` has written. */
export function masksEnd(): usize {
  return endsBehind;
}
