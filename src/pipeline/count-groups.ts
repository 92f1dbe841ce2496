import { checkUnchanged, totalBytesOf, wholeRange } from "../corpus/input.ts";
import type { AddedCounts } from "../count/counts-files.ts";
import { UserError } from "../errors.ts";
import { inTurns } from "../runtime/turns.ts";
import type { RangeStatistics } from "../text/task-texts.ts";
import { SumOfWords, TableWords, totalsOfSum, wordTableOfSum } from "../words/sorted-words.ts";
import { sizeOf, tableBytes, totalsOf, type WordTable } from "../words/word-table.ts";
import { type CorpusOptions, type CountedWords, checkNotEmpty, countWords } from "./count-words.ts";
import type { Report, StageProgress } from "./stage-progress.ts";
import { type InputWeight, weightParts, weightsOf } from "./weights.ts";

/** Inputs whose words are counted apart from those of all others: of one weight, of one language. */
export type InputGroup = {
  readonly inputIndices: readonly number[];
  /** Word counts to be added to them. */
  readonly countsFiles?: AddedCounts | undefined;
};

export type CountedGroups = Pick<CountedWords, "statistics"> & {
  /** Of each group, in their order. */
  readonly tables: readonly WordTable[];
  /** To be called when the result is written: the cache keeps what is new. Nobody may change the tables before. */
  readonly keepRest: () => Promise<void>;
};

/** The words of each group of inputs, which are as those of a run on its inputs alone. */
export async function countGroups(
  options: Omit<CorpusOptions, "ranges" | "countsFiles">,
  groups: readonly InputGroup[],
  report: Report,
  check?: Parameters<typeof countWords>[2],
): Promise<CountedGroups> {
  const { inputs, memory } = options;
  const tables: WordTable[] = [];
  const statistics: RangeStatistics[] = [];
  const rests: (() => Promise<void>)[] = [];
  const bytesTotal = totalBytesOf(inputs);
  let bytesDone = 0;
  let heldBytes = 0;
  for (const { inputIndices, countsFiles } of groups) {
    const bytesBefore = bytesDone;
    const ranges = inputIndices.map((index) => wholeRange(inputs[index]!, index));
    const ofAll = (progress: StageProgress) => {
      if (progress.stage !== "counting") return report(progress);
      bytesDone = bytesBefore + progress.done;
      report({ ...progress, done: bytesDone, total: bytesTotal });
    };
    const room = memory && { ...memory, budget: memory.budget.beside(heldBytes) };
    const part = { ...options, memory: room, ranges, countsFiles, partCount: groups.length };
    const counted = await countWords(part, ofAll, check);
    tables.push(counted.words);
    heldBytes += tableBytes(sizeOf(counted.words));
    for (const index of inputIndices) statistics[index] = counted.statistics[index]!;
    if (counted.keepRest !== undefined) rests.push(counted.keepRest);
    bytesDone = bytesBefore + ranges.reduce((sum, { endByte }) => sum + endByte, 0);
  }
  for (const input of inputs) checkUnchanged(input);
  checkNotEmpty(options, statistics);
  return {
    tables,
    statistics,
    async keepRest() {
      for (const keep of rests) await keep();
    },
  };
}

/**
 * The words of a corpus whose inputs and files of word counts have weights: of each word the exact sum of its counts times
 * their weights, rounded once, half up. A word that is left with 0 is gone. Arguments are as of `countWords`.
 */
export async function countWeighted(
  options: CorpusOptions,
  weights: readonly InputWeight[],
  report: Report,
  check?: Parameters<typeof countWords>[2],
) {
  const { inputs, countsFiles } = options;
  const paths = [...inputs.map(({ path }) => path), ...(countsFiles?.paths ?? [])];
  const weightOfEach = weightsOf(paths, weights);
  const groups = [...new Set(weightOfEach)].map((weight) => {
    const isOfIt = (_: unknown, i: number) => weightOfEach[i] === weight;
    const counts = new Set(paths.filter((path, i) => i >= inputs.length && isOfIt(path, i)));
    return {
      weight,
      inputIndices: [...inputs.keys()].filter(isOfIt),
      countsFiles: counts.size === 0 ? undefined : countsFiles!.among((path) => counts.has(path)),
    };
  });
  const { tables, statistics, keepRest } = await countGroups(options, groups, report, check);
  const words = await inTurns(
    weigh(
      tables,
      groups.map(({ weight }) => weight),
    ),
  );
  return { words, pretokenCount: totalsOf(words).pretokenCount, statistics, keepRest };
}

/** The sum of the tables, each times its weight. */
export function* weigh(
  tables: readonly WordTable[],
  weights: readonly number[],
): Generator<undefined, WordTable> {
  const parts = weights.map((weight) => Math.round(weight * weightParts));
  const unit = parts.reduce(greatestDivisor, weightParts);
  const sorted: TableWords[] = [];
  for (const table of tables) sorted.push(yield* TableWords.sort(table));
  const sum = () => {
    const summands = sorted.map((words, i) => ({ words, times: parts[i]! / unit }));
    for (const words of sorted) words.restart();
    return new SumOfWords(summands, weightParts / unit);
  };
  const totals = yield* totalsOfSum(sum());
  if (totals.wordCount === 0 && tables.some(({ wordCount }) => wordCount > 0)) {
    throw new UserError("the weights leave nothing: every word's count is rounded to 0", {
      hint: "give larger weights",
    });
  }
  return yield* wordTableOfSum(sum(), totals);
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
