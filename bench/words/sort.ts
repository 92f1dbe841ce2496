/** Times sorting: bun bench/words/sort.ts [wordCount] [rounds] */
import { runToEnd } from "../../src/runtime/slices.ts";
import { sortByBytesInSteps } from "../../src/words/sort-by-bytes.ts";
import { sortByCountInSteps } from "../../src/words/tsv.ts";
import type { WordTable } from "../../src/words/word-table.ts";
import { makeWords } from "./english.ts";

const wordCount = Number(process.argv[2] ?? 6_000_000);
const rounds = Number(process.argv[3] ?? 3);
const table = makeWords(wordCount, 1);
console.log(`${wordCount} words, ${table.bytes.length} bytes, Bun ${Bun.version}`);

for (const [name, sort] of [
  ["by bytes", (words: WordTable) => runToEnd(sortByBytesInSteps(words))],
  ["by count", (words: WordTable) => runToEnd(sortByCountInSteps(words))],
] as const) {
  let minMs = Number.POSITIVE_INFINITY;
  let order: Uint32Array = new Uint32Array(0);
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    order = sort(table);
    minMs = Math.min(minMs, performance.now() - start);
  }
  console.log(`${name}: ${minMs.toFixed(0)} ms, in order: ${isInOrder(table, order, name === "by count")}`);
}

function isInOrder(table: WordTable, order: Uint32Array, byCount: boolean): boolean {
  for (let i = 1; i < order.length; i++) {
    const a = order[i - 1]!;
    const b = order[i]!;
    const fall = byCount ? table.counts[a]! - table.counts[b]! : 0;
    if (fall < 0 || (fall === 0 && compareWords(table, a, b) > 0)) return false;
  }
  return true;
}

function compareWords({ bytes, starts }: WordTable, a: number, b: number): number {
  const lengthA = starts[a + 1]! - starts[a]!;
  const lengthB = starts[b + 1]! - starts[b]!;
  for (let i = 0; i < lengthA && i < lengthB; i++) {
    const difference = bytes[starts[a]! + i]! - bytes[starts[b]! + i]!;
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}
