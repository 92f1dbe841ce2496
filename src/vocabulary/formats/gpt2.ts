import { createSha256 } from "../../runtime/host.ts";
import type { FinishedTokenizer, Vocabulary } from "../vocabulary.ts";
import type { OutputFile } from "./output-file.ts";
import { idRows, mergeRows, withoutFirstByte } from "./rows.ts";
import { plainSpelling } from "./token-spelling.ts";

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

/** The merges as `left right` lines in byte-to-character form, in the order learned. */
const mergeLines = (vocabulary: Vocabulary): Generator<Uint8Array> =>
  mergeRows(vocabulary, ["", " ", "\n"], plainSpelling);

/** SHA-256 over the merge lines, in hex: the record's name for the result. */
export function mergesSha256(vocabulary: Vocabulary): string {
  const hasher = createSha256();
  for (const chunk of mergeLines(vocabulary)) hasher.update(chunk);
  return hasher.digest("hex");
}

const encoder = new TextEncoder();
