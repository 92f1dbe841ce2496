// The contract of the command line as data: what is typed is read by it, and help is made of it.

export type OptionSpec = {
  readonly name: string;
  readonly short?: string;
  /** What its value is called in help; an option without one is a flag. */
  readonly value?: string;
  /** The words that its value may be; of `--format`, a list of them. */
  readonly words?: readonly string[];
  readonly repeatable?: boolean;
  readonly description: string;
  readonly default?: string;
};

export type CommandSpec = {
  readonly name: string;
  /** What it takes, as help shows it behind the command's name. */
  readonly files: string;
  /** The rest of the usage line. */
  readonly usage: string;
  readonly description: string;
  /** Whether what is piped in is read where no file is named. */
  readonly readsPipe?: boolean;
  readonly options: readonly OptionSpec[];
  readonly example: string;
};

/** The options whose value is a word, with the words. `--format` and `--input-format` list what other rooms know. */
export const optionWords = {
  progress: ["auto", "bar", "plain", "json", "none"],
  "input-format": ["text", "jsonl", "json", "parquet"],
  binary: ["text"],
  dtype: ["uint16", "uint32"],
  compat: ["cs336", "huggingface", "rustbpe"],
  format: ["huggingface", "gpt2", "tiktoken"],
} as const;

/** For commands that may run for long, with nobody watching. */
const unattended: readonly OptionSpec[] = [
  { name: "wait", description: "if another run is writing the output: wait for its end" },
  {
    name: "log-file",
    value: "FILE",
    description: "append progress, warnings and, as the last line, the record of the run",
  },
];

const everywhere: readonly OptionSpec[] = [
  {
    name: "progress",
    value: "MODE",
    words: optionWords.progress,
    description: "auto, bar, plain, json or none",
    default: "auto",
  },
  { name: "quiet", short: "q", description: "only errors: no progress, no summary, no warnings" },
  { name: "help", short: "h", description: "show this help" },
];

/** How files are read. */
const reading: readonly OptionSpec[] = [
  {
    name: "input-format",
    value: "FORMAT",
    words: optionWords["input-format"],
    description: "text, jsonl, json or parquet, for everything named (default: by name and content)",
  },
  {
    name: "text-field",
    value: "NAME",
    description: "of records: the field, or column, that holds the text (default: text)",
  },
  {
    name: "include",
    value: "GLOB",
    repeatable: true,
    description: "of a directory: only files like this; without a slash, names at any depth; repeatable",
  },
  {
    name: "binary",
    value: "MODE",
    words: optionWords.binary,
    description: "text: read what is no text as text (default: an error; in a directory it is skipped)",
  },
];

const special: OptionSpec = {
  name: "special-token",
  short: "s",
  value: "TEXT",
  repeatable: true,
  description: "ends a document wherever it occurs; never counted, never merged; repeatable",
};
const pattern: OptionSpec = {
  name: "pattern",
  short: "p",
  value: "NAME|REGEX",
  description: "pretokenizer: a name (`--pattern help` lists them) or a regular expression",
  default: "gpt2",
};
const workers: OptionSpec = {
  name: "workers",
  short: "w",
  value: "N",
  description:
    "threads that count, the main one among them (default: 1 for small inputs, else the cores this process may use)",
};
const memoryLimit: OptionSpec = {
  name: "memory-limit",
  value: "SIZE",
  description: "words beyond it go to disk (default: 80 % of what the machine or control group allows)",
};
const savedCounts: readonly OptionSpec[] = [
  {
    name: "counts",
    value: "FILE",
    repeatable: true,
    description:
      "word counts to add to the corpus, a path or a glob; pattern and special tokens come from them where they are not given; repeatable",
  },
  {
    name: "save-counts",
    value: "FILE",
    description: "keep the word counts: .tsv, or the compact binary form under any other name",
  },
];
const caching: readonly OptionSpec[] = [
  {
    name: "cache",
    value: "DIR",
    description: "keep the word counts of each file there, and count only what is new",
  },
  {
    name: "cache-limit",
    value: "SIZE",
    description:
      "with --cache: how large it may be, e.g. 10GB; what was used longest ago goes (default: no limit)",
  },
];
const tokenizer: OptionSpec = {
  name: "tokenizer",
  value: "PATH",
  description: "tokenizer directory, tokenizer.json, tekken.json, vocab.json or file of ranks (required)",
};
/** What some tokenizers' files do not say. */
const besideTokenizer: readonly OptionSpec[] = [
  {
    name: "pattern",
    short: "p",
    value: "NAME|REGEX",
    description:
      "for a vocab.json or file of ranks: the pretokenizer, which is not in it (known ranks need none)",
  },
  {
    name: "special-token",
    short: "s",
    value: "TEXT[=ID]",
    repeatable: true,
    description: "for the same: a special token (default ID: the next free one); repeatable",
  },
];
/** For `transformers`, which reads them beside the vocabulary. */
const forModels: readonly OptionSpec[] = [
  ...["bos", "eos", "pad", "unk"].map((name) => ({
    name,
    value: "TEXT",
    description: `the special token that is ${name} to a model${
      name === "unk" ? "" : "; empty for none (default: by its name, e.g. <|endoftext|>)"
    }`,
  })),
  {
    name: "add-bos",
    description: "encoding puts bos in front of a text (a post-processor of tokenizer.json)",
  },
  {
    name: "chat-template",
    value: "NAME|FILE",
    description: "how a chat becomes text: chatml, gemma, llama3, or a file of Jinja",
  },
  { name: "model-max-length", value: "N", description: "longest input of the model, in tokens" },
  {
    name: "class",
    value: "NAME",
    description: "the class of transformers that loads it",
    default: "PreTrainedTokenizerFast",
  },
];

const idType: OptionSpec = {
  name: "dtype",
  value: "TYPE",
  words: optionWords.dtype,
  description: "uint16 or uint32 (default: uint16 if every id of the tokenizer fits)",
};
const specialTokensAsText: OptionSpec = {
  name: "special-tokens-as-text",
  description: "encode special tokens in the text as plain text",
};
const ranges: OptionSpec = {
  name: "ranges",
  value: "FILE",
  description: "instead of files: count these ranges of a plan (`bpe plan`); - reads them from stdin",
};
const compat: OptionSpec = {
  name: "compat",
  value: "RULE",
  words: optionWords.compat,
  description: "whose trainer to agree with, merge for merge: cs336, huggingface or rustbpe",
  default: "cs336",
};

export const commands: readonly CommandSpec[] = [
  {
    name: "train",
    files: "<file>...",
    usage: "-n N -o DIR",
    description: "corpus -> tokenizer directory",
    readsPipe: true,
    options: [
      {
        name: "vocab-size",
        short: "n",
        value: "N",
        description:
          "256 bytes + special tokens + merges (required); several, e.g. 16000,32000, make DIR/16000 and DIR/32000",
      },
      { name: "output", short: "o", value: "DIR", description: "tokenizer directory (required)" },
      special,
      pattern,
      compat,
      {
        name: "min-frequency",
        value: "N",
        description: "stop when the best pair occurs fewer times (default: 1; huggingface: 0)",
      },
      { name: "max-token-length", value: "N", description: "longest token, in bytes" },
      {
        name: "pad-to",
        value: "N",
        description: "fill the vocabulary with reserved special tokens to a multiple of N",
      },
      ...reading,
      workers,
      memoryLimit,
      ...caching,
      {
        name: "if-changed",
        description: "with --cache: do nothing if inputs and options are those that the output was made of",
      },
      ...savedCounts,
      {
        name: "keep",
        value: "N",
        description: "keep the last N results that were replaced, as DIR.<UTC start of their run>",
      },
      {
        name: "format",
        value: "LIST",
        words: optionWords.format,
        description: "comma-separated: huggingface, gpt2, tiktoken (default: all that apply)",
      },
      ...forModels,
      ...unattended,
      ...everywhere,
    ],
    example: 'bpe train corpus.txt --vocab-size 32000 --special-token "<|endoftext|>" --output tokenizer',
  },
  {
    name: "count",
    files: "<file>...",
    usage: "[-o FILE]",
    description: "corpus -> word counts",
    readsPipe: true,
    options: [
      {
        name: "output",
        short: "o",
        value: "FILE",
        description: "where the counts go: .tsv, or the compact form (default: as .tsv on stdout)",
      },
      {
        name: "min-count",
        value: "N",
        description: "leave out words that occur fewer times here (counts are exact without it)",
      },
      ranges,
      special,
      pattern,
      compat,
      ...reading,
      workers,
      memoryLimit,
      ...caching,
      ...savedCounts,
      ...unattended,
      ...everywhere,
    ],
    example: "bpe count corpus.txt -s '<|endoftext|>' | head",
  },
  {
    name: "plan",
    files: "<file>...",
    usage: "[--range-size SIZE]",
    description: "corpus -> ranges that machines can count by themselves",
    options: [
      {
        name: "range-size",
        value: "SIZE",
        description: "wished size of a range, e.g. 64MB or 1GiB",
        default: "256MB",
      },
      { name: "output", short: "o", value: "FILE", description: "where the plan goes (default: stdout)" },
      special,
      pattern,
      compat,
      ...reading,
      {
        ...tokenizer,
        description: "plan for `bpe encode` with this tokenizer, which takes -p and -s as encode does",
      },
      specialTokensAsText,
      {
        name: "count-documents",
        description: "count the documents that begin in each range, which takes reading the corpus",
      },
      ...unattended,
      ...everywhere,
    ],
    example: "bpe plan corpus.txt -s '<|endoftext|>' | shuf | bpe count --ranges - -s '<|endoftext|>'",
  },
  {
    name: "encode",
    files: "<file>...",
    usage: "--tokenizer PATH [-o FILE]",
    description: "text -> token ids",
    readsPipe: true,
    options: [
      tokenizer,
      {
        name: "output",
        short: "o",
        value: "FILE",
        description: "ids as .npy or .bin (default: decimal ids on stdout, a line for each input or record)",
      },
      { ...ranges, description: ranges.description.replace("count", "encode") },
      idType,
      {
        name: "append-token",
        value: "TEXT",
        description: "special token to put behind each input or record",
      },
      specialTokensAsText,
      ...besideTokenizer,
      ...reading,
      {
        ...workers,
        description:
          "threads that encode, the main one among them (default: 1 below 80 MB, else the cores this process may use)",
      },
      ...unattended,
      ...everywhere,
    ],
    example: "bpe encode corpus.txt --tokenizer tokenizer -o corpus.npy",
  },
  {
    name: "decode",
    files: "<file>",
    usage: "--tokenizer PATH [-o FILE]",
    description: "token ids -> text",
    readsPipe: true,
    options: [
      tokenizer,
      { name: "output", short: "o", value: "FILE", description: "where the text goes (default: stdout)" },
      { ...idType, description: "of a .bin file: uint16 or uint32 (default: as encode writes it)" },
      ...besideTokenizer,
      ...unattended,
      ...everywhere,
    ],
    example: "bpe decode corpus.npy --tokenizer tokenizer | head",
  },
  {
    name: "inspect",
    files: "<path>",
    usage: "[--text FILE]",
    description: "what is in a tokenizer",
    options: [
      { name: "text", value: "FILE", description: "a text to encode: bytes per token, and its first tokens" },
      ...besideTokenizer,
      ...everywhere,
    ],
    example: "bpe inspect tokenizer --text corpus.txt",
  },
  {
    name: "serve",
    files: "",
    usage: "--tokenizer PATH",
    description: "encodes and decodes for another program, through stdin and stdout",
    options: [tokenizer, ...besideTokenizer, ...everywhere],
    example: "bpe serve --tokenizer tokenizer",
  },
];
