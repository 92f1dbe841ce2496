import type { Input } from "../corpus/input.ts";
import { refuseOverwriting, refuseOwnResults } from "../corpus/outputs-among-inputs.ts";
import { countsChunks } from "../count/counts-files.ts";
import { usageError } from "../errors.ts";
import { countsOptionsOf } from "../pipeline/open-memory.ts";
import type { StageProgress } from "../pipeline/stage-progress.ts";
import { type Trained, train } from "../pipeline/train.ts";
import { encodingPatternOf, type Written, writeResult } from "../pipeline/write-result.ts";
import { shellLine } from "../runtime/hints.ts";
import { describeCounts } from "../store/content-hash.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { checkOutputFile, placeOfFile } from "../store/staged-file.ts";
import { formats } from "../vocabulary/formats/formats.ts";
import { settleModelSettings } from "../vocabulary/model-settings.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { WordTable } from "../words/word-table.ts";
import type { Invocation } from "./arguments.ts";
import { openRunMemory, readCacheOptions } from "./cache-options.ts";
import { corpusNotes } from "./corpus-notes.ts";
import { openCorpus, readCorpusOptions } from "./corpus-options.ts";
import { countsPaths, openCountsFiles } from "./counts-option.ts";
import { writeChunks } from "./data-output.ts";
import { lockOutputs } from "./lock-outputs.ts";
import { readModelOptions, roleRows } from "./model-options.ts";
import { oneOf, type TypedOptions, wholeNumber } from "./option-values.ts";
import type { Output } from "./output.ts";
import { readReportPath, refuseOtherFile } from "./report-option.ts";
import { splitSizes } from "./size-option.ts";
import { onStop } from "./stop.ts";
import { readSuperwordOptions, superwordRows } from "./superword-options.ts";
import { shapesOf } from "./token-shapes.ts";
import type { Learned } from "./train-report.ts";
import { summary } from "./train-summary.ts";
import { isUpToDateWith, noteResult, tellUnchanged } from "./up-to-date.ts";
import {
  warnOfEarlyStop,
  warnOfEqualCounts,
  warnOfInvalidBytes,
  warnOfSlowPattern,
  warnOfStreams,
} from "./warnings.ts";

/** `bpe train`: reads the options, looks at the world, trains, writes, tells. */
export async function runTrain(invocation: Invocation, output: Output): Promise<void> {
  if (invocation.options.text("input-format") === "ids") {
    return (await import("./ids-command.ts")).runTrainIds(invocation, output);
  }
  if (invocation.options.has("dtype")) throw usageError("--dtype is for --input-format ids");
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
  const training = { ...options, settings: options, inputs, counts };
  const page = options.report === undefined ? undefined : await openReport(options.report, options, inputs);
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
      pattern: options.pattern.compiled,
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

/** The report, which another thread makes. Its code is loaded only where one is wanted. */
async function openReport(path: string, options: TrainOptions, inputs: readonly Input[]) {
  const { ReportThread } = await import("./report-thread.ts");
  return new ReportThread(path, { inputs, pattern: encodingPatternOf(options), output: options.output });
}

const learnedOf = ({ vocabulary, smaller, ledger }: Trained): Learned => ({
  vocabulary,
  smallerSizes: smaller.map(({ size, reservedCount }) => size - reservedCount),
  ledger,
});

/** What was asked for, as the record of the training keeps it. */
const askedFor = ({ typed }: Invocation, { formats, ledger, modelCard, keepCount }: TrainOptions) => ({
  command: shellLine(["bpe", "train", ...typed]),
  arguments: ["train", ...typed],
  formatNames: formats,
  ledger,
  modelCard,
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

const formatNames = formats.map((format) => format.name);

type TrainOptions = ReturnType<typeof readOptions>;

function readOptions(invocation: Invocation, made?: CountsOptions) {
  const { options } = invocation;
  const outputPath = options.text("output")!;
  if (outputPath === "") throw usageError("--output is empty", "name a directory, e.g. --output tokenizer");
  if (options.has("special-tokens-as-text")) {
    throw usageError("--special-tokens-as-text is for --extend", "-s names what ends documents");
  }
  const corpusOptions = readCorpusOptions(invocation, made);
  const { compat, specialTokens } = corpusOptions;
  const leastSize = baseSize(specialTokens, compat);
  const { vocabSize, smallerSizes } = readSizes(options, leastSize, specialTokens.length);
  const chosen = options.text("format")?.split(",");
  const formatsChosen = chosen?.map((name) => oneOf("--format", name.trim(), formatNames));
  if (formatsChosen?.includes("tiktoken") && corpusOptions.pattern.sources.length > 1) {
    throw usageError(
      "--format tiktoken: tiktoken cuts text by one regular expression, and this pattern is a sequence of them",
    );
  }
  return {
    output: outputPath,
    vocabSize,
    smallerSizes,
    padTo: options.wholeNumber("pad-to", 1) ?? 1,
    saveCounts: options.text("save-counts"),
    ...corpusOptions,
    cache: readCacheOptions(invocation),
    minFrequency: options.wholeNumber("min-frequency", 0) ?? (compat === "huggingface" ? 0 : 1),
    maxTokenLength: options.wholeNumber("max-token-length", 1) ?? null,
    superwords: readSuperwordOptions(options, [vocabSize, ...smallerSizes], leastSize, compat),
    model: settleModelSettings(specialTokens, readModelOptions(options)),
    formats: formatsChosen,
    ledger: readLedger(options),
    report: readReportPath(invocation),
    modelCard: options.has("model-card"),
    keepCount: options.wholeNumber("keep", 0),
  };
}

/** The sizes of the vocabularies: one, or several with commas between. */
function readSizes(options: TypedOptions, leastSize: number, specialCount: number) {
  const sizes = splitSizes(options.text("vocab-size")!).map((text) => wholeNumber("--vocab-size", text, 1));
  sizes.sort((a, b) => a - b);
  const twice = sizes.find((size, i) => size === sizes[i + 1]);
  if (twice !== undefined) throw usageError(`--vocab-size: ${twice} is given twice`);
  const [least] = sizes as [number];
  if (least < leastSize) {
    const parts = `256 bytes${specialCount > 0 ? ` and ${specialCount} special tokens` : ""}`;
    throw usageError(`--vocab-size ${least} is too small: ${parts} need ${leastSize}`);
  }
  return { vocabSize: sizes.at(-1)!, smallerSizes: sizes.slice(0, -1) };
}

/** Whether `tokens.tsv` is written, as it is beside a report; undefined where nobody says. */
function readLedger(options: Invocation["options"]): boolean | undefined {
  const [isWanted, isUnwanted] = [options.has("ledger"), options.has("no-ledger")];
  if (isWanted && isUnwanted) throw usageError("--ledger and --no-ledger are given", "leave one of them out");
  return isWanted || isUnwanted ? isWanted : options.has("report") || undefined;
}
