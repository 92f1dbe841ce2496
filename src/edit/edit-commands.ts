import { type Command, oneTokenizer } from "#terminal";
import { convertOptions, imageOptions, pruneOptions, truncateOptions } from "./edit-options.ts";

export const editCommands: readonly Command[] = [
  {
    name: "prune",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "make a vocabulary smaller",
    details:
      "Removes tokens from any byte-level BPE tokenizer, one by one: always the rarest token in a text that no other token is made of. Bytes and added tokens stay. The result has the same kinds of files as the tokenizer, and ids.tsv, which has the new id of each old one.",
    options: pruneOptions,
    examples: [
      {
        what: "To 500 tokens, by what a text needs",
        command: "bpe prune tokenizer --text corpus.txt -n 500 -o smaller",
      },
    ],
    run: async () => (await import("./prune-command.ts")).runPrune,
    usesKernel: true,
  },
  {
    name: "truncate",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "keep the first merges of a tokenizer",
    details:
      "Its first merges stay, as if training had stopped there; so do bytes and added tokens. The result has the same kinds of files, and ids.tsv, which has the new id of each old one.",
    options: truncateOptions,
    examples: [{ what: "Two sizes", command: "bpe truncate tokenizer -n 400,300 -o smaller" }],
    run: async () => (await import("./prune-command.ts")).runTruncate,
    usesKernel: true,
  },
  {
    name: "convert",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "write a tokenizer as other kinds of files",
    details: "Ids stay: what is written is loaded, and compared.",
    options: convertOptions,
    examples: [
      { what: "As all kinds", command: "bpe convert tokenizer/tokenizer.tiktoken -o converted" },
      { what: "For llama.cpp", command: "bpe convert tokenizer --format gguf -o converted" },
    ],
    run: async () => (await import("./convert-command.ts")).runConvert,
  },
];

export const imageCommand: Command = {
  name: "image",
  files: "<tokenizer>",
  ...oneTokenizer,
  description: "make a tokenizer that other programs load",
  details:
    "Writes what Python's native module and C programs encode with, in their own process, as one file. It belongs to this version of bpe: another one refuses it.",
  options: imageOptions,
  examples: [{ what: "For a C program", command: "bpe image tokenizer -o tokenizer.image" }],
  run: async () => (await import("./convert-command.ts")).runImage,
};
