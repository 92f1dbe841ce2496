import { UserError } from "../errors.ts";

/**
 * The memory that one thread has for a text and for what contains it: a line, a page, its dictionary. A reader claims what
 * it is about to allocate, yields, and then allocates it. So the owner of the words can make room first.
 */
export class TextMemory {
  /** What the reader has allocated, or is about to allocate, beyond its small windows. */
  claimedBytes = 0;

  /** @param bytesMax the most that may be claimed; by default there is no limit */
  constructor(private readonly bytesMax = Number.POSITIVE_INFINITY) {}

  /**
   * Claims `bytes` in place of what was claimed before. Returns true if that is so much that room should be made for it.
   * A claim of more than `bytesMax` is an error, in which `what` names the text ("x.jsonl" line 5).
   */
  claim(bytes: number, what: () => string): boolean {
    if (bytes > this.bytesMax) {
      const [needed, most] = [bytes, this.bytesMax].map((size) => `${Math.ceil(size / 1e6)} MB`);
      throw new UserError(`${what()} needs about ${needed} of memory, and there are ${most} for a text`, {
        hint: "give it more (--memory-limit), use fewer workers (-w 1), or write its texts in smaller pieces",
      });
    }
    this.claimedBytes = bytes < smallBytes ? 0 : bytes;
    return this.claimedBytes > 0;
  }
}

/** Every thread has this much in any case. */
const smallBytes = 1 << 23;
