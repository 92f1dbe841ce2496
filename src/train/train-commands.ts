import { trainingOptions } from "#options";
import { commands } from "#terminal";
import { countOptions } from "./train-options.ts";

export const trainCommands: readonly commands.Command[] = [
  {
    name: "train",
    files: "<file>...",
    ...commands.corpusFiles,
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
        what: "Every night: count only new files, keep a week of results",
        command:
          "bpe train corpus/ -n 32k -s '<|endoftext|>' -o nightly --cache cache --if-changed --keep 7 -q --log-file nightly.log",
      },
      {
        what: "For a chat model",
        command: "bpe train corpus.txt -n 32k -p gpt-4o --chat-template chatml -o chat",
      },
    ],
    run: async () => (await import("./train-command.ts")).runTrain,
    usesKernel: true,
  },
  {
    name: "count",
    files: "<file>...",
    ...commands.corpusFiles,
    description: "count the words of a corpus, to train from",
    details:
      "Counts the distinct words of a corpus, as a pattern cuts them. bpe train --counts trains from such counts. To count tokens, use bpe tokens.",
    readsPipe: true,
    filesFrom: ["counts", "ranges"],
    options: countOptions,
    examples: [
      { what: "The most frequent words", command: "bpe count corpus.txt -s '<|endoftext|>' | head" },
      {
        what: "Count on one machine, train on another",
        command:
          "bpe count corpus.txt -s '<|endoftext|>' -o words.counts && bpe train --counts words.counts -n 32k -o tokenizer",
      },
    ],
    run: async () => (await import("./count-command.ts")).runCount,
    usesKernel: true,
  },
];
