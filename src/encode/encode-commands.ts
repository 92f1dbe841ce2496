import { commands } from "#terminal";
import { decodeOptions, encodeOptions, tokensOptions } from "./encode-options.ts";

export const encodeCommands: readonly commands.Command[] = [
  {
    name: "encode",
    files: "<file>...",
    ...commands.corpusFiles,
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
    ...commands.corpusFiles,
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
