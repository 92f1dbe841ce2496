import { closeSync, readSync } from "node:fs";
import { allocateText, type Text } from "../bytes/text.ts";
import { CutFinder, type CutOptions } from "./cut-finder.ts";
import { LineSearch } from "./file-cuts.ts";
import { type Input, openInput } from "./input.ts";

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

export type RangePlanOptions = CutOptions & {
  /** Wished size of a range. */
  readonly rangeSizeBytes: number;
  /** The same of pages of a Parquet file, packed as they are. */
  readonly pagesSizeBytes?: number;
  /** Only records are divided, between each other: a text stays whole. */
  readonly keepsTextsWhole?: boolean;
  /** Wished size of a piece of what is read once and in order. */
  readonly pieceSizeBytes?: number;
  /** The memory that there is for what a file says about itself. */
  readonly textBytesMax?: number | undefined;
  /** How much is looked at at a time in the search for a cut. */
  readonly probeSizeBytes?: number;
};

/**
 * The ranges that `whole`, a range of the input, is cut into, in order; reads only the neighbourhood of each cut. Yields
 * undefined where a cut is looked for in vain, so that whoever carries the plan out can serve signals meanwhile. An
 * empty range stays one. Lines of JSON stand for themselves: ranges of them end behind line feeds. A Parquet file is not
 * cut by its bytes.
 */
export function* planRanges(
  input: Input,
  whole: Range,
  options: RangePlanOptions,
): Generator<Range | undefined, void> {
  const { rangeSizeBytes, keepsTextsWhole } = options;
  const { inputIndex } = whole;
  let { startByte, startsInside } = whole;
  // A last range of less than half the wished size joins the one before it.
  const staysWhole = input.format === "parquet" || (keepsTextsWhole && input.format === "text");
  const isLast = (endByte: number) => staysWhole || whole.endByte - endByte < rangeSizeBytes / 2;
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

/** The size of what is read, before any decompression; null where a stream makes it unknown. */
export const totalBytesOf = (inputs: readonly Input[], ranges: readonly Range[] = inputs.map(wholeRange)) =>
  inputs.some((input) => input.isStream) ? null : sizeOfRanges(ranges);

export type FileCut = { readonly atByte: number; readonly inside: boolean };

const defaultProbeSizeBytes = 1 << 16;
/** Text has a cut every few bytes (docs/pattern.md); where a megabyte has none, the next may well have none either. */
const searchSizeBytes = 1 << 20;

/** Finds the places where one file can be cut. */
class CutSearch {
  private readonly finder: CutFinder;
  private readonly probeSizeBytes: number;
  private readonly text: Text;

  constructor(
    private readonly fd: number,
    private readonly input: Input,
    options: RangePlanOptions,
  ) {
    this.finder = new CutFinder(options);
    this.probeSizeBytes = options.probeSizeBytes ?? defaultProbeSizeBytes;
    this.text = allocateText(this.probeSizeBytes + 2 * this.finder.contextBytes);
  }

  /** The first cut found in the bytes behind `wishByte` and before `stopByte`; undefined if none is within reach. */
  *near(wishByte: number, stopByte: number): Generator<undefined, FileCut | undefined> {
    const endByte = Math.min(stopByte, wishByte + Math.max(searchSizeBytes, this.probeSizeBytes));
    for (let probeByte = wishByte; probeByte < endByte; probeByte += this.probeSizeBytes) {
      const { contextBytes } = this.finder;
      const baseByte = Math.max(0, probeByte - contextBytes);
      const wantedEndByte = Math.min(this.input.sizeBytes, probeByte + this.probeSizeBytes + contextBytes);
      const limit = readSync(this.fd, this.text.bytes, 0, wantedEndByte - baseByte, baseByte);
      const from = probeByte - baseByte;
      const cut = this.finder.find(this.text, from, Math.min(limit, from + this.probeSizeBytes), limit);
      if (cut !== undefined && baseByte + cut.pos > 0) {
        const atByte = baseByte + cut.pos;
        return atByte < stopByte ? { atByte, inside: cut.inside } : undefined;
      }
      yield undefined;
    }
    return undefined;
  }
}
