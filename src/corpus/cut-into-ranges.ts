import { closeSync } from "node:fs";
import type { CutOptions } from "./cut-finder.ts";
import { RecordCutSearch, TextCutSearch } from "./file-cuts.ts";
import type { Input } from "./input.ts";
import { openInput } from "./open-input.ts";
import type { Range } from "./range.ts";
import { recordSeparator } from "./record-separator.ts";

export type RangePlanOptions = CutOptions & {
  /** Wished size of a range. */
  readonly rangeSizeBytes: number;
  /** Wished size of a group of pages of a Parquet file, compressed as they are. */
  readonly pagesSizeBytes?: number;
  /** Only records are divided, between each other: a text stays whole. */
  readonly keepsTextsWhole?: boolean;
  /** Wished size of a chunk of a stream. */
  readonly chunkSizeBytes?: number;
  /** The memory for what a file says about itself. */
  readonly textBytesMax?: number | undefined;
  /** How many bytes are read at a time in the search for a cut. */
  readonly probeSizeBytes?: number;
};

/**
 * Cuts a range of an input into smaller ones, in order; reads only the neighbourhood of each cut. Yields undefined where a
 * search for a cut was in vain, so that the caller can let signals be served. An empty range stays one range. Lines of JSON
 * are cut after line feeds; a Parquet file is not cut by its bytes.
 */
export function* cutIntoRanges(
  input: Input,
  whole: Range,
  options: RangePlanOptions,
): Generator<Range | undefined, void> {
  const { rangeSizeBytes, keepsTextsWhole } = options;
  const { inputIndex } = whole;
  let { startByte, startsInside } = whole;
  const isText = input.format === "text";
  const staysWhole = input.format === "parquet" || (keepsTextsWhole && isText);
  // A last range of less than half the wished size joins the one before it.
  const isLast = (endByte: number) => staysWhole || whole.endByte - endByte < rangeSizeBytes / 2;
  if (!isLast(startByte + rangeSizeBytes)) {
    const fd = openInput(input);
    try {
      const search = isText
        ? new TextCutSearch(fd, input.sizeBytes, options)
        : new RecordCutSearch(fd, recordSeparator(input.format));
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
