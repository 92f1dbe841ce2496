import { createHash } from "node:crypto";
import type { PatternName } from "../pattern/pattern.ts";
import type { NormalizationForm } from "../tokenizer/tokenizer-parts.ts";

/**
 * Rank files that are known by their content. They do not hold the pattern, the special tokens and the normal form; these are
 * from the publisher's code, and `npm run test:real` compares with that code.
 */
export type KnownRanks = {
  /** The publisher's name of the encoding. */
  readonly name: string;
  /** Encodings with the same ranks and other special tokens, which are not used. */
  readonly sameRanks?: string;
  readonly pattern: PatternName;
  readonly specialTokens: readonly (readonly [text: string, id: number])[];
  /** Applied before special tokens are looked for. */
  readonly normalization?: NormalizationForm;
};

/** The known file with these bytes, or undefined. */
export function knownRanks(bytes: Uint8Array): KnownRanks | undefined {
  return known[createHash("sha256").update(bytes).digest("hex")]?.();
}

const endOfText = "<|endoftext|>";
const fillInTheMiddle = ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"];

const numbered = (texts: readonly string[], firstId: number) =>
  texts.map((text, i) => [text, firstId + i] as const);
/** `<|name_0|>`, …, or with other numbers. */
const reserved = (name: string, count: number, first = 0) =>
  Array.from({ length: count }, (_, i) => `<|${name}_${first + i}|>`);

/** By SHA-256. The first four sums, and what belongs to them, are in tiktoken's source (openai_public.py). */
const known: Readonly<Record<string, () => KnownRanks>> = {
  "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": () => ({
    name: "r50k_base",
    pattern: "r50k",
    specialTokens: [[endOfText, 50256]],
  }),
  "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": () => ({
    name: "p50k_base",
    sameRanks: "p50k_edit",
    pattern: "p50k",
    specialTokens: [[endOfText, 50256]],
  }),
  "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": () => ({
    name: "cl100k_base",
    pattern: "cl100k",
    specialTokens: [...numbered([endOfText, ...fillInTheMiddle], 100257), ["<|endofprompt|>", 100276]],
  }),
  "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": () => ({
    name: "o200k_base",
    sameRanks: "o200k_harmony",
    pattern: "o200k",
    specialTokens: [
      [endOfText, 199999],
      ["<|endofprompt|>", 200018],
    ],
  }),
  // Meta's tokenizer.model, with the special tokens of its package llama-models.
  "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": () => ({
    name: "Llama 3",
    pattern: "llama3",
    specialTokens: numbered(llama3Tokens(), 128_000),
  }),
  d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed: () => ({
    name: "Llama 4",
    pattern: "o200k",
    specialTokens: numbered(llama4Tokens(), 200_000),
  }),
  // qwen.tiktoken, with the special tokens of Qwen's own code for it.
  b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186: () => ({
    name: "Qwen",
    sameRanks: "Qwen 2, 2.5 and 3",
    pattern: "qwen2",
    specialTokens: numbered([endOfText, "<|im_start|>", "<|im_end|>", ...reserved("extra", 205)], 151_643),
    normalization: "NFC",
  }),
};

function llama3Tokens(): string[] {
  return [
    ...["<|begin_of_text|>", "<|end_of_text|>", ...reserved("reserved_special_token", 2)],
    ...["<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>"],
    ...["<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>"],
    ...reserved("reserved_special_token", 244, 2),
  ];
}

function llama4Tokens(): string[] {
  const text = "text_post_train_reserved_special_token";
  const vision = "vision_reserved_special_token";
  const reasoning = "reasoning_reserved_special_token";
  const tokens = [
    ...["<|begin_of_text|>", "<|end_of_text|>", ...fillInTheMiddle],
    ...["<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"],
    ...[...reserved(text, 6), "<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"],
    ...reserved(text, 61, 8),
    ...["<|image_start|>", "<|image_end|>", ...reserved(vision, 2), "<|tile_x_separator|>"],
    ...[
      "<|tile_y_separator|>",
      ...reserved(vision, 4, 2),
      "<|image|>",
      ...reserved(vision, 1, 6),
      "<|patch|>",
    ],
    ...reserved(vision, 1041, 7),
    ...[...reserved(reasoning, 8), "<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"],
  ];
  return [...tokens, ...reserved("reserved_special_token", 2048 - tokens.length)];
}
