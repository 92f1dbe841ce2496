import { formats } from "#formats";
import { asOption, phrase } from "#runtime";
import { normalForms } from "#text";
import {
  chatTemplate,
  decimals,
  decision,
  directory,
  fields,
  flag,
  languageFiles,
  normalization,
  oldAndNew,
  path,
  paths,
  size,
  sizes,
  text,
  texts,
  weights,
  whole,
  word,
  words,
} from "./kinds.ts";
import * as optionTables from "./option.ts";
import * as sharedOptions from "./shared-options.ts";

// Every option of a training, defined once for the command line, the library and Python.

/** For options that cannot be combined with `--extend`, because the base determines what they set. */
const fixedByBase: optionTables.Exclusion = {
  other: "extend",
  why: "the tokenizer to extend has its own setting",
};
const languagesFirst = {
  other: "language",
  hint: phrase`name the files of each language, e.g. ${asOption("language", "en=corpus/en")}`,
};
const needsCache: optionTables.Need = {
  other: "cache",
  hint: phrase`name a directory for the cache, e.g. ${asOption("cache", "bpe-cache")}`,
};
const seedTokens = {
  topic: "tokens",
  rare: true,
  excludes: [{ other: "superwords-from" }],
} as const;
const needsExtend: optionTables.Need = {
  other: "extend",
  hint: phrase`name the tokenizer to extend, e.g. ${asOption("extend", "tokenizer")}`,
};
const forModel = { topic: "model", rare: true, excludes: [fixedByBase] } as const;
const proposed = "An empty TEXT means none.";
const byName = "by its name, e.g. <|endoftext|>";
const role = (name: string, details: string) =>
  ({
    name,
    kind: text("TEXT"),
    ...forModel,
    library: `model.roles.${name}`,
    description: `the special token that the model uses as ${name}`,
    details,
  }) as const;

const { specialTokensFile, output, report, workers, memoryLimit } = sharedOptions.ofTraining;
const { wait, logFile } = sharedOptions.unattended;

/** The options of a training. Those of a topic are in the order of help. */
export const trainingOptions = optionTables.of({
  vocabSize: {
    name: "vocab-size",
    recorded: true,
    short: "n",
    kind: sizes,
    required: true,
    optionalWith: "extend",
    topic: "tokens",
    description: "vocabulary size, e.g. 32000 or 32k (32 x 1,024)",
    details: phrase`It includes 256 bytes, special tokens and merges. 32k is 32 x 1,024, and 1m is 1,024 x 1,024. Several sizes from one run, separated by commas: ${asOption("vocab-size", "16k,32k", "n")} writes DIR/16384 and DIR/32768.`,
    inCode:
      'The size of the vocabulary: 256 bytes, special tokens and merges. Several sizes, as in [16_384, 32_768], are made by one run: each is written into a directory of the output that is named by its size. When a tokenizer is extended, "+8000" is the number of new tokens.',
  },
  specialTokens: {
    name: "special-token",
    recorded: true,
    short: "s",
    kind: texts("TEXT"),
    topic: "tokens",
    description: "one token, never merged; ends documents; repeatable",
    details:
      "A document ends wherever the token occurs. Its text is never counted, and it has an id of its own. Where several tokens match, the longest wins.",
    inCode:
      "Tokens that are never merged. A document ends wherever one occurs. The text of a special token is never counted, and it has an id of its own. Where several match, the longest wins.",
  },
  specialTokensFirst: {
    name: "special-tokens-first",
    recorded: true,
    kind: flag,
    topic: "tokens",
    rare: true,
    excludes: [fixedByBase],
    description: "special tokens get the first ids",
    details: phrase`Then come the 256 bytes, in order, and then the merges: the layout of tekken.json. With ${asOption("compat", "huggingface")}, special tokens always come first.`,
  },
  specialTokensFile,
  pattern: {
    name: "pattern",
    recorded: { $ref: "#/$defs/pattern" },
    short: "p",
    kind: text("NAME|REGEX"),
    topic: "tokens",
    description: "splits text: name (-p help) or regex",
    details:
      "The pretokenizer: no token crosses a split. A value of only letters, digits, -, _ and . is a name (-p help lists the names). Anything else is a regular expression, without backreferences or long lookbehinds. With -p none, a document is one word.",
    default: "gpt2",
    inCode:
      "How text is split: a name (cl100k, …; bpe help docs/size-and-pattern.md) or a regular expression. No token crosses a split.",
  },
  normalize: {
    name: "normalize",
    kind: normalization(normalForms.stepNames),
    topic: "tokens",
    rare: true,
    excludes: [fixedByBase, { other: "like", hint: "leave one of the two out: both set the normalization" }],
    description: "normalize text before it is split, e.g. NFC or NFKC,lowercase",
    details: `Steps in order, separated by commas: ${normalForms.stepNames.join(", ")}. They apply to text between special tokens, in training and whenever the tokenizer encodes. Only tokenizer.json can store this, so other formats are not written.`,
  },
  compat: {
    name: "compat",
    recorded: { enum: ["cs336", "huggingface", "rustbpe"] },
    kind: word(["cs336", "huggingface", "rustbpe", "extension"], "RULE"),
    topic: "tokens",
    description: "which trainer to match",
    details: phrase`Merges and ids are those of that trainer: which of equally frequent pairs is merged first, and whether text is read line by line. Special tokens in the text end documents. HF's trainer learns from them as from any text; to match it, add ${asOption("special-tokens-as-text")}.`,
    default: "cs336",
  },
  minFrequency: {
    name: "min-frequency",
    recorded: true,
    kind: whole(),
    topic: "tokens",
    rare: true,
    description: "stop when the most frequent pair occurs fewer times",
    default: phrase`1, or 0 with ${asOption("compat", "huggingface")}`,
  },
  maxTokenLength: {
    name: "max-token-length",
    recorded: { anyOf: [{ type: "null" }, { $ref: "#/$defs/count" }] },
    kind: whole(1),
    topic: "tokens",
    rare: true,
    description: "longest token, in bytes",
    details: phrase`With ${asOption("compat", "huggingface")}, tokens of three bytes or more must be shorter than N.`,
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
    details: phrase`It is an ordinary token, used only where the pattern does not split it. The merges of seed tokens come first, whatever their counts, and later merges build on them. With ${asOption("extend")}, they come after the merges of the base, and join its tokens. A text that the pattern splits wherever it occurs is an error.`,
    inCode: phrase`Texts that the vocabulary must have as tokens. They are ordinary tokens, used only where the pattern does not split them. Their merges come first, whatever their counts, and later merges build on them. With ${asOption("extend")}, they come after the merges of the base, and join its tokens. A text that the pattern splits wherever it occurs is an error.`,
  },
  seedTokensFile: {
    ...seedTokens,
    name: "seed-tokens",
    reads: "files",
    kind: path("FILE"),
    library: null,
    description: "seed tokens from a file: one per line, or a JSON list",
    details: phrase`These tokens come after those of ${asOption("seed-token")}. A token with a line end needs a JSON list.`,
  },
  superwordsFrom: {
    name: "superwords-from",
    kind: whole(1),
    topic: "tokens",
    rare: true,
    excludes: [
      sharedOptions.notWithExtend,
      {
        other: "counts",
        why: "superwords need the text, but counts have only its words",
        hint: "name the files that were counted",
      },
      { other: "wordCounts", why: "superwords need the text", hint: "name files" },
      { other: "texts", why: "superwords read the corpus twice", hint: "name files" },
    ],
    description: "from a vocabulary of N on, learn tokens that cross spaces",
    details:
      "SuperBPE: ordinary training up to N, then merges across the words of a line, up to four words per token. The corpus is read twice.",
  },
  superwordPattern: {
    name: "superword-pattern",
    kind: text("REGEX"),
    topic: "tokens",
    rare: true,
    needs: {
      other: "superwords-from",
      hint: phrase`say from which size on superwords are learned, e.g. ${asOption("superwords-from", 24000)}`,
    },
    description: "how the tokenizer splits text, superwords included",
    default: "SuperBPE's: splits at numbers and runs of punctuation",
  },
  extend: {
    name: "extend",
    reads: "tokenizer",
    kind: path("PATH"),
    topic: "tokens",
    rare: true,
    description: phrase`add tokens to this tokenizer: ${asOption("vocab-size", "+8k", "n")}, or the new size`,
    details: phrase`Training continues after its merges, on the new text. Its tokens keep their ids, and new tokens come after them. Without ${asOption("vocab-size", undefined, "n")} and files, only ${asOption("special-token", undefined, "s")}, ${asOption("seed-token")} and ${asOption("rename")} change it. Several sizes from one run: ${asOption("vocab-size", "+1k,+2k", "n")}. Pattern and formats stay. Documents end at the special tokens in its training.json, and at those of ${asOption("special-token", undefined, "s")}. Ties follow ${asOption("compat")} or, without it, the rule of its training. If that rule is unknown, it is extension: the smaller pair of strings in byte-to-character form.`,
    inCode:
      "A tokenizer to add tokens to. Training continues after its merges. Its tokens keep their ids, and new tokens get the ids after them. Without a size and a corpus, only the given special tokens, seed tokens and renames change it. Pattern and formats stay; documents also end at the given special tokens.",
  },
  rename: {
    name: "rename",
    kind: oldAndNew("'<|old|>=<|new|>'"),
    topic: "tokens",
    rare: true,
    needs: needsExtend,
    description: "change the text of a special token of the base",
    details: "Its id stays. E.g. '<|reserved_special_token_0|>=<|tool|>'.",
    inCode: "New texts for special tokens of the base, keyed by the old texts; their ids stay.",
  },
  like: {
    name: "like",
    reads: "tokenizer",
    recorded: true,
    kind: path("TOKENIZER"),
    topic: "tokens",
    rare: true,
    excludes: [
      sharedOptions.notWithExtend,
      { other: "pattern", hint: "leave one of the two out: both set the pattern" },
      { other: "superwords-from", hint: "leave one of the two out: superwords need a pattern of their own" },
    ],
    sample: "qwen3",
    description: "take everything but the merges from this tokenizer",
    details: phrase`Pattern, normalization, special tokens, roles, chat template, post-processor and tokenizer class come from an existing tokenizer, as in transformers' train_new_from_iterator. Explicit options take precedence. The order of ids, and which of equally frequent pairs is merged first, follow ${asOption("compat")}; without it, they follow the training.json of that tokenizer or, if it has none, ${asOption("compat", "huggingface")}. Added tokens that are not special get ids after the size that you ask for. TOKENIZER is a path, or one of the names gpt2, gpt-4, gpt-4o, llama3, llama4 and qwen3.`,
  },
  wholeTexts: {
    name: "whole-texts",
    recorded: true,
    kind: flag,
    topic: "tokens",
    rare: true,
    excludes: [
      sharedOptions.notWithExtend,
      { other: "superwords-from", hint: "leave one of the two out: superwords are learned line by line" },
    ],
    description: phrase`with ${asOption("compat", "huggingface")}: do not split text at line ends`,
    details:
      "HF's trainer reads files line by line, but texts from an iterator whole: a token may cross a line end, and special tokens in a text are plain text. With this option, every text or record is read whole.",
  },
  specialTokensAsText: {
    ...sharedOptions.specialTokensAsText,
    recorded: true,
    topic: "tokens",
    description: "special tokens in the text are plain text",
    details: phrase`With ${asOption("compat", "huggingface")}, this matches HF's trainer, which learns from <|endoftext|> in a file. Without this option, documents end at special tokens. With ${asOption("extend")}, the base's special tokens end none either.`,
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
  ...sharedOptions.reading,
  languages: {
    name: "language",
    reads: "corpus",
    kind: languageFiles("files"),
    topic: "input",
    excludes: [
      sharedOptions.notWithExtend,
      { other: "superwords-from", why: "superwords are learned from all text together" },
      { other: "counts", why: "word counts belong to no language" },
      { other: "wordCounts", why: "word counts belong to no language" },
      { other: "texts", why: "each language has files of its own" },
      { other: "files", why: "each language has files of its own" },
    ],
    rare: true,
    description: "text of one language, to treat languages fairly",
    details:
      "Each merge is then learned from the language whose text has the most tokens (bpe help docs/clean-and-fair.md). Several FILEs may follow; each can be anything <file> can be. Repeating NAME adds files to the language. If several have equally many tokens, the first of them wins.",
    inCode:
      "Files by language, instead of files. Each merge is then learned from the language whose text has the most tokens. If all languages have dev texts, these are compared instead (bpe help docs/clean-and-fair.md). If several have equally many tokens, the first of them wins.",
  },
  languagesDev: {
    name: "language-dev",
    reads: "corpus",
    kind: languageFiles("dev"),
    topic: "input",
    rare: true,
    library: "languages: dev",
    needs: {
      other: "language",
      hint: phrase`give both, e.g. ${asOption("language", "en=corpus/en")} ${asOption("language-dev", "en=dev/en")}`,
    },
    description: "text for comparing the languages",
    details: "Give it for all languages or for none. Nothing is learned from it.",
  },
  languageRatio: {
    name: "language-ratio",
    kind: decimals("N,N,...", ","),
    topic: "input",
    rare: true,
    needs: languagesFirst,
    excludes: [{ other: "language-dev", why: "dev texts are compared by their lengths" }],
    description: "target bytes per token of each language, relative",
    details:
      "One number for each language, in the order in which they are named. The language with the fewest bytes per token, divided by its number, gets the next merge.",
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
      "In any `size` merges, a language gets at most `alpha` times its share: e.g. in 100 merges, at most 2.0 times. A language above its limit waits, unless all are above theirs.",
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
      { other: "superwords-from", why: "superwords are learned without weights" },
      {
        other: "save-counts",
        why: "saved counts are unweighted",
        hint: phrase`save the counts with bpe count, then train with ${asOption("counts")} and ${asOption("weight")}`,
      },
      {
        other: "wordCounts",
        why: "weights are for files",
        hint: "multiply the counts by their weights instead",
      },
    ],
    description: "weight of the words of some inputs, e.g. 'corpus/en:0.5'",
    details: phrase`GLOB is the path of an input or of a ${asOption("counts")} file, a folder above it, or a glob. Without a slash, it matches names at any depth. The last weight that matches an input applies; the default is 1. WEIGHT is a number from 0 to 1,000,000 with at most six decimal places. The weighted sum of a word's counts is exact, then rounded half up; words that round to 0 are dropped. NAME is only a label.`,
    inCode:
      'How often the words of some inputs count: the path of an input, a folder above it, or a glob, and its weight, as in {"corpus/en": 0.5, "*.hi.txt": 3}. The last weight that matches an input applies; the default is 1. A weight is a number from 0 to 1,000,000 with at most six decimal places.',
  },
  output,
  formats: {
    name: "format",
    kind: words(formats.written, [formats.image]),
    topic: "output",
    excludes: [fixedByBase],
    rare: true,
    description: "which files to write",
    details: `Names, separated by commas: ${formats.describeWritten()}. The command line and Python also accept ${formats.image}: tokenizer.image next to the others, which Python and C load instantly. If it is the only one named, all others that apply are also written.`,
    default: "all that apply",
  },
  ledger: {
    name: "ledger",
    kind: decision,
    topic: "output",
    rare: true,
    excludes: [sharedOptions.notWithExtend],
    description: "write tokens.tsv: how often each token occurs",
    details: phrase`The file has how often each token occurred when it was created and at the end, and the two tokens that were merged into it. By default, it is written if it is below 1 MB and ${asOption("format")} is not given.`,
  },
  report,
  noLedger: {
    name: "no-ledger",
    kind: flag,
    topic: "output",
    rare: true,
    ...sharedOptions.commandLineOnly,
    excludes: [{ other: "ledger", hint: "leave one of them out" }],
    description: "do not write tokens.tsv",
  },
  workers,
  memoryLimit,
  cache: {
    name: "cache",
    writes: "cache",
    kind: directory(phrase`name a directory, e.g. ${asOption("cache", "bpe-cache")}`),
    topic: "nightly",
    excludes: [{ other: "ranges", why: "the cache keeps the words of whole files" }],
    description: "keep word counts; count only what is new",
    details:
      "The word counts of each file are kept in DIR. Files are identified by their content. Any number of runs can share the directory.",
  },
  cacheLimit: {
    name: "cache-limit",
    kind: size(),
    topic: "nightly",
    rare: true,
    library: "cacheLimitBytes",
    needs: needsCache,
    description: phrase`with ${asOption("cache")}: its largest size, e.g. 10GB`,
    details: "The least recently used entries are evicted first.",
    default: "no limit",
  },
  ifChanged: {
    name: "if-changed",
    kind: flag,
    topic: "nightly",
    needs: needsCache,
    excludes: [sharedOptions.notWithExtend],
    rare: true,
    description: phrase`with ${asOption("cache")}: do nothing if nothing changed`,
    details: "That is, if the tokenizer in the output was made from the same inputs with the same options.",
  },
  keep: {
    name: "keep",
    kind: whole(),
    topic: "nightly",
    rare: true,
    description: "keep the last N results that were replaced",
    details: "They stay next to the output, as DIR.<UTC start of their run>.",
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
    kind: path("FILE", phrase`name a file, e.g. ${asOption("save-counts", "words.counts")}`),
    topic: "output",
    rare: true,
    description: "also write the word counts",
    details: "A name that ends in .tsv gets text, any other name the compact binary form.",
  },
  bos: { ...role("bos", proposed), default: byName },
  eos: { ...role("eos", proposed), default: byName },
  pad: { ...role("pad", proposed), default: "by its name, e.g. <|pad|>, or as the chat template has it" },
  unk: role("unk", "By default there is none, because every text can be encoded without it."),
  addBos: {
    name: "add-bos",
    kind: flag,
    ...forModel,
    library: "model.addsBos",
    description: "prepend bos to every encoded text",
    details: "A post-processor in tokenizer.json adds it.",
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
      "chatml, gemma or llama3, or a file with a Jinja template. A name also sets the special tokens and roles of its models, unless you give others.",
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
    excludes: [sharedOptions.notWithExtend],
    description: "write README.md, the page that a model hub shows",
    details:
      "It describes the tokenizer, what it was trained on, and how to use it. It names none of your files.",
  },
  wait,
  logFile,
  summary: {
    name: "summary",
    kind: word(["short", "full"], "MODE"),
    topic: "output",
    rare: true,
    ...sharedOptions.commandLineOnly,
    description: "how detailed the summary at the end is",
    details:
      "short has at most eight lines. full adds weights, languages, pretokens, intermediate tokens, the longest tokens and all file names. training.json always has the numbers of both.",
    default: "short",
  },
  ...sharedOptions.common,
});

/** The requested settings of a training. A setting that is left out has its default. */
export type RequestedTraining = optionTables.Requested<typeof trainingOptions>;
