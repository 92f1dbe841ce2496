import { formatCode } from "#format-code";
import type { TokenizerFormat } from "./output-file.ts";

/** What is known of a format before its code is loaded. */
export type FormatEntry = {
  readonly name: string;
  /** What `--format` writes, for its help; undefined: this is only read. */
  readonly written?: string;
  /** Only written where it is named. */
  readonly isOnRequest?: boolean;
  /** What its files are called in a directory of a tokenizer: one set of names, or another. */
  readonly names: readonly (readonly string[])[];
  /** Whether a file is of this format, by its first 4 KB as Latin-1. A format of several files is known by their names. */
  readonly matches: (head: string) => boolean;
  /** Files whose names end so are of this format, if their content does not say which they are. */
  readonly suffix?: string;
  readonly load: () => Promise<TokenizerFormat>;
};

/** Every format, in the order in which they are written, and looked for in a directory. */
export const formats: readonly FormatEntry[] = [
  {
    name: "huggingface",
    written: "tokenizer.json and what transformers reads beside it",
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
    written: "a file of ranks",
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

/** What `--format` takes. */
export const writtenFormats = formats.filter(({ written }) => written !== undefined).map(({ name }) => name);

/** What `--format` takes beside these: the other files as one that is loaded at once (tokenizer/image.ts). */
export const imageFormat = "image";

/** Those that are only written where they are named: "tekken and gguf". */
export const writtenOnRequest = formats
  .flatMap(({ name, isOnRequest }) => (isOnRequest ? [name] : []))
  .join(" and ");

/** "huggingface is tokenizer.json and …, gpt2 vocab.json and …". */
export const describeWritten = () =>
  `${formats
    .flatMap(({ name, written }) => (written === undefined ? [] : { name, written }))
    .map(({ name, written }, i) => `${name}${i === 0 ? " is" : ""} ${written}`)
    .join(", ")} (${writtenOnRequest} only if named)`;

/** What the files of tokenizers are called, of every format. */
export const usualNames = formats.flatMap(({ names }) => names.flat());
