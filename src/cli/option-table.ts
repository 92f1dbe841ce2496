// The options that several commands take, as data, and what an option says about itself. Arguments are read by these
// tables; help, completions and the man page are made of them.

/** What the pages of help are about, in their order. */
export const topics = {
  input: { title: "Input", about: "what is read, and how" },
  tokens: { title: "Tokens", about: "how text is cut, and what becomes a token" },
  output: { title: "Output", about: "what is written, and where" },
  model: { title: "Model", about: "what transformers reads beside the vocabulary" },
  speed: { title: "Speed and memory", about: "how much of the machine a run may use" },
  nightly: { title: "Nightly", about: "runs that come again, with nobody watching" },
  general: { title: "General", about: "what every command shows" },
} as const;

export type Topic = keyof typeof topics;

export type OptionSpec = {
  readonly name: string;
  readonly short?: string;
  /** What its value is called in help; an option without one is a flag. */
  readonly value?: string;
  /** The words that its value may be; of a `LIST`, any of them, with commas between. */
  readonly words?: readonly string[];
  readonly repeatable?: boolean;
  /** Arguments behind its value are more values of it, up to the next option; `--name=value` takes no more. */
  readonly many?: boolean;
  /** The page of help that describes it. */
  readonly topic: Topic;
  /** Whether the command cannot do without it. */
  readonly required?: boolean;
  /** What it does not go with. */
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

/** `other` is an option, or one at a value: `input-format ids`. */
type Need = { readonly other: string; readonly hint?: string };

type Exclusion = Need & {
  readonly why?: string;
  /** The value that does go with it. */
  readonly unless?: string;
};

/** The base says it, and its files are written with the new tokens put in. */
const asBaseHasIt: Exclusion = { other: "extend", hint: "it stays as the base has it" };
export const notExtending: Exclusion = { other: "extend" };
/** Ids are numbers: nothing is cut, named or cached. */
export const notOfIds: Exclusion = { other: "input-format ids" };

/** The options whose value is a word, with the words. `--format` and `--input-format` list what other rooms know. */
export const optionWords = {
  progress: ["auto", "bar", "plain", "json", "none"],
  "input-format": ["text", "jsonl", "json", "parquet", "fasta", "ids"],
  binary: ["text"],
  dtype: ["uint16", "uint32"],
  compat: ["cs336", "huggingface", "rustbpe", "extension"],
  format: ["huggingface", "gpt2", "tiktoken"],
} as const;

/** One HTML page with pictures (src/report). */
export const report: OptionSpec = {
  name: "report",
  value: "FILE",
  topic: "output",
  excludes: [notExtending, notOfIds],
  description: "write charts, tables and tokens as one HTML page",
  details:
    "The page needs no network and runs nothing of the text that it shows. It holds all tokens, so that the merge tree of each can be seen.",
};

/** For commands that may run for long, with nobody watching. */
export const unattended: readonly OptionSpec[] = [
  {
    name: "wait",
    topic: "nightly",
    rare: true,
    description: "wait while another run writes the output",
    details: "Without it the second run ends at once, and names the process of the first.",
  },
  {
    name: "log-file",
    value: "FILE",
    topic: "nightly",
    description: "append progress, warnings and the record",
    details: "The record of the run is the last line, as JSON, whether it went well or not.",
  },
];

export const everywhere: readonly OptionSpec[] = [
  {
    name: "progress",
    value: "MODE",
    words: optionWords.progress,
    topic: "general",
    description: "how progress is shown",
    details:
      "auto is a bar on a terminal, and plain lines elsewhere. json writes one object a line; the last one is the result.",
    default: "auto",
  },
  {
    name: "quiet",
    short: "q",
    topic: "general",
    description: "only errors",
    details: "No progress, no summary, no warnings.",
  },
  {
    name: "help",
    short: "h",
    topic: "general",
    description: "this help; --help TOPIC tells more",
  },
];

/** How files are read. */
export const reading: readonly OptionSpec[] = [
  {
    name: "text-field",
    value: "NAME",
    topic: "input",
    excludes: [notOfIds],
    description: "of records: the field with the text",
    details:
      "Records are lines of JSON, elements of a JSON array, and rows of Parquet. Each is a document; its text is in a field, or column, of this name.",
    default: "text",
  },
  {
    name: "include",
    value: "GLOB",
    repeatable: true,
    topic: "input",
    excludes: [notOfIds],
    description: "of a directory: only files like this",
    details: "Without a slash it describes names at any depth, with one the path below the directory.",
  },
  {
    name: "input-format",
    value: "FORMAT",
    words: optionWords["input-format"],
    topic: "input",
    rare: true,
    description: "what everything named is read as",
    default: "by name and content",
  },
  {
    name: "binary",
    value: "MODE",
    words: optionWords.binary,
    topic: "input",
    rare: true,
    excludes: [notOfIds],
    description: "read what is no text as text",
    details:
      "Without it an archive, an image or a program is an error; in a directory it is skipped and listed.",
  },
];

export const specialToken: OptionSpec = {
  name: "special-token",
  short: "s",
  value: "TEXT",
  repeatable: true,
  topic: "tokens",
  excludes: [notOfIds],
  description: "ends a document, never merged; repeatable",
  details:
    "It does so wherever it occurs. Its text is never counted, and it gets an id of its own. Where two of them match, the longest does.",
};
export const pattern: OptionSpec = {
  name: "pattern",
  short: "p",
  value: "NAME|REGEX",
  topic: "tokens",
  excludes: [{ ...notOfIds, unless: "none", why: "a document is one word" }],
  description: "cuts words: name (-p help) or regex",
  details:
    "The pretokenizer: no token crosses a cut. A value of only letters, digits, -, _ and . is a name, and -p help lists them; anything else is a regular expression. With -p none a document is one word.",
  default: "gpt2",
};
export const compat: OptionSpec = {
  name: "compat",
  value: "RULE",
  words: optionWords.compat,
  topic: "tokens",
  description: "whose trainer to agree with",
  details:
    "Merges and ids are those of that trainer: it decides which of equally frequent pairs is merged, and how text is fed.",
  default: "cs336",
};
export const workers: OptionSpec = {
  name: "workers",
  short: "w",
  value: "N",
  topic: "speed",
  description: "threads",
  details:
    "The main one is among them. The default is all cores that this process may use, and 1 for small inputs. The result is the same with any number.",
  default: "all cores",
};
export const memoryLimit: OptionSpec = {
  name: "memory-limit",
  value: "SIZE",
  topic: "speed",
  description: "words beyond it go to disk",
  details:
    "A size such as 800MB, 2GB or 1.5GiB. The result does not depend on it. The default is a share of what the machine or the control group allows.",
  default: "80 %",
};
export const savedCounts: readonly OptionSpec[] = [
  {
    name: "counts",
    value: "FILE",
    repeatable: true,
    topic: "input",
    rare: true,
    excludes: [notOfIds],
    description: "word counts to add to the corpus",
    details:
      "FILE is a path or a glob. The counts may stand for the corpus. Pattern and special tokens come from them where they are not given; given, they must agree.",
  },
  {
    name: "save-counts",
    value: "FILE",
    topic: "output",
    rare: true,
    excludes: [notOfIds],
    description: "keep the word counts",
    details: "They are text in a .tsv, and in the compact binary form under any other name.",
  },
];
export const ofCache: Need = { other: "cache", hint: "e.g. --cache cache" };
export const caching: readonly OptionSpec[] = [
  {
    name: "cache",
    value: "DIR",
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
    details: "What was used longest ago goes.",
    default: "no limit",
  },
];
export const tokenizer: OptionSpec = {
  name: "tokenizer",
  value: "PATH",
  required: true,
  topic: "input",
  description: "tokenizer directory, or one of its files",
  details:
    "A directory that train or another tool wrote, or a tokenizer.json, tekken.json, vocab.json (its merges.txt beside it) or file of ranks (.tiktoken).",
};
/** What some tokenizers' files do not say. */
export const besideTokenizer: readonly OptionSpec[] = [
  {
    name: "pattern",
    short: "p",
    value: "NAME|REGEX",
    topic: "input",
    rare: true,
    excludes: [{ ...notOfIds, unless: "none", why: "a document is one word" }],
    description: "what cuts words, for files that do not say it",
    details: "A vocab.json or a file of ranks. Published ranks that are known need none.",
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
    details: "A vocab.json or a file of ranks. Without an ID it gets the next free one.",
  },
];
/** Of options that a tokenizer to extend has decided already. */
export const decidedByBase = [asBaseHasIt, notOfIds];
const role = (name: string, rest: string): OptionSpec => ({
  name,
  value: "TEXT",
  topic: "model",
  rare: true,
  excludes: decidedByBase,
  description: `the special token that is ${name} to a model`,
  details: rest,
});
const proposed = "An empty TEXT means none.";
const byName = "by its name, e.g. <|endoftext|>";
/** For `transformers`, which reads them beside the vocabulary. */
export const forModels: readonly OptionSpec[] = [
  { ...role("bos", proposed), default: byName },
  { ...role("eos", proposed), default: byName },
  { ...role("pad", proposed), default: byName },
  role("unk", "None is proposed: every text can be encoded."),
  {
    name: "add-bos",
    topic: "model",
    rare: true,
    excludes: decidedByBase,
    description: "encoding puts bos in front of a text",
    details: "A post-processor in tokenizer.json does it.",
  },
  {
    name: "chat-template",
    value: "NAME|FILE",
    topic: "model",
    excludes: decidedByBase,
    description: "how a chat becomes text",
    details: "One of the names chatml, gemma and llama3, or a file of Jinja.",
  },
  {
    name: "model-max-length",
    value: "N",
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
    description: "the class of transformers that loads it",
    default: "PreTrainedTokenizerFast",
  },
  {
    name: "model-card",
    topic: "model",
    rare: true,
    excludes: [notExtending, notOfIds],
    description: "write README.md, the page that a model hub shows",
    details: "What the tokenizer is, what it was trained on, and how it is used. It names no file.",
  },
];

export const idType: OptionSpec = {
  name: "dtype",
  value: "TYPE",
  words: optionWords.dtype,
  topic: "output",
  rare: true,
  description: "type of the ids in a .npy or .bin file",
  default: "uint16 if every id of the tokenizer fits",
};
export const specialTokensAsText: OptionSpec = {
  name: "special-tokens-as-text",
  topic: "input",
  rare: true,
  excludes: [notOfIds],
  description: "encode special tokens in the text as plain text",
};
export const ranges: OptionSpec = {
  name: "ranges",
  value: "FILE",
  topic: "input",
  rare: true,
  excludes: [notOfIds],
  description: "instead of files: these ranges of a plan (see bpe plan)",
  details: "- reads them from standard input.",
};
