import { existsSync } from "node:fs";
import { type ModelShape, readModelShape } from "../evaluation/model-cost.ts";
import { writtenFormats } from "../formats/formats.ts";
import { type Kind, path, readTextFile, sizes, texts, words, wrong } from "./kinds.ts";
import { tableOf } from "./option.ts";

// The options of commands that are about two tokenizers, or make one of another.

/** Of `bpe truncate`. */
export const truncation = tableOf({
  vocabSize: {
    name: "vocab-size",
    short: "n",
    kind: sizes,
    required: true,
    topic: "tokens",
    description: "how many tokens stay, special tokens included",
    details: "Several sizes, separated by commas: -n 64k,32k writes DIR/65536 and DIR/32768.",
  },
});

/** Of `bpe convert`. */
export const conversion = tableOf({
  formats: {
    name: "format",
    kind: words(writtenFormats),
    topic: "output",
    description: "which kinds of files to write",
    default: "all that can hold the tokenizer, without gguf",
  },
});

/** Numbers of a model, or files that have them. */
const modelShape: Kind<ModelShape> = {
  ...texts("FILE|NAME=N,..."),
  read: (typed, name) =>
    readModelShape(typed, name, (value) =>
      value.includes("=") && !existsSync(value) ? undefined : readTextFile(name, value),
    ),
  take: () => wrong,
};

/** Of `bpe eval`. */
export const measuring = tableOf({
  model: {
    name: "model",
    kind: modelShape,
    reads: "files",
    topic: "output",
    description: "also what the vocabulary costs this model to run",
    details:
      "A config.json, or numbers: d=4096,layers=32 and more (bpe help docs/evaluate.md). The last value wins: --model config.json --model context=16384.",
    sample: "config.json",
  },
});

/** Of `bpe diff`, what it writes. */
export const comparison = tableOf({
  pieces: {
    name: "pieces",
    kind: path("FILE"),
    writes: "file",
    topic: "output",
    description: "write what each token of <b> is in <a>, for embeddings",
    details: "A table: new, the id in <b>; old, that or those of its pieces in <a>; token.",
  },
});
