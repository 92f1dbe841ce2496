import { commands } from "#terminal";
import { doctorOptions } from "./doctor-options.ts";
import { verifyOptions } from "./verify-options.ts";

const doctor: commands.Command = {
  name: "doctor",
  files: "<tokenizer>",
  ...commands.oneTokenizer,
  description: "find what is wrong with a tokenizer",
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

const verify: commands.Command = {
  name: "verify",
  files: "<dir>",
  reads: "tokenizer",
  filesDescription: "what bpe train wrote",
  description: "train again from training.json, and compare",
  details:
    "Reads the record of a training, checks that its inputs are still the same, trains again in memory, and compares merges, files and record. It exits with 1 if anything differs, and writes nothing. Without the inputs, it checks the files against the record and each other.",
  options: verifyOptions,
  examples: [
    { what: "In the directory where it was trained", command: "bpe verify tokenizer" },
    {
      what: "With a corpus that was moved",
      command: "cp -r corpus moved && bpe verify nightly --input corpus=moved",
    },
    { what: "A downloaded tokenizer, without its corpus", command: "bpe verify tokenizer --files-only" },
  ],
  run: async () => (await import("./verify-command.ts")).runVerify,
  usesKernel: true,
};

export const doctorCommands: readonly commands.Command[] = [doctor, verify];
