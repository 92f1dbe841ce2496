import { UserError } from "../errors.ts";

/**
 * The memory that one thread has for a text and what it stands in: a page, its dictionary, a line. A reader claims what
 * it is about to allocate, yields, and allocates then: so whoever holds words can make room first.
 */
export class TextRoom {
  /** What the reader has, or is about to take, beyond its small windows. */
  claimedBytes = 0;

  /** @param bytesMax what may be claimed; without it, anything */
  constructor(private readonly bytesMax = Number.POSITIVE_INFINITY) {}

  /**
   * Claims `bytes` in place of what was claimed before; true if that is so much that room should be made for it. More
   * than there is, is an error: `what` names the text ("x.jsonl" line 5).
   */
  claim(bytes: number, what: () => string): boolean {
    if (bytes > this.bytesMax) {
      const [needed, room] = [bytes, this.bytesMax].map((size) => `${Math.ceil(size / 1e6)} MB`);
      throw new UserError(`${what()} needs about ${needed} of memory, and there are ${room} for a text`, {
        hint: "give it more (--memory-limit), use fewer workers (-w 1), or write its texts in smaller pieces",
      });
    }
    this.claimedBytes = bytes < smallBytes ? 0 : bytes;
    return this.claimedBytes > 0;
  }
}

/** So much every thread has anyway. */
const smallBytes = 1 << 23;
