/** Times writing, reading and adding up counts files: bun bench/words/counts-file.ts [wordCount] */

import { runToEnd } from "../../src/runtime/slices.ts";
import * as countsFormat from "../../src/words/counts-format.ts";
import * as sortedWords from "../../src/words/sorted-words.ts";
import { sortByCountInSteps, TsvReader, tsvChunks } from "../../src/words/tsv.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import type { WordTable } from "../../src/words/word-table.ts";
import { makeWords } from "./english.ts";

const wordCount = Number(process.argv[2] ?? 2_000_000);

/** Returns distinct words, by counting made-up words, some of which are equal. */
function distinctWords(seed: number): WordTable {
  const { starts, bytes, counts } = makeWords(wordCount, seed);
  const padded = new Uint8Array(bytes.length + 64);
  padded.set(bytes);
  const text = { bytes: padded, view: new DataView(padded.buffer) };
  const counter = new WordCounter();
  for (let w = 0; w < wordCount; w++) counter.add(text, starts[w]!, starts[w + 1]!, counts[w]!);
  return counter.toWordTable();
}

function timed<T>(name: string, work: () => T): T {
  const start = performance.now();
  const result = work();
  console.log(`${name}: ${(performance.now() - start).toFixed(0)} ms`);
  return result;
}

const tables = [distinctWords(1), distinctWords(2)] as const;
const options = { patterns: [" ?\\p{L}+"], specialTokens: [], isLinewise: false };
console.log(`${tables[0].wordCount} distinct words, ${tables[0].bytes.length} bytes, Bun ${Bun.version}`);

const files = tables.map((table) =>
  timed("binary: sort and write", () => Buffer.concat([...countsFormat.fileChunks(table, options)])),
);
const tsv = timed("text: sort and write", () =>
  Buffer.concat([...tsvChunks(tables[0], runToEnd(sortByCountInSteps(tables[0])))]),
);
console.log(`binary ${files[0]!.length} bytes, text ${tsv.length} bytes`);

const one = timed("binary: read one", () => tableOf([readerOf(files[0]!)]));
const two = timed("binary: add up two", () => tableOf(files.map(readerOf)));
const fromText = timed("text: read", () => {
  const counter = new WordCounter();
  const reader = new TsvReader("words.tsv", counter);
  for (let pos = 0; pos < tsv.length; pos += 1 << 18) reader.read(tsv.subarray(pos, pos + (1 << 18)));
  reader.finish();
  return counter.toWordTable();
});
console.log(`${one.wordCount}, ${two.wordCount}, ${fromText.wordCount} distinct words`);

function readerOf(file: Uint8Array): countsFormat.Reader {
  let pos = 0;
  return new countsFormat.Reader("some.counts", (into) => {
    const piece = file.subarray(pos, pos + into.length);
    into.set(piece);
    pos += piece.length;
    return piece.length;
  });
}

function tableOf(readers: readonly countsFormat.Reader[]): WordTable {
  const work = sortedWords.wordTableOfSum(
    new sortedWords.SumOfWords(readers.map((words) => ({ words, times: 1 }))),
  );
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}
