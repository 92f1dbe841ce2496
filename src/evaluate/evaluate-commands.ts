import { commands } from "#terminal";
import { diffOptions, evalOptions, explainOptions, inspectOptions } from "./evaluate-options.ts";

export const evaluateCommands: readonly commands.Command[] = [
  {
    name: "inspect",
    files: "<path>",
    ...commands.oneTokenizer,
    description: "show what is in a tokenizer",
    details:
      "Describes a tokenizer: its size, pattern and special tokens, its longest tokens, scripts and lengths.",
    options: inspectOptions,
    examples: [{ what: "With a text", command: "bpe inspect tokenizer --text corpus.txt" }],
    run: async () => (await import("./inspect-command.ts")).runInspect,
  },
  {
    name: "explain",
    files: "<tokenizer> <text>",
    reads: "tokenizer",
    filesDescription: "a tokenizer, and a text to encode",
    description: "show how a text is encoded",
    details:
      "Shows how a text is split, and each merge: its rank, what it joins, and, with a tokens.tsv, how often training made it. The ids are those of bpe encode, which reads files.",
    options: explainOptions,
    examples: [{ what: "A word", command: "bpe explain tokenizer ' lowest'" }],
    run: async () => (await import("./explain-command.ts")).runExplain,
    usesKernel: true,
  },
  {
    name: "eval",
    files: "<tokenizer>...",
    reads: "tokenizer",
    description: "measure and compare tokenizers on texts",
    details:
      "Encodes each text with each tokenizer, and measures bytes, characters and words per token, how words and numbers are split, how much of the vocabulary is used, and how evenly the texts are served. A tokenizer is a path, or NAME=PATH; a directory of several sizes means all of them. bpe help docs/evaluate.md has the formulas.",
    options: evalOptions,
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
    run: async () => (await import("./eval-command.ts")).runEval,
    usesKernel: true,
  },
  {
    name: "diff",
    files: "<a> <b>",
    reads: "tokenizer",
    description: "show how two tokenizers differ",
    details:
      "Shows tokens that only one of them has, tokens with another id, merges in another order, and, with a text, the words that they split differently.",
    options: diffOptions,
    examples: [
      { what: "On the words of a text", command: "bpe diff tokenizer gpt2 --text corpus.txt" },
      { what: "For the rows of an embedding", command: "bpe diff gpt2 tokenizer --pieces pieces.tsv" },
    ],
    run: async () => (await import("./diff-command.ts")).runDiff,
    usesKernel: true,
  },
];
