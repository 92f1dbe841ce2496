import type { Vocabulary } from "../vocabulary.ts";
import { mergeLines } from "./merge-lines.ts";
import type { FinishedTokenizer, OutputFile } from "./output-file.ts";
import { idRows, withoutFirstByte } from "./rows.ts";

/** GPT-2's pair of files: `vocab.json` for the ids, `merges.txt` for the order. */
export function gpt2Files({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [
    { name: "vocab.json", chunks: () => vocabJson(vocabulary) },
    { name: "merges.txt", chunks: () => mergesTxt(vocabulary) },
  ];
}

/** `{"!":0,…}` in the order of ids, special tokens as plain text, spaced as HF spaces it. */
function* vocabJson(vocabulary: Vocabulary): Generator<Uint8Array> {
  yield encoder.encode("{");
  yield* withoutFirstByte(idRows(vocabulary, [',"', '":', ""]));
  yield encoder.encode("}");
}

function* mergesTxt(vocabulary: Vocabulary): Generator<Uint8Array> {
  yield encoder.encode("#version: 0.2\n");
  yield* mergeLines(vocabulary);
}

const encoder = new TextEncoder();
