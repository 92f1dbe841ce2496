// The contract of the command line as data: what is typed is read by it; help, completions and the man page are made of
// it. First the options that several commands take, then the commands.

import { normalizationSteps } from "../bytes/normalization.ts";
import { textMeasures } from "../evaluation/measures.ts";
import { describeWritten, writtenFormats } from "../formats/formats.ts";
import type { Written } from "../store/written-places.ts";

/** What the pages of help are about, in their order. */
export const topics = {
  input: { title: "Input", about: "what is read, and how" },
  tokens: { title: "Tokens", about: "how text is cut, and what becomes a token" },
  output: { title: "Output", about: "what is written, and where" },
  model: { title: "Model", about: "what transformers reads beside the vocabulary" },
  speed: { title: "Speed and memory", about: "how much of the machine a run may use" },
  nightly: { title: "Nightly", about: "repeated, unattended runs" },
  general: { title: "General", about: "options of every command" },
} as const;

export type Topic = keyof typeof topics;

export type OptionSpec = {
  readonly name: string;
  readonly short?: string;
  /** What its value is called in help; an option without one is a flag. */
  readonly value?: string;
  /** The words that its value may be; of a `LIST`, any of them, with commas between. */
  readonly words?: readonly string[];
  /** The least that a number, or a `SIZE` in bytes, may be; 0 unless said. */
  readonly least?: number;
  readonly repeatable?: boolean;
  /** Arguments behind its value are more values of it, up to the next option; `--name=value` takes no more. */
  readonly many?: boolean;
  /** Of a value that is a path: what is read there. No output may be what the run reads (run-paths.ts). */
  readonly reads?: PathRead;
  /** What is written there. */
  readonly writes?: Written["kind"];
  /** The page of help that describes it. */
  readonly topic: Topic;
  /** Whether the command cannot do without it. */
  readonly required?: boolean;
  /** What it cannot be combined with. */
  readonly excludes?: readonly Exclusion[];
  /** What it says nothing without. */
  readonly needs?: Need;
  /** Seldom needed: the first page of help only names it. */
  readonly rare?: boolean;
  /** A short phrase, without what the other fields say. */
  readonly description: string;
  /** The sentences behind it, for the page of its topic. */
  readonly details?: string;
  readonly default?: string;
};

/** A corpus is files, directories and globs. Of a tokenizer several files may be read. */
export type PathRead = "corpus" | "tokenizer" | "files";

/** `other` is an option, or one at a value: `input-format ids`. */
type Need = { readonly other: string; readonly hint?: string };

type Exclusion = Need & {
  readonly why?: string;
  /** The value that does go with it. */
  readonly unless?: string;
};

/** The base says it, and its files are written with the new tokens put in. */
const asBaseHasIt: Exclusion = { other: "extend", hint: "it stays as it is in the base" };
const notExtending: Exclusion = { other: "extend" };
/** Ids are numbers: nothing is cut, named or cached. */
const notOfIds: Exclusion = { other: "input-format ids" };

/** What prints all measures, for programs. */
const completeOutputs: readonly Exclusion[] = [
  { other: "json", why: "it has everything" },
  { other: "csv", why: "it has all measures" },
];

/** The options whose value is a word, with the words. `--input-format` lists what other modules know. */
export const optionWords = {
  progress: ["auto", "bar", "plain", "json", "none"],
  summary: ["short", "full"],
  "input-format": ["text", "jsonl", "json", "parquet", "fasta", "ids"],
  binary: ["text"],
  dtype: ["uint16", "uint32"],
  compat: ["cs336", "huggingface", "rustbpe", "extension"],
  format: writtenFormats,
  normalize: normalizationSteps,
  measure: [...textMeasures.map(({ key }) => key), "texts", "parity", "vocabulary", "all"],
} as const;

/** One HTML page with pictures (src/report). */
const report: OptionSpec = {
  name: "report",
  value: "FILE",
  writes: "file",
  topic: "output",
  excludes: [notExtending, notOfIds],
  description: "write charts, tables and tokens as one HTML page",
  details:
    "The page needs no network, and nothing in the texts that it shows can run as code. It holds all tokens, and shows the merge tree of each.",
};

const outputOption: Pick<OptionSpec, "name" | "short" | "topic"> = {
  name: "output",
  short: "o",
  topic: "output",
};
const outputFile: OptionSpec = {
  ...outputOption,
  value: "FILE",
  writes: "file",
  description: "",
  default: "stdout",
};
const outputDirectory: OptionSpec = {
  ...outputOption,
  value: "DIR",
  writes: "directory",
  required: true,
  description: "tokenizer directory",
};
const textFiles: OptionSpec = {
  name: "text",
  value: "FILE",
  reads: "corpus",
  repeatable: true,
  many: true,
  topic: "input",
  description: "",
};

const logFile: OptionSpec = {
  name: "log-file",
  value: "FILE",
  writes: "log",
  topic: "nightly",
  description: "append progress, warnings and the record",
  details: "The last line is the record of the run, as JSON, also if the run failed.",
};
/** For commands that may run for long, unattended. */
const unattended: readonly OptionSpec[] = [
  {
    name: "wait",
    topic: "nightly",
    rare: true,
    description: "wait while another run writes the output",
    details: "Without it, the second run ends at once with an error that names the process of the first.",
  },
  logFile,
];

export const everywhere: readonly OptionSpec[] = [
  {
    name: "progress",
    value: "MODE",
    words: optionWords.progress,
    topic: "general",
    description: "how progress is shown",
    details:
      "auto shows a bar on a terminal and plain lines elsewhere: one for each stage of a second or more, at its end, and one every ten minutes. json writes one object a line; the last is the result.",
    default: "auto",
  },
  {
    name: "quiet",
    short: "q",
    topic: "general",
    description: "show only errors",
    details: "No progress, no summary, no warnings.",
  },
  { name: "help", short: "h", topic: "general", description: "show this help; --help TOPIC says more" },
];

const rangesKnow: Exclusion = {
  other: "ranges",
  why: "the plan says which files are read, and how",
};

const weight: OptionSpec = {
  name: "weight",
  value: "[NAME=]GLOB:WEIGHT",
  repeatable: true,
  topic: "input",
  rare: true,
  excludes: [
    notOfIds,
    { other: "superwords-from", why: "superwords are learned from text without weights" },
    {
      other: "save-counts",
      why: "saved counts are those of the text, without weights",
      hint: "save them with bpe count; --weight also applies to files of --counts",
    },
  ],
  description: "weight of the words of some inputs, e.g. 'corpus/en:0.5'",
  details:
    "GLOB is the path of an input or of a file of --counts, as it is named or found, a folder above it, or a glob. Without a slash, it matches names at any depth. The last one that fits an input decides; without one, the weight is 1. WEIGHT is a number from 0 to 1,000,000 with at most six digits after the point. The sum of counts times weights of a word is exact, then rounded once, half up; a word with 0 is left out. NAME is only shown.",
};

const withoutLanguages: readonly Exclusion[] = [
  notExtending,
  notOfIds,
  { other: "superwords-from", why: "superwords are learned from all text together" },
  { other: "counts", why: "word counts belong to no language" },
];
const languagesFirst = { other: "language", hint: "e.g. --language en=corpus/en --language hi=corpus/hi" };
const languages: readonly OptionSpec[] = [
  {
    name: "language",
    value: "NAME=FILE...",
    reads: "corpus",
    repeatable: true,
    many: true,
    topic: "input",
    excludes: withoutLanguages,
    description: "text of one language, to treat languages fairly",
    details:
      "Each merge is then learned from the language that is worst off: the one whose text has the most tokens (bpe help docs/clean-and-fair.md). Several FILEs may follow, each whatever <file> may be. The same NAME again adds files to the language. Of languages that are equally badly off, the first one wins.",
  },
  {
    name: "language-dev",
    value: "NAME=FILE...",
    reads: "corpus",
    repeatable: true,
    many: true,
    topic: "input",
    rare: true,
    needs: { other: "language", hint: "e.g. --language en=corpus/en --language-dev en=dev/en" },
    description: "text on which the languages are compared",
    details: "Give it for all languages or for none. Nothing is learned from it.",
  },
  {
    name: "language-ratio",
    value: "N,N,...",
    topic: "input",
    rare: true,
    needs: languagesFirst,
    excludes: [{ other: "language-dev", why: "the lengths of dev text are compared directly" }],
    description: "how many times shorter the text of each should get",
    details:
      "One number for each language, in their order. Bytes per token, divided by this number, say how well off a language is; the one with the least gets the next merge.",
  },
  {
    name: "language-window",
    value: "N:FACTOR",
    topic: "input",
    rare: true,
    needs: languagesFirst,
    description: "in N merges, a language gets at most FACTOR times its share",
    details: "E.g. 100:2.0. A language above its limit waits, unless all are above theirs.",
  },
  {
    name: "global-merges",
    value: "N",
    least: 0,
    topic: "input",
    rare: true,
    needs: languagesFirst,
    description: "learn the first N merges from all text together",
  },
];

/** How files are read. */
const reading: readonly OptionSpec[] = [
  {
    name: "text-field",
    value: "NAME",
    topic: "input",
    excludes: [notOfIds],
    description: "record field with the text",
    details:
      "Records are lines of JSON, elements of a JSON array, and rows of Parquet. Each is a document; its text is in a field, or column, of this name.",
    default: "text",
  },
  {
    name: "include",
    value: "GLOB",
    repeatable: true,
    topic: "input",
    excludes: [notOfIds, rangesKnow],
    description: "in directories, read only files that match",
    details:
      "Without a slash, GLOB matches file names at any depth. With one, it matches paths below the directory.",
  },
  {
    name: "input-format",
    value: "FORMAT",
    words: optionWords["input-format"],
    topic: "input",
    rare: true,
    excludes: [rangesKnow],
    description: "read every input as this format",
    default: "by name and content",
  },
  {
    name: "binary",
    value: "MODE",
    words: optionWords.binary,
    topic: "input",
    rare: true,
    excludes: [notOfIds, rangesKnow],
    description: "read files that are not text as text",
    details:
      "Without it, an archive, an image or a program is an error; in a directory, it is skipped and listed.",
  },
];

const specialToken: OptionSpec = {
  name: "special-token",
  short: "s",
  value: "TEXT",
  repeatable: true,
  topic: "tokens",
  excludes: [notOfIds],
  description: "one token, never merged; ends documents; repeatable",
  details:
    "A document ends wherever it occurs. Its text is never counted, and it has an id of its own. Where several match, the longest wins.",
};
const specialTokensFile: OptionSpec = {
  name: "special-tokens",
  value: "FILE",
  reads: "files",
  repeatable: true,
  topic: "tokens",
  rare: true,
  excludes: [notOfIds],
  description: "special tokens from a file: one a line, or JSON",
  details:
    "Each counts as if given by --special-token, in the order typed. JSON is a list of texts, or a tokenizer.json, whose special tokens are taken in the order of their ids. Empty lines are ignored. White space at the start or end of a line is an error; tokens with it need the JSON list.",
};
/** What is never merged. */
const specialTokens = [specialToken, specialTokensFile];
const seedTokens = {
  topic: "tokens",
  rare: true,
  excludes: [notExtending, notOfIds, { other: "superwords-from" }],
} as const;
const pattern: OptionSpec = {
  name: "pattern",
  short: "p",
  value: "NAME|REGEX",
  topic: "tokens",
  excludes: [{ ...notOfIds, unless: "none", why: "a document is one word" }],
  description: "cuts text: name (-p help) or regex",
  details:
    "The pretokenizer: no token crosses a cut. A value of only letters, digits, -, _ and . is a name (-p help lists the names). Anything else is a regular expression. With -p none, a document is one word.",
  default: "gpt2",
};
const normalizing: OptionSpec = {
  name: "normalize",
  value: "LIST",
  words: optionWords.normalize,
  topic: "tokens",
  rare: true,
  excludes: [
    asBaseHasIt,
    notOfIds,
    { other: "like", hint: "the normalization is that tokenizer's" },
    { other: "ranges", why: "a plan is for text that is not changed", hint: "count whole files" },
  ],
  description: "change text before it is cut, e.g. NFC or NFKC,lowercase",
  details: `Steps in their order, separated by commas: ${optionWords.normalize.join(", ")}. Text between special tokens is changed so when it is counted, and whenever the tokenizer encodes it. Only tokenizer.json can store this, so other formats are not written.`,
};
const compat: OptionSpec = {
  name: "compat",
  value: "RULE",
  words: optionWords.compat,
  topic: "tokens",
  description: "which trainer to match",
  details:
    "Merges and ids are those of that trainer. It decides which of equally frequent pairs is merged first, and whether text is read line by line.",
  default: "cs336",
};
const workers: OptionSpec = {
  name: "workers",
  short: "w",
  value: "N",
  least: 1,
  topic: "speed",
  description: "number of threads",
  details:
    "The main thread is one of them. The default is all cores that this process may use, and 1 for small inputs. The result does not depend on it.",
  default: "all cores",
};
const memoryLimit: OptionSpec = {
  name: "memory-limit",
  value: "SIZE",
  least: 1,
  topic: "speed",
  description: "memory to use; the rest goes to disk",
  details:
    "A size such as 800MB, 2GB or 1.5GiB. The result does not depend on it. The default is a share of the memory that the machine or the control group has.",
  default: "80 %",
};
const savedCounts: readonly OptionSpec[] = [
  {
    name: "counts",
    value: "FILE",
    reads: "files",
    repeatable: true,
    topic: "input",
    rare: true,
    excludes: [notOfIds],
    description: "word counts to add to the corpus",
    details:
      "FILE is a path or a glob. With counts, no corpus is needed. Pattern and special tokens come from the counts; if they are given as well, they must agree.",
  },
  {
    name: "save-counts",
    value: "FILE",
    writes: "file",
    topic: "output",
    rare: true,
    excludes: [notOfIds],
    description: "also write the word counts",
    details: "A name that ends in .tsv gets text, any other name the compact binary form.",
  },
];
const ofCache: Need = { other: "cache", hint: "e.g. --cache cache" };
const caching: readonly OptionSpec[] = [
  {
    name: "cache",
    value: "DIR",
    writes: "cache",
    topic: "nightly",
    excludes: [notOfIds, { other: "ranges", why: "it keeps the words of whole files" }],
    description: "keep word counts; count only what is new",
    details:
      "The word counts of each file are kept in DIR. Files are known by their content. Any number of runs may share the directory.",
  },
  {
    name: "cache-limit",
    value: "SIZE",
    topic: "nightly",
    rare: true,
    needs: ofCache,
    description: "with --cache: how large it may be, e.g. 10GB",
    details: "The entries that were used longest ago are removed first.",
    default: "no limit",
  },
];
const tokenizer: OptionSpec = {
  name: "tokenizer",
  value: "PATH",
  reads: "tokenizer",
  required: true,
  topic: "input",
  description: "tokenizer directory, or one of its files",
  details:
    "A directory that train or another tool wrote, or a tokenizer.json, tekken.json, vocab.json (with merges.txt beside it) or file of ranks (.tiktoken).",
};
/** What some tokenizers' files do not say. */
const besideTokenizer: readonly OptionSpec[] = [
  {
    name: "pattern",
    short: "p",
    value: "NAME|REGEX",
    topic: "input",
    rare: true,
    excludes: [{ ...notOfIds, unless: "none", why: "a document is one word" }],
    description: "how text is cut, for files that do not say it",
    details: "For a vocab.json or a file of ranks. Well-known published ranks do not need it.",
  },
  {
    name: "special-token",
    short: "s",
    value: "TEXT[=ID]",
    repeatable: true,
    topic: "input",
    rare: true,
    excludes: [notOfIds],
    description: "a special token, for files that have none",
    details: "For a vocab.json or a file of ranks. Without an ID, it gets the next free one.",
  },
  {
    ...specialTokensFile,
    topic: "input",
    details:
      "Each line counts as if given by --special-token, in the order typed. JSON is a list of such texts, or a tokenizer.json, whose special tokens are taken with their ids. Empty lines are ignored. White space at the start or end of a line is an error; tokens with it need the JSON list.",
  },
];
/** Of options that a tokenizer to extend has decided already. */
const decidedByBase = [asBaseHasIt, notOfIds];
const role = (name: string, rest: string): OptionSpec => ({
  name,
  value: "TEXT",
  topic: "model",
  rare: true,
  excludes: decidedByBase,
  description: `the special token that a model uses as ${name}`,
  details: rest,
});
const proposed = "An empty TEXT means none.";
const byName = "by its name, e.g. <|endoftext|>";
/** For `transformers`, which reads them beside the vocabulary. */
const forModels: readonly OptionSpec[] = [
  { ...role("bos", proposed), default: byName },
  { ...role("eos", proposed), default: byName },
  { ...role("pad", proposed), default: byName },
  role("unk", "There is none by default: every text can be encoded without it."),
  {
    name: "add-bos",
    topic: "model",
    rare: true,
    excludes: decidedByBase,
    description: "put bos in front of every text that is encoded",
    details: "A post-processor in tokenizer.json does it.",
  },
  {
    name: "chat-template",
    value: "NAME|FILE",
    reads: "files",
    topic: "model",
    excludes: decidedByBase,
    description: "how a chat becomes text",
    details: "One of the names chatml, gemma and llama3, or a file with a Jinja template.",
  },
  {
    name: "model-max-length",
    value: "N",
    least: 1,
    topic: "model",
    rare: true,
    excludes: decidedByBase,
    description: "longest input of the model, in tokens",
  },
  {
    name: "class",
    value: "NAME",
    topic: "model",
    rare: true,
    excludes: decidedByBase,
    description: "the transformers class that loads it",
    default: "PreTrainedTokenizerFast",
  },
  {
    name: "model-card",
    topic: "model",
    rare: true,
    excludes: [notExtending, notOfIds],
    description: "write README.md, the page that a model hub shows",
    details:
      "It says what the tokenizer is, what it was trained on, and how to use it. It names none of your files.",
  },
];

const idType: OptionSpec = {
  name: "dtype",
  value: "TYPE",
  words: optionWords.dtype,
  topic: "output",
  rare: true,
  description: "type of the ids in a .npy or .bin file",
  default: "uint16 if every id of the tokenizer fits",
};
const specialTokensAsText: OptionSpec = {
  name: "special-tokens-as-text",
  topic: "input",
  rare: true,
  excludes: [notOfIds],
  description: "encode special tokens in the text as plain text",
};
const ranges: OptionSpec = {
  name: "ranges",
  value: "FILE",
  reads: "files",
  topic: "input",
  rare: true,
  excludes: [notOfIds],
  description: "read these ranges of a plan, not files (see bpe plan)",
  details: "- reads them from standard input.",
};

const encodingWorkers: OptionSpec = {
  ...workers,
  details:
    "The main thread is one of them. The default is all cores that this process may use, and 1 below 80 MB. The ids do not depend on it.",
};
const encodingMemory: OptionSpec = {
  ...memoryLimit,
  excludes: [notOfIds],
  description: "memory that encoding may use",
  details:
    "A size such as 800MB, 2GB or 1.5GiB. It limits the default of --workers, and lines and pages that are read whole. A tokenizer that needs more is an error.",
};

export type CommandSpec = {
  readonly name: string;
  /** What it takes, as help shows it: `<file>...` must be given, `[file]` may be, "" is nothing. */
  readonly files: string;
  /** What that may be, as a phrase. */
  readonly filesDescription?: string;
  /** The sentences behind it. */
  readonly filesDetails?: string;
  /** What is read there. */
  readonly reads?: PathRead;
  /** The words that it may be, if it is one of a few. */
  readonly fileWords?: readonly string[];
  /** What it does, in a line. */
  readonly description: string;
  /** The sentences behind it. */
  readonly details?: string;
  /** Whether what is piped in is read where no file is named. */
  readonly readsPipe?: boolean;
  /** The options that stand for files: with one of them none has to be named, and no pipe is read. */
  readonly filesFrom?: readonly string[];
  readonly options: readonly OptionSpec[];
  /** One to three; the first is the simplest. */
  readonly examples: readonly Example[];
};

/** A command that does something, and what that is. */
export type Example = { readonly what: string; readonly command: string };

/** What can be read as text. */
const texts = {
  reads: "corpus",
  filesDescription: "text, JSON lines, Parquet; directories, globs, -",
  filesDetails:
    "Each may be compressed by gzip or zstd. A directory stands for the files below it, a glob in quotes for the files that it matches, - for standard input. A pipe is also read if nothing is named.",
} as const;

export const commands: readonly CommandSpec[] = [
  {
    name: "train",
    files: "<file>...",
    ...texts,
    description: "learn a tokenizer from text",
    details:
      "Learns a byte-level BPE tokenizer from text, for transformers, tokenizers and tiktoken. docs/moving.md compares these options with those of other trainers.",
    readsPipe: true,
    filesFrom: ["counts", "language"],
    options: [
      {
        name: "vocab-size",
        short: "n",
        value: "N",
        required: true,
        topic: "tokens",
        description: "vocabulary size, e.g. 32000 or 32k (32 x 1,024)",
        details:
          "It includes 256 bytes, special tokens and merges. 32k is 32 x 1,024, and 1m is 1,024 x 1,024. Several sizes from one run, separated by commas: -n 16k,32k writes DIR/16384 and DIR/32768.",
      },
      ...specialTokens,
      pattern,
      normalizing,
      compat,
      {
        name: "min-frequency",
        value: "N",
        topic: "tokens",
        rare: true,
        description: "stop when the most frequent pair occurs fewer times",
        default: "1; with --compat huggingface 0",
      },
      {
        name: "max-token-length",
        value: "N",
        least: 1,
        topic: "tokens",
        rare: true,
        description: "longest token, in bytes",
        details: "With --compat huggingface, that trainer's own rule applies.",
      },
      {
        name: "whole-characters",
        topic: "tokens",
        rare: true,
        excludes: [{ ...notOfIds, why: "ids have no bytes" }],
        description: "no token joins a whole character with a part of another",
        details:
          "Two tokens are merged only if both are whole characters, or if the left one is the beginning of a character and the right one its next byte. Bytes that are not UTF-8 are never merged.",
      },
      {
        ...seedTokens,
        name: "seed-token",
        value: "TEXT",
        repeatable: true,
        description: "make sure that the vocabulary has this token; repeatable",
        details:
          "It is an ordinary token, found in text only where the pattern cuts text so. The merges of seed tokens come first, whatever their counts, and later merges build on them. A token that the pattern would cut is an error.",
      },
      {
        ...seedTokens,
        name: "seed-tokens",
        value: "FILE",
        reads: "files",
        description: "seed tokens from a file: one a line, or a JSON list",
        details: "They come after those of --seed-token. A token with a line end needs the JSON list.",
      },
      {
        name: "superwords-from",
        value: "N",
        least: 1,
        topic: "tokens",
        rare: true,
        excludes: [
          notExtending,
          notOfIds,
          {
            other: "counts",
            why: "superwords need the text, and counts have only its words",
            hint: "name the files that were counted",
          },
        ],
        description: "from a vocabulary of N on, learn tokens that cross spaces",
        details:
          "SuperBPE: ordinary training up to N, then merges across the words of a line, up to four words a token. The corpus is read twice.",
      },
      {
        name: "superword-pattern",
        value: "REGEX",
        topic: "tokens",
        rare: true,
        needs: { other: "superwords-from", hint: "e.g. --superwords-from 24000" },
        description: "how the tokenizer and its superwords cut text",
        default: "SuperBPE's: numbers and runs of punctuation apart",
      },
      {
        ...idType,
        topic: "input",
        needs: { other: "input-format ids" },
        description: "with --input-format ids: type of the ids in .bin files",
        default: "uint16",
      },
      {
        name: "extend",
        value: "PATH",
        reads: "tokenizer",
        topic: "tokens",
        rare: true,
        excludes: [notOfIds],
        description: "add tokens to this tokenizer: -n +8k, or the new size",
        details:
          "Training goes on after its merges, on the new text. Its tokens keep their ids, new ones get the ids after all of them, and its files are written again with the new tokens. Several sizes from one run: -n +1k,+2k writes a directory for each, named by the size of its vocabulary. Pattern and special tokens stay. Documents end at the special tokens that its training.json names, and at those of -s. --compat decides ties; without it, the rule with which the tokenizer was trained; if that is not known, the rule extension: the smaller pair of strings in byte-to-character form.",
      },
      {
        name: "like",
        value: "TOKENIZER",
        reads: "tokenizer",
        topic: "tokens",
        rare: true,
        excludes: [
          notExtending,
          notOfIds,
          { other: "pattern", hint: "the pattern is that tokenizer's" },
          { other: "superwords-from", hint: "the pattern is that tokenizer's" },
        ],
        description: "take everything but the merges from this tokenizer",
        details:
          "Pattern, normalization, special tokens, roles, chat template, post-processor and class come from an existing tokenizer, as in transformers' train_new_from_iterator. Options that you add win. Ties and ids follow --compat; without it, its training.json; without that, huggingface. Added tokens that are not special get ids after the size that you ask for. TOKENIZER is a path, or one of the names gpt2, gpt-4, gpt-4o, llama3, llama4 and qwen3.",
      },
      {
        name: "whole-texts",
        topic: "tokens",
        rare: true,
        excludes: [
          notExtending,
          notOfIds,
          { other: "superwords-from", hint: "superwords are learned line by line" },
        ],
        description: "with --compat huggingface: do not cut text at line ends",
        details:
          "That trainer reads files line by line, but texts of an iterator whole: a token may cross a line end, and special tokens in a text are plain text. With this option, every text or record is read whole.",
      },
      {
        ...specialTokensAsText,
        topic: "tokens",
        needs: { other: "extend", hint: "-s names what ends documents" },
        description: "with --extend: the base's special tokens end no documents",
      },
      {
        name: "pad-to",
        value: "N",
        least: 1,
        topic: "tokens",
        rare: true,
        excludes: [notOfIds],
        description: "fill the vocabulary to a multiple of N",
        details: "Reserved special tokens are added after all others.",
      },
      ...reading,
      ...languages,
      weight,
      {
        ...outputDirectory,
        details:
          "DIR may be absent or empty, or hold the result of an earlier training, which is replaced as a whole. If it holds anything else, the run ends with an error and changes nothing.",
      },
      {
        name: "format",
        value: "LIST",
        words: optionWords.format,
        topic: "output",
        excludes: decidedByBase,
        description: "which files to write",
        details: `Names, separated by commas: ${describeWritten()}.`,
        default: "all that apply",
      },
      {
        name: "ledger",
        topic: "output",
        rare: true,
        excludes: [notExtending, notOfIds],
        description: "write tokens.tsv: how often each token occurs",
        details:
          "It has the occurrences when the token was created and at the end, and the two tokens that were merged into it. Without this option it is written if it is below 1 MB and --format is not given.",
      },
      report,
      {
        name: "no-ledger",
        topic: "output",
        rare: true,
        excludes: [{ other: "ledger", hint: "leave one of them out" }],
        description: "do not write tokens.tsv",
      },
      workers,
      memoryLimit,
      ...caching,
      {
        name: "if-changed",
        topic: "nightly",
        needs: ofCache,
        excludes: [notExtending],
        description: "with --cache: do nothing if nothing changed",
        details:
          "That is, if the tokenizer in the output was made from the same inputs with the same options.",
      },
      {
        name: "keep",
        value: "N",
        topic: "nightly",
        rare: true,
        description: "keep the last N results that were replaced",
        details: "They stay beside the output, as DIR.<UTC start of their run>.",
      },
      ...savedCounts,
      ...forModels,
      ...unattended,
      {
        name: "summary",
        value: "MODE",
        words: optionWords.summary,
        topic: "output",
        rare: true,
        description: "how much the summary at the end says",
        details:
          "short has at most eight lines. full also has weights, languages, pretokens, intermediate tokens, the longest tokens and the names of all files. training.json has the numbers of both, whichever is shown.",
        default: "short",
      },
      ...everywhere,
    ],
    examples: [
      { what: "One file", command: "bpe train corpus.txt -n 32k -s '<|endoftext|>' -o tokenizer" },
      {
        what: 'A dataset: the .jsonl.zst files of a directory, their field "text"',
        command:
          "bpe train data --include '*.jsonl.zst' --text-field text -n 32k -s '<|endoftext|>' -p cl100k -o tokenizer",
      },
      {
        what: "Every night: count only what is new, keep a week",
        command:
          "bpe train corpus/ -n 32k -s '<|endoftext|>' -o nightly --cache cache --if-changed --keep 7 -q --log-file nightly.log",
      },
    ],
  },
  {
    name: "count",
    files: "<file>...",
    ...texts,
    description: "count the words of a corpus, to train from",
    details:
      "Counts the distinct words of a corpus, as a pattern cuts them. bpe train --counts trains from such counts. To count tokens, use bpe tokens.",
    readsPipe: true,
    filesFrom: ["counts", "ranges"],
    options: [
      {
        ...outputFile,
        description: "where the counts go",
        details: "A name that ends in .tsv gets text, any other name the compact binary form.",
        default: "stdout, as text",
      },
      {
        name: "min-count",
        value: "N",
        least: 1,
        topic: "output",
        description: "leave out words that occur fewer times",
        details:
          "Without it, counts are exact. With it, the counts of parts of a corpus no longer add up exactly.",
      },
      ranges,
      ...specialTokens,
      pattern,
      normalizing,
      compat,
      ...reading,
      workers,
      memoryLimit,
      ...caching,
      ...savedCounts,
      ...unattended,
      ...everywhere,
    ],
    examples: [
      { what: "The most frequent words", command: "bpe count corpus.txt -s '<|endoftext|>' | head" },
      {
        what: "Count on one machine, train on another",
        command:
          "bpe count corpus.txt -s '<|endoftext|>' -o words.counts && bpe train --counts words.counts -n 32k -o tokenizer",
      },
    ],
  },
  {
    name: "plan",
    files: "<file>...",
    reads: "corpus",
    filesDescription: "text, JSON lines, Parquet; directories, globs",
    description: "cut a corpus into ranges for several machines",
    details:
      "Cuts files into ranges of bytes, one line of JSON each. Any number of machines can count or encode them, with --ranges of count and encode. The results add up to those of the whole corpus.",
    // So that the error can say why: what is piped in is no file that others can read.
    readsPipe: true,
    options: [
      {
        name: "range-size",
        value: "SIZE",
        // Smaller ranges would cost more to plan than to count.
        least: 64_000,
        topic: "output",
        description: "approximate size of a range, e.g. 64MB or 1GiB",
        default: "256MB",
      },
      { ...outputFile, description: "where the plan goes" },
      ...specialTokens,
      pattern,
      { ...compat, excludes: [{ other: "tokenizer", why: "the tokenizer says how text is cut" }] },
      ...reading,
      {
        ...tokenizer,
        required: false,
        description: "plan for bpe encode with this tokenizer",
        details: "-p and -s then mean what they mean for encode.",
      },
      {
        ...specialTokensAsText,
        needs: { other: "tokenizer", hint: "such a plan is for bpe encode: --tokenizer PATH" },
      },
      ...unattended,
      ...everywhere,
    ],
    examples: [
      {
        what: "Plan, and count the ranges in any order",
        command: "bpe plan corpus.txt -s '<|endoftext|>' | shuf | bpe count --ranges - -s '<|endoftext|>'",
      },
    ],
  },
  {
    name: "encode",
    files: "<file>...",
    ...texts,
    description: "turn text into token ids",
    details:
      "Encodes text with any byte-level BPE tokenizer. The ids are those that the tokenizer's own library gives.",
    readsPipe: true,
    filesFrom: ["ranges"],
    options: [
      tokenizer,
      {
        ...outputFile,
        description: "ids as .npy or .bin",
        details: "Without it, decimal ids go to stdout, one line for each input or record.",
        default: "stdout, decimal",
      },
      ranges,
      idType,
      {
        name: "append-token",
        value: "TEXT",
        topic: "output",
        excludes: [notOfIds],
        description: "special token to add after each input or record",
      },
      specialTokensAsText,
      ...besideTokenizer,
      ...reading,
      encodingWorkers,
      encodingMemory,
      ...unattended,
      ...everywhere,
    ],
    examples: [
      { what: "A text, for numpy", command: "bpe encode corpus.txt --tokenizer tokenizer -o corpus.npy" },
      { what: "A pipe, as numbers", command: "echo 'hello world' | bpe encode --tokenizer tokenizer" },
      {
        what: "A dataset, its documents apart",
        command:
          "bpe encode data --include '*.jsonl.zst' --tokenizer tokenizer --append-token '<|endoftext|>' -o data.bin",
      },
    ],
  },
  {
    name: "tokens",
    files: "<file>...",
    ...texts,
    description: "count the tokens of files",
    details:
      "Counts tokens as wc counts words: of each file, of each directory that is named, and in total. The numbers are those of the ids that encode gives. Bytes are those of the text, uncompressed; of records, those of the text field. It writes only to stdout. To count words for training, use bpe count.",
    readsPipe: true,
    options: [
      tokenizer,
      { name: "json", topic: "output", description: "the result as JSON" },
      specialTokensAsText,
      ...besideTokenizer,
      ...reading,
      encodingWorkers,
      encodingMemory,
      logFile,
      ...everywhere,
    ],
    examples: [
      { what: "The files of a directory, and its sum", command: "bpe tokens corpus/ --tokenizer tokenizer" },
      {
        what: "A number, for a script",
        command: "bpe tokens corpus.txt --tokenizer tokenizer --json -q | jq .total.tokens",
      },
    ],
  },
  {
    name: "decode",
    files: "<file>",
    reads: "files",
    filesDescription: "ids: .npy, .bin, or decimal; - is standard input",
    description: "turn token ids into text",
    details:
      "Reads .npy, .bin, or decimal ids separated by white space, and writes the exact bytes. With a tokenizer of ids, it writes the ids of the alphabet, one line for each document.",
    readsPipe: true,
    options: [
      tokenizer,
      { ...outputFile, description: "where the text goes" },
      {
        ...idType,
        topic: "input",
        description: "type of the ids in a .bin file",
        default: "as encode writes it",
      },
      ...besideTokenizer,
      ...unattended,
      ...everywhere,
    ],
    examples: [
      { what: "A file of ids", command: "bpe decode corpus.npy --tokenizer tokenizer | head" },
      { what: "Some ids", command: "echo 104 105 | bpe decode --tokenizer tokenizer" },
    ],
  },
  {
    name: "inspect",
    files: "<path>",
    reads: "tokenizer",
    filesDescription: "tokenizer directory, or one of its files",
    description: "show what is in a tokenizer",
    details:
      "Describes a tokenizer: its size, pattern and special tokens, its longest tokens, scripts and lengths.",
    options: [
      {
        name: "text",
        value: "FILE",
        reads: "corpus",
        topic: "input",
        description: "a text to encode and show",
        details: "Shows bytes per token, how much of the vocabulary the text uses, and its first tokens.",
      },
      { name: "json", topic: "output", description: "the result as JSON" },
      report,
      ...besideTokenizer,
      ...everywhere,
    ],
    examples: [{ what: "With a text", command: "bpe inspect tokenizer --text corpus.txt" }],
  },
  {
    name: "eval",
    files: "<tokenizer>...",
    reads: "tokenizer",
    description: "measure and compare tokenizers on texts",
    details:
      "Encodes each text with each tokenizer, and measures bytes, characters and words per token, how words and numbers are cut, how much of the vocabulary is used, and how equal the texts are in their costs. A tokenizer is a path, or NAME=PATH; a directory of several sizes stands for all of them. bpe help docs/evaluate.md has the formulas.",
    options: [
      {
        name: "text",
        value: "[NAME=]FILE...",
        reads: "corpus",
        repeatable: true,
        many: true,
        required: true,
        topic: "input",
        description: "a text; files with the same NAME are one text",
        details:
          "A file, directory or glob: anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizers first.",
      },
      {
        name: "term",
        value: "TEXT",
        repeatable: true,
        topic: "input",
        excludes: [{ other: "csv", why: "the rows of the CSV are texts" }],
        description: "a term: its tokens, alone and after a space",
      },
      {
        name: "terms",
        value: "FILE",
        reads: "files",
        topic: "input",
        rare: true,
        excludes: [{ other: "csv", why: "the rows of the CSV are texts" }],
        description: "a file of terms, a line each",
      },
      {
        name: "numbers",
        topic: "output",
        description: "also measure, and print, how numbers are cut",
        details: "Tokens per group of three digits, and how often tokens end where groups do.",
      },
      {
        name: "measure",
        value: "LIST",
        words: optionWords.measure,
        topic: "output",
        excludes: completeOutputs,
        description: "print these tables: e.g. fertility, or all",
        details:
          "Names with commas between. Each measure is a table of tokenizers and texts. Of one text, or of one tokenizer, several measures are one table, if it fits. Three more tables: texts has the sizes of the texts, parity how alike the texts are in what they cost, vocabulary how many tokens are not whole characters.",
        default: "bytes_per_token",
      },
      {
        name: "words",
        value: "N",
        least: 1,
        topic: "output",
        excludes: completeOutputs,
        description: "also print the N costliest words of each text, at most 20",
        details: "For each tokenizer, the words whose tokens beyond the first are the most in all.",
      },
      ...besideTokenizer,
      specialTokensAsText,
      ...reading,
      { name: "json", topic: "output", description: "the result as JSON, with all digits" },
      { name: "csv", topic: "output", description: "the measures as CSV: a row per tokenizer and text" },
      report,
      workers,
      memoryLimit,
      ...everywhere,
    ],
    examples: [
      {
        what: "Two tokenizers on one text",
        command: "bpe eval tokenizer gpt2=gpt2/tokenizer.json --text corpus.txt",
      },
      {
        what: "On texts of several languages, for a spreadsheet",
        command: "bpe eval tokenizer --text en=english.txt --text de='german/*.txt' --csv > measures.csv",
      },
      {
        what: "Two tokenizers side by side, on texts and terms",
        command:
          "bpe eval tokenizer gpt2=gpt2/tokenizer.json --text corpus.txt --term glucose --report report.html",
      },
    ],
  },
  {
    name: "diff",
    files: "<a> <b>",
    reads: "tokenizer",
    description: "show how two tokenizers differ",
    details:
      "Shows tokens that only one of them has, tokens with another id, merges in another order, and, with a text, the words that they cut differently.",
    options: [
      {
        ...textFiles,
        description: "a text: which of its words are cut differently, and how often",
        details: "Anything that encode reads, or - for standard input. Several files are one text.",
      },
      ...besideTokenizer,
      specialTokensAsText,
      ...reading,
      { name: "json", topic: "output", description: "the result as JSON, with complete lists" },
      workers,
      memoryLimit,
      ...everywhere,
    ],
    examples: [{ what: "On the words of a text", command: "bpe diff tokenizer gpt2 --text corpus.txt" }],
  },
  {
    name: "prune",
    files: "<tokenizer>",
    reads: "tokenizer",
    filesDescription: "tokenizer directory, or one of its files",
    description: "make a vocabulary smaller",
    details:
      "Removes tokens from any byte-level BPE tokenizer, one by one: always the rarest token in a text that no other token is made of. Bytes and added tokens stay. The result has the same kinds of files as the tokenizer, and ids.tsv, which has the new id of each old one.",
    options: [
      {
        ...textFiles,
        required: true,
        description: "texts that show how often each token occurs",
        details:
          "Anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizer first.",
      },
      {
        name: "vocab-size",
        short: "n",
        value: "N",
        least: 1,
        required: true,
        topic: "tokens",
        description: "how many tokens stay, special tokens included",
      },
      outputDirectory,
      ...besideTokenizer,
      ...reading,
      { ...workers, default: "1 for small texts, else all cores" },
      ...unattended,
      ...everywhere,
    ],
    examples: [
      {
        what: "To 500 tokens, by what a text needs",
        command: "bpe prune tokenizer --text corpus.txt -n 500 -o smaller",
      },
    ],
  },
  {
    name: "serve",
    files: "",
    description: "encode and decode for another program",
    details:
      "Encodes and decodes for another program, through stdin and stdout. bpe help docs/encode.md says what requests look like.",
    options: [tokenizer, ...besideTokenizer, ...everywhere],
    examples: [{ what: "As another program starts it", command: "bpe serve --tokenizer tokenizer" }],
  },
  {
    name: "completions",
    files: "<shell>",
    filesDescription: "bash, zsh or fish",
    fileWords: ["bash", "zsh", "fish"],
    description: "print completions for a shell",
    details: "Prints a script for a shell, which then completes commands, options and their values.",
    options: everywhere,
    examples: [
      {
        what: "bash, for this user",
        command: "bpe completions bash > ~/.local/share/bash-completion/completions/bpe",
      },
      { what: "zsh, in a directory of its fpath", command: "bpe completions zsh > ~/.zfunc/_bpe" },
      { what: "fish", command: "bpe completions fish > ~/.config/fish/completions/bpe.fish" },
    ],
  },
];

/** Whether its output is a directory, which is replaced as a whole. */
export const replacesDirectory = ({ options }: CommandSpec) =>
  options.some(({ writes }) => writes === "directory");

/** The command as it is typed, with all that it cannot do without. */
export function usageLine({ name, files, options }: CommandSpec): string {
  const required = options
    .filter((option) => option.required)
    .map(({ name, short, value }) => `${short === undefined ? `--${name}` : `-${short}`} ${value}`);
  return ["bpe", name, files, ...required, "[options]"].filter((part) => part !== "").join(" ");
}
