import { copyTokenBytes, notKept, type TokenBytes } from "../token-bytes.ts";
import { isSpecialEntry, type Vocabulary } from "../vocabulary.ts";
import { appendBase64 } from "./base64.ts";
import { Chunk } from "./chunk.ts";
import type { FinishedTokenizer, OutputFile } from "./output-file.ts";

/**
 * tiktoken's file of ranks: `base64(token bytes) id` lines, ids ascending, without the special tokens. tiktoken merges
 * in the order of ids, so a vocabulary whose ids follow another order has no such file: see `tiktokenObstacle`.
 */
export function tiktokenFiles({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [{ name: "tokenizer.tiktoken", chunks: () => rankLines(vocabulary) }];
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

function* rankLines(vocabulary: Vocabulary): Generator<Uint8Array> {
  const chunk = new Chunk();
  for (let id = 0; id < vocabulary.size; id++) {
    const token = vocabulary.entries[id]!;
    if (isSpecialEntry(token)) continue;
    appendTokenBase64(chunk, vocabulary.tokenBytes, token);
    chunk.ascii(" ");
    chunk.decimal(id);
    chunk.ascii("\n");
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

function appendTokenBase64(chunk: Chunk, tokens: TokenBytes, token: number): void {
  const start = tokens.starts[token]!;
  const lengthBytes = tokens.lengths[token]!;
  if (start !== notKept) appendBase64(chunk, tokens.kept, start, start + lengthBytes);
  else appendBase64(chunk, copyTokenBytes(tokens, token), 0, lengthBytes);
}
