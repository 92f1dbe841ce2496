// The contract of the command line as data: what is typed is read by it; help, completions and the man page are made of
// it. The options of each command are in the tables of src/options.

import * as tables from "../options/command-tables.ts";
import type { Option, Options, PathRead } from "../options/option.ts";
import { trainingOptions } from "../options/training-table.ts";

const idFiles = "ids: .npy, .bin, or a document a line; globs, -";

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
  readonly options: readonly Option[];
  /** The first is the simplest. Each topic of help shows those with an option of it. */
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

const oneTokenizer = {
  reads: "tokenizer",
  filesDescription: "tokenizer directory, or one of its files",
} as const;

/** The options of each as a table. */
const specs: readonly (Omit<CommandSpec, "options"> & { readonly options: Options })[] = [
  {
    name: "train",
    files: "<file>...",
    ...texts,
    description: "learn a tokenizer from text",
    details:
      "Learns a byte-level BPE tokenizer from text, for transformers, tokenizers and tiktoken. docs/moving.md compares these options with those of other trainers.",
    readsPipe: true,
    filesFrom: ["counts", "language"],
    options: trainingOptions,
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
      {
        what: "For a chat model",
        command: "bpe train corpus.txt -n 32k -p gpt-4o --chat-template chatml -o chat",
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
    options: tables.counting,
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
    options: tables.planning,
    examples: [
      {
        what: "Plan, and count the ranges in any order",
        command: "bpe plan corpus.txt -s '<|endoftext|>' | shuf | bpe count --ranges - -s '<|endoftext|>'",
      },
      {
        what: "Into a file, that all machines read",
        command: "bpe plan corpus.txt -s '<|endoftext|>' -o plan.jsonl",
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
    options: tables.encoding,
    examples: [
      { what: "A text, for numpy", command: "bpe encode corpus.txt --tokenizer tokenizer -o corpus.npy" },
      { what: "A pipe, as numbers", command: "echo 'hello world' | bpe encode --tokenizer tokenizer" },
      {
        what: "A dataset, its documents apart",
        command:
          "bpe encode data --include '*.jsonl.zst' --tokenizer tokenizer --append-token '<|endoftext|>' -o data.bin",
      },
      {
        what: "One of many machines: its slice of a plan, for bpe ids join",
        command:
          "bpe plan corpus.txt --tokenizer tokenizer -o slice1 && bpe encode --ranges slice1 --tokenizer tokenizer --ids-format part -o part1",
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
    options: tables.tokenCounting,
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
    details: "Reads .npy, .bin, or decimal ids separated by white space, and writes the exact bytes.",
    readsPipe: true,
    options: tables.decoding,
    examples: [
      { what: "A file of ids", command: "bpe decode corpus.npy --tokenizer tokenizer | head" },
      { what: "Some ids", command: "echo 104 105 | bpe decode --tokenizer tokenizer" },
    ],
  },
  {
    name: "inspect",
    files: "<path>",
    ...oneTokenizer,
    description: "show what is in a tokenizer",
    details:
      "Describes a tokenizer: its size, pattern and special tokens, its longest tokens, scripts and lengths.",
    options: tables.inspecting,
    examples: [{ what: "With a text", command: "bpe inspect tokenizer --text corpus.txt" }],
  },
  {
    name: "explain",
    files: "<tokenizer> <text>",
    reads: "tokenizer",
    filesDescription: "a tokenizer, and a text to encode",
    description: "show how a text is encoded",
    details:
      "Shows how a text is cut, and each merge: its rank, what it joins, and, if tokens.tsv is there, how often training made it. The ids are those of bpe encode, which reads files.",
    options: tables.explaining,
    examples: [{ what: "A word", command: "bpe explain tokenizer ' lowest'" }],
  },
  {
    name: "eval",
    files: "<tokenizer>...",
    reads: "tokenizer",
    description: "measure and compare tokenizers on texts",
    details:
      "Encodes each text with each tokenizer, and measures bytes, characters and words per token, how words and numbers are cut, how much of the vocabulary is used, and how equal the texts are in their costs. A tokenizer is a path, or NAME=PATH; a directory of several sizes stands for all of them. bpe help docs/evaluate.md has the formulas.",
    options: tables.evaluating,
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
        what: "What two vocabularies cost a model",
        command: "bpe eval tokenizer gpt2=gpt2/tokenizer.json --text corpus.txt --model d=4096,layers=32",
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
    options: tables.comparing,
    examples: [
      { what: "On the words of a text", command: "bpe diff tokenizer gpt2 --text corpus.txt" },
      { what: "For the rows of an embedding", command: "bpe diff gpt2 tokenizer --pieces pieces.tsv" },
    ],
  },
  {
    name: "prune",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "make a vocabulary smaller",
    details:
      "Removes tokens from any byte-level BPE tokenizer, one by one: always the rarest token in a text that no other token is made of. Bytes and added tokens stay. The result has the same kinds of files as the tokenizer, and ids.tsv, which has the new id of each old one.",
    options: tables.pruning,
    examples: [
      {
        what: "To 500 tokens, by what a text needs",
        command: "bpe prune tokenizer --text corpus.txt -n 500 -o smaller",
      },
    ],
  },
  {
    name: "truncate",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "keep the first merges of a tokenizer",
    details:
      "Its first merges stay, as if training had stopped there; so do bytes and added tokens. The result has the same kinds of files, and ids.tsv, which has the new id of each old one.",
    options: tables.truncating,
    examples: [{ what: "Two sizes", command: "bpe truncate tokenizer -n 400,300 -o smaller" }],
  },
  {
    name: "convert",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "write a tokenizer as other kinds of files",
    details: "Ids stay: what is written is loaded, and compared.",
    options: tables.converting,
    examples: [
      { what: "As all kinds", command: "bpe convert tokenizer/tokenizer.tiktoken -o converted" },
      { what: "For llama.cpp", command: "bpe convert tokenizer --format gguf -o converted" },
    ],
  },
  {
    name: "ids train",
    files: "<file>...",
    reads: "files",
    filesDescription: idFiles,
    description: "learn merges over ids",
    details:
      "Learns merges over numbers: audio codes, notes, k-mers, colours. bpe help docs/extend.md has more.",
    readsPipe: true,
    options: tables.idsTraining,
    examples: [
      { what: "3 tokens more than the alphabet has", command: "bpe ids train notes.txt -n +3 -o notes" },
    ],
  },
  {
    name: "ids encode",
    files: "<file>...",
    reads: "files",
    filesDescription: idFiles,
    description: "turn ids of an alphabet into tokens",
    readsPipe: true,
    options: tables.idsEncoding,
    examples: [
      { what: "As lines of tokens", command: "bpe ids encode notes.txt --tokenizer notes" },
      { what: "For numpy", command: "bpe ids encode notes.txt --tokenizer notes -o tokens.npy" },
    ],
  },
  {
    name: "ids decode",
    files: "<file>",
    reads: "files",
    filesDescription: idFiles,
    description: "turn tokens back into ids of the alphabet",
    readsPipe: true,
    options: tables.idsDecoding,
    examples: [{ what: "A file of tokens", command: "bpe ids decode tokens.npy --tokenizer notes" }],
  },
  {
    name: "ids truncate",
    files: "<file>",
    reads: "files",
    filesDescription: "ids that encode wrote, in any format, or decimal; -",
    description: "ids of a smaller vocabulary, without the text",
    details: "They are those that encoding the text anew would give. -p and -s are for the file of --from.",
    readsPipe: true,
    options: tables.idsTruncating,
    examples: [
      {
        what: "For a vocabulary of half the size",
        command: "bpe ids truncate corpus.npy --from tokenizer --to smaller/400 -o smaller.npy",
      },
    ],
  },
  {
    name: "ids join",
    files: "<file>...",
    reads: "files",
    filesDescription: "NAME.json of each part, in any order; globs",
    description: "join parts that many machines encoded",
    details:
      "Parts are what bpe encode --ids-format part made of ranges of a plan. The files are those of one machine.",
    options: tables.idsJoining,
    examples: [
      {
        what: "For Megatron, in shards",
        command: "bpe ids join 'part*.json' --plan slice1 -o corpus --ids-format megatron --shard-size 100M",
      },
    ],
  },
  {
    name: "ids inspect",
    files: "<path>",
    reads: "tokenizer",
    filesDescription: "directory of merges over ids, or its merges.txt",
    description: "show the longest merges over ids",
    options: tables.everywhere,
    examples: [{ what: "What was learned", command: "bpe ids inspect notes" }],
  },
  {
    name: "image",
    files: "<tokenizer>",
    ...oneTokenizer,
    description: "make a tokenizer that other programs load",
    details:
      "Writes what Python's native module and C programs encode with, in their own process, as one file. It belongs to this version of bpe: another one refuses it.",
    options: tables.imaging,
    examples: [{ what: "For a C program", command: "bpe image tokenizer -o tokenizer.image" }],
  },
  {
    name: "playground",
    files: "",
    description: "write a page that trains, to learn from",
    details:
      "Writes one HTML file, which needs no network: it trains in the browser, and shows every merge. bpe help docs/learn.md leads through it.",
    options: tables.teaching,
    examples: [{ what: "For a course", command: "bpe playground -o playground.html" }],
  },
  {
    name: "completions",
    files: "<shell>",
    filesDescription: "bash, zsh or fish",
    fileWords: ["bash", "zsh", "fish"],
    description: "print completions for a shell",
    details: "Prints a script for a shell, which then completes commands, options and their values.",
    options: tables.everywhere,
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

export const commands: readonly CommandSpec[] = specs.map((spec) => ({
  ...spec,
  options: Object.values(spec.options),
}));

/** Commands of two words, by the first one: what they are for. */
export const commandGroups = {
  ids: "train, encode, decode, truncate, join, inspect ids",
} as const;

/** The commands of a group. */
export const commandsOf = (group: string) => commands.filter(({ name }) => name.startsWith(`${group} `));

/** The words behind the first. */
export const wordsOf = (group: string) => commandsOf(group).map(({ name }) => name.slice(group.length + 1));

/** What may stand behind `bpe`: commands and groups of them. */
export const firstWords = [
  ...commands.map(({ name }) => name).filter((name) => !name.includes(" ")),
  ...Object.keys(commandGroups),
];

/** Whether its output is a directory, which is replaced as a whole. */
export const replacesDirectory = ({ options }: CommandSpec) =>
  options.some(({ writes }) => writes === "directory");

/** The command as it is typed, with all that it cannot do without. */
export function usageLine({ name, files, options }: CommandSpec): string {
  const required = options
    .filter((option) => option.required)
    .map(({ name, short, kind }) => `${short === undefined ? `--${name}` : `-${short}`} ${kind.value}`);
  return ["bpe", name, files, ...required, "[options]"].filter((part) => part !== "").join(" ");
}
