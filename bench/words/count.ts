/**
 * Times counting alone, without splitting: bun bench/words/count.ts [file] [rounds]
 *
 * The printed checksum depends only on words and counts, so it shows whether the result has changed.
 */
import { WordCounter } from "../../src/words/word-counter.ts";
import type { WordTable } from "../../src/words/word-table.ts";
import { makeEnglish } from "./english.ts";
import { splitPlainly } from "./split.ts";

const blockBytes = 1 << 14;

const path = process.argv[2];
const rounds = Number(process.argv[3] ?? 5);
const bytes = path === undefined ? makeEnglish(1 << 26, 1) : await Bun.file(path).bytes();
const blocks = blocksOf(splitPlainly(bytes));
const pretokenCount = blocks.reduce((sum, ends) => sum + ends.length - 1, 0);

console.log(
  `${path ?? "made-up English, seed 1"}: ${bytes.length} bytes, ${pretokenCount} pretokens, Bun ${Bun.version}`,
);
const times: number[] = [];
let table: WordTable | undefined;
for (let round = 0; round < rounds; round++) {
  const counter = new WordCounter();
  const start = performance.now();
  counter.text(bytes.length).bytes.set(bytes);
  for (const ends of blocks) counter.take(ends, ends.length);
  times.push(performance.now() - start);
  if (round < rounds - 1) continue;
  const tableStart = performance.now();
  const memory = counter.memoryBytes;
  table = counter.toWordTable();
  console.log(
    `tables ${(memory / 2 ** 20).toFixed(1)} MB, word table made in ${(performance.now() - tableStart).toFixed(1)} ms`,
  );
}
const minMs = Math.min(...times);
const meanMs = times.reduce((sum, ms) => sum + ms, 0) / rounds;
const deviationMs = Math.sqrt(times.reduce((sum, ms) => sum + (ms - meanMs) ** 2, 0) / rounds);
console.log(
  `${(bytes.length / 1e3 / minMs).toFixed(0)} MB/s, ${((minMs * 1e6) / bytes.length).toFixed(2)} ns a byte, ` +
    `${((minMs * 1e6) / pretokenCount).toFixed(1)} ns a pretoken; min ${minMs.toFixed(0)} ms, ` +
    `mean ${meanMs.toFixed(0)} ± ${deviationMs.toFixed(0)} ms of ${rounds}`,
);
console.log(`${table!.wordCount} distinct words, checksum ${checksumOf(table!).toString(16)}`);

function blocksOf(ends: Int32Array): Int32Array[] {
  const blocks: Int32Array[] = [];
  for (let first = 0, i = 1; i < ends.length; i++) {
    if (i + 1 < ends.length && ends[i]! - ends[first]! < blockBytes) continue;
    blocks.push(ends.slice(first, i + 1));
    first = i;
  }
  return blocks;
}

function checksumOf(table: WordTable): bigint {
  let checksum = 0n;
  for (let w = 0; w < table.wordCount; w++) {
    const word = table.bytes.subarray(table.starts[w]!, table.starts[w + 1]!);
    checksum = BigInt.asUintN(64, checksum + Bun.hash.xxHash64(word) * BigInt(table.counts[w]!));
  }
  return checksum;
}
