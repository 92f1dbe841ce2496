import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import * as patternForms from "../../../src/pattern/export-form.ts";
import { type PatternName, patterns } from "../../../src/pattern/named-patterns.ts";
import { Pretokens } from "../../../src/text/pretokens.ts";
import { TextWindow } from "../../../src/text/text-chain.ts";
import type { CutPlaces } from "../../../src/tokenizer/encoding-model.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import * as modelSettings from "../../../src/tokenizer/model-settings.ts";
import { EncodingTaker, type TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import type { EncodingParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import type { Vocabulary } from "../../../src/tokenizer/vocabulary.ts";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { loadFormats } from "../../../src/training/chosen-files.ts";
import { scratch } from "../../binary.ts";
import { madeText, naiveMerges } from "./made-merges.ts";

/** The part of a tokenizer.json that tests change. */
export type TokenizerJson = {
  added_tokens: Record<string, unknown>[];
  normalizer: unknown;
  pre_tokenizer: unknown;
  post_processor?: unknown;
  model: {
    type: string;
    vocab: Record<string, number>;
    merges: unknown[];
    ignore_merges?: boolean;
    [more: string]: unknown;
  };
  [more: string]: unknown;
};

type Encoder = Pick<TextEncoding, "push" | "end" | "out">;

/** Returns an encoder that merges each pretoken whole (`CutPlaces`). */
export const uncutEncoding = (parts: EncodingParts): Encoder => encodingWithCuts(parts, "nowhere");

export function encodingWithCuts({ model, pattern, isNarrow }: EncodingParts, cuts: CutPlaces) {
  const taker = new EncodingTaker({ model, isNarrow }, { cuts });
  const pretokens = new Pretokens(pattern.automata, [], taker);
  return Object.assign(new TextWindow(pretokens, taker), { out: taker.out, kernel: taker.kernel });
}

export function encodeWith(encoding: Encoder, bytes: Uint8Array): number[] {
  encoding.push(bytes, 0, bytes.length);
  encoding.end();
  return [...encoding.out.flush()];
}

export const specialTokens = ["<|endoftext|>", "<|endoftext|><|endoftext|>", "<|end|>", "[é漢]"];

const formats = await loadFormats();
const merges = naiveMerges(madeText(1, 2000), 300);

function madeVocabulary(compat: Compat): Vocabulary {
  return vocabularies.build({ merges, specialTokens, compat });
}

/** Writes a tokenizer in every format that can represent it, and returns the directory. */
export function writeTokenizer(
  pattern: PatternName,
  compat: Compat = "cs336",
  directory = scratch(),
): string {
  const form = patternForms.exported({ name: pattern, sources: patterns[pattern].sources });
  const model = modelSettings.settleAsked(specialTokens, {});
  const tokenizer = { vocabulary: madeVocabulary(compat), normalization: null, exportForm: form, model };
  for (const { writing } of formats.values()) {
    if (writing!.obstacle(tokenizer) !== null) continue;
    for (const file of writing!.files(tokenizer)) {
      const chunks = Array.from(file.chunks(), (chunk) => Buffer.from(chunk));
      writeFileSync(join(directory, file.name), Buffer.concat(chunks));
    }
  }
  return directory;
}

export const jsonOf = (directory: string): TokenizerJson =>
  JSON.parse(readFileSync(join(directory, "tokenizer.json"), "utf8"));

/** Loads the same tokenizer with HF and with bpe. */
export async function bothOf(json: TokenizerJson): Promise<{ theirs: HuggingFace; ours: Tokenizer }> {
  const path = join(scratch(), "tokenizer.json");
  const text = JSON.stringify(json);
  writeFileSync(path, text);
  return { theirs: HuggingFace.fromString(text), ours: await Tokenizer.load(path) };
}

export async function huggingFaceIds(tokenizer: HuggingFace, text: string): Promise<number[]> {
  return (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds();
}
