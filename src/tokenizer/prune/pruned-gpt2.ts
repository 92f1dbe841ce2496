import { basename } from "node:path";
import { Chunk, type OutputFile } from "../../vocabulary/formats/output-file.ts";
import { idsOfTokens } from "../load/assemble-model.ts";
import { objectAt } from "../load/checked-json.ts";
import { partnerOf } from "../load/gpt2-files.ts";
import { readJson, readText } from "../load/read-file.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { keptRows } from "./kept-rows.ts";
import type { Numbering } from "./token-numbering.ts";

/** GPT-2's pair of files with the tokens that stay. Special tokens that the user named are entries of the vocabulary. */
export function prunedGpt2(path: string, parts: TokenizerParts, numbering: Numbering): OutputFile[] {
  const { vocabPath, mergesPath } = partnerOf(path);
  const vocab = idsOfTokens(objectAt(readJson(vocabPath), vocabPath, "the vocabulary"), vocabPath);
  const { tokens, merges } = keptRows(vocab, parts.model.merges, numbering, vocabPath);
  const known = new Set(tokens.map(([text]) => text));
  const named = parts.addedTokens
    .filter(({ content }) => !known.has(content))
    .map(({ content, id }) => [content, numbering.newIds[id]!] as const);
  const entries = [...tokens, ...named].sort(([, a], [, b]) => a - b);
  const head = /^#version.*\n/.exec(readText(mergesPath).slice(0, 100))?.[0] ?? "";
  return [
    {
      name: basename(vocabPath),
      chunks: () =>
        textChunks(
          "{",
          entries,
          ([text, id], i) => `${i === 0 ? "" : ","}${JSON.stringify(text)}:${id}`,
          "}",
        ),
    },
    {
      name: basename(mergesPath),
      chunks: () => textChunks(head, merges(), ([left, right]) => `${left} ${right}\n`, ""),
    },
  ];
}

function* textChunks<T>(
  head: string,
  rows: Iterable<T>,
  textOf: (row: T, index: number) => string,
  end: string,
): Generator<Uint8Array> {
  const chunk = new Chunk();
  let index = 0;
  chunk.text(head);
  for (const row of rows) {
    chunk.text(textOf(row, index++));
    if (chunk.isFull) yield chunk.take();
  }
  chunk.text(end);
  yield chunk.take();
}
