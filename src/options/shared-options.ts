import { corpusInputs } from "#corpus";
import { asOption, phrase } from "#runtime";
import {
  directory,
  flag,
  outputFile as outputPath,
  path,
  paths,
  size,
  specialTokens as specialTokensWithIds,
  text,
  texts,
  whole,
  word,
} from "./kinds.ts";
import * as optionTables from "./option.ts";

// Options that several commands have.

/** The trainers that a training can match without a base. */
export const trainers = word(["cs336", "huggingface", "rustbpe"], "RULE");

export const commandLineOnly = { library: null, python: null } as const;

export const notWithExtend: optionTables.Exclusion = { other: "extend" };

const fixedByRanges: optionTables.Exclusion = {
  other: "ranges",
  why: "the plan determines which files are read, and how",
};

/** Options that some commands take unchanged, and others with another topic or description. */
export const { idType, specialTokensAsText } = optionTables.of({
  idType: {
    name: "dtype",
    kind: word(["uint16", "uint32"], "TYPE"),
    topic: "output",
    rare: true,
    ...commandLineOnly,
    description: "type of the ids in a .npy or .bin file",
    default: "uint16 if every id of the tokenizer fits",
  },
  specialTokensAsText: {
    name: "special-tokens-as-text",
    kind: flag,
    topic: "input",
    rare: true,
    description: "encode special tokens in the text as plain text",
  },
});

/** Options that every command has. */
export const common = optionTables.of({
  progress: {
    name: "progress",
    kind: word(["auto", "bar", "plain", "json", "none"], "MODE"),
    topic: "general",
    ...commandLineOnly,
    rare: true,
    description: "how progress is shown",
    details:
      "auto shows a bar on a terminal and plain lines elsewhere: one at the end of each stage of a second or more, and one every ten minutes. json writes one object per line; the last one is the result.",
    default: "auto",
  },
  quiet: {
    name: "quiet",
    short: "q",
    kind: flag,
    topic: "general",
    ...commandLineOnly,
    rare: true,
    sample: "",
    description: "show only errors",
    details: "No progress, no summary, no warnings.",
  },
  help: {
    name: "help",
    short: "h",
    kind: flag,
    topic: "general",
    ...commandLineOnly,
    rare: true,
    description: phrase`show help; ${asOption("help", "TOPIC")} says more`,
  },
});

/** Options of commands that may run for a long time, unattended. */
export const unattended = optionTables.of({
  wait: {
    name: "wait",
    kind: flag,
    topic: "nightly",
    rare: true,
    library: null,
    description: "wait while another run writes the output",
    details: "Without it, the second run ends at once with an error that names the process of the first.",
  },
  logFile: {
    name: "log-file",
    writes: "log",
    kind: path("FILE", phrase`name a file, e.g. ${asOption("log-file", "bpe.log")}`),
    topic: "nightly",
    library: null,
    rare: true,
    sample: "bpe.log",
    description: "append progress, warnings and the record",
    details: "The last line is the record of the run, as JSON, even if the run failed.",
  },
  ...common,
});

/** Options about how files are read. */
export const reading = optionTables.of({
  textField: {
    name: "text-field",
    kind: text("NAME"),
    topic: "input",
    description: "record field with the text",
    details:
      "Records are lines of JSON, elements of a JSON array, and rows of Parquet. Each is a document; its text is in a field, or column, of this name.",
    default: "text",
  },
  include: {
    name: "include",
    kind: texts("GLOB"),
    topic: "input",
    excludes: [fixedByRanges],
    description: "in directories, read only files that match",
    details:
      "Without a slash, GLOB matches file names at any depth. With one, it matches paths below the directory.",
  },
  inputFormat: {
    name: "input-format",
    kind: word(corpusInputs.inputFormats, "FORMAT"),
    topic: "input",
    rare: true,
    excludes: [fixedByRanges],
    description: "read every input as this format",
    default: "by name and content",
  },
  binary: {
    name: "binary",
    kind: word(["text"], "MODE"),
    topic: "input",
    rare: true,
    excludes: [fixedByRanges],
    description: "read files that are not text as text",
    details:
      "Without it, an archive, an image or a program is an error; in a directory, it is skipped and listed.",
  },
});

const threads = "The main thread is one of them. The default is all cores that this process may use, and 1";
const tokenFileDetails = (line: string, list: string) =>
  phrase`Each line is a special token${line}, as in ${asOption("special-token")}. If you give both options, their tokens come in the order of the options. A JSON file is a list of ${list}. Empty lines are ignored. A line must not begin or end with white space; a token in a JSON list may.`;

/** Options that bpe train and other commands have in common. */
export const ofTraining = optionTables.of({
  specialTokensFile: {
    name: "special-tokens",
    reads: "files",
    kind: paths,
    topic: "tokens",
    rare: true,
    library: null,
    description: "special tokens from a file: one per line, or JSON",
    details: tokenFileDetails(
      "",
      "tokens, or a tokenizer.json, whose special tokens come in the order of their ids",
    ),
  },
  output: {
    name: "output",
    writes: "directory",
    short: "o",
    kind: directory(phrase`name a directory, e.g. ${asOption("output", "tokenizer")}`),
    topic: "output",
    required: true,
    description: "tokenizer directory",
    details:
      "DIR may be absent or empty, or contain the result of an earlier training, which is replaced as a whole. If it contains anything else, the run fails and changes nothing.",
  },
  report: {
    name: "report",
    writes: "file",
    kind: path("FILE"),
    topic: "output",
    library: null,
    excludes: [notWithExtend],
    description: "write charts, tables and tokens as one HTML page",
    details:
      "The page starts with the findings, needs no network, and never runs code from the texts it shows.",
  },
  workers: {
    name: "workers",
    recorded: true,
    short: "w",
    kind: whole(1),
    topic: "speed",
    sample: "4",
    description: "number of threads",
    details: `${threads} for small inputs. The result does not depend on it.`,
    default: "all cores",
  },
  memoryLimit: {
    name: "memory-limit",
    kind: size(1),
    topic: "speed",
    library: "memoryLimitBytes",
    rare: true,
    description: "memory to use; the rest goes to disk",
    details:
      "A size such as 800MB, 2GB or 1.5GiB. The result does not depend on it. The default is a share of the memory that the machine or the control group has.",
    default: "80 %",
  },
});

/** Options that several commands other than bpe train have. */
export const several = optionTables.of({
  tokenizer: {
    name: "tokenizer",
    reads: "tokenizer",
    kind: path("PATH"),
    required: true,
    topic: "input",
    description: "tokenizer directory, or one of its files",
    details:
      "A directory that train or another tool wrote, or a tokenizer.json, tekken.json, tokenizer.model, vocab.json (with merges.txt next to it) or rank file (.tiktoken).",
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
    ...ofTraining.workers,
    details: `${threads} below 80 MB. The ids do not depend on it.`,
  },
  memoryLimit: {
    ...ofTraining.memoryLimit,
    description: "memory that encoding may use",
    details: phrase`A size such as 800MB, 2GB or 1.5GiB. It limits the default of ${asOption("workers")}, and the size of a line and of a page of Parquet, because lines and pages are read whole. A tokenizer that needs more than SIZE is an error.`,
  },
});

/** Options for settings that the files of some tokenizers do not state. */
export const tokenizerSupplements = optionTables.of({
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
    ...ofTraining.specialTokensFile,
    topic: "input",
    details: tokenFileDetails(
      ", with or without =ID",
      "such tokens, or a tokenizer.json, whose special tokens keep their ids",
    ),
  },
});
