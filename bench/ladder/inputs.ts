import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { WordTable } from "../../src/words/word-table.ts";
import { readWords } from "../merge/words.ts";
import { writeWords } from "./words-file.ts";

const root = `${import.meta.dir}/../..`;

export function writeInstalledText(path: string): void {
  const sources = ["node_modules/bun-types/**/*.mdx", "node_modules/{bun-types,@types,typescript}/**/*.d.ts"];
  const files = sources.flatMap((source) => [...new Bun.Glob(source).scanSync(root)]).sort();
  writeFileSync(path, Buffer.concat(files.map((file) => readFileSync(`${root}/${file}`))));
}

/** Makes a file of words for each number of words. A smaller file has the first words of a larger one. */
export function makeInputs(textPath: string, directory: string, wordCounts: readonly number[]): string[] {
  const wordCountMax = Math.max(...wordCounts);
  const tsvPath = `${directory}/words.tsv`;
  const command = [`${root}/bench/merge/make-words.ts`, textPath, tsvPath, "--words", `${wordCountMax}`];
  const { status } = spawnSync(process.execPath, command, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error("the words could not be made");
  const words = readWords(tsvPath);
  return wordCounts.map((wordCount) => {
    const path = `${directory}/words-${wordCount}.bin`;
    writeWords(path, firstWords(words, wordCount));
    return path;
  });
}

function firstWords(words: WordTable, wordCount: number): WordTable {
  const counts = Float64Array.from({ length: wordCount }, (_, rank) => Math.floor(wordCount / (rank + 1)));
  return { wordCount, bytes: words.bytes, starts: words.starts, counts };
}
