import { type kernels, messages, phrase, UserError } from "#runtime";
import { TextSections } from "./text-sections.ts";
import { putText } from "./window-of-text.ts";

/**
 * Finds special tokens in bytes, including tokens that overlap. The kernel that searches is loaded for the first bytes
 * in which a token may occur.
 */
export class SpecialTokenFinder {
  /** The size of the longest token; 0 if there is none. */
  readonly longestBytes: number;
  private readonly tokens: readonly Uint8Array[];
  /** The prefix that all tokens share. A text without it has no token, so it is not searched. */
  private readonly prefix: Uint8Array;
  private kernel: kernels.TextKernel | undefined;
  private mayOccur = false;
  private static readonly shared = new WeakMap<readonly Uint8Array[], SpecialTokenFinder>();

  constructor(tokens: readonly Uint8Array[]) {
    this.tokens = tokens.filter((token) => token.length > 0);
    this.prefix = sharedPrefix(this.tokens);
    this.longestBytes = tokens.reduce((longest, { length }) => Math.max(longest, length), 0);
  }

  /** Returns a finder that all callers with this array share. Each must call `reset` before it searches. */
  static of(tokens: readonly Uint8Array[]): SpecialTokenFinder {
    let finder = SpecialTokenFinder.shared.get(tokens);
    if (finder === undefined)
      SpecialTokenFinder.shared.set(tokens, (finder = new SpecialTokenFinder(tokens)));
    return finder;
  }

  /** Sets the bytes to search. They are copied. */
  reset(bytes: Uint8Array): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.mayOccur = this.tokens.length > 0 && text.indexOf(this.prefix) >= 0;
    if (!this.mayOccur) return;
    this.kernel ??= new TextSections({ early: this.tokens.map((bytes, id) => ({ bytes, id })) }).kernel;
    if (!putText(this.kernel, bytes)) {
      throw new UserError(`not enough memory to search ${bytes.length} bytes for special tokens`, {
        kind: "memory",
        hint: phrase`free memory on this machine${messages.orFewerWorkers}`,
      });
    }
    this.kernel.exports.openOccurrences(bytes.length);
  }

  /**
   * Returns the position of the first token that begins at or after `pos` and ends by `limit`; `limit` if there is
   * none. Until the next `reset`, `pos` must not be lower than any earlier `pos` or result.
   */
  find(pos: number, limit: number): number {
    return this.mayOccur ? this.kernel!.exports.findOccurrence(pos, limit) : limit;
  }

  /** The size in bytes of the longest token at the position that `find` returned. */
  get foundBytes(): number {
    return this.kernel!.exports.occurrenceBytes();
  }

  /** The number of bytes that the kernel has read backwards; for tests. */
  get readBytes(): number {
    return this.kernel?.exports.readBytes() ?? 0;
  }
}

function sharedPrefix([first = new Uint8Array(), ...others]: readonly Uint8Array[]): Uint8Array {
  let length = first.length;
  for (const token of others) {
    let same = 0;
    while (same < length && token[same] === first[same]) same++;
    length = same;
  }
  return first.subarray(0, length);
}
