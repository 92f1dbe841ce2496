import { kinds, optionTables, sharedOptions, trainingOptions } from "#options";
import { asOption, phrase } from "#runtime";
import { idFiles } from "./encode-options.ts";

// The options of the commands `bpe ids …`, except `ids inspect`, which has only those of every command. Help lists the
// options of a topic in the order of these tables.

const { tokenizer, output: outputFile, json } = sharedOptions.several;
const { output, workers, memoryLimit, vocabSize, minFrequency, maxTokenLength, keep, summary } =
  trainingOptions;
const { logFile, wait } = sharedOptions.unattended;

const typeOfBinary = {
  ...sharedOptions.idType,
  topic: "input",
  description: "type of the ids in .bin files",
} as const;

export const trainIdsOptions = optionTables.of({
  vocabSize: {
    ...vocabSize,
    kind: kinds.oneSize,
    description: "vocabulary size, alphabet included; +N: N new tokens",
    details: "The alphabet is 0 to the largest id, below 1,048,576.",
  },
  compat: {
    name: "compat",
    kind: kinds.word(["huggingface", "rustbpe"], "RULE"),
    topic: "tokens",
    rare: true,
    description: "which trainer to match",
    details:
      "Of equally frequent pairs, that of smaller ids is merged first. With rustbpe, tokens may have the maximum length; with huggingface, they must be shorter.",
    default: "rustbpe",
  },
  minFrequency: { ...minFrequency, default: "1" },
  maxTokenLength: {
    ...maxTokenLength,
    description: "longest token, in ids",
    // The details of --compat say what N means for each trainer.
    details: "",
  },
  idType: { ...typeOfBinary, rare: false, default: "uint16" },
  ...{ output, workers },
  memoryLimit: {
    ...memoryLimit,
    description: "memory to use",
    details: "A training that needs more is an error.",
  },
  ...{ keep, wait, logFile, summary, ...sharedOptions.common },
});

const documentLines = { ...outputFile, default: "stdout, a line for each document" };

const tokenizerPath = {
  reads: "tokenizer",
  kind: kinds.path("PATH"),
  required: true,
  topic: "input",
} as const;

const idMerges = {
  name: "tokenizer",
  ...tokenizerPath,
  description: "directory that bpe ids train wrote, or its merges.txt",
} as const;

export const encodeIdsOptions = optionTables.of({
  tokenizer: idMerges,
  output: { ...documentLines, description: "tokens as .npy or .bin" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...sharedOptions.unattended,
});

export const truncateIdsOptions = optionTables.of({
  from: { name: "from", ...tokenizerPath, description: "tokenizer that encoded the ids" },
  to: { name: "to", ...tokenizerPath, description: "truncated tokenizer that bpe truncate wrote" },
  output: {
    ...documentLines,
    sample: "ids.npy",
    description: "the new ids, as files in the format of the input",
  },
  idsFormat: { ...idFiles.idsFormat, default: "the format of the input, or by the ending of --output" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...{ ...sharedOptions.tokenizerSupplements, ...sharedOptions.unattended },
});

export const joinIdsOptions = optionTables.of({
  plan: {
    name: "plan",
    reads: "files",
    kind: kinds.path(),
    required: true,
    topic: "input",
    description: "plan that the parts came from",
  },
  output: {
    ...{ name: "output", short: "o", writes: "file", topic: "output", required: true },
    kind: kinds.path("FILE", phrase`name a file, e.g. ${asOption("output", "corpus.npy")}`),
    ...{ sample: "corpus", description: "files of ids, or the beginning of their names" },
  },
  ...{ idsFormat: idFiles.idsFormat, shardSize: idFiles.shardSize },
  idType: { ...sharedOptions.idType, topic: "output" },
  ifChanged: idFiles.ifChanged,
  ...sharedOptions.unattended,
});

export const checkIdsOptions = optionTables.of({
  tokenizer,
  ...{ json },
  idType: { ...typeOfBinary, default: "as encode writes it" },
  documentEnd: {
    ...idFiles.documentEnd,
    topic: "input",
    description: "special token that ends documents in npy, bin and llmc files",
    details: "Formats that keep documents, and lines of decimal ids, need none.",
  },
  ...{
    specialTokensAsText: sharedOptions.specialTokensAsText,
    ...sharedOptions.tokenizerSupplements,
    logFile,
    ...sharedOptions.common,
  },
});

export const decodeIdsOptions = optionTables.of({
  tokenizer: idMerges,
  output: {
    ...documentLines,
    sample: "ids.npy",
    description: "where the ids of the alphabet go; its ending says the format",
  },
  idType: { ...typeOfBinary, default: "as encode writes it" },
  ...sharedOptions.unattended,
});
