import type { WordTable } from "../words/word-table.ts";

/**
 * Words of a table come in the order of the hash table that counted them. Whoever puts them into another table with the same
 * hashes, as encoding does, would fill that one from front to back: each word would search through all others behind its
 * home. So words are visited in steps of a golden section, which fill any such table evenly.
 *
 * Index `i` of the order is `(i * step) % count`; `step` and `count` have no common divisor, so each index comes once.
 */
export function scatteredStep(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.6180339887498949));
  while (commonDivisor(step, count) > 1) step++;
  return step;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** The words of a table in such an order, in memory that threads share. */
export function scatteredTable({ wordCount, bytes, starts, counts }: WordTable): WordTable {
  const step = scatteredStep(wordCount);
  const scattered = {
    wordCount,
    bytes: new Uint8Array(new SharedArrayBuffer(starts[wordCount]!)),
    starts: new Uint32Array(new SharedArrayBuffer(4 * (wordCount + 1))),
    counts: new Float64Array(new SharedArrayBuffer(8 * wordCount)),
  };
  let pos = 0;
  for (let i = 0; i < wordCount; i++) {
    const word = (i * step) % wordCount;
    const end = starts[word + 1]!;
    for (let from = starts[word]!; from < end; from++) scattered.bytes[pos++] = bytes[from]!;
    scattered.starts[i + 1] = pos;
    scattered.counts[i] = counts[word]!;
  }
  return scattered;
}
