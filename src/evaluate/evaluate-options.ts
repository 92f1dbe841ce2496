import { existsSync } from "node:fs";
import { type ModelShape, readModelShape, textMeasures } from "#evaluation";
import {
  commandLineKind,
  commonOptions,
  type Exclusion,
  flag,
  namedFiles,
  path,
  readingOptions,
  readTextFile,
  sharedOptions,
  sharedWithTraining,
  specialTokensAsText,
  tableOf,
  texts,
  tokenizerSupplements,
  whole,
  words,
} from "#options";

// The options of inspect, explain, eval and diff. Each table is in the order of help.

const { texts: textFiles, json } = sharedOptions;
const { workers, memoryLimit, report } = sharedWithTraining;

/** The options of `bpe inspect`. */
export const inspectOptions = tableOf({
  text: {
    name: "text",
    reads: "corpus",
    kind: path(),
    topic: "input",
    description: "a text to encode and show",
    details: "Shows bytes per token, how much of the vocabulary the text uses, and its first tokens.",
  },
  ...{ json, report, ...tokenizerSupplements, ...commonOptions },
});

/** The options of `bpe explain`. */
export const explainOptions = tableOf({
  onlyPieces: {
    name: "only-pieces",
    kind: flag,
    topic: "output",
    description: "what the text is cut into, as JSON",
    details:
      "A list of strings: pretokens, and added tokens with the white space that they take. A text of any length is read from stdin if - is given.",
  },
  ...{ json, ...tokenizerSupplements, specialTokensAsText, ...commonOptions },
});

/** Options that print all measures, for programs, and so exclude others. */
const completeOutputs: readonly Exclusion[] = [
  { other: "json", why: "it has everything" },
  { other: "csv", why: "the CSV always has every measure" },
];

const rowsAreTexts: readonly Exclusion[] = [{ other: "csv", why: "the CSV has a row per text" }];

/** The tables that `--measure` accepts. */
const measureWords = [
  ...textMeasures.map(({ key }) => key),
  "texts",
  "parity",
  "vocabulary",
  "model",
  "all",
] as const;

/** A list of a model's numbers, or a file that contains them. */
const modelShape = commandLineKind<ModelShape>(
  { value: "FILE|NAME=N,...", repeatable: true },
  (typed, name) =>
    readModelShape(typed, name, (value) =>
      value.includes("=") && !existsSync(value) ? undefined : readTextFile(name, value),
    ),
);

/** The options of `bpe eval`. */
export const evalOptions = tableOf({
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
      "Names, separated by commas. Each measure is a table of tokenizers and texts; with only one text, or one tokenizer, all measures share a table. Other tables: texts (their sizes), parity (how equal their costs are), vocabulary (tokens that are not whole characters), model (the numbers of --model). all is one table, for all texts together.",
    default: "bytes_per_token",
  },
  wordCount: {
    name: "words",
    kind: whole(1),
    topic: "output",
    excludes: completeOutputs,
    description: "also print the N costliest words of each text, at most 20",
    details: "For each tokenizer, the words with the most tokens beyond one per occurrence.",
  },
  ...{ ...tokenizerSupplements, specialTokensAsText, ...readingOptions },
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
  ...{ report, workers, memoryLimit, ...commonOptions },
});

/** The options of `bpe diff`. */
export const diffOptions = tableOf({
  texts: {
    ...textFiles,
    description: "a text in which to compare how words are cut",
    details: "Anything that encode reads, or - for standard input. Several files are one text.",
  },
  ...{ ...tokenizerSupplements, specialTokensAsText, ...readingOptions },
  json: { ...json, description: "the result as JSON, with complete lists" },
  pieces: {
    name: "pieces",
    writes: "file",
    kind: path(),
    topic: "output",
    description: "map each token of <b> to ids of <a>, for embeddings",
    details:
      "A table with the columns new (the id in <b>), old (its id in <a>, or the ids of its pieces) and token.",
  },
  ...{ report, workers, memoryLimit, ...commonOptions },
});
