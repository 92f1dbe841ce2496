import { commonOptions } from "#options";
import { type Command, corpusFiles } from "#terminal";
import {
  checkIdsOptions,
  decodeIdsOptions,
  decodeOptions,
  encodeIdsOptions,
  encodeOptions,
  joinIdsOptions,
  planOptions,
  tokensOptions,
  trainIdsOptions,
  truncateIdsOptions,
} from "./encode-options.ts";

const idFiles = "ids: .npy, .bin, or a document a line; globs, -";

export const planCommand: Command = {
  name: "plan",
  files: "<file>...",
  reads: "corpus",
  filesDescription: "text, JSON lines, Parquet; directories, globs",
  description: "cut a corpus into ranges for several machines",
  details:
    "Splits files into byte ranges, one line of JSON each. Any number of machines can process them, with --ranges of count and encode. The results add up to those of the whole corpus.",
  // The error can then explain that other machines cannot read a pipe.
  readsPipe: true,
  options: planOptions,
  examples: [
    {
      what: "Plan, and count the ranges in any order",
      command: "bpe plan corpus.txt -s '<|endoftext|>' | shuf | bpe count --ranges - -s '<|endoftext|>'",
    },
    {
      what: "Into a file that all machines read",
      command: "bpe plan corpus.txt -s '<|endoftext|>' -o plan.jsonl",
    },
  ],
  run: async () => (await import("./plan-command.ts")).runPlan,
};

export const encodeCommands: readonly Command[] = [
  {
    name: "encode",
    files: "<file>...",
    ...corpusFiles,
    description: "turn text into token ids",
    details:
      "Encodes text with any byte-level BPE tokenizer. The ids match those of the tokenizer's own library.",
    readsPipe: true,
    filesFrom: ["ranges"],
    options: encodeOptions,
    examples: [
      { what: "A text, for numpy", command: "bpe encode corpus.txt --tokenizer tokenizer -o corpus.npy" },
      { what: "A pipe, as numbers", command: "echo 'hello world' | bpe encode --tokenizer tokenizer" },
      {
        what: "A data set, with an end token after each document",
        command:
          "bpe encode data --include '*.jsonl.zst' --tokenizer tokenizer --append-token '<|endoftext|>' -o data.bin",
      },
      {
        what: "One of many machines: its slice of a plan, for bpe ids join",
        command:
          "bpe plan corpus.txt --tokenizer tokenizer -o slice1 && bpe encode --ranges slice1 --tokenizer tokenizer --ids-format part -o part1",
      },
    ],
    run: async () => (await import("./encode-command.ts")).runEncode,
    usesKernel: true,
  },
  {
    name: "tokens",
    files: "<file>...",
    ...corpusFiles,
    description: "count the tokens of files",
    details:
      "Counts tokens as wc counts words: per file, per named directory, and in total. The counts match the ids of bpe encode. Bytes are those of the uncompressed text; for records, of the text field. It writes only to stdout. To count words for training, use bpe count.",
    readsPipe: true,
    options: tokensOptions,
    examples: [
      {
        what: "The files of a directory, and their sum",
        command: "bpe tokens corpus/ --tokenizer tokenizer",
      },
      {
        what: "A number, for a script",
        command: "bpe tokens corpus.txt --tokenizer tokenizer --json -q | jq .total.tokens",
      },
    ],
    run: async () => (await import("./tokens-command.ts")).runTokens,
    usesKernel: true,
  },
  {
    name: "decode",
    files: "<file>",
    reads: "files",
    filesDescription: "ids: .npy, .bin, or decimal; - is standard input",
    description: "turn token ids into text",
    details: "Reads .npy, .bin, or decimal ids separated by white space, and writes the exact bytes.",
    readsPipe: true,
    options: decodeOptions,
    examples: [
      { what: "A file of ids", command: "bpe decode corpus.npy --tokenizer tokenizer | head" },
      { what: "Some ids", command: "echo 104 105 | bpe decode --tokenizer tokenizer" },
    ],
    run: async () => (await import("./decode-command.ts")).runDecode,
  },
];

export const idsCommands: readonly Command[] = [
  {
    name: "ids train",
    files: "<file>...",
    reads: "files",
    filesDescription: idFiles,
    description: "learn merges over ids",
    details:
      "Learns merges over numbers: audio codes, notes, k-mers, colours. bpe help docs/extend.md has more.",
    readsPipe: true,
    options: trainIdsOptions,
    examples: [
      { what: "3 tokens more than the alphabet has", command: "bpe ids train notes.txt -n +3 -o notes" },
    ],
    run: async () => (await import("./ids-command.ts")).runTrainIds,
    usesKernel: true,
  },
  {
    name: "ids encode",
    files: "<file>...",
    reads: "files",
    filesDescription: idFiles,
    description: "turn ids of an alphabet into tokens",
    readsPipe: true,
    options: encodeIdsOptions,
    examples: [
      { what: "As lines of tokens", command: "bpe ids encode notes.txt --tokenizer notes" },
      { what: "For numpy", command: "bpe ids encode notes.txt --tokenizer notes -o tokens.npy" },
    ],
    run: async () => (await import("./ids-command.ts")).runEncodeIds,
  },
  {
    name: "ids decode",
    files: "<file>",
    reads: "files",
    filesDescription: idFiles,
    description: "turn tokens back into ids of the alphabet",
    readsPipe: true,
    options: decodeIdsOptions,
    examples: [{ what: "A file of tokens", command: "bpe ids decode tokens.npy --tokenizer notes" }],
    run: async () => (await import("./ids-command.ts")).runDecodeIds,
  },
  {
    name: "ids truncate",
    files: "<file>",
    reads: "files",
    filesDescription: "ids that encode wrote, in any format, or decimal; -",
    description: "ids of a smaller vocabulary, without the text",
    details: "The same ids as re-encoding the text. -p and -s are for the file of --from.",
    readsPipe: true,
    options: truncateIdsOptions,
    examples: [
      {
        what: "For a vocabulary of half the size",
        command: "bpe ids truncate corpus.npy --from tokenizer --to smaller/400 -o smaller.npy",
      },
    ],
    run: async () => (await import("./truncate-ids-command.ts")).runTruncateIds,
  },
  {
    name: "ids join",
    files: "<file>...",
    reads: "files",
    filesDescription: "NAME.json of each part, in any order; globs",
    description: "join parts that many machines encoded",
    details:
      "Parts come from bpe encode --ids-format part on ranges of a plan. The result matches that of one machine.",
    options: joinIdsOptions,
    examples: [
      {
        what: "For Megatron, in shards",
        command: "bpe ids join 'part*.json' --plan slice1 -o corpus --ids-format megatron --shard-size 100M",
      },
    ],
    run: async () => (await import("./join-command.ts")).runJoinIds,
  },
  {
    name: "ids check",
    files: "<file>...",
    reads: "files",
    filesDescription: "ids in any format that encode writes, or decimal; -",
    description: "check that ids are those that encoding gives",
    details:
      "Decodes the ids of each document, encodes the text, and compares. Shows the first places that differ, and exits with 1 if there are any.",
    readsPipe: true,
    options: checkIdsOptions,
    examples: [
      {
        what: "The ids that a model is trained on",
        command: "bpe ids check corpus.npy --tokenizer tokenizer",
      },
    ],
    run: async () => (await import("./check-ids-command.ts")).runCheckIds,
    usesKernel: true,
  },
  {
    name: "ids inspect",
    files: "<path>",
    reads: "tokenizer",
    filesDescription: "directory of merges over ids, or its merges.txt",
    description: "show the longest merges over ids",
    options: commonOptions,
    examples: [{ what: "What was learned", command: "bpe ids inspect notes" }],
    run: async () => (await import("./ids-command.ts")).runInspectIds,
  },
];
