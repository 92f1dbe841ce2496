import { asOption, phrase } from "#runtime";
import {
  flag,
  outputFile as outputPath,
  path,
  paths,
  specialTokens as specialTokensWithIds,
  text,
} from "./kinds.ts";
import { tableOf } from "./option.ts";
import { trainingOptions } from "./training-table.ts";

// Options that several commands other than bpe train have.

const { workers, memoryLimit, specialTokensFile, textField, include, inputFormat, binary } = trainingOptions;
const { wait, logFile, progress, quiet, help } = trainingOptions;

export const commonOptions = { progress, quiet, help };
/** Options of commands that may run for a long time, unattended. */
export const unattendedOptions = { wait, logFile, ...commonOptions };
/** Options about how files are read. */
export const readingOptions = { textField, include, inputFormat, binary };

/** Options that several commands have. */
export const sharedOptions = tableOf({
  tokenizer: {
    name: "tokenizer",
    reads: "tokenizer",
    kind: path("PATH"),
    required: true,
    topic: "input",
    description: "tokenizer directory, or one of its files",
    details:
      "A directory that train or another tool wrote, or a tokenizer.json, tekken.json, vocab.json (with merges.txt next to it) or rank file (.tiktoken).",
  },
  output: {
    name: "output",
    writes: "file",
    short: "o",
    kind: outputPath,
    topic: "output",
    description: "",
    default: "stdout",
  },
  texts: { name: "text", reads: "corpus", kind: { ...paths, many: true }, topic: "input", description: "" },
  ranges: {
    name: "ranges",
    reads: "files",
    kind: path(),
    topic: "input",
    rare: true,
    description: "read these ranges of a plan, not files (see bpe plan)",
    details: "- reads them from standard input.",
  },
  json: { name: "json", kind: flag, topic: "output", sample: "", description: "the result as JSON" },
  workers: {
    ...workers,
    details:
      "The main thread is one of them. The default is all cores that this process may use, and 1 below 80 MB. The ids do not depend on it.",
  },
  memoryLimit: {
    ...memoryLimit,
    description: "memory that encoding may use",
    details: phrase`A size such as 800MB, 2GB or 1.5GiB. It limits the default of ${asOption("workers")}, and lines and pages that are read whole. A tokenizer that needs more is an error.`,
  },
});

/** Options for settings that the files of some tokenizers do not state. */
export const tokenizerSupplements = tableOf({
  pattern: {
    name: "pattern",
    short: "p",
    kind: text("NAME|REGEX"),
    topic: "input",
    rare: true,
    description: "how text is split, for files without a pattern",
    details: "For a vocab.json or a rank file. Well-known published rank files do not need it.",
  },
  specialTokens: {
    name: "special-token",
    short: "s",
    kind: specialTokensWithIds,
    topic: "input",
    rare: true,
    description: "a special token, for files that have none",
    details: "For a vocab.json or a rank file. Without an ID, it gets the next free one.",
  },
  specialTokensFile: {
    ...specialTokensFile,
    topic: "input",
    details: phrase`Each line counts as if given by ${asOption("special-token")}, in the order typed. JSON is a list of such texts, or a tokenizer.json, whose special tokens are taken with their ids. Empty lines are ignored. White space at the start or end of a line is an error; tokens with it need the JSON list.`,
  },
});
