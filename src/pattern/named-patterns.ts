/**
 * The pretokenizers known by name, each exactly as published. A pattern is a sequence of splits, nearly always of one;
 * each split cuts the pieces of the one before, and what it does not match stays a piece.
 */
export type NamedPattern = {
  readonly sources: readonly string[];
  /** Whose pattern it is, as `--pattern help` shows it. */
  readonly origin: string;
  /** What else `--pattern` takes for it: tiktoken's names, and models that are trained with it. */
  readonly aliases?: readonly string[];
  /** What HF's regex engine must be given instead, where it reads the published form otherwise. */
  readonly huggingfaceSources?: readonly string[];
};

const gpt2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const r50k = String.raw`'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`;
const cl100k = String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`;
const gpt4 = String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`;
const o200k = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const llama3 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const qwen35 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const tekken = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const deepseekWords =
  String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` +
  "`" +
  String.raw`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const falconPunctuation = `${String.raw`[\p{P}\$\+<=>\^~\|`}\`]+`;

const digits = (count: string) => (source: string) =>
  source.replace(String.raw`\p{N}{1,3}`, String.raw`\p{N}` + count);

export const patterns = {
  gpt2: { sources: [gpt2], origin: "GPT-2 (openai/gpt-2); CS336", aliases: ["gpt-2"] },
  r50k: {
    sources: [r50k],
    origin: "tiktoken r50k_base: GPT-3; the same splits as gpt2",
    aliases: ["r50k_base", "gpt-3", "gpt3"],
  },
  p50k: {
    sources: [r50k],
    origin: "tiktoken p50k_base: Codex; the same splits as gpt2",
    aliases: ["p50k_base", "p50k_edit", "codex"],
  },
  cl100k: {
    sources: [cl100k],
    origin: "tiktoken cl100k_base since October 2024: GPT-3.5, GPT-4",
    aliases: ["cl100k_base", "gpt-3.5-turbo"],
    // There `{1,3}+` repeats again, and is not possessive.
    huggingfaceSources: [cl100k.replace("{1,3}+", "{1,3}")],
  },
  gpt4: { sources: [gpt4], origin: "GPT-4 as in minbpe and rustbpe" },
  nanochat: { sources: [digits("{1,2}")(gpt4)], origin: "nanochat: gpt4 with digits in twos" },
  o200k: {
    sources: [o200k],
    origin: "tiktoken o200k_base: GPT-4o",
    aliases: [
      "o200k_base",
      "o200k_harmony",
      "gpt-4o",
      "gpt4o",
      "gpt-4.1",
      "gpt-5",
      "gpt-oss",
      "llama4",
      "llama-4",
    ],
  },
  llama3: {
    sources: [llama3],
    origin: "Llama 3; the same splits as gpt4",
    aliases: ["llama-3", "llama3.1", "llama3.2", "llama3.3"],
  },
  qwen2: {
    sources: [digits("")(llama3)],
    origin: "Qwen 2, 2.5, 3: llama3 with single digits",
    aliases: ["qwen", "qwen2.5", "qwen3"],
  },
  "qwen3.5": { sources: [qwen35], origin: "Qwen 3.5", aliases: ["qwen3.6"] },
  tekken: { sources: [tekken], origin: "Mistral's Tekken", aliases: ["mistral", "mistral-nemo"] },
  nemotron: { sources: [tekken], origin: "Nemotron: the same as tekken" },
  "deepseek-v3": {
    sources: [String.raw`\p{N}{1,3}`, "[一-龥぀-ゟ゠-ヿ]+", deepseekWords],
    origin: "DeepSeek V3, R1, V4: three splits",
    aliases: ["deepseek", "deepseek-r1", "deepseek-v4"],
  },
  starcoder: { sources: [String.raw`\p{N}`, gpt2], origin: "StarCoder: single digits, then gpt2" },
  smollm: { sources: [String.raw`\p{N}`, gpt2], origin: "SmolLM: single digits, then gpt2" },
  falcon: {
    sources: [falconPunctuation, gpt2, "[0-9][0-9][0-9]"],
    origin: "Falcon: punctuation, then gpt2, then digits in threes",
  },
  none: {
    sources: [String.raw`[\s\S]+`],
    origin: "no cuts: a document is one word",
    // HF's ByteLevel step alone.
    huggingfaceSources: [],
  },
} as const satisfies Record<string, NamedPattern>;

export type PatternName = keyof typeof patterns;
