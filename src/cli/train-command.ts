import { bytes, counted } from "../bytes/quantities.ts";
import { countsChunks } from "../count/counts-files.ts";
import { typedSpelling } from "../options/option.ts";
import type { AskedTraining } from "../options/training-table.ts";
import { type ResolvedPattern, resolvePattern } from "../pattern/pattern.ts";
import { languageFilesOf, languagesOf } from "../pipeline/count-groups.ts";
import type { OpenCache } from "../pipeline/count-memory.ts";
import { identify } from "../pipeline/count-words.ts";
import type { Extended, TrainedVocabulary } from "../pipeline/learn-merges.ts";
import { likeInWorker } from "../pipeline/load-in-worker.ts";
import { noteOfSeedBytes } from "../pipeline/seed-tokens.ts";
import type { Report, StageProgress } from "../pipeline/stage-progress.ts";
import { train } from "../pipeline/train.ts";
import {
  countsOptionsOf,
  encodingPatternOf,
  type OutputSettings,
  refuseCountedAsText,
  separatorsWithoutId,
  settle,
  type Training,
} from "../pipeline/training.ts";
import { type Result, writeResult } from "../pipeline/write-result.ts";
import { shellLine } from "../runtime/hints.ts";
import { build, codeIdentity } from "../runtime/version.ts";
import { contentsOf, isUpToDate, keepResult, type MadeOf, readResult } from "../store/cache-directory.ts";
import { describeCounts } from "../store/content-hash.ts";
import { pathOf, placeOf } from "../store/output-place.ts";
import { checkOutputDirectory, type FormerResults } from "../store/staged-directory.ts";
import { checkOutputFile, placeOfFile } from "../store/staged-file.ts";
import { baseSize, notesOfShared } from "../vocabulary/vocabulary.ts";
import type { WordTable } from "../words/word-table.ts";
import type { Invocation } from "./arguments.ts";
import {
  countsPaths,
  openCorpus,
  openCountsFiles,
  openRunMemory,
  readCorpusOptions,
} from "./corpus-options.ts";
import { lockOutputs, writeChunks } from "./data-output.ts";
import {
  corpusNotes,
  type Output,
  warnOfClass,
  warnOfEarlyStop,
  warnOfEqualCounts,
  warnOfInvalidBytes,
  warnOfSlowPattern,
  warnOfStreams,
} from "./output.ts";
import { ReportThread, refuseOtherFile } from "./report-option.ts";
import { onStop } from "./stop.ts";
import { extensionSummary, fullTrainingSummary, trainingSummary } from "./train-summary.ts";
import { readTraining } from "./training-options.ts";

/** `bpe train`: reads the options, looks at the world, trains, writes, tells. */
export async function runTrain(invocation: Invocation, output: Output): Promise<void> {
  if (invocation.options.text("input-format") === "ids") {
    return (await import("./ids-command.ts")).runTrainIds(invocation, output);
  }
  const opened = await openTraining(invocation, output);
  const { asked, training, corpus, cached } = opened;
  const { normalization } = training;
  const pattern = encodingPatternOf(training);
  const setting = { inputs: corpus.inputs, pattern, normalization, output: asked.output! };
  const page = asked.report === undefined ? undefined : new ReportThread(asked.report, setting);
  const report = (progress: StageProgress) => {
    if (progress.stage === "merging") page?.begin();
    output.progress(progress);
  };
  if (cached !== undefined) {
    warnOfStreams(corpus.inputs, output);
    const isDone = asked.ifChanged && (await isUpToDateWith(cached, opened, report));
    if (isDone) return tellUnchanged(asked.output!, output);
  }
  warnOfSlowPattern(training.pattern, output);
  if (asked.tokenizerClass !== undefined) warnOfClass(training.model, output);
  if (training.base === null && normalization !== null && asked.formats === undefined)
    output.warn("only tokenizer.json can store the normalizer, so files of other formats are not written");
  warnOfEqualCounts(opened.counts, output);
  const note = noteOfSeedBytes(training.seedTokens);
  if (note !== undefined) output.warn(note);

  let tell = async () => {};
  const run = {
    ...corpus,
    saveWords: async (words: WordTable) => {
      output.endStage(counted(words.wordCount, "distinct pretoken"));
      await saveWords(asked.saveCounts, words, training);
    },
    tellMemory: (estimatedBytes: number) => output.tellMemory("merging", estimatedBytes),
    write: async (trained: TrainedVocabulary | Extended) => {
      output.endStage();
      warnOfInvalidBytes(corpus.inputs, trained.statistics, output);
      tell =
        "extensions" in trained
          ? await writeExtended(opened, trained, output)
          : await writeTrained(opened, trained, page, output);
    },
  };
  output.endStage();
  await train(training, run, report);
  // What goes on from a base does not depend on options and inputs alone.
  if (training.base === null && cached !== undefined) noteResult(cached, opened);
  cached?.shrink();
  await tell();
}

type Opened = Awaited<ReturnType<typeof openTraining>>;

/** The training, checked and settled, with its places locked and its corpus as it is now. */
async function openTraining(invocation: Invocation, output: Output) {
  const asked = readTraining(invocation);
  const { like: likePath, extend: basePath } = asked;
  const basePattern =
    asked.extend === undefined || asked.pattern === undefined ? undefined : resolvePattern(asked.pattern);
  const languageFiles = languageFilesOf(asked, typedSpelling);
  const files = languageFiles?.map(({ file }) => file) ?? invocation.files;
  const options = readCorpusOptions({ ...invocation, files });
  const other = basePath ?? likePath;
  // What the command line alone shows is refused before anything is looked at.
  const typed = other === undefined ? settle(asked, {}, typedSpelling) : undefined;
  await takePlaces(invocation, asked, output);
  const startMs = performance.now();
  const like = likePath === undefined ? undefined : await likeInWorker(likePath);
  const base =
    basePath === undefined
      ? undefined
      : await (await codeForBases()).openBase(basePath, basePattern, (note) => output.warn(note));
  for (const text of base === undefined ? [] : separatorsWithoutId(asked, base))
    output.warn(`"${text}" is not a special token of the base: documents end there, but it gets no id`);
  const settled = typed ?? settle(asked, { like, base }, typedSpelling);
  const { cutting: training, countsFiles } = await openCountsFiles<Training>(invocation, settled, (made) =>
    settle(asked, { like, base, made }, typedSpelling),
  );
  if (base !== undefined) refuseCountedAsText(asked, base, training, typedSpelling);
  const { budget, skipped, inputCounts, ...found } = await openCorpus(
    { ...invocation, files },
    options,
    output,
  );
  const languages =
    languageFiles && languagesOf(languageFiles, { ...found, inputCounts }, (message) => output.warn(message));
  const { memory, cached } = openRunMemory(options.cache, training, budget, output);
  const counts = await describeCounts(countsPaths(invocation));
  const corpus = { ...found, languages, countsFiles, memory, cache: cached?.cache };
  const command = ["train", ...invocation.typed];
  return { command, asked, training, corpus, skipped, counts, cached, startMs };
}

/** Few trainings need it. */
const codeForBases = () => import("../pipeline/extend-tokenizer.ts");

/** Checks that the outputs can be written, and keeps other runs away from them. */
async function takePlaces(
  invocation: Invocation,
  { output: path, saveCounts, report }: AskedTraining,
  output: Output,
): Promise<void> {
  const files = [saveCounts, report].filter((path) => path !== undefined);
  checkOutputDirectory(path!);
  for (const path of files) checkOutputFile(path);
  await lockOutputs(invocation, output, [placeOf(path!), ...files.map(placeOfFile)]);
  if (report !== undefined) refuseOtherFile(report);
}

/** Writes the words into the file of `--save-counts`, if there is one. */
async function saveWords(path: string | undefined, words: WordTable, training: Training): Promise<void> {
  if (path !== undefined) await writeChunks(path, countsChunks(path, words, countsOptionsOf(training)));
}

/** Which files are written. */
const outputsOf = ({ formats: formatNames, ledger, modelCard = false }: AskedTraining): OutputSettings => ({
  formatNames,
  ledger,
  modelCard,
});

/** What a record says of the run. */
const resultOf = <T extends TrainedVocabulary | Extended>(opened: Opened, trained: T): Result<T> => {
  const { command, asked, training, corpus, skipped, counts, startMs } = opened;
  const { inputs, languages, workerCount } = corpus;
  return {
    command: shellLine(["bpe", ...command]),
    arguments: command,
    ...outputsOf(asked),
    keepCount: asked.keep,
    training,
    inputs,
    languages,
    skipped,
    counts,
    workerCount,
    trained,
    startMs,
  };
};

/** Returns what tells the end. */
async function writeTrained(
  opened: Opened,
  trained: TrainedVocabulary,
  page: ReportThread | undefined,
  output: Output,
) {
  const { asked, training } = opened;
  const { vocabulary, smaller, ledger } = trained;
  const sizeOf = ({ size, reservedCount }: typeof vocabulary) => size - reservedCount;
  page?.take({ vocabulary, smallerSizes: smaller.map(sizeOf), ledger });
  const written = await writeResult(asked.output!, resultOf(opened, trained), onStop);
  return async () => {
    const { record } = written;
    for (const note of notesOfShared(vocabulary)) output.warn(note);
    if (training.parity?.ratio == null) warnOfUneven(trained.languages, output);
    const leastSize = baseSize(training.specialTokens, training.compat);
    const [madeCount, wantedCount] = [sizeOf(vocabulary) - leastSize, training.vocabSize - leastSize];
    const outcome = warnAtEnd(opened, written, { madeCount, wantedCount, noun: "merges" }, output);
    if (page !== undefined) {
      const rows = fullTrainingSummary(trained, record, training.model, outcome);
      // They have a section.
      const summary = rows.filter(([name]) => name !== "longest");
      await page.write({ record, warnings: output.warnings, summary });
    }
    succeed(outcome, opened, record, output, (whole) =>
      trainingSummary(trained, record, training.model, whole),
    );
  };
}

async function writeExtended(opened: Opened, trained: Extended, output: Output) {
  const { asked, training } = opened;
  const { writeExtension } = await codeForBases();
  const warn = (message: string) => output.warn(message);
  const base = training.base!;
  const written = await writeExtension(asked.output!, resultOf(opened, trained), base, warn, onStop);
  return async () => {
    const madeCount = trained.extensions.at(-1)!.tokens.length;
    const wantedCount = training.vocabSize - base.parts.tokens.idLimit;
    const outcome = warnAtEnd(opened, written, { madeCount, wantedCount, noun: "new tokens" }, output);
    succeed(outcome, opened, written.record, output, (whole) =>
      extensionSummary(trained, written.record, whole),
    );
  };
}

/** Text of so many times the bytes is not the same text in another language. */
const unevenFactor = 2;

/** Languages are compared by text that does not say the same. */
function warnOfUneven(languages: TrainedVocabulary["languages"] = [], output: Output): void {
  const isDev = languages.some((language) => language.isDev);
  const measured = languages.filter((language) => language.isDev === isDev);
  const [least, ...more] = measured.toSorted((a, b) => a.textBytes - b.textBytes);
  const most = more.at(-1);
  if (least === undefined || most === undefined || most.textBytes <= unevenFactor * least.textBytes) return;
  const [text, better] = isDev
    ? ["dev text", "text that says the same compares"]
    : ["text", "--language-ratio, or --language-dev with text that says the same, compares"];
  output.warn(
    `"${most.language}" has ${bytes(most.textBytes)} of ${text} and "${least.language}" ${bytes(least.textBytes)}: the longest has most of the turns; ${better} them better`,
  );
}

type Learned = { readonly madeCount: number; readonly wantedCount: number; readonly noun: string };

type Outcome = Parameters<typeof extensionSummary>[2];
type Ended = Omit<Outcome, "isFull" | "columns">;

/** Warns of what is known at the end, and returns what a summary says beside the record. */
function warnAtEnd(
  { asked, corpus, skipped }: Opened,
  { leftPath, keptPath }: FormerResults,
  { madeCount, wantedCount, noun }: Learned,
  output: Output,
): Ended {
  if (leftPath !== null)
    output.warn(`files that were written into the old result during the run are in "${leftPath}"`);
  warnOfEarlyStop(madeCount, wantedCount, noun, output);
  return { output: asked.output!, keptPath, notes: corpusNotes({ inputs: corpus.inputs, skipped }) };
}

function succeed(
  ended: Ended,
  { asked }: Opened,
  record: object,
  output: Output,
  summary: (outcome: Outcome) => string[],
): void {
  const { output: path, keptPath } = ended;
  output.succeed((columns) => summary({ ...ended, isFull: asked.summary === "full", columns }), {
    changed: true,
    output: path,
    kept: keptPath,
    ...record,
  });
}

// `--if-changed`: nothing is done if the output is as a run with the same options wrote it, from the same contents.

/** In doubt: no. */
async function isUpToDateWith(
  { cache, directory }: OpenCache,
  opened: Opened,
  report: Report,
): Promise<boolean> {
  const place = pathOf(placeOf(opened.asked.output!));
  const result = readResult(directory, place);
  if (result === undefined) return false;
  await identify(cache, opened.corpus.inputs, report, contentsOf(result));
  const madeOf = describe(opened, cache.contents());
  if (madeOf === undefined || !isUpToDate(result, place, otherFiles(opened), madeOf)) return false;
  cache.touchEntries();
  cache.keepIndex();
  return true;
}

function tellUnchanged(path: string, output: Output): void {
  const message = `unchanged: "${path}" was made of the same inputs with the same options`;
  output.succeed(message, { changed: false, output: path });
}

/** Records what the output, which has just been written, was made of. */
function noteResult({ cache, directory, scratchPath }: OpenCache, opened: Opened): void {
  const madeOf = describe(opened, cache.countedContents());
  if (madeOf === undefined) return;
  const place = pathOf(placeOf(opened.asked.output!));
  keepResult(directory, `${scratchPath()}/result`, place, otherFiles(opened), madeOf);
}

const otherFiles = ({ asked: { saveCounts } }: Opened) => (saveCounts === undefined ? [] : [saveCounts]);

/** Undefined if an input cannot be read again, or if other code may have the same version. */
function describe(
  { asked, training, corpus, counts }: Opened,
  contents: readonly (string | undefined)[],
): MadeOf | undefined {
  const code = codeIdentity();
  if (code === undefined) return undefined;
  if (contents.includes(undefined) || counts.some(({ sha256 }) => sha256 === null)) return undefined;
  return {
    version: build.version,
    bunVersion: build.bunVersion,
    code,
    settings: { ...plainSettings(training), ...outputsOf(asked), languages: corpus.languages },
    inputs: corpus.inputs.map(({ path }, i) => [path, contents[i]!] as const),
    counts: counts.map(({ path, sha256 }) => [path, sha256!] as const),
  };
}

/** All of them, as JSON can say them: none can be forgotten. */
const plainSettings = ({ pattern, superwords, ...rest }: Training) => ({
  ...rest,
  pattern: plainPattern(pattern),
  superwords: superwords && { ...superwords, pattern: plainPattern(superwords.pattern) },
});

const plainPattern = ({ name, sources }: ResolvedPattern) => [name, sources];
