import { existsSync } from "node:fs";
import { textMeasures } from "../evaluation/measures.ts";
import { type ModelShape, readModelShape } from "../evaluation/model-cost.ts";
import { writtenFormats, writtenOnRequest } from "../formats/formats.ts";
import { idFormatNames } from "../formats/id-writers.ts";
import { scaled } from "../runtime/scale.ts";
import {
  flag,
  keptFields,
  namedFiles,
  oneSize,
  outputFile as outputPath,
  path,
  paths,
  readTextFile,
  size,
  sizes,
  specialTokens as specialTokensWithIds,
  text,
  texts,
  typedOnly,
  whole,
  word,
  words,
} from "./kinds.ts";
import { type Exclusion, tableOf } from "./option.ts";
import { idType, specialTokensAsText, trainingOptions } from "./training-table.ts";

// The options of all commands but train, each table in the order of help.

const { details: _, ...outputDirectory } = trainingOptions.output;
const { pattern, compat, workers, memoryLimit, report, logFile } = trainingOptions;
const { specialTokens, specialTokensFile, normalize, cache, cacheLimit } = trainingOptions;
const { textField, include, inputFormat, binary, counts, saveCounts, wait } = trainingOptions;
const { progress, quiet, help } = trainingOptions;

export const everywhere = { progress, quiet, help };
/** For commands that may run for long, unattended. */
const unattended = { wait, logFile, ...everywhere };
/** How files are read. */
export const reading = { textField, include, inputFormat, binary };

/** Options that several commands have. */
const shared = tableOf({
  tokenizer: {
    name: "tokenizer",
    reads: "tokenizer",
    kind: path("PATH"),
    required: true,
    topic: "input",
    description: "tokenizer directory, or one of its files",
    details:
      "A directory that train or another tool wrote, or a tokenizer.json, tekken.json, vocab.json (with merges.txt beside it) or file of ranks (.tiktoken).",
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
    details:
      "A size such as 800MB, 2GB or 1.5GiB. It limits the default of --workers, and lines and pages that are read whole. A tokenizer that needs more is an error.",
  },
});
const { tokenizer, output: outputFile, texts: textFiles, ranges, json } = shared;

/** What some tokenizers' files do not say. */
export const besideTokenizer = tableOf({
  pattern: {
    name: "pattern",
    short: "p",
    kind: text("NAME|REGEX"),
    topic: "input",
    rare: true,
    description: "how text is cut, for files that do not say it",
    details: "For a vocab.json or a file of ranks. Well-known published ranks do not need it.",
  },
  specialTokens: {
    name: "special-token",
    short: "s",
    kind: specialTokensWithIds,
    topic: "input",
    rare: true,
    description: "a special token, for files that have none",
    details: "For a vocab.json or a file of ranks. Without an ID, it gets the next free one.",
  },
  specialTokensFile: {
    ...specialTokensFile,
    topic: "input",
    details:
      "Each line counts as if given by --special-token, in the order typed. JSON is a list of such texts, or a tokenizer.json, whose special tokens are taken with their ids. Empty lines are ignored. White space at the start or end of a line is an error; tokens with it need the JSON list.",
  },
});

/** Of `bpe count`. */
export const counting = tableOf({
  output: {
    ...outputFile,
    kind: path(),
    description: "where the counts go",
    details: "A name that ends in .tsv gets text, any other name the compact binary form.",
    default: "stdout, as text",
  },
  minCount: {
    name: "min-count",
    kind: whole(1),
    topic: "output",
    description: "leave out words that occur fewer times",
    details:
      "Without it, counts are exact. With it, the counts of parts of a corpus no longer add up exactly.",
  },
  ranges,
  ...{ specialTokens, specialTokensFile, pattern, normalize, compat, ...reading, workers, memoryLimit },
  ...{ cache, cacheLimit, counts, saveCounts, ...unattended },
});

/** Of `bpe plan`. */
export const planning = tableOf({
  rangeSize: {
    name: "range-size",
    // Smaller ranges would cost more to plan than to count.
    kind: size(scaled(64_000, 1000)),
    topic: "output",
    description: "approximate size of a range, e.g. 64MB or 1GiB",
    default: "256MB",
  },
  output: { ...outputFile, description: "where the plan goes" },
  ...{ specialTokens, specialTokensFile, pattern },
  normalize: {
    ...normalize,
    excludes: [{ other: "tokenizer", why: "the tokenizer says how text is changed" }],
    description: "plan for bpe count with this --normalize",
    details: "Ranges end where no character is changed together with its neighbour.",
  },
  compat: { ...compat, excludes: [{ other: "tokenizer", why: "the tokenizer says how text is cut" }] },
  ...reading,
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
  ...unattended,
});

/** Into which files ids go. */
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
      "Each ends with the document in which it gets N ids. NAME.json says which are there; the same command goes on behind them.",
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

/** Of `bpe encode`. */
export const encoding = tableOf({
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
  ...{ specialTokensAsText, ...besideTokenizer, ...reading },
  ...{ workers: shared.workers, memoryLimit: shared.memoryLimit, ...unattended },
});

/** Of `bpe tokens`. */
export const tokenCounting = {
  ...{ tokenizer, json, specialTokensAsText, ...besideTokenizer, ...reading },
  ...{ workers: shared.workers, memoryLimit: shared.memoryLimit, logFile, ...everywhere },
};

/** Of `bpe decode`. */
export const decoding = tableOf({
  tokenizer,
  output: { ...outputFile, sample: "text.txt", description: "where the text goes" },
  idType: {
    ...idType,
    topic: "input",
    description: "type of the ids in a .bin file",
    default: "as encode writes it",
  },
  ...{ ...besideTokenizer, ...unattended },
});

/** Of `bpe inspect`. */
export const inspecting = tableOf({
  text: {
    name: "text",
    reads: "corpus",
    kind: path(),
    topic: "input",
    description: "a text to encode and show",
    details: "Shows bytes per token, how much of the vocabulary the text uses, and its first tokens.",
  },
  ...{ json, report, ...besideTokenizer, ...everywhere },
});

/** Options of `bpe explain`. */
export const explaining = tableOf({
  onlyPieces: {
    name: "only-pieces",
    kind: flag,
    topic: "output",
    description: "what the text is cut into, as JSON",
    details:
      "A list of strings: pretokens, and added tokens with the white space that they take. A text of any length is read from stdin if - is given.",
  },
  ...{ json, ...besideTokenizer, specialTokensAsText, ...everywhere },
});

/** What prints all measures, for programs. */
const completeOutputs: readonly Exclusion[] = [
  { other: "json", why: "it has everything" },
  { other: "csv", why: "it has all measures" },
];
const rowsAreTexts: readonly Exclusion[] = [{ other: "csv", why: "the rows of the CSV are texts" }];

/** The tables that `--measure` prints. */
const measureWords = [
  ...textMeasures.map(({ key }) => key),
  "texts",
  "parity",
  "vocabulary",
  "model",
  "all",
] as const;

/** Numbers of a model, or files that have them. */
const modelShape = typedOnly<ModelShape>({ value: "FILE|NAME=N,...", repeatable: true }, (typed, name) =>
  readModelShape(typed, name, (value) =>
    value.includes("=") && !existsSync(value) ? undefined : readTextFile(name, value),
  ),
);

/** Of `bpe eval`. */
export const evaluating = tableOf({
  texts: {
    name: "text",
    reads: "corpus",
    kind: namedFiles,
    required: true,
    topic: "input",
    description: "a text; files with the same NAME are one text",
    details:
      "A file, directory or glob: anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizers first.",
  },
  terms: {
    name: "term",
    kind: texts(),
    topic: "input",
    excludes: rowsAreTexts,
    description: "a term: its tokens, alone and after a space",
  },
  termsFile: {
    name: "terms",
    reads: "files",
    kind: path(),
    topic: "input",
    rare: true,
    excludes: rowsAreTexts,
    description: "a file of terms, a line each",
  },
  numbers: {
    name: "numbers",
    kind: flag,
    topic: "output",
    rare: true,
    description: "also measure, and print, how numbers are cut",
    details: "Tokens per group of three digits, and how often tokens end where groups do.",
  },
  model: {
    name: "model",
    kind: modelShape,
    reads: "files",
    topic: "output",
    description: "also what the vocabulary costs this model to run",
    details:
      "A config.json, or numbers: d=4096,layers=32 and more (bpe help docs/evaluate.md). The last value wins: --model config.json --model context=16384.",
    sample: "config.json",
  },
  measures: {
    name: "measure",
    kind: words(measureWords),
    topic: "output",
    excludes: completeOutputs,
    description: "print these tables: e.g. fertility, or all",
    details:
      "Names with commas between. Each measure is a table of tokenizers and texts; of one text, or of one tokenizer, several are one table. More tables: texts has their sizes, parity how alike they are in what they cost, vocabulary how many tokens are not whole characters, model what --model says. all is one table, of the texts together.",
    default: "bytes_per_token",
  },
  wordCount: {
    name: "words",
    kind: whole(1),
    topic: "output",
    excludes: completeOutputs,
    description: "also print the N costliest words of each text, at most 20",
    details: "For each tokenizer, the words whose tokens beyond the first are the most in all.",
  },
  ...{ ...besideTokenizer, specialTokensAsText, ...reading },
  json: {
    ...json,
    excludes: [{ other: "csv", hint: "choose one of them" }],
    description: "the result as JSON, with all digits",
  },
  csv: {
    name: "csv",
    kind: flag,
    topic: "output",
    description: "the measures as CSV: a row per tokenizer and text",
  },
  ...{ report, workers, memoryLimit, ...everywhere },
});

/** Of `bpe diff`. */
export const comparing = tableOf({
  texts: {
    ...textFiles,
    description: "a text: which of its words are cut differently, and how often",
    details: "Anything that encode reads, or - for standard input. Several files are one text.",
  },
  ...{ ...besideTokenizer, specialTokensAsText, ...reading },
  json: { ...json, description: "the result as JSON, with complete lists" },
  pieces: {
    name: "pieces",
    writes: "file",
    kind: path(),
    topic: "output",
    description: "write what each token of <b> is in <a>, for embeddings",
    details: "A table: new, the id in <b>; old, that or those of its pieces in <a>; token.",
  },
  ...{ report, workers, memoryLimit, ...everywhere },
});

/** Of `bpe prune`. */
export const pruning = tableOf({
  texts: {
    ...textFiles,
    required: true,
    description: "texts that show how often each token occurs",
    details:
      "Anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizer first.",
  },
  vocabSize: {
    name: "vocab-size",
    short: "n",
    kind: whole(1),
    required: true,
    topic: "tokens",
    description: "how many tokens stay, special tokens included",
  },
  ...{ output: outputDirectory, ...besideTokenizer, ...reading },
  workers: { ...workers, default: "1 for small texts, else all cores" },
  ...unattended,
});

/** Of `bpe truncate`. */
export const truncating = tableOf({
  vocabSize: {
    ...pruning.vocabSize,
    kind: sizes,
    details: "Several sizes, separated by commas: -n 64k,32k writes DIR/65536 and DIR/32768.",
  },
  ...{ output: outputDirectory, ...besideTokenizer, ...unattended },
});

/** Of `bpe convert`. */
export const converting = tableOf({
  formats: {
    name: "format",
    kind: words(writtenFormats),
    topic: "output",
    description: "which kinds of files to write",
    default: `all that can hold the tokenizer, but for ${writtenOnRequest}`,
  },
  copy: {
    name: "copy",
    kind: flag,
    topic: "output",
    description: "copy the tokenizer's own files",
    details:
      "Those that transformers reads next to them are copied, too. An error if the files do not hold all of the tokenizer.",
    excludes: [{ other: "format", why: "a copy has the formats of the tokenizer" }],
  },
  ...{ output: outputDirectory, ...besideTokenizer, ...unattended },
});

/** Of `bpe image`. */
export const imaging = tableOf({
  output: { ...outputFile, description: "where the image goes" },
  ...{ ...besideTokenizer, ...unattended },
});

/** Of `bpe playground`. */
export const teaching = tableOf({
  output: { ...outputFile, description: "where the page goes" },
  ...unattended,
});

// The options of merges over ids. Ids are numbers: nothing is cut, named or cached.

const { vocabSize, minFrequency, maxTokenLength, output, keep, summary } = trainingOptions;

const typeOfBinary = { ...idType, topic: "input", description: "type of the ids in .bin files" } as const;

/** Of `bpe ids train`. */
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
  ...{ output, workers },
  memoryLimit: {
    ...memoryLimit,
    description: "memory to use",
    details: "A training that needs more is an error.",
  },
  ...{ keep, wait, logFile, summary, ...everywhere },
});

const documentLines = { ...outputFile, default: "stdout, a line for each document" };

const tokenizerPath = { reads: "tokenizer", kind: path("PATH"), required: true, topic: "input" } as const;
const idMerges = {
  name: "tokenizer",
  ...tokenizerPath,
  description: "directory that bpe ids train wrote, or its merges.txt",
} as const;

/** Of `bpe ids encode`. */
export const idsEncoding = tableOf({
  tokenizer: idMerges,
  output: { ...documentLines, description: "tokens as .npy or .bin" },
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
  output: { ...documentLines, sample: "ids.npy", description: "its ids, in files as those of the larger" },
  idsFormat: { ...idFiles.idsFormat, default: "as it is read, or by the ending of --output" },
  idType: {
    ...typeOfBinary,
    description: "type of the ids in .bin files, read and written",
    default: "as they need it",
  },
  ...{ ...besideTokenizer, ...unattended },
});

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
  ...{ idsFormat: idFiles.idsFormat, shardSize: idFiles.shardSize },
  idType: { ...idType, topic: "output" },
  ifChanged: idFiles.ifChanged,
  ...unattended,
});

/** Of `bpe ids decode`. */
export const idsDecoding = tableOf({
  tokenizer: idMerges,
  output: {
    ...documentLines,
    sample: "ids.npy",
    description: "ids of the alphabet, in the format of its name",
  },
  idType: { ...typeOfBinary, default: "as encode writes it" },
  ...unattended,
});
