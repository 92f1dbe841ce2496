import { idFormatNames } from "#ids";
import {
  commonOptions,
  flag,
  idType,
  keptFields,
  oneSize,
  path,
  readingOptions,
  sharedOptions,
  size,
  specialTokensAsText,
  tableOf,
  text,
  tokenizerSupplements,
  trainingOptions,
  unattendedOptions,
  whole,
  word,
} from "#options";
import { scaled } from "#runtime";

// The options of plan, encode, tokens, decode and ids. Each table is in the order of help.

const { tokenizer, output: outputFile, ranges, json } = sharedOptions;
const { specialTokens, specialTokensFile, pattern, normalize, compat } = trainingOptions;
const {
  output,
  workers,
  memoryLimit,
  logFile,
  wait,
  vocabSize,
  minFrequency,
  maxTokenLength,
  keep,
  summary,
} = trainingOptions;

/** Options about files of ids. */
export const idFiles = tableOf({
  idsFormat: {
    name: "ids-format",
    kind: word(idFormatNames, "NAME"),
    topic: "output",
    description: "whose files to write",
    details:
      "parquet, megatron, olmo and datatrove keep the documents; npy, bin and llmc are ids alone. part is for bpe ids join.",
    default: "by the ending of --output",
  },
  shardSize: {
    name: "shard-size",
    kind: whole(1),
    topic: "output",
    description: "write numbered files of N ids, each a little more",
    details:
      "A shard closes at the end of the document that takes it past N ids. NAME.json lists the finished shards; repeating the command resumes after them.",
  },
  ifChanged: {
    name: "if-changed",
    kind: flag,
    topic: "nightly",
    rare: true,
    needs: { other: "shard-size", hint: "NAME.json says of what the files are" },
    description: "replace shards of other inputs or options, and damaged ones",
    details:
      "If nothing changed, nothing is done. Inputs are compared by path, size and time, shards by their checksums.",
  },
  documentEnd: {
    name: "document-end",
    kind: text(),
    topic: "output",
    rare: true,
    description: "special token that ends documents in plain text",
    details:
      "A record is one document, and so is a file of plain text without it. (Training counts only documents with text, and special tokens in a record end them, too.)",
    default: "<|endoftext|> or the like, if the tokenizer has it",
  },
  keepField: {
    name: "keep-field",
    kind: keptFields,
    topic: "output",
    rare: true,
    description: "fields of records that parquet has as columns",
    details:
      "The first value decides what a column holds, or NAME:text, :int, :double or :bool says it. Objects and lists are kept as JSON. A missing field is an error.",
    sample: "id,url",
  },
});

/** The options of `bpe encode`. */
export const encodeOptions = tableOf({
  tokenizer,
  output: {
    ...outputFile,
    description: "ids as .npy, .bin, or files of another format",
    details: "Without it, decimal ids go to stdout, one line for each input or record.",
    default: "stdout, decimal",
  },
  ...idFiles,
  ...{ ranges, idType },
  appendToken: {
    name: "append-token",
    kind: text(),
    topic: "output",
    description: "special token to add after each input or record",
  },
  ...{ specialTokensAsText, ...tokenizerSupplements, ...readingOptions },
  ...{ workers: sharedOptions.workers, memoryLimit: sharedOptions.memoryLimit, ...unattendedOptions },
});

/** The options of `bpe tokens`. */
export const tokensOptions = {
  ...{ tokenizer, json, specialTokensAsText, ...tokenizerSupplements, ...readingOptions },
  ...{ workers: sharedOptions.workers, memoryLimit: sharedOptions.memoryLimit, logFile, ...commonOptions },
};

/** The options of `bpe decode`. */
export const decodeOptions = tableOf({
  tokenizer,
  output: { ...outputFile, sample: "text.txt", description: "where the text goes" },
  idType: {
    ...idType,
    topic: "input",
    description: "type of the ids in a .bin file",
    default: "as encode writes it",
  },
  ...{ ...tokenizerSupplements, ...unattendedOptions },
});

/** The options of `bpe plan`. */
export const planOptions = tableOf({
  rangeSize: {
    name: "range-size",
    // Planning smaller ranges would take longer than counting them.
    kind: size(scaled(64_000, 1000)),
    topic: "output",
    description: "approximate size of a range, e.g. 64MB or 1GiB",
    default: "256MB",
  },
  output: { ...outputFile, description: "where the plan goes" },
  ...{ specialTokens, specialTokensFile, pattern },
  normalize: {
    ...normalize,
    excludes: [{ other: "tokenizer", why: "the tokenizer determines the normalization" }],
    description: "plan for bpe count with this --normalize",
    details: "Ranges end where no character is changed together with its neighbour.",
  },
  compat: {
    ...compat,
    excludes: [{ other: "tokenizer", why: "the tokenizer determines how text is split" }],
  },
  ...readingOptions,
  tokenizer: {
    ...tokenizer,
    required: false,
    description: "plan for bpe encode with this tokenizer",
    details: "-p and -s then mean what they mean for encode.",
  },
  specialTokensAsText: {
    ...specialTokensAsText,
    needs: { other: "tokenizer", hint: "such a plan is for bpe encode: --tokenizer PATH" },
  },
  ...unattendedOptions,
});

const typeOfBinary = { ...idType, topic: "input", description: "type of the ids in .bin files" } as const;

/** The options of `bpe ids train`. */
export const trainIdsOptions = tableOf({
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
  to: { name: "to", ...tokenizerPath, description: "tokenizer that bpe truncate made of it" },
  output: { ...documentLines, sample: "ids.npy", description: "its ids, in files as those of the larger" },
  idsFormat: { ...idFiles.idsFormat, default: "the format that is read, or by the ending of --output" },
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
