import { countNoun, formatBytes, formatSeconds, groupDigits } from "#bytes";
import { corpusInputs, type inputSearch } from "#corpus";
import { type StageProgress, warnings } from "#jobs";
import { optionTables } from "#options";
import { machine, runSliced } from "#runtime";
import { dataOutput, type Invocation, inputFiles, type Output, openRanges, pipes, stopping } from "#terminal";
import { trainings } from "#training";
import { countsOptionsOf, countToSave, openCounts, openMemory } from "#words";
import { countOptions } from "./train-options.ts";

/** `bpe count`: counts the words of texts, adds the words of counts files, and writes the sum. */
export async function runCount(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { files } = invocation;
  const asked = optionTables.readTyped(countOptions, invocation.options);
  const { minCount = 1, saveCounts, ranges } = asked;
  const typedCutting = trainings.settleCutting(asked, {});
  inputFiles.check(files, asked);
  await dataOutput.lockFiles(output, saveCounts, asked.output);
  // The file of --save-counts is written first, because --output may name stdout, whose reader may stop the run.
  const named = [saveCounts, asked.output].filter((path) => path !== undefined);
  const places = named.length === 0 ? ["-"] : named;
  const { settled: cutting, countsFiles } = await openCounts.openAndSettle(
    asked,
    { openPipes: pipes.spoolPipes },
    (made) => (made === undefined ? typedCutting : trainings.settleCutting(asked, { made })),
  );
  const countsOptions = countsOptionsOf(cutting);
  const { textField } = asked;
  const planned =
    ranges === undefined ? undefined : await openRanges(ranges, { ...countsOptions, textField }, output);
  const found = files.length === 0 ? nothingFound : await inputFiles.openInputs(files, asked, output);
  const inputs = planned?.inputs ?? found.inputs;
  const expectedBytes =
    planned === undefined
      ? corpusInputs.expectedTextBytes(inputs)
      : corpusInputs.sizeOfRanges(planned.ranges);
  const budget = new machine.MemoryBudget(asked.memoryLimit);
  const workerCountFor = machine.workersFor(asked.workers, budget.workerCountMax);
  const { memory, cached } = await openMemory(asked, cutting, budget, (message) => output.warn(message));
  stopping.onStop(() => memory.scratch.remove());
  const cache = cached?.cache;
  if (cache !== undefined) output.tell(warnings.streamWithCache(inputs));
  const report = (progress: StageProgress) => output.progress(progress);
  const corpus = {
    cutting: trainings.cuttingOf(cutting),
    inputs,
    ranges: planned?.ranges,
    workerCount: workerCountFor(expectedBytes),
    workerCountFor,
    countsFiles,
    memory,
    cache,
  };

  const counted = await countToSave(corpus, { places, countsOptions, minCount, budget }, report);
  const { statistics, stream } = counted;
  output.tell(warnings.countedInvalidBytes(inputs, statistics));
  let saved: SavedCounts;
  if (stream === undefined) {
    saved = counted.saved;
    for (const place of places) await dataOutput.writeChunks(place, counted.chunks(place));
  } else {
    saved = await dataOutput.writeData(places[0]!, (out) =>
      runSliced(stream(out), () => dataOutput.drain(out)),
    );
  }
  await counted.keepRest?.();
  cached?.shrink();
  const textBytes = statistics.reduce((sum, found) => sum + found.textBytes, 0);
  tellCounted(saved, { textBytes, minCount, startMs, place: places.at(-1)! }, { ...found, inputs }, output);
}

const nothingFound: inputSearch.FoundInputs = { inputs: [], skipped: [] };

/** The sizes of the saved counts, and of the words that were left out. */
type SavedCounts = Readonly<
  Record<"totals" | "leftOut", { readonly wordCount: number; readonly pretokenCount: number }>
>;

type Counting = {
  readonly textBytes: number;
  readonly minCount: number;
  readonly startMs: number;
  /** Where the counts were written. */
  readonly place: string;
};

function tellCounted(
  { totals, leftOut }: SavedCounts,
  run: Counting,
  corpus: inputSearch.FoundInputs,
  output: Output,
): void {
  const { textBytes, minCount, startMs, place } = run;
  const { inputs, skipped } = corpus;
  const { pretokenCount: wordCount, wordCount: distinctWordCount } = totals;
  const elapsed = (performance.now() - startMs) / 1000;
  const from = inputs.length === 0 ? "files of counts" : formatBytes(textBytes);
  const rare =
    minCount > 1
      ? [
          `left out ${countNoun(leftOut.wordCount, "distinct word")} rarer than ${groupDigits(minCount)}, ${countNoun(leftOut.pretokenCount, "occurrence")} in all`,
        ]
      : [];
  output.succeed(
    [
      `counted ${countNoun(wordCount, "pretoken")}, ${groupDigits(distinctWordCount)} of them distinct, in ${from} and ${formatSeconds(elapsed)}`,
      ...rare,
      ...inputFiles.noteLines(corpus),
    ],
    { wordCount, distinctWordCount, sizeBytes: textBytes, leftOut, skipped, output: place },
  );
}
