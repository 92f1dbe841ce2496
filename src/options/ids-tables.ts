import { besideTokenizer, idFiles, shared, unattended } from "./command-tables.ts";
import { oneSize, path, word } from "./kinds.ts";
import { tableOf } from "./option.ts";
import { idType, trainingOptions } from "./training-table.ts";

// The options of merges over ids. Ids are numbers: nothing is cut, named or cached.

const { vocabSize, minFrequency, maxTokenLength, output, workers, memoryLimit } = trainingOptions;
const { keep, wait, logFile, summary, progress, quiet, help } = trainingOptions;

const typeOfBinary = { ...idType, topic: "input", description: "type of the ids in .bin files" } as const;

/** Of `bpe ids train`, in the order of help. */
export const idsTraining = tableOf({
  vocabSize: {
    ...vocabSize,
    kind: oneSize,
    description: "tokens, the alphabet included; +N: N more than it has",
    details: "The alphabet is 0 to the largest id, below 1,048,576.",
  },
  compat: {
    name: "compat",
    kind: word(["huggingface", "rustbpe"], "RULE"),
    topic: "tokens",
    rare: true,
    description: "which trainer to match",
    details:
      "Of equal pairs the one with the smaller ids is merged by either; they differ in the longest token.",
    default: "rustbpe",
  },
  minFrequency: { ...minFrequency, default: "1" },
  maxTokenLength: { ...maxTokenLength, description: "longest token, in ids" },
  idType: { ...typeOfBinary, rare: false, default: "uint16" },
  output,
  workers,
  memoryLimit: {
    ...memoryLimit,
    description: "memory to use",
    details: "A training that needs more is an error.",
  },
  keep,
  wait,
  logFile,
  summary,
  progress,
  quiet,
  help,
});

const outputFile = { ...shared.output, default: "stdout, a line for each document" };

const tokenizerPath = { reads: "tokenizer", kind: path("PATH"), required: true, topic: "input" } as const;
const tokenizer = {
  name: "tokenizer",
  ...tokenizerPath,
  description: "directory that bpe ids train wrote, or its merges.txt",
} as const;

/** Of `bpe ids encode`. */
export const idsEncoding = tableOf({
  tokenizer,
  output: { ...outputFile, description: "tokens as .npy or .bin" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...unattended,
});

/** Of `bpe ids truncate`. */
export const idsTruncating = tableOf({
  from: { name: "from", ...tokenizerPath, description: "tokenizer that encoded the ids" },
  to: { name: "to", ...tokenizerPath, description: "tokenizer that bpe truncate made of it" },
  output: { ...outputFile, sample: "ids.npy", description: "its ids, in files as those of the larger" },
  idsFormat: { ...idFiles.idsFormat, default: "as it is read, or by the ending of --output" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...{ ...besideTokenizer, ...unattended },
});

const { idsFormat, shardSize, ifChanged } = idFiles;

/** Of `bpe ids join`. */
export const idsJoining = tableOf({
  plan: {
    name: "plan",
    reads: "files",
    kind: path(),
    required: true,
    topic: "input",
    description: "plan whose ranges the parts have",
  },
  output: {
    ...{ name: "output", short: "o", kind: path(), writes: "file", topic: "output", required: true },
    ...{ sample: "corpus", description: "files of ids, or the beginning of their names" },
  },
  idsFormat,
  shardSize,
  idType: { ...idType, topic: "output" },
  ifChanged,
  ...unattended,
});

/** Of `bpe ids decode`. */
export const idsDecoding = tableOf({
  tokenizer,
  output: { ...outputFile, sample: "ids.npy", description: "ids of the alphabet, in the format of its name" },
  idType: { ...typeOfBinary, default: "as encode writes it" },
  ...unattended,
});
