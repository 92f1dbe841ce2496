import type { FinishedTokenizer, OutputFile } from "./output-file.ts";
import { rankRows } from "./rows.ts";

/**
 * tiktoken's file of ranks: `base64(token bytes) id` lines, ids ascending, without the special tokens. tiktoken merges
 * in the order of ids, so a vocabulary whose ids follow another order has no such file: see `tiktokenObstacle`.
 */
export function tiktokenFiles({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [{ name: "tokenizer.tiktoken", chunks: () => rankRows(vocabulary) }];
}

/** Why a tokenizer cannot be said in this format, or null. */
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
