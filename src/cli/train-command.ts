import { refuseOverwriting, refuseOwnResults } from "../corpus/input.ts";
import { countsChunks } from "../count/counts-files.ts";
import type { StageProgress } from "../pipeline/stage-progress.ts";
import { type Trained, train } from "../pipeline/train.ts";
import { countsOptionsOf, encodingPatternOf } from "../pipeline/training.ts";
import { type Written, writeResult } from "../pipeline/write-result.ts";
import { shellLine } from "../runtime/hints.ts";
import { describeCounts } from "../store/content-hash.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { checkOutputFile, placeOfFile } from "../store/staged-file.ts";
import { plainCutting } from "../text/cutting.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { WordTable } from "../words/word-table.ts";
import type { Invocation } from "./arguments.ts";
import { countsPaths, openCorpus, openCountsFiles, openRunMemory } from "./corpus-options.ts";
import { lockOutputs, writeChunks } from "./data-output.ts";
import {
  corpusNotes,
  type Output,
  warnOfEarlyStop,
  warnOfEqualCounts,
  warnOfInvalidBytes,
  warnOfSlowPattern,
  warnOfStreams,
} from "./output.ts";
import { ReportThread, refuseOtherFile } from "./report-option.ts";
import { onStop } from "./stop.ts";
import type { Learned } from "./train-report.ts";
import { roleRows, shapesOf, summary, superwordRows } from "./train-summary.ts";
import { readOptions, type TrainOptions } from "./training-options.ts";
import { isUpToDateWith, noteResult, tellUnchanged } from "./up-to-date.ts";

/** `bpe train`: reads the options, looks at the world, trains, writes, tells. */
export async function runTrain(invocation: Invocation, output: Output): Promise<void> {
  if (invocation.options.text("input-format") === "ids") {
    return (await import("./ids-command.ts")).runTrainIds(invocation, output);
  }
  if (invocation.options.has("extend")) {
    return (await import("./extend-command.ts")).runExtend(invocation, output);
  }
  const asked = readOptions(invocation);
  await takePlaces(invocation, asked, output);
  const startMs = performance.now();
  const { options, countsFiles } = await openCountsFiles(invocation, asked, (made) =>
    readOptions(invocation, made),
  );
  const corpus = await openCorpus(invocation, options, output);
  const { inputs, skipped, workerCount, workerCountFor, budget } = corpus;
  refuseOwnResults(inputs, [options.output, options.cache?.path]);
  refuseOverwriting(inputs, [options.saveCounts, options.report]);
  const countsOptions = countsOptionsOf(options);
  const run = { pattern: options.pattern, budget, countsOptions };
  const { memory, cached } = openRunMemory(options.cache, run, output);
  const counts = await describeCounts(countsPaths(invocation));
  const training = { ...options, inputs, counts };
  const page =
    options.report === undefined
      ? undefined
      : new ReportThread(options.report, {
          inputs,
          pattern: encodingPatternOf(options),
          output: options.output,
        });
  const report = (progress: StageProgress) => {
    if (progress.stage === "merging") page?.begin();
    output.progress(progress);
  };
  if (cached !== undefined) {
    warnOfStreams(inputs, output);
    const isUpToDate = options.cache!.ifChanged && (await isUpToDateWith(cached, training, report));
    if (isUpToDate) return tellUnchanged(options.output, output);
  }
  warnOfSlowPattern(options.pattern, output);
  warnOfEqualCounts(counts, output);

  let written: Written | undefined;
  const trained = await train(
    {
      ...options,
      cutting: plainCutting(options.pattern.compiled, options.specialTokens),
      inputs,
      workerCount,
      workerCountFor,
      countsFiles,
      cache: cached?.cache,
      memory,
      tellMemory: (estimatedBytes) => output.tellMemory("merging", estimatedBytes),
      saveWords: wordSaving(options.saveCounts, countsOptions),
      async write(trained) {
        page?.take(learnedOf(trained));
        warnOfInvalidBytes(inputs, trained.statistics, output);
        const made = { ...training, skipped, workerCount, trained, startMs };
        written = await writeResult(options.output, { ...askedFor(invocation, options), ...made }, onStop);
      },
    },
    report,
  );
  if (cached !== undefined) noteResult(cached, training);
  await page?.write(written!.record);
  const notes = [...corpusNotes({ inputs, skipped }), ...roleRows(options.model), ...superwordRows(trained)];
  tellTrained(trained, written!, options.output, notes, output);
}

const learnedOf = ({ vocabulary, smaller, ledger }: Trained): Learned => ({
  vocabulary,
  smallerSizes: smaller.map(({ size, reservedCount }) => size - reservedCount),
  ledger,
});

/** What was asked for, as the record of the training keeps it. */
const askedFor = ({ typed }: Invocation, { outputs, keepCount }: TrainOptions) => ({
  command: shellLine(["bpe", "train", ...typed]),
  arguments: ["train", ...typed],
  ...outputs,
  keepCount,
});

/** Checks that the outputs can be written, and keeps other runs away from them. */
async function takePlaces(invocation: Invocation, options: TrainOptions, output: Output): Promise<void> {
  const files = [options.saveCounts, options.report].filter((path) => path !== undefined);
  checkOutputDirectory(options.output);
  for (const path of files) checkOutputFile(path);
  await lockOutputs(invocation, output, [placeOf(options.output), ...files.map(placeOfFile)]);
  if (options.report !== undefined) refuseOtherFile(options.report);
}

/** Writes the words into the file of `--save-counts`, if there is one. */
const wordSaving = (path: string | undefined, countsOptions: CountsOptions) => async (words: WordTable) => {
  if (path !== undefined) await writeChunks(path, countsChunks(path, words, countsOptions));
};

function tellTrained(
  trained: Trained,
  { record, leftPath, keptPath }: Written,
  path: string,
  notes: readonly [string, string][],
  output: Output,
): void {
  if (leftPath !== null) output.warn(`what was written into the older result meanwhile is in "${leftPath}"`);
  const { vocabSize, specialTokens, compat } = record.options;
  const { size, reservedCount } = trained.vocabulary;
  const leastSize = baseSize(specialTokens, compat);
  warnOfEarlyStop(size - reservedCount - leastSize, vocabSize - leastSize, "merges", output);
  const summaryText = () =>
    summary({
      record,
      output: path,
      keptPath,
      notes,
      textBytes: trained.statistics.reduce((sum, found) => sum + found.textBytes, 0),
      ...shapesOf(trained.vocabulary),
    });
  output.succeed(summaryText, { changed: true, output: path, kept: keptPath, ...record });
}
