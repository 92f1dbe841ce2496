import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { Text } from "../bytes/text.ts";
import { type CompiledPattern, findSafeCut } from "../pattern/pattern.ts";

/** Where a text may be divided among readers that know nothing of each other. */
export type Cut = {
  readonly pos: number;
  /** A safe cut inside a document; else a special token, which ends one, begins here. */
  readonly inside: boolean;
};

export type CutOptions = {
  /** Its safe cuts are places to cut; null: only special tokens are. */
  readonly pattern: CompiledPattern | null;
  readonly specialTokens: readonly Uint8Array[];
};

/** Longest UTF-8 character less one: how far behind a position its character may reach. */
const characterTailBytes = 3;

/** Finds the places where a text can be cut, by the bytes around them. */
export class CutFinder {
  /** How many bytes before and behind a stretch have to be seen to find its cuts. */
  readonly contextBytes: number;
  private readonly finder: SpecialTokenFinder;

  constructor(private readonly options: CutOptions) {
    this.finder = new SpecialTokenFinder(options.specialTokens);
    this.contextBytes = Math.max(this.finder.longestBytes, characterTailBytes);
  }

  /**
   * The first cut found in [from, stop) of a text that is known up to `limit`; undefined if there is none. Before `from`
   * stand `contextBytes` bytes, or the beginning or another cut of the text; behind `stop` as many, or its end.
   */
  find(text: Text, from: number, stop: number, limit: number): Cut | undefined {
    const { finder } = this;
    // A special token is one for certain if none that begins earlier reaches into it: then reading from the left
    // arrives at it, whatever came before. Tokens out of sight on the left end before `from`.
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

    // No special token begins before `stop`, so none begins on the characters that the safe cut was judged by.
    const pos = findSafeCut(pattern, text, from, stop - characterTailBytes, limit);
    return pos < 0 ? undefined : { pos, inside: true };
  }
}
