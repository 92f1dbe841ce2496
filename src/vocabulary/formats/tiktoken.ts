import { toBase64 } from "../../runtime/host.ts";
import { copyTokenBytes } from "../token-bytes.ts";
import { type FinishedTokenizer, isSpecialEntry, type Vocabulary } from "../vocabulary.ts";
import type { OutputFile } from "./output-file.ts";
import { places, rows } from "./rows.ts";

/**
 * tiktoken's file of ranks: `base64(token bytes) id` lines, ids ascending, without the special tokens. tiktoken merges
 * in the order of ids, so a vocabulary whose ids follow another order has no such file: see `tiktokenObstacle`.
 */
export function tiktokenFiles({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [{ name: "tokenizer.tiktoken", chunks: () => rankRows(vocabulary) }];
}

/** `base64(token bytes) id` lines, ids ascending, without the special tokens. */
export function rankRows(vocabulary: Vocabulary): Generator<Uint8Array> {
  const { size, entries, tokenBytes } = vocabulary;
  return rows(vocabulary, size, {
    base64Digits,
    write: (kernel, first, to, limit) => kernel.writeRanks(first, size, places.digits, to, limit),
    append: (chunk, id) => {
      const token = entries[id]!;
      if (isSpecialEntry(token)) return;
      chunk.ascii(toBase64(copyTokenBytes(tokenBytes, token)));
      chunk.ascii(" ");
      chunk.decimal(id);
      chunk.ascii("\n");
    },
  });
}

const base64Digits = new TextEncoder().encode(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
);

/** Why a tokenizer cannot be written in this format, or null. */
export function tiktokenObstacle({ vocabulary, exportForm }: FinishedTokenizer): string | null {
  if (exportForm.kind === "splits" && exportForm.regexes.length > 1) {
    return "tiktoken cuts text by one regular expression, and this pattern is a sequence of them";
  }
  if (exportForm.kind === "splits" && exportForm.mayLeaveGaps) {
    return "the pattern may leave text unmatched, which tiktoken drops; with |[\\s\\S] at its end it takes every character";
  }
  const tokenCount = vocabulary.tokenIds.length;
  if (tokenCount + vocabulary.specialTokens.length !== vocabulary.size) {
    return "a special token shares the id of a token, and tiktoken merges in the order of ids";
  }
  return null;
}
