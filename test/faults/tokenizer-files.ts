import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "./jobs.ts";
import { mutateJson, mutateLines } from "./mutate.ts";

/** A file of a tokenizer that is mutated, what it is loaded by, and what has to stand beside it. */
export type TokenizerFile = {
  readonly name: string;
  readonly loadedBy: string;
  readonly beside: readonly string[];
  readonly mutate: (text: string, random: Random) => string;
};

/** Of a directory that `bpe train` wrote; `tekken.json` is made from it. */
export const tokenizerFiles: readonly TokenizerFile[] = [
  { name: "tokenizer.json", loadedBy: "tokenizer.json", beside: [], mutate: mutateJson },
  {
    name: "vocab.json",
    loadedBy: "vocab.json",
    beside: ["merges.txt", "training.json"],
    mutate: mutateJson,
  },
  {
    name: "merges.txt",
    loadedBy: "vocab.json",
    beside: ["vocab.json", "training.json"],
    mutate: mutateLines,
  },
  {
    name: "tokenizer.tiktoken",
    loadedBy: "tokenizer.tiktoken",
    beside: ["training.json"],
    mutate: mutateLines,
  },
  {
    name: "training.json",
    loadedBy: "tokenizer.tiktoken",
    beside: ["tokenizer.tiktoken"],
    mutate: mutateJson,
  },
  { name: "tekken.json", loadedBy: "tekken.json", beside: [], mutate: mutateJson },
];

/** The file's text. */
export function readTokenizerFile(directory: string, name: string): string {
  return name === "tekken.json"
    ? tekkenOf(readFileSync(join(directory, "tokenizer.tiktoken"), "utf8"))
    : readFileSync(join(directory, name), "utf8");
}

const specialCount = 20;

/** Mistral's form of a file of ranks. */
function tekkenOf(ranks: string): string {
  const lines = ranks.split("\n").filter((line) => line !== "");
  const vocab = lines.map((line, rank) => ({ rank, token_bytes: line.split(" ")[0], token_str: null }));
  const config = {
    pattern: "[^\\s\\p{L}]+|\\p{L}+|\\s+",
    default_vocab_size: lines.length + specialCount - 30,
    default_num_special_tokens: specialCount,
    version: "v3",
  };
  return JSON.stringify({ config, vocab });
}
