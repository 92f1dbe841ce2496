/**
 * A named pretokenization pattern, as published or in an equivalent form: a sequence of splits, often only one. Each
 * split cuts the pieces of the previous one. Text that a split does not match also becomes a piece.
 */
export type NamedPattern = {
  readonly sources: readonly string[];
  /** Where the pattern comes from, as `--pattern help` shows it. */
  readonly origin: string;
  /** Other names that `--pattern` accepts, such as tiktoken's names, and names of models that use the pattern. */
  readonly aliases?: readonly string[];
  /**
   * An equivalent form for tokenizer.json that HF's engine and JavaScript's (for transformers.js) read alike. Its exact
   * text matters, because `tokenizers` 1.0 recognizes some patterns by their text.
   */
  readonly huggingfaceSources?: readonly string[];
  /**
   * The form that other programs write to tokenizer.json. It is left out if `sources` or `huggingfaceSources` is that
   * form.
   */
  readonly foreignSources?: readonly string[];
  /** Present if some text may have a character outside all matches. */
  readonly mayLeaveGaps?: true;
  /** llama.cpp's pre-tokenizer for this pattern, if it has one. */
  readonly llamaCpp?: LlamaCppPreTokenizer;
};

/**
 * `name` is the pre-tokenizer's name in GGUF files (`tokenizer.ggml.pre`). `differsAt` says which texts llama.cpp cuts
 * in other places than this pattern does, but does not mention texts with a long s after an apostrophe (`'ſ`), which
 * are rare.
 */
export type LlamaCppPreTokenizer = { readonly name: string; readonly differsAt?: string };

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

/**
 * Matches digits that no word character follows, in groups of three from the right. The negated set is `\w` of HF's
 * engine.
 */
const digitsToWordEnd = `${String.raw`\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?![\p{Alphabetic}\p{M}\p{Nd}\p{Pc}`}²³¹¼½¾]))`;
const digitsFromTheRight = String.raw`\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!\p{Nd}))`;
const marinDigits = [
  String.raw`\p{N}{1,510}`,
  String.raw`^\p{N}{1,2}(?=(?:\p{N}{3})+$)`,
  String.raw`\p{N}{3}`,
];
const trinityScripts = String.raw`(?:[\u4E00-\u9FFF\u3040-\u309F\u30A0-\u30FF\u3400-\u4DBF\uf900-\uFAFF\uFF65-\uFF9F\u2F00-\u2FDF]+|[\u0E00-\u0E7F]+|[\u0E80-\u0EFF]+|[\u1780-\u17FF]+|[\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF]+|[\uAC00-\uD7AF\u1100-\u11FF]+)`;
/**
 * Cuts digits into groups of 510 from the right, and these groups into threes. The result is the same as threes from
 * the right, because 510 is a multiple of three.
 */
const trinityDigits = [
  String.raw`\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}`,
  String.raw`\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)`,
  String.raw`\A\p{Nd}{3}|\G\p{Nd}{3}`,
];

/** cl100k without possessive repeats, and without `$`, which matches at the end of a line in HF's engine. */
const cl100kOfAll = cl100k.replace(/([+?*}])\+/g, "$1").replace(String.raw`\s+$`, String.raw`\s+(?![\s\S])`);
const tekkenOfLlamaCpp = { name: "tekken", differsAt: "marks, and cases beyond ASCII" };

const digits = (count: string) => (source: string) =>
  source.replace(String.raw`\p{N}{1,3}`, String.raw`\p{N}` + count);

export const patterns = {
  gpt2: {
    sources: [gpt2],
    origin: "GPT-2 (openai/gpt-2); CS336",
    aliases: ["gpt-2"],
    llamaCpp: { name: "gpt-2" },
  },
  r50k: {
    sources: [r50k],
    origin: "tiktoken r50k_base: GPT-3; the same splits as gpt2",
    aliases: ["r50k_base", "gpt-3", "gpt3"],
    huggingfaceSources: [gpt2],
    llamaCpp: { name: "gpt-2" },
  },
  p50k: {
    sources: [r50k],
    origin: "tiktoken p50k_base: Codex; the same splits as gpt2",
    aliases: ["p50k_base", "p50k_edit", "codex"],
    huggingfaceSources: [gpt2],
    llamaCpp: { name: "gpt-2" },
  },
  cl100k: {
    sources: [cl100k],
    origin: "tiktoken cl100k_base since October 2024: GPT-3.5, GPT-4",
    aliases: ["cl100k_base", "gpt-3.5-turbo", "gpt-4"],
    // In HF's engine `{1,3}+` is a repeated repeat, and JavaScript has no possessive repeats.
    huggingfaceSources: [cl100kOfAll],
    foreignSources: [cl100k.replace("{1,3}+", "{1,3}")],
    llamaCpp: { name: "llama-bpe", differsAt: "white space that ends a text" },
  },
  gpt4: {
    sources: [gpt4],
    origin: "GPT-4 as in minbpe and rustbpe; gpt-4 is cl100k",
    huggingfaceSources: [llama3],
    llamaCpp: { name: "llama-bpe" },
  },
  // The form of gpt4 for HF is llama3's expression. The form of nanochat must not be that expression with {1,2},
  // because the release candidates of `tokenizers` 1.0 recognize that text, and then cut digits in threes.
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
      "gpt-4.5",
      "gpt-5",
      "gpt-oss",
      "llama4",
      "llama-4",
    ],
    llamaCpp: { name: "gpt-4o", differsAt: "marks, and cases beyond ASCII" },
  },
  llama3: {
    sources: [llama3],
    origin: "Llama 3; the same splits as gpt4",
    aliases: ["llama-3", "llama3.1", "llama3.2", "llama3.3"],
    llamaCpp: { name: "llama-bpe" },
  },
  qwen2: {
    sources: [digits("")(llama3)],
    origin: "Qwen 2, 2.5, 3: llama3 with single digits",
    aliases: ["qwen", "qwen2.5", "qwen3"],
    llamaCpp: { name: "qwen2" },
  },
  "qwen3.5": { sources: [qwen35], origin: "Qwen 3.5", aliases: ["qwen3.6"], llamaCpp: { name: "qwen35" } },
  tekken: {
    sources: [tekken],
    origin: "Mistral's Tekken",
    aliases: ["mistral", "mistral-nemo"],
    llamaCpp: tekkenOfLlamaCpp,
  },
  nemotron: { sources: [tekken], origin: "Nemotron: the same as tekken", llamaCpp: tekkenOfLlamaCpp },
  "deepseek-v3": {
    sources: [String.raw`\p{N}{1,3}`, "[一-龥぀-ゟ゠-ヿ]+", deepseekWords],
    origin: "DeepSeek V3, R1, V4: three splits",
    aliases: ["deepseek", "deepseek-r1", "deepseek-v4"],
    // DeepSeek's own file has literal line ends instead of escapes.
    huggingfaceSources: [
      String.raw`\p{N}{1,3}`,
      "[一-龥぀-ゟ゠-ヿ]+",
      deepseekWords.replaceAll(String.raw`\r\n`, "\r\n"),
    ],
    llamaCpp: { name: "deepseek-v3" },
    mayLeaveGaps: true,
  },
  starcoder: {
    sources: [String.raw`\p{N}`, gpt2],
    origin: "StarCoder: single digits, then gpt2",
    llamaCpp: { name: "starcoder" },
    mayLeaveGaps: true,
  },
  smollm: {
    sources: [String.raw`\p{N}`, gpt2],
    origin: "SmolLM: single digits, then gpt2",
    llamaCpp: { name: "smollm" },
    mayLeaveGaps: true,
  },
  falcon: {
    sources: [falconPunctuation, gpt2, "[0-9][0-9][0-9]"],
    origin: "Falcon: punctuation, then gpt2, then digits in threes",
    llamaCpp: { name: "falcon" },
    mayLeaveGaps: true,
  },
  "llama3-r2l": {
    sources: [digitsToWordEnd, llama3],
    origin: "Llama 3 with digits grouped from the right, then llama3",
    aliases: ["llama-3-r2l"],
    foreignSources: [String.raw`\d{1,3}(?=(\d{3})*\b)`, llama3],
    mayLeaveGaps: true,
  },
  "gpt-4o-r2l": {
    sources: [digitsToWordEnd, o200k],
    origin: "Tiny Aya: digits grouped from the right, then o200k",
    aliases: ["gpt4o-r2l", "o200k-r2l", "tiny-aya"],
    foreignSources: [String.raw`\d{1,3}(?=(?:\d{3})*\b)`, o200k],
    llamaCpp: { name: "tiny_aya", differsAt: "numbers before letters, and numbers beyond ASCII" },
    mayLeaveGaps: true,
  },
  marin: {
    sources: [...marinDigits, llama3],
    origin: "Marin: digits in 510s, each from the right, then llama3",
    aliases: ["marin-llama3"],
    mayLeaveGaps: true,
  },
  "marin-gpt-4o": {
    sources: [...marinDigits, o200k],
    origin: "Marin: the same, then o200k",
    aliases: ["marin-gpt4o", "marin-o200k"],
    mayLeaveGaps: true,
  },
  trinity: {
    sources: [digitsFromTheRight, trinityScripts, deepseekWords],
    origin: "Arcee Trinity: digits grouped from the right, scripts, words",
    aliases: ["afmoe"],
    foreignSources: [...trinityDigits, trinityScripts, deepseekWords.replace('"', '\\"')],
    llamaCpp: { name: "afmoe", differsAt: "Thai, and rarely elsewhere beyond ASCII" },
    mayLeaveGaps: true,
  },
  none: {
    sources: [String.raw`[\s\S]+`],
    origin: "no cuts: a document is one word",
    // In HF's files, the ByteLevel step alone cuts this way.
    huggingfaceSources: [],
  },
} as const satisfies Record<string, NamedPattern>;

export type PatternName = keyof typeof patterns;

/** Whether two sequences of splits are the same. */
export const isSame = (sources: readonly string[], others: readonly string[]): boolean =>
  others.length === sources.length && others.every((source, i) => source === sources[i]);

/** Returns the name of the first pattern with these splits, or null. */
export function nameOf(sources: readonly string[]): PatternName | null {
  const names = Object.keys(patterns) as PatternName[];
  return names.find((name) => isSame(sources, patterns[name].sources)) ?? null;
}

/** Lists the other names of a pattern: "also called gpt-2". Returns undefined if there are none. */
export function describeAliases({ aliases = [] }: Partial<NamedPattern>): string | undefined {
  return aliases.length === 0 ? undefined : `also called ${aliases.join(", ")}`;
}

/**
 * The pattern of SuperBPE's second stage. It splits off digits in threes, runs of two or more signs, and spaces before
 * whitespace or the end of the text. The text between two of these is one pretoken.
 */
export const usualSuperwordPattern = String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)`;
