import { inputFormats } from "#corpus";
import { describeWritten, imageFormat, writtenFormats } from "#formats";
import { normalizationSteps } from "#text";
import {
  chatTemplate,
  decimals,
  decision,
  fields,
  flag,
  languageFiles,
  normalization,
  path,
  paths,
  renames,
  size,
  sizes,
  text,
  texts,
  weights,
  whole,
  word,
  words,
} from "./kinds.ts";
import { type Exclusion, type Need, type Requested, tableOf } from "./option.ts";

// Every option of a training, defined once for the command line, the library and Python.

/** The base determines it, and its files are rewritten with the new tokens. */
const fixedByBase: Exclusion = { other: "extend", hint: "it stays as it is in the base" };
export const notWithExtend: Exclusion = { other: "extend" };
export const commandLineOnly = { library: null, python: null } as const;

const fixedByRanges: Exclusion = {
  other: "ranges",
  why: "the plan says which files are read, and how",
};
const languagesFirst = { other: "language", hint: "e.g. --language en=corpus/en --language hi=corpus/hi" };
const needsCache: Need = { other: "cache", hint: "e.g. --cache cache" };
const seedTokens = {
  topic: "tokens",
  rare: true,
  excludes: [{ other: "superwords-from" }],
} as const;
const needsExtend: Need = { other: "extend", hint: "e.g. --extend tokenizer" };
const forModel = { topic: "model", rare: true, excludes: [fixedByBase] } as const;
const proposed = "An empty TEXT means none.";
const byName = "by its name, e.g. <|endoftext|>";
const role = (name: string, details: string) =>
  ({
    name,
    kind: text("TEXT"),
    ...forModel,
    library: `model.roles.${name}`,
    description: `the special token that a model uses as ${name}`,
    details,
  }) as const;

/** Options that other commands describe in another way. */
export const { idType, specialTokensAsText } = tableOf({
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

/** In the order of help. */
export const trainingOptions = tableOf({
  vocabSize: {
    name: "vocab-size",
    recorded: true,
    short: "n",
    kind: sizes,
    required: true,
    optionalWith: "extend",
    topic: "tokens",
    description: "vocabulary size, e.g. 32000 or 32k (32 x 1,024)",
    details:
      "It includes 256 bytes, special tokens and merges. 32k is 32 x 1,024, and 1m is 1,024 x 1,024. Several sizes from one run, separated by commas: -n 16k,32k writes DIR/16384 and DIR/32768.",
    inCode:
      '256 bytes + special tokens + merges. Several sizes, as in [16_384, 32_768], are made by one run: each is written into a directory of the output that is named by its size. To extend a tokenizer, also how many tokens it gets: "+8000".',
  },
  specialTokens: {
    name: "special-token",
    recorded: true,
    short: "s",
    kind: texts("TEXT"),
    topic: "tokens",
    description: "one token, never merged; ends documents; repeatable",
    details:
      "A document ends wherever it occurs. Its text is never counted, and it has an id of its own. Where several match, the longest wins.",
    inCode:
      "Tokens that are never merged. A document ends wherever one occurs. Its text is never counted, and it has an id of its own. Where several match, the longest wins.",
  },
  specialTokensFirst: {
    name: "special-tokens-first",
    recorded: true,
    kind: flag,
    topic: "tokens",
    rare: true,
    excludes: [fixedByBase],
    description: "special tokens get the first ids",
    details:
      "The 256 bytes come after them, in order, then merges: as tekken.json has it. With --compat huggingface they are first already.",
  },
  specialTokensFile: {
    name: "special-tokens",
    reads: "files",
    kind: paths,
    topic: "tokens",
    rare: true,
    library: null,
    description: "special tokens from a file: one a line, or JSON",
    details:
      "Each counts as if given by --special-token, in the order typed. JSON is a list of texts, or a tokenizer.json, whose special tokens are taken in the order of their ids. Empty lines are ignored. White space at the start or end of a line is an error; tokens with it need the JSON list.",
  },
  pattern: {
    name: "pattern",
    recorded: { $ref: "#/$defs/pattern" },
    short: "p",
    kind: text("NAME|REGEX"),
    topic: "tokens",
    description: "cuts text: name (-p help) or regex",
    details:
      "The pretokenizer: no token crosses a cut. A value of only letters, digits, -, _ and . is a name (-p help lists the names). Anything else is a regular expression, without backreferences or long lookbehinds. With -p none, a document is one word.",
    default: "gpt2",
    inCode:
      "How text is cut: a name (cl100k, …; bpe help docs/size-and-pattern.md) or a regular expression. No token crosses a cut.",
  },
  normalize: {
    name: "normalize",
    kind: normalization(normalizationSteps),
    topic: "tokens",
    rare: true,
    excludes: [fixedByBase, { other: "like", hint: "the normalization is that tokenizer's" }],
    description: "change text before it is cut, e.g. NFC or NFKC,lowercase",
    details: `Steps in their order, separated by commas: ${normalizationSteps.join(", ")}. Text between special tokens is changed so when it is counted, and whenever the tokenizer encodes it. Only tokenizer.json can store this, so other formats are not written.`,
  },
  compat: {
    name: "compat",
    recorded: { enum: ["cs336", "huggingface", "rustbpe"] },
    kind: word(["cs336", "huggingface", "rustbpe", "extension"], "RULE"),
    topic: "tokens",
    description: "which trainer to match",
    details:
      "Merges and ids are those of that trainer: it decides which of equally frequent pairs is merged first, and whether text is read line by line. Special tokens in the text end documents; huggingface learns from them with --special-tokens-as-text.",
    default: "cs336",
  },
  minFrequency: {
    name: "min-frequency",
    recorded: true,
    kind: whole(),
    topic: "tokens",
    rare: true,
    description: "stop when the most frequent pair occurs fewer times",
    default: "1; with --compat huggingface 0",
  },
  maxTokenLength: {
    name: "max-token-length",
    recorded: { anyOf: [{ type: "null" }, { $ref: "#/$defs/count" }] },
    kind: whole(1),
    topic: "tokens",
    rare: true,
    description: "longest token, in bytes",
    details: "With --compat huggingface, that trainer's own rule applies.",
  },
  wholeCharacters: {
    name: "whole-characters",
    recorded: true,
    kind: flag,
    topic: "tokens",
    rare: true,
    description: "no token joins a whole character with a part of another",
    details:
      "Two tokens are merged only if both are whole characters, or if the left one is the beginning of a character and the right one its next byte. Bytes that are not UTF-8 are never merged.",
  },
  seedTokens: {
    ...seedTokens,
    name: "seed-token",
    recorded: { type: "array", items: { type: "string" }, minItems: 1 },
    kind: texts("TEXT"),
    description: "make sure that the vocabulary has this token; repeatable",
    details:
      "It is an ordinary token, found in text only where the pattern cuts text so. The merges of seed tokens come first, whatever their counts, and later merges build on them. With --extend they come behind the base's, and join its tokens. A token that the pattern would cut is an error.",
    inCode:
      "Texts that the vocabulary shall have as tokens. They are ordinary tokens, found in text only where the pattern cuts text so. Their merges come first, whatever their counts, and later merges build on them. With --extend they come behind the base's, and join its tokens. One that the pattern would cut is an error.",
  },
  seedTokensFile: {
    ...seedTokens,
    name: "seed-tokens",
    reads: "files",
    kind: path("FILE"),
    library: null,
    description: "seed tokens from a file: one a line, or a JSON list",
    details: "They come after those of --seed-token. A token with a line end needs the JSON list.",
  },
  superwordsFrom: {
    name: "superwords-from",
    kind: whole(1),
    topic: "tokens",
    rare: true,
    excludes: [
      notWithExtend,
      {
        other: "counts",
        why: "superwords need the text, and counts have only its words",
        hint: "name the files that were counted",
      },
      { other: "wordCounts", why: "superwords need the text", hint: "name files" },
      { other: "texts", why: "superwords read the corpus twice", hint: "name files" },
    ],
    description: "from a vocabulary of N on, learn tokens that cross spaces",
    details:
      "SuperBPE: ordinary training up to N, then merges across the words of a line, up to four words a token. The corpus is read twice.",
  },
  superwordPattern: {
    name: "superword-pattern",
    kind: text("REGEX"),
    topic: "tokens",
    rare: true,
    needs: { other: "superwords-from", hint: "e.g. --superwords-from 24000" },
    description: "how the tokenizer and its superwords cut text",
    default: "SuperBPE's: numbers and runs of punctuation apart",
  },
  extend: {
    name: "extend",
    reads: "tokenizer",
    kind: path("PATH"),
    topic: "tokens",
    rare: true,
    description: "add tokens to this tokenizer: -n +8k, or the new size",
    details:
      "Training goes on after its merges, on the new text. Its tokens keep their ids, new ones come behind, and its files are written again with them. Without -n and files it only gets what -s, --seed-token and --rename say. Several sizes from one run: -n +1k,+2k. The pattern stays. Documents end at the special tokens that its training.json names, and at those of -s. --compat decides ties; without it, the rule of its training; if that is not known, extension: the smaller pair of strings in byte-to-character form.",
    inCode:
      "A tokenizer to add tokens to. Training goes on after its merges. Its tokens keep their ids, new ones get the ids after all of them, and its files are written again with the new tokens. Without a size and a corpus it only gets the special tokens and seed tokens that are given, and new names. The pattern stays; documents also end at the special tokens that are given.",
  },
  rename: {
    name: "rename",
    kind: renames,
    topic: "tokens",
    rare: true,
    needs: needsExtend,
    description: "give a special token of the base another text",
    details: "Its id stays. E.g. '<|reserved_special_token_0|>=<|tool|>'.",
    inCode: "New texts of special tokens of the base, by the old ones; their ids stay.",
  },
  like: {
    name: "like",
    reads: "tokenizer",
    recorded: true,
    kind: path("TOKENIZER"),
    topic: "tokens",
    rare: true,
    excludes: [
      notWithExtend,
      { other: "pattern", hint: "the pattern is that tokenizer's" },
      { other: "superwords-from", hint: "the pattern is that tokenizer's" },
    ],
    sample: "qwen3",
    description: "take everything but the merges from this tokenizer",
    details:
      "Pattern, normalization, special tokens, roles, chat template, post-processor and class come from an existing tokenizer, as in transformers' train_new_from_iterator. Options that you add win. Ties and ids follow --compat; without it, its training.json; without that, huggingface. Added tokens that are not special get ids after the size that you ask for. TOKENIZER is a path, or one of the names gpt2, gpt-4, gpt-4o, llama3, llama4 and qwen3.",
  },
  wholeTexts: {
    name: "whole-texts",
    recorded: true,
    kind: flag,
    topic: "tokens",
    rare: true,
    excludes: [notWithExtend, { other: "superwords-from", hint: "superwords are learned line by line" }],
    description: "with --compat huggingface: do not cut text at line ends",
    details:
      "That trainer reads files line by line, but texts of an iterator whole: a token may cross a line end, and special tokens in a text are plain text. With this option, every text or record is read whole.",
  },
  specialTokensAsText: {
    ...specialTokensAsText,
    recorded: true,
    topic: "tokens",
    description: "special tokens in the text are plain text",
    details:
      "With --compat huggingface, as that trainer reads them: it learns from <|endoftext|> in a file. Without this option, documents end at special tokens. With --extend, the base's special tokens end no documents.",
  },
  padTo: {
    name: "pad-to",
    recorded: true,
    kind: whole(1),
    topic: "tokens",
    rare: true,
    description: "fill the vocabulary to a multiple of N",
    details: "Reserved special tokens are added after all others.",
  },
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
    kind: word(inputFormats, "FORMAT"),
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
  languages: {
    name: "language",
    reads: "corpus",
    kind: languageFiles("files"),
    topic: "input",
    excludes: [
      notWithExtend,
      { other: "superwords-from", why: "superwords are learned from all text together" },
      { other: "counts", why: "word counts belong to no language" },
      { other: "wordCounts", why: "word counts belong to no language" },
      { other: "texts", why: "each language has files of its own" },
      { other: "files", why: "each language has files of its own" },
    ],
    rare: true,
    description: "text of one language, to treat languages fairly",
    details:
      "Each merge is then learned from the language that is worst off: the one whose text has the most tokens (bpe help docs/clean-and-fair.md). Several FILEs may follow, each whatever <file> may be. The same NAME again adds files to the language. Of languages that are equally badly off, the first one wins.",
    inCode:
      "Files by language, instead of files. Each merge is then learned from the language that is worst off: the one whose text has the most tokens; its dev text, if all have one (bpe help docs/clean-and-fair.md). Of languages that are equally badly off, the first one wins.",
  },
  languagesDev: {
    name: "language-dev",
    reads: "corpus",
    kind: languageFiles("dev"),
    topic: "input",
    rare: true,
    library: "languages: dev",
    needs: { other: "language", hint: "e.g. --language en=corpus/en --language-dev en=dev/en" },
    description: "text on which the languages are compared",
    details: "Give it for all languages or for none. Nothing is learned from it.",
  },
  languageRatio: {
    name: "language-ratio",
    kind: decimals("N,N,...", ","),
    topic: "input",
    rare: true,
    needs: languagesFirst,
    excludes: [{ other: "language-dev", why: "the lengths of dev text are compared directly" }],
    description: "how many times shorter the text of each should get",
    details:
      "One number for each language, in their order. Bytes per token, divided by this number, say how well off a language is; the one with the least gets the next merge.",
  },
  languageWindow: {
    name: "language-window",
    kind: fields("N:FACTOR", ["size", "alpha"], "100:2.0"),
    topic: "input",
    rare: true,
    needs: languagesFirst,
    description: "in N merges, a language gets at most FACTOR times its share",
    details: "E.g. 100:2.0. A language above its limit waits, unless all are above theirs.",
    inCode:
      "In so many merges (size) a language gets at most so many times its share (alpha): 100 and 2.0. A language above its limit waits, unless all are above theirs.",
  },
  globalMerges: {
    name: "global-merges",
    kind: whole(),
    topic: "input",
    rare: true,
    needs: languagesFirst,
    description: "learn the first N merges from all text together",
  },
  weights: {
    name: "weight",
    recorded: true,
    kind: weights,
    topic: "input",
    rare: true,
    excludes: [
      { other: "superwords-from", why: "superwords are learned from text without weights" },
      {
        other: "save-counts",
        why: "saved counts are those of the text, without weights",
        hint: "save them with bpe count; --weight also applies to files of --counts",
      },
      {
        other: "wordCounts",
        why: "weights are for files",
        hint: "give them with the counts that they shall have",
      },
    ],
    description: "weight of the words of some inputs, e.g. 'corpus/en:0.5'",
    details:
      "GLOB is the path of an input or of a file of --counts, as it is named or found, a folder above it, or a glob. Without a slash, it matches names at any depth. The last one that fits an input decides; without one, the weight is 1. WEIGHT is a number from 0 to 1,000,000 with at most six digits after the point. The sum of counts times weights of a word is exact, then rounded once, half up; a word with 0 is left out. NAME is only shown.",
    inCode:
      'How often the words of some inputs count: the path of an input, a folder above it, or a glob, and its weight, as in {"corpus/en": 0.5, "*.hi.txt": 3}. The last one that fits an input decides; without one, the weight is 1. A weight is a number from 0 to 1,000,000 with at most six digits after the point.',
  },
  output: {
    name: "output",
    writes: "directory",
    short: "o",
    kind: path("DIR", "name a directory, e.g. --output tokenizer"),
    topic: "output",
    required: true,
    description: "tokenizer directory",
    details:
      "DIR may be absent or empty, or hold the result of an earlier training, which is replaced as a whole. If it holds anything else, the run ends with an error and changes nothing.",
    inCode:
      "The directory of the tokenizer, written as a whole or not at all. It may be absent or empty, or hold the result of an earlier training, which is replaced. Left out, the tokenizer is saved by its method save.",
  },
  formats: {
    name: "format",
    kind: words(writtenFormats, [imageFormat]),
    topic: "output",
    excludes: [fixedByBase],
    rare: true,
    description: "which files to write",
    details: `Names, separated by commas: ${describeWritten()}. The command line and Python also know ${imageFormat}: tokenizer.image beside the others, which Python and C load at once. If it is the only one named, all others that apply are written, too.`,
    default: "all that apply",
  },
  ledger: {
    name: "ledger",
    kind: decision,
    topic: "output",
    rare: true,
    excludes: [notWithExtend],
    description: "write tokens.tsv: how often each token occurs",
    details:
      "It has the occurrences when the token was created and at the end, and the two tokens that were merged into it. Without this option it is written if it is below 1 MB and --format is not given.",
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
      "It begins with what was found, needs no network, and nothing in the texts that it shows can run as code.",
  },
  noLedger: {
    name: "no-ledger",
    kind: flag,
    topic: "output",
    rare: true,
    ...commandLineOnly,
    excludes: [{ other: "ledger", hint: "leave one of them out" }],
    description: "do not write tokens.tsv",
  },
  workers: {
    name: "workers",
    recorded: true,
    short: "w",
    kind: whole(1),
    topic: "speed",
    sample: "4",
    description: "number of threads",
    details:
      "The main thread is one of them. The default is all cores that this process may use, and 1 for small inputs. The result does not depend on it.",
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
  cache: {
    name: "cache",
    writes: "cache",
    kind: path("DIR", "name a directory, e.g. --cache cache"),
    topic: "nightly",
    excludes: [{ other: "ranges", why: "it keeps the words of whole files" }],
    description: "keep word counts; count only what is new",
    details:
      "The word counts of each file are kept in DIR. Files are known by their content. Any number of runs may share the directory.",
  },
  cacheLimit: {
    name: "cache-limit",
    kind: size(),
    topic: "nightly",
    rare: true,
    library: "cacheLimitBytes",
    needs: needsCache,
    description: "with --cache: how large it may be, e.g. 10GB",
    details: "The entries that were used longest ago are removed first.",
    default: "no limit",
  },
  ifChanged: {
    name: "if-changed",
    kind: flag,
    topic: "nightly",
    needs: needsCache,
    excludes: [notWithExtend],
    rare: true,
    description: "with --cache: do nothing if nothing changed",
    details: "That is, if the tokenizer in the output was made from the same inputs with the same options.",
  },
  keep: {
    name: "keep",
    kind: whole(),
    topic: "nightly",
    rare: true,
    description: "keep the last N results that were replaced",
    details: "They stay beside the output, as DIR.<UTC start of their run>.",
  },
  counts: {
    name: "counts",
    reads: "files",
    kind: { ...paths, read: (typed) => typed },
    topic: "input",
    rare: true,
    description: "word counts to add to the corpus",
    details:
      "FILE is a path or a glob. With counts, no corpus is needed. Pattern and special tokens come from the counts; if they are given as well, they must agree.",
  },
  saveCounts: {
    name: "save-counts",
    writes: "file",
    kind: path("FILE"),
    topic: "output",
    rare: true,
    description: "also write the word counts",
    details: "A name that ends in .tsv gets text, any other name the compact binary form.",
  },
  bos: { ...role("bos", proposed), default: byName },
  eos: { ...role("eos", proposed), default: byName },
  pad: { ...role("pad", proposed), default: "by its name, e.g. <|pad|>, or as the chat template has it" },
  unk: role("unk", "There is none by default: every text can be encoded without it."),
  addBos: {
    name: "add-bos",
    kind: flag,
    ...forModel,
    library: "model.addsBos",
    description: "put bos in front of every text that is encoded",
    details: "A post-processor in tokenizer.json does it.",
  },
  chatTemplate: {
    name: "chat-template",
    reads: "files",
    kind: chatTemplate,
    topic: "model",
    excludes: [fixedByBase],
    library: "model.chatTemplate",
    description: "how a chat becomes text",
    details:
      "One of the names chatml, gemma and llama3, or a file with a Jinja template. A name brings the special tokens and roles of its models, where none are given.",
  },
  modelMaxLength: {
    name: "model-max-length",
    kind: whole(1),
    ...forModel,
    library: "model.modelMaxLength",
    description: "longest input of the model, in tokens",
  },
  tokenizerClass: {
    name: "class",
    kind: text("NAME"),
    ...forModel,
    library: "model.tokenizerClass",
    description: "the transformers class that loads it",
    default: "PreTrainedTokenizerFast",
  },
  modelCard: {
    name: "model-card",
    kind: flag,
    topic: "model",
    rare: true,
    excludes: [notWithExtend],
    description: "write README.md, the page that a model hub shows",
    details:
      "It says what the tokenizer is, what it was trained on, and how to use it. It names none of your files.",
  },
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
    kind: path("FILE", "name a file, e.g. --log-file bpe.log"),
    topic: "nightly",
    library: null,
    rare: true,
    sample: "bpe.log",
    description: "append progress, warnings and the record",
    details: "The last line is the record of the run, as JSON, also if the run failed.",
  },
  summary: {
    name: "summary",
    kind: word(["short", "full"], "MODE"),
    topic: "output",
    rare: true,
    ...commandLineOnly,
    description: "how much the summary at the end says",
    details:
      "short has at most eight lines. full also has weights, languages, pretokens, intermediate tokens, the longest tokens and the names of all files. training.json has the numbers of both, whichever is shown.",
    default: "short",
  },
  progress: {
    name: "progress",
    kind: word(["auto", "bar", "plain", "json", "none"], "MODE"),
    topic: "general",
    ...commandLineOnly,
    rare: true,
    description: "how progress is shown",
    details:
      "auto shows a bar on a terminal and plain lines elsewhere: one for each stage of a second or more, at its end, and one every ten minutes. json writes one object a line; the last is the result.",
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
    description: "show help; --help TOPIC says more",
  },
});

/** The requested settings of a training. Those left out have defaults. */
export type RequestedTraining = Requested<typeof trainingOptions>;
