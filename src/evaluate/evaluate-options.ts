import { existsSync } from "node:fs";
import { measures, modelCosts } from "#evaluation";
import { kinds, optionTables, sharedOptions } from "#options";

// The options of inspect, explain, eval and diff. Help lists the options of a topic in the order of these tables.

const { texts: textFiles, json } = sharedOptions.several;
const { workers, memoryLimit, report } = sharedOptions.ofTraining;

export const inspectOptions = optionTables.of({
  text: {
    name: "text",
    reads: "corpus",
    kind: kinds.path(),
    topic: "input",
    description: "a text to encode and show",
    details: "Shows bytes per token, how much of the vocabulary the text uses, and its first tokens.",
  },
  ...{ json, report, ...sharedOptions.tokenizerSupplements, ...sharedOptions.common },
});

export const explainOptions = optionTables.of({
  onlyPieces: {
    name: "only-pieces",
    kind: kinds.flag,
    topic: "output",
    description: "what the text is cut into, as JSON",
    details:
      "A list of strings: pretokens, and added tokens with the white space that they take. A text of any length is read from stdin if - is given.",
  },
  ...{
    json,
    ...sharedOptions.tokenizerSupplements,
    specialTokensAsText: sharedOptions.specialTokensAsText,
    ...sharedOptions.common,
  },
});

/** Outputs that exclude the options for choosing what is printed, because they always have every measure. */
const completeOutputs: readonly optionTables.Exclusion[] = [
  { other: "json", why: "the JSON has everything" },
  { other: "csv", why: "the CSV always has every measure" },
];

const rowsAreTexts: readonly optionTables.Exclusion[] = [{ other: "csv", why: "the CSV has a row per text" }];

/** The tables that `--measure` accepts. */
const measureWords = [
  ...measures.ofText.map(({ key }) => key),
  "texts",
  "parity",
  "vocabulary",
  "model",
  "all",
] as const;

/** A list of a model's numbers, or a file that contains them. */
const modelShape = kinds.commandLineKind<modelCosts.Shape>(
  { value: "FILE|NAME=N,...", repeatable: true },
  (typed, name) =>
    modelCosts.readShape(typed, name, (value) =>
      value.includes("=") && !existsSync(value) ? undefined : kinds.readTextFile(name, value),
    ),
);

export const evalOptions = optionTables.of({
  texts: {
    name: "text",
    reads: "corpus",
    kind: kinds.namedFiles,
    required: true,
    topic: "input",
    description: "a text; files with the same NAME are one text",
    details:
      "A file, directory or glob: anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizers first.",
  },
  terms: {
    name: "term",
    kind: kinds.texts(),
    topic: "input",
    excludes: rowsAreTexts,
    description: "a term: its tokens, alone and after a space",
  },
  termsFile: {
    name: "terms",
    reads: "files",
    kind: kinds.path(),
    topic: "input",
    rare: true,
    excludes: rowsAreTexts,
    description: "a file of terms, one per line",
  },
  numbers: {
    name: "numbers",
    kind: kinds.flag,
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
    kind: kinds.words(measureWords),
    topic: "output",
    excludes: completeOutputs,
    description: "print these tables: e.g. fertility, or all",
    details:
      "Names, separated by commas. Each measure is a table of tokenizers and texts; with only one text, or one tokenizer, all measures share a table. Other tables: texts (their sizes), parity (how equal their costs are), vocabulary (tokens that are not whole characters), model (the numbers of --model). all is one table, for all texts together.",
    default: "bytes_per_token",
  },
  wordCount: {
    name: "words",
    kind: kinds.whole(1),
    topic: "output",
    excludes: completeOutputs,
    description: "also print the N costliest words of each text, at most 20",
    details: "For each tokenizer, the words with the most tokens beyond one per occurrence.",
  },
  ...{
    ...sharedOptions.tokenizerSupplements,
    specialTokensAsText: sharedOptions.specialTokensAsText,
    ...sharedOptions.reading,
  },
  json: {
    ...json,
    excludes: [{ other: "csv", hint: "choose one of them" }],
    description: "the result as JSON, with all digits",
  },
  csv: {
    name: "csv",
    kind: kinds.flag,
    topic: "output",
    description: "the measures as CSV: a row per tokenizer and text",
  },
  ...{ report, workers, memoryLimit, ...sharedOptions.common },
});

export const diffOptions = optionTables.of({
  texts: {
    ...textFiles,
    description: "a text in which to compare how words are cut",
    details: "Anything that encode reads, or - for standard input. Several files are one text.",
  },
  ...{
    ...sharedOptions.tokenizerSupplements,
    specialTokensAsText: sharedOptions.specialTokensAsText,
    ...sharedOptions.reading,
  },
  json: { ...json, description: "the result as JSON, with longer lists" },
  pieces: {
    name: "pieces",
    writes: "file",
    kind: kinds.path(),
    topic: "output",
    description: "map each token of <b> to ids of <a>, for embeddings",
    details:
      "A table with the columns new (the id in <b>), old (its id in <a>, or the ids in <a> that spell it) and token.",
  },
  ...{ report, workers, memoryLimit, ...sharedOptions.common },
});
