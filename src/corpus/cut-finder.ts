import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { Text } from "../bytes/text.ts";
import { type CompiledPattern, findSafeCut } from "../pattern/pattern.ts";

/** Where a text may be divided among readers that do not know of each other. */
export type Cut = {
  readonly pos: number;
  /** true: a safe cut inside a document. false: a special token begins here, which ends a document. */
  readonly inside: boolean;
};

export type CutOptions = {
  /** The text may be cut at its safe cuts; null: only at special tokens. */
  readonly pattern: CompiledPattern | null;
  readonly specialTokens: readonly Uint8Array[];
};

/** How far a character may reach past its first byte. */
const characterTailBytes = 3;

/** Finds the places where a text can be cut, by the bytes around them. */
export class CutFinder {
  /** How many bytes before and after a stretch must be known to find its cuts. */
  readonly contextBytes: number;
  private readonly finder: SpecialTokenFinder;

  constructor(private readonly options: CutOptions) {
    this.finder = new SpecialTokenFinder(options.specialTokens);
    this.contextBytes = Math.max(this.finder.longestBytes, characterTailBytes);
  }

  /**
   * The first cut in [from, stop) of a text that is known up to `limit`; undefined if none was found. `contextBytes` bytes
   * are known before `from`, or it is the beginning of the text or another cut; and as many after `stop`, or all.
   */
  find(text: Text, from: number, stop: number, limit: number): Cut | undefined {
    const { finder } = this;
    // A special token is certain if none that begins earlier reaches into it: then a reader that comes from the left
    // arrives at it, whatever came before. Tokens that begin too far left to be known end before `from`.
    finder.reset(text.bytes.subarray(0, limit));
    let reach = 0;
    let touched = false;
    for (let at = finder.find(0, limit); at < stop; at = finder.find(at + 1, limit)) {
      if (at >= from && at >= reach) return { pos: at, inside: false };
      reach = Math.max(reach, at + finder.lengthAt(at, limit));
      touched ||= reach > from;
    }
    const { pattern } = this.options;
    if (touched || pattern === null) return undefined;

    // No special token begins before `stop`, so none begins at the characters that decide about a safe cut.
    const pos = findSafeCut(pattern, text, from, stop - characterTailBytes, limit);
    return pos < 0 ? undefined : { pos, inside: true };
  }
}
