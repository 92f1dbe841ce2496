import { isSpecialEntry, specialOfEntry, type Vocabulary } from "../vocabulary.ts";
import { Chunk } from "./chunk.ts";
import { mergeLines } from "./merge-lines.ts";
import type { FinishedTokenizer, OutputFile } from "./output-file.ts";
import { appendToken, jsonSpelling } from "./token-text.ts";

/** GPT-2's pair of files: `vocab.json` for the ids, `merges.txt` for the order. */
export function gpt2Files({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [
    { name: "vocab.json", chunks: () => vocabJson(vocabulary) },
    { name: "merges.txt", chunks: () => mergesTxt(vocabulary) },
  ];
}

/** `{"!":0,…}` in the order of ids, special tokens as plain text, spaced as HF spaces it. */
function* vocabJson(vocabulary: Vocabulary): Generator<Uint8Array> {
  const chunk = new Chunk();
  chunk.ascii("{");
  for (let id = 0; id < vocabulary.size; id++) {
    if (id > 0) chunk.ascii(",");
    appendKey(chunk, vocabulary, id);
    chunk.ascii(":");
    chunk.decimal(id);
    if (chunk.isFull) yield chunk.take();
  }
  chunk.ascii("}");
  yield chunk.take();
}

/** What an id is called in HF's files, as a JSON string: a special token's text, a token's characters. */
export function appendKey(chunk: Chunk, vocabulary: Vocabulary, id: number): void {
  const entry = vocabulary.entries[id]!;
  if (isSpecialEntry(entry)) {
    chunk.text(JSON.stringify(vocabulary.specialTokens[specialOfEntry(entry)]!));
    return;
  }
  chunk.ascii('"');
  appendToken(chunk, vocabulary.tokenBytes, entry, jsonSpelling);
  chunk.ascii('"');
}

function* mergesTxt(vocabulary: Vocabulary): Generator<Uint8Array> {
  yield new TextEncoder().encode("#version: 0.2\n");
  yield* mergeLines(vocabulary);
}
