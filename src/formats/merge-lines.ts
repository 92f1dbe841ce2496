import type { Vocabulary } from "#tokenizer";
import { sha256Of } from "./output-file.ts";
import { mergeRows, plainSpelling } from "./rows.ts";

/** Yields the merges as `left right` lines in byte-to-character form, in the order learned. */
export const mergeLines = (vocabulary: Vocabulary): Generator<Uint8Array> =>
  mergeRows(vocabulary, ["", " ", "\n"], plainSpelling);

/** Returns the SHA-256 of the merge lines, in hex: `mergesSha256` of the record. */
export const mergesSha256 = (vocabulary: Vocabulary): string => sha256Of(mergeLines(vocabulary));
