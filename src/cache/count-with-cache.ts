import type { Input } from "../corpus/inputs.ts";
import { type Range, wholeRange } from "../corpus/ranges.ts";
import type { RangeFindings } from "../count/range-counter.ts";
import type { Run } from "../count/runs.ts";
import { inTurns, nextTurn } from "../next-turn.ts";
import type { CorpusOptions, CountedWords, Report } from "../train.ts";
import { sumOfCounts } from "../words/counter.ts";
import type { Cache } from "./cache.ts";
import type { EntryId } from "./names.ts";
import { addTable, inByteOrder } from "./tables.ts";

/** What is counted of the corpus, and which inputs' words are wanted apart. */
type Part = { readonly ranges: readonly Range[]; readonly inputsApart: ReadonlySet<number> };
type Counted = CountedWords & { readonly runs: readonly Run[] };

/** Counts with `count` what the cache does not know, adds what it knows, and lets it keep what is new. */
export async function countWithCache(
  cache: Cache,
  { inputs, countsFiles }: CorpusOptions,
  report: Report,
  count: (part: Part) => Promise<Counted>,
): Promise<CountedWords> {
  await identify(cache, inputs, report);
  const known = await inTurns(cache.addUp());

  const ranges = inputs
    .map(wholeRange)
    .filter(({ inputIndex }) => cache.findingsOf(inputIndex) === undefined);
  const toKeep = ranges.map(({ inputIndex }) => inputIndex).filter((index) => cache.canKeep(index));
  const counted = await besides(cache.hashMissing(), count({ ranges, inputsApart: new Set(toKeep) }));
  const wordCount = sumOfCounts(
    known.counts.reduce((sum, count) => sum + count, 0),
    counted.wordCount,
  );
  const findings = counted.findings.map((found, i): RangeFindings => cache.findingsOf(i) ?? found);
  await inTurns(cache.keep(counted.runs, findings));
  const words = known.wordCount === 0 ? counted.words : addTable(known, inByteOrder(counted.words), 1)!;
  const isSorted = known.wordCount > 0;
  cache.finish(countsFiles === undefined ? () => (isSorted ? words : inByteOrder(words)) : undefined);
  return { words, wordCount, findings };
}

/** Finds out which contents the inputs have. Of `others`, which the cache may not have, too. */
export async function identify(
  cache: Cache,
  inputs: readonly Input[],
  report: Report,
  others?: readonly EntryId[],
): Promise<void> {
  const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let done = 0;
  for (const sizeBytes of cache.identify(inputs, others)) {
    done += sizeBytes;
    report({ stage: "hashing", done, total, unit: "bytes" });
    await nextTurn();
  }
}

/** Does the work in the turns that `main` leaves free; if that fails, the rest of the work is not done. */
async function besides<T>(work: Generator<unknown, void>, main: Promise<T>): Promise<T> {
  let isFailed = false;
  main.catch(() => {
    isFailed = true;
  });
  try {
    for (const _ of work) {
      await nextTurn();
      if (isFailed) break;
    }
  } catch (error) {
    // What cannot be hashed cannot be counted either, and who counts says it better.
    await main;
    throw error;
  }
  return main;
}
