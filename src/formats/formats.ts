import { formatCode } from "#format-code";
import type { TokenizerFormat } from "./output-file.ts";

/** A format's description, available before its code is loaded. */
export type FormatEntry = {
  readonly name: string;
  /** What `--format` writes, for its help; undefined if the format is read-only. */
  readonly written?: string;
  /** Written only if `--format` names it. */
  readonly isOnRequest?: boolean;
  /** The names of its files in a tokenizer directory; alternatives come in separate lists. */
  readonly names: readonly (readonly string[])[];
  /** Recognizes a file by its first 4 KB as Latin-1. A format with several files is recognized by their names. */
  readonly matches: (head: string) => boolean;
  /** Fallback: a file with this suffix has this format if its content does not identify any. */
  readonly suffix?: string;
  readonly load: () => Promise<TokenizerFormat>;
};

/** Every format, in the order of writing and of the search in a directory. */
export const formats: readonly FormatEntry[] = [
  {
    name: "huggingface",
    written: "tokenizer.json and what transformers reads next to it",
    names: [["tokenizer.json"]],
    matches: (head) => /^\s*\{/.test(head),
    suffix: ".json",
    load: formatCode.huggingface,
  },
  {
    name: "gpt2",
    written: "vocab.json and merges.txt",
    names: [["vocab.json", "merges.txt"]],
    matches: () => false,
    load: formatCode.gpt2,
  },
  {
    name: "tiktoken",
    written: "a rank file",
    // Meta calls its file of ranks `tokenizer.model`.
    names: [["tokenizer.tiktoken"], ["tokenizer.model"]],
    matches: (head) => /^[A-Za-z0-9+/]+={0,2} \d+\r?(\n|$)/.test(head),
    suffix: ".tiktoken",
    load: formatCode.tiktoken,
  },
  {
    name: "tekken",
    written: "tekken.json, for mistral-common",
    isOnRequest: true,
    names: [["tekken.json"]],
    matches: (head) => /^\s*\{/.test(head) && head.includes('"default_num_special_tokens"'),
    load: formatCode.tekken,
  },
  {
    name: "gguf",
    written: "tokenizer.gguf, for llama.cpp",
    isOnRequest: true,
    names: [],
    matches: () => false,
    load: formatCode.gguf,
  },
];

/** The values of `--format`. */
export const writtenFormats = formats.filter(({ written }) => written !== undefined).map(({ name }) => name);

/** Another value of `--format`: the other files compiled into an image that loads instantly (tokenizer/image.ts). */
export const imageFormat = "image";

/** The formats written only on request: "tekken and gguf". */
export const writtenOnRequest = formats
  .flatMap(({ name, isOnRequest }) => (isOnRequest ? [name] : []))
  .join(" and ");

/** "huggingface is tokenizer.json and …, gpt2 vocab.json and …". */
export const describeWritten = () =>
  `${formats
    .flatMap(({ name, written }) => (written === undefined ? [] : { name, written }))
    .map(({ name, written }, i) => `${name}${i === 0 ? " is" : ""} ${written}`)
    .join(", ")} (${writtenOnRequest} only if named)`;

/** File names of tokenizers in any format. */
export const usualNames = formats.flatMap(({ names }) => names.flat());
