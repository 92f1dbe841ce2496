import {
  commonOptions,
  idType,
  oneSize,
  path,
  sharedOptions,
  specialTokensAsText,
  tableOf,
  tokenizerSupplements,
  trainingOptions,
  unattendedOptions,
  word,
} from "#options";
import { idFiles } from "./encode-options.ts";

// The options of the commands of ids, in the order of help.

const { tokenizer, output: outputFile, json } = sharedOptions;
const { output, workers, memoryLimit, vocabSize, minFrequency, maxTokenLength, keep, summary } =
  trainingOptions;
const { logFile, wait } = unattendedOptions;

const typeOfBinary = { ...idType, topic: "input", description: "type of the ids in .bin files" } as const;

/** The options of `bpe ids train`. */
export const trainIdsOptions = tableOf({
  vocabSize: {
    ...vocabSize,
    kind: oneSize,
    description: "vocabulary size, alphabet included; +N: N new tokens",
    details: "The alphabet is 0 to the largest id, below 1,048,576.",
  },
  compat: {
    name: "compat",
    kind: word(["huggingface", "rustbpe"], "RULE"),
    topic: "tokens",
    rare: true,
    description: "which trainer to match",
    details:
      "With both, the pair of smaller ids wins a tie. With rustbpe, tokens may have the maximum length; with huggingface, they must be shorter.",
    default: "rustbpe",
  },
  minFrequency: { ...minFrequency, default: "1" },
  maxTokenLength: { ...maxTokenLength, description: "longest token, in ids" },
  idType: { ...typeOfBinary, rare: false, default: "uint16" },
  ...{ output, workers },
  memoryLimit: {
    ...memoryLimit,
    description: "memory to use",
    details: "A training that needs more is an error.",
  },
  ...{ keep, wait, logFile, summary, ...commonOptions },
});

const documentLines = { ...outputFile, default: "stdout, a line for each document" };

const tokenizerPath = { reads: "tokenizer", kind: path("PATH"), required: true, topic: "input" } as const;

const idMerges = {
  name: "tokenizer",
  ...tokenizerPath,
  description: "directory that bpe ids train wrote, or its merges.txt",
} as const;

/** The options of `bpe ids encode`. */
export const encodeIdsOptions = tableOf({
  tokenizer: idMerges,
  output: { ...documentLines, description: "tokens as .npy or .bin" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...unattendedOptions,
});

/** The options of `bpe ids truncate`. */
export const truncateIdsOptions = tableOf({
  from: { name: "from", ...tokenizerPath, description: "tokenizer that encoded the ids" },
  to: { name: "to", ...tokenizerPath, description: "tokenizer that bpe truncate made from it" },
  output: {
    ...documentLines,
    sample: "ids.npy",
    description: "the new ids, in files like those of the input",
  },
  idsFormat: { ...idFiles.idsFormat, default: "the format of the input, or by the ending of --output" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...{ ...tokenizerSupplements, ...unattendedOptions },
});

/** The options of `bpe ids join`. */
export const joinIdsOptions = tableOf({
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
  ...{ idsFormat: idFiles.idsFormat, shardSize: idFiles.shardSize },
  idType: { ...idType, topic: "output" },
  ifChanged: idFiles.ifChanged,
  ...unattendedOptions,
});

/** The options of `bpe ids check`. */
export const checkIdsOptions = tableOf({
  tokenizer,
  ...{ json },
  idType: { ...typeOfBinary, default: "as encode writes it" },
  documentEnd: {
    ...idFiles.documentEnd,
    topic: "input",
    description: "special token that ends documents in files of bare ids",
    details: "Formats that keep documents, and lines of decimal ids, need none.",
  },
  ...{ specialTokensAsText, ...tokenizerSupplements, logFile, ...commonOptions },
});

/** The options of `bpe ids decode`. */
export const decodeIdsOptions = tableOf({
  tokenizer: idMerges,
  output: {
    ...documentLines,
    sample: "ids.npy",
    description: "ids of the alphabet, in the format of its name",
  },
  idType: { ...typeOfBinary, default: "as encode writes it" },
  ...unattendedOptions,
});
