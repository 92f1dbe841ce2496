import { commands } from "#terminal";
import { convertOptions, imageOptions, pruneOptions, truncateOptions } from "./edit-options.ts";

export const editCommands: readonly commands.Command[] = [
  {
    name: "prune",
    files: "<tokenizer>",
    ...commands.oneTokenizer,
    description: "make a vocabulary smaller",
    details:
      "Removes tokens from any byte-level BPE tokenizer, one at a time: always the one that is rarest in a text and is not part of another token. Bytes and added tokens stay. The result has the same kinds of files, and ids.tsv, which maps old ids to new ones.",
    options: pruneOptions,
    examples: [
      {
        what: "To the 500 tokens that a text needs most",
        command: "bpe prune tokenizer --text corpus.txt -n 500 -o smaller",
      },
    ],
    run: async () => (await import("./prune-command.ts")).runPrune,
    usesKernel: true,
  },
  {
    name: "truncate",
    files: "<tokenizer>",
    ...commands.oneTokenizer,
    description: "keep the first merges of a tokenizer",
    details:
      "Keeps the first merges, as if training had stopped there, and all bytes and added tokens. The result has the same kinds of files, and ids.tsv, which maps old ids to new ones.",
    options: truncateOptions,
    examples: [{ what: "Two sizes", command: "bpe truncate tokenizer -n 400,300 -o smaller" }],
    run: async () => (await import("./prune-command.ts")).runTruncate,
    usesKernel: true,
  },
  {
    name: "convert",
    files: "<tokenizer>",
    ...commands.oneTokenizer,
    description: "write a tokenizer as other kinds of files",
    details:
      "Converts a tokenizer to other file formats. Ids do not change; the output is reloaded and verified.",
    options: convertOptions,
    examples: [
      { what: "As all kinds", command: "bpe convert tokenizer/tokenizer.tiktoken -o converted" },
      { what: "For llama.cpp", command: "bpe convert tokenizer --format gguf -o converted" },
    ],
    run: async () => (await import("./convert-command.ts")).runConvert,
  },
];

export const imageCommand: commands.Command = {
  name: "image",
  files: "<tokenizer>",
  ...commands.oneTokenizer,
  description: "make one file that loads fast, for Python and C",
  details:
    "Writes one file with which Python's native module and C programs encode in-process. It works only with this version of bpe: others refuse it.",
  options: imageOptions,
  examples: [{ what: "For a C program", command: "bpe image tokenizer -o tokenizer.image" }],
  run: async () => (await import("./convert-command.ts")).runImage,
};
