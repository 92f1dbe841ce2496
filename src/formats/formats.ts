import type { TokenizerFormat } from "./output-file.ts";

/** What is known of a format before its code is loaded: no start of the program does that. */
export type FormatEntry = {
  readonly name: string;
  /** Whether `--format` writes it. */
  readonly isWritten: boolean;
  /** What its files are called in a directory of a tokenizer: one set of names, or another. */
  readonly names: readonly (readonly string[])[];
  /** Whether a file is of this format, by its first 4 KB as Latin-1. Names of their own tell those of several files. */
  readonly matches: (head: string) => boolean;
  /** Files that end so are of this format, if their content says nothing. */
  readonly suffix?: string;
  readonly load: () => Promise<TokenizerFormat>;
};

/** Every format, in the order in which they are written, and looked for in a directory. */
export const formats: readonly FormatEntry[] = [
  {
    name: "huggingface",
    isWritten: true,
    names: [["tokenizer.json"]],
    matches: (head) => /^\s*\{/.test(head),
    suffix: ".json",
    load: async () => (await import("./tokenizer-json.ts")).huggingface,
  },
  {
    name: "gpt2",
    isWritten: true,
    names: [["vocab.json", "merges.txt"]],
    matches: () => false,
    load: async () => (await import("./gpt2.ts")).gpt2,
  },
  {
    name: "tiktoken",
    isWritten: true,
    // Meta calls its file of ranks `tokenizer.model`.
    names: [["tokenizer.tiktoken"], ["tokenizer.model"]],
    matches: (head) => /^[A-Za-z0-9+/]+={0,2} \d+\r?(\n|$)/.test(head),
    suffix: ".tiktoken",
    load: async () => (await import("./tiktoken.ts")).tiktoken,
  },
  {
    name: "tekken",
    isWritten: false,
    names: [["tekken.json"]],
    matches: (head) => /^\s*\{/.test(head) && head.includes('"default_num_special_tokens"'),
    load: async () => (await import("./tekken.ts")).tekken,
  },
];

/** What `--format` takes. */
export const writtenFormats = formats.filter(({ isWritten }) => isWritten).map(({ name }) => name);

/** What the files of tokenizers are called, of every format. */
export const usualNames = formats.flatMap(({ names }) => names.flat());
