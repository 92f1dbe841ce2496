/**
 * Times adding up many sorted counts: bun bench/words/add-up.ts [fileCount] [wordCount]
 *
 * Each file has about `wordCount` English-like words. Half of them are the same in all files.
 */

import * as countsFormat from "../../src/words/counts-format.ts";
import * as sortedWords from "../../src/words/sorted-words.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { makeWords } from "./english.ts";

const fileCount = Number(process.argv[2] ?? 100);
const wordCount = Number(process.argv[3] ?? 50_000);
const options = { patterns: [" ?\\p{L}+"], specialTokens: [], isLinewise: false };

const files = Array.from({ length: fileCount }, (_, i) => {
  const counter = new WordCounter();
  for (const seed of [1, 2 + i]) {
    const { bytes, starts, counts } = makeWords(wordCount / 2, seed);
    const padded = new Uint8Array(bytes.length + 64);
    padded.set(bytes);
    const text = { bytes: padded, view: new DataView(padded.buffer) };
    for (let w = 0; w < wordCount / 2; w++) counter.add(text, starts[w]!, starts[w + 1]!, counts[w]!);
  }
  return new Uint8Array(Buffer.concat([...countsFormat.fileChunks(counter.toWordTable(), options)]));
});

for (let round = 0; round < 3; round++) {
  const start = process.cpuUsage().user;
  const work = sortedWords.totalsOfSum(
    new sortedWords.SumOfWords(files.map((file) => ({ words: readerOf(file), times: 1 }))),
  );
  let step = work.next();
  for (; !step.done; step = work.next());
  const ms = (process.cpuUsage().user - start) / 1000;
  const read = fileCount * wordCount;
  console.log(
    `${fileCount} files of ${wordCount} words: ${ms.toFixed(0)} ms of processor time, ${((ms * 1e6) / read).toFixed(0)} ns a word read; ${step.value.wordCount} distinct, ${step.value.pretokenCount} in all`,
  );
}

function readerOf(file: Uint8Array): countsFormat.Reader {
  let pos = 0;
  return new countsFormat.Reader("some.counts", (into) => {
    const piece = file.subarray(pos, pos + into.length);
    into.set(piece);
    pos += piece.length;
    return piece.length;
  });
}
