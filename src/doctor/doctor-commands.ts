import { type Command, oneTokenizer } from "#terminal";
import { doctorOptions } from "./doctor-options.ts";

export const doctorCommand: Command = {
  name: "doctor",
  files: "<tokenizer>",
  ...oneTokenizer,
  description: "find what is wrong with a tokenizer, and how to fix it",
  details:
    "Checks how text is cut, vocabulary and merges, special tokens and the chat template, and whether the files of a directory agree. It exits with 1 if it finds errors.",
  options: doctorOptions,
  examples: [
    { what: "A directory, as transformers reads it", command: "bpe doctor tokenizer" },
    { what: "With a text, as JSON", command: "bpe doctor tokenizer --text corpus.txt --json" },
  ],
  run: async () => (await import("./doctor-command.ts")).runDoctor,
  usesKernel: true,
};
