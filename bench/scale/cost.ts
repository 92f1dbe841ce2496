import { extrapolate, type Growth, growthOf } from "./heaps.ts";
import type { ScaleRecord } from "./record.ts";

/** The number of points that Heaps' law is fitted to: the largest ones, from an eighth of the corpus to all of it. */
const fittedPointCount = 4;

/**
 * An assumption about sizes that were not measured: which corpus the additional text resembles, and the exponent of
 * Heaps' law for the number of its distinct words.
 */
export type Case = {
  readonly title: string;
  readonly name: string;
  readonly growth: Growth;
  readonly exponent: number;
};

/** The program's limits: of merging (docs/internals/merge.md), and of a table of words (src/words/sorted-words.ts). */
export const bounds = { cells: 2 ** 31 - 2, wordBytes: 2 ** 32, words: 2 ** 29 };

export const growthsOf = (record: ScaleRecord) =>
  record.growth.map(({ name, points }) => ({ name, points, ...growthOf(points.slice(-fittedPointCount)) }));

export function casesOf(record: ScaleRecord): Case[] {
  const growths = growthsOf(record).toSorted((a, b) => a.exponent - b.exponent);
  const low = growths[0]!;
  const high = growths.at(-1)!;
  const all = growths.find(({ name }) => name === "all")!;
  return [
    { title: "low", name: low.name, growth: low, exponent: low.exponentLow },
    { title: "middle", name: all.name, growth: all, exponent: all.exponent },
    { title: "high", name: high.name, growth: high, exponent: high.exponentHigh },
  ];
}

export type Cost = ReturnType<typeof costOf>;

/** Returns the cost of training on a corpus of `sizeBytes`, counted in slices of `sliceBytes`. */
export function costOf(record: ScaleRecord, on: Case, sizeBytes: number, sliceBytes: number) {
  const counted = record.counting.find(({ name }) => name === on.name)!;
  const sliceCount = Math.ceil(sizeBytes / sliceBytes);
  const sentWordCount = sliceCount * extrapolate(on.growth, on.exponent, Math.min(sliceBytes, sizeBytes));
  const { addingUp, planning } = record;
  return {
    sliceCount,
    planSeconds: (sliceCount * planning.cpuSeconds) / planning.rangeCount,
    countSeconds: (sizeBytes * counted.cpuSeconds) / counted.sizeBytes,
    sentWordCount,
    sentBytes: (sentWordCount * counted.compactBytes) / counted.distinctWordCount,
    addUpSeconds: (sentWordCount * addingUp.cpuSeconds) / addingUp.readWordCount,
    ...mergeCostOf(record, on, extrapolate(on.growth, on.exponent, sizeBytes)),
  };
}

/** Returns the cost of merging `distinctWordCount` words. */
export function mergeCostOf(record: ScaleRecord, on: Case, distinctWordCount: number) {
  const counted = record.counting.find(({ name }) => name === on.name)!;
  const wordBytes = (distinctWordCount * counted.wordBytes) / counted.distinctWordCount;
  const cells = wordBytes + distinctWordCount;
  const [before, last] = record.merging.slice(-2) as [
    ScaleRecord["merging"][number],
    ScaleRecord["merging"][number],
  ];
  // Time and memory depend on the number of cells: one for each byte of a distinct word, and one for the boundary after
  // the word.
  const cellsOf = (point: typeof last) => point.wordBytes + point.distinctWordCount;
  const along = (cells - cellsOf(last)) / (cellsOf(last) - cellsOf(before));
  const peakBytes = Math.max(last.peakBytes * (cells / cellsOf(last)), 0);
  const seconds = Math.max(last.cpuSeconds + along * (last.cpuSeconds - before.cpuSeconds), 0);
  const tooMuch =
    cells > bounds.cells
      ? "too many"
      : wordBytes >= bounds.wordBytes || distinctWordCount >= bounds.words
        ? "too many"
        : undefined;
  return { distinctWordCount, wordBytes, cells, peakBytes, mergeSeconds: seconds, tooMuch };
}

/**
 * Returns the size of the largest corpus whose words can be merged within the program's limits and `memoryBytes`, and
 * the number of these words.
 */
export function largestCorpus(record: ScaleRecord, on: Case, memoryBytes: number) {
  const fits = (sizeBytes: number) => {
    const words = extrapolate(on.growth, on.exponent, sizeBytes);
    const cost = mergeCostOf(record, on, words);
    return cost.tooMuch === undefined && cost.peakBytes <= memoryBytes;
  };
  let low = 0;
  let high = 60;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (fits(2 ** middle)) low = middle;
    else high = middle;
  }
  const sizeBytes = 2 ** low;
  return { sizeBytes, distinctWordCount: extrapolate(on.growth, on.exponent, sizeBytes) };
}
