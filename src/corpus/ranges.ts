import { closeSync, readSync } from "node:fs";
import { type CompiledPattern, findSafeCut } from "../pattern/index.ts";
import { type Input, openInput } from "./inputs.ts";
import { LineSearch } from "./lines.ts";
import { SpecialTokenFinder } from "./special-tokens.ts";
import { allocateText } from "./text.ts";

/**
 * Who reads what: bytes [startByte, endByte) of one input. A range ends where no pretoken can cross: at the end of the
 * file, at a special token, or at a safe cut of the pattern.
 *
 * At a safe cut the document goes on in the next range: the left range looks at the character at `endByte` to settle
 * its last pretoken and then forgets it, the right one starts afresh. Both flags are plain data, so the plan can be
 * carried out by threads or by other machines.
 */
export type Range = {
  readonly inputIndex: number;
  readonly startByte: number;
  readonly endByte: number;
  /** The range begins (ends) at a safe cut inside a document, not at the edge of one. */
  readonly startsInside: boolean;
  readonly endsInside: boolean;
};

export type RangePlanOptions = {
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  /** Wished size of a range. */
  readonly rangeSizeBytes: number;
  /** How much is read at a time in the search for a cut. */
  readonly probeSizeBytes?: number;
};

/**
 * The ranges that `whole`, a range of the input, is cut into, in order; reads only the neighbourhood of each cut. Yields
 * undefined where a cut is looked for in vain, so that whoever carries the plan out can serve signals meanwhile. An
 * empty range stays one. Lines of JSON stand for themselves: ranges of them end behind line feeds.
 */
export function* planRanges(
  input: Input,
  whole: Range,
  options: RangePlanOptions,
): Generator<Range | undefined, void> {
  const { rangeSizeBytes } = options;
  const { inputIndex } = whole;
  let { startByte, startsInside } = whole;
  // A last range of less than half the wished size joins the one before it.
  const isLast = (endByte: number) => whole.endByte - endByte < rangeSizeBytes / 2;
  if (!isLast(startByte + rangeSizeBytes)) {
    const fd = openInput(input);
    try {
      const search = input.format === "jsonl" ? new LineSearch(fd) : new CutSearch(fd, input, options);
      for (let wishByte = startByte + rangeSizeBytes; !isLast(wishByte); wishByte += rangeSizeBytes) {
        const cut = yield* search.near(wishByte, whole.endByte);
        if (cut === undefined) continue; // the range grows by another
        yield { inputIndex, startByte, endByte: cut.atByte, startsInside, endsInside: cut.inside };
        startByte = cut.atByte;
        startsInside = cut.inside;
        wishByte = startByte;
      }
    } finally {
      closeSync(fd);
    }
  }
  yield { ...whole, startByte, startsInside };
}

/** The whole of an input that can be read at any place. */
export const wholeRange = (input: Input, inputIndex: number): Range => ({
  inputIndex,
  startByte: 0,
  endByte: input.sizeBytes,
  startsInside: false,
  endsInside: false,
});

export const sizeOfRanges = (ranges: readonly Range[]) =>
  ranges.reduce((sum, { startByte, endByte }) => sum + endByte - startByte, 0);

export type Cut = { readonly atByte: number; readonly inside: boolean };

const defaultProbeSizeBytes = 1 << 16;
/** Text has a cut every few bytes (docs/pattern.md); where a megabyte has none, the next may well have none either. */
const searchSizeBytes = 1 << 20;
/** Longest UTF-8 character less one: how far behind a position its character may reach. */
const characterTailBytes = 3;

/** Finds the places where one file can be cut. */
class CutSearch {
  private readonly finder: SpecialTokenFinder;
  private readonly probeSizeBytes: number;
  private readonly text;

  constructor(
    private readonly fd: number,
    private readonly input: Input,
    private readonly options: RangePlanOptions,
  ) {
    this.finder = new SpecialTokenFinder(options.specialTokens);
    this.probeSizeBytes = options.probeSizeBytes ?? defaultProbeSizeBytes;
    this.text = allocateText(this.probeSizeBytes + 2 * this.finder.longestBytes + 2 * characterTailBytes);
  }

  /** The first cut found in the bytes behind `wishByte` and before `stopByte`; undefined if none is within reach. */
  *near(wishByte: number, stopByte: number): Generator<undefined, Cut | undefined> {
    const endByte = Math.min(stopByte, wishByte + Math.max(searchSizeBytes, this.probeSizeBytes));
    for (let probeByte = wishByte; probeByte < endByte; probeByte += this.probeSizeBytes) {
      const cut = this.probe(probeByte);
      if (cut !== undefined) return cut.atByte < stopByte ? cut : undefined;
      yield undefined;
    }
    return undefined;
  }

  /** Looks for a cut in [probeByte, probeByte + probeSizeBytes). */
  private probe(probeByte: number): Cut | undefined {
    const { finder, text, input } = this;
    const contextBytes = Math.max(finder.longestBytes, characterTailBytes);
    const baseByte = Math.max(0, probeByte - contextBytes);
    const wantedEndByte = Math.min(input.sizeBytes, probeByte + this.probeSizeBytes + contextBytes);
    const limit = readSync(this.fd, text.bytes, 0, wantedEndByte - baseByte, baseByte);
    const from = probeByte - baseByte;
    const stop = Math.min(limit, from + this.probeSizeBytes);

    // A special token is one for certain if none that begins earlier reaches into it: then reading from the left
    // arrives at it, whatever came before. Tokens out of sight on the left end before `from`.
    finder.reset(text.bytes.subarray(0, limit));
    let reach = 0;
    let touched = false;
    for (let at = finder.find(0, limit); at < stop; at = finder.find(at + 1, limit)) {
      if (at >= from && at >= reach) return { atByte: baseByte + at, inside: false };
      reach = Math.max(reach, at + finder.lengthAt(at, limit));
      touched ||= reach > from;
    }
    if (touched) return undefined;

    // No special token begins before `stop`, so none begins on the characters that the safe cut was judged by.
    const cut = findSafeCut(this.options.pattern, text, from, stop - characterTailBytes, limit);
    return cut < 0 || baseByte + cut === 0 ? undefined : { atByte: baseByte + cut, inside: true };
  }
}
