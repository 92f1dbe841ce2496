import { corpusInputs, type Input, inputSearch, type inspection, type Texts } from "#corpus";
import { Pace, type Report, warnings } from "#jobs";
import { type learning, seeds } from "#merge";
import type { RequestedTraining } from "#options";
import { asOption, type Message, machine, messages, phrase, usageError } from "#runtime";
import type { stagedFile } from "#store";
import { kernelArrays, vocabularies } from "#tokenizer";
import {
  type CountsOptions,
  countsOptionsOf,
  describeCounts,
  type GivenWords,
  type OpenCache,
  openMemory,
  type WordTable,
} from "#words";
import { loadFormats } from "./chosen-files.ts";
import { train } from "./train.ts";
import { refuseCountedAsText, settle, type Training } from "./training.ts";
import { classOfModel, equalCounts, foundSpecialTokens, unevenLanguages } from "./training-warnings.ts";
import type { OpenTraining } from "./up-to-date.ts";
import {
  type AnyProduct,
  outputsOf,
  productOf,
  type Result,
  type Run,
  type Written,
  writeProduct,
} from "./write-result.ts";

/** The corpus of a training, and what callers give in addition to options. */
export type TrainingInput = {
  /** The run, as training.json describes it. */
  readonly command: Pick<Run, "command" | "arguments">;
  /**
   * The named files. There may be none if languages, texts or word counts are given, or if an extension learns nothing.
   */
  readonly files: readonly string[];
  readonly texts?: Texts | undefined;
  /** Words in memory. */
  readonly wordCounts?: GivenWords | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The services that a caller of a training provides. */
export type TrainingHost = {
  readonly warn: (warning: warnings.Warning) => void;
  readonly report: Report;
  readonly guard: stagedFile.Guard;
  /**
   * Checks that the outputs can be written, and locks them. Returns a function to call at the end, which may unlock
   * them.
   */
  readonly lock: (directory: string | undefined, files: readonly string[]) => Promise<() => void>;
  /** Finds the named inputs. None of them may be an output of the run. */
  readonly find: (
    names: readonly string[],
    reading: inspection.InputOptions,
  ) => inputSearch.FoundInputs | Promise<inputSearch.FoundInputs>;
  /** Copies the pipes among the paths to files. Returns the descriptors of the copies, by path. */
  readonly openPipes?: (paths: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly writeFile: (path: string, chunks: Iterable<Uint8Array>) => Promise<void>;
  /** Called before the words of the corpus are counted, unless `ifChanged` finds the output up to date. */
  readonly onOpen?: (opened: OpenTraining) => void;
  /** Called when all words have been counted. */
  readonly onWords?: (words: WordTable) => void;
  /** Called when the merges have been learned, before the tokenizer is written. */
  readonly onLearned?: (trained: learning.TrainedVocabulary | learning.Extended) => void;
  readonly tellMemory?: (estimatedBytes: number) => void;
};

export type Finished = {
  readonly result: OpenTraining & Pick<Result<learning.TrainedVocabulary | learning.Extended>, "trained">;
  /** Makes the files. */
  readonly product: AnyProduct;
  /** The record that was written, and the paths of former results; undefined without an output. */
  readonly written: Written<object> | undefined;
};

/** Returns a function that reports its message as a warning of the kind "note". */
const warnWithNote =
  ({ warn }: TrainingHost) =>
  (message: Message) =>
    warn({ kind: "note", message });

/** Trains, and writes the result. With `ifChanged`, returns undefined if the output is up to date. */
export async function runTraining(
  asked: RequestedTraining,
  given: TrainingInput,
  host: TrainingHost,
): Promise<Finished | undefined> {
  const { texts, wordCounts, command } = given;
  const { guard } = host;
  // 1. Refuse mistakes that the options alone reveal, before anything is read.
  const settled = (asked.extend ?? asked.like) === undefined ? settle(asked, {}) : undefined;
  const languageCode = asked.languages === undefined ? undefined : await import("./language-files.ts");
  const languageFiles = languageCode?.languageFilesOf(asked);
  const names = languageFiles?.map(({ file }) => file) ?? given.files;
  if (names.length > 0) inputSearch.checkNames(names, asked);
  const isEmpty = names.length === 0 && texts === undefined && wordCounts === undefined;
  if (asked.vocabSize === undefined && !isEmpty) {
    const name = asOption("vocab-size");
    throw usageError(
      phrase`${name} is missing`,
      phrase`to learn 8,192 tokens from the corpus, add ${messages.withValue(name, "+8k")}; to learn none, leave out the corpus`,
    );
  }

  // 2. Lock the outputs.
  const files = [asked.saveCounts, asked.report].filter((path) => path !== undefined);
  const unlock = await host.lock(asked.output, files);
  const startMs = performance.now();
  let forget = () => {};
  try {
    // 3. Open the base, the tokenizer for --like and the word counts. Then settle the options.
    const { training, countsFiles } = await resolveSources(asked, wordCounts, settled, host);

    // 4. Find the inputs, and choose the number of threads and the memory for them.
    const found = names.length === 0 ? noInputs : await host.find(names, asked);
    const languages = languageFiles && languageCode?.languagesOf(languageFiles, found, warnWithNote(host));
    const corpus = { ...(await threadsFor(asked, given, found.inputs)), languages };
    const { memory, cached } = await openMemory(asked, training, corpus.budget, warnWithNote(host));
    const unguard = guard(() => memory.scratch.remove());
    forget = () => {
      unguard();
      memory.scratch.remove();
    };
    const opened: OpenTraining = {
      ...{ ...command, asked, startMs, ...outputsOf(asked), keepCount: asked.keep },
      ...{ training, skipped: found.skipped, hasGivenWords: wordCounts !== undefined },
      corpus: { ...corpus, countsFiles, memory, cache: cached?.cache },
      counts: await describeCounts(countsFiles?.paths ?? []),
    };
    // 5. Train, and write the result. With `ifChanged`, do nothing if it is up to date.
    return await trainOpened(opened, cached, host);
  } finally {
    forget();
    unlock();
    kernelArrays.releaseMemory();
  }
}

const noInputs: inputSearch.FoundInputs = { inputs: [], skipped: [] };

/** Loads the code for bases, which few trainings need. */
const codeForBases = () => import("./extend-tokenizer.ts");

/** Opens the sources that the options name, and settles the training. */
async function resolveSources(
  asked: RequestedTraining,
  wordCounts: TrainingInput["wordCounts"],
  settled: Training | undefined,
  host: TrainingHost,
) {
  const like =
    asked.like === undefined
      ? undefined
      : await (await import("#jobs/load-in-worker")).readLikeInWorker(asked.like);
  const base =
    asked.extend === undefined
      ? undefined
      : await (await codeForBases()).openBase({ ...asked, extend: asked.extend }, warnWithNote(host));
  const sources = { wordCounts, openPipes: host.openPipes };
  const settleAs = (made?: CountsOptions) =>
    made === undefined && settled !== undefined ? settled : settle(asked, { like, base, made });
  const { settled: training, countsFiles } =
    asked.counts === undefined && wordCounts === undefined
      ? { settled: settleAs(), countsFiles: undefined }
      : await (await import("#words/open-counts")).openAndSettle(asked, sources, settleAs);
  if (base !== undefined) refuseCountedAsText(asked, base, training);
  return { training, countsFiles };
}

async function threadsFor(
  asked: RequestedTraining,
  { texts, signal }: TrainingInput,
  files: readonly Input[],
) {
  const given =
    texts === undefined
      ? []
      : [(await import("#corpus/given-texts")).inputOfTexts(texts, new Pace(), signal)];
  const inputs = [...files, ...given];
  // If texts are a list, their length is known; if they are an iterator, it is guessed.
  const givenBytes = Array.isArray(texts)
    ? texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
    : undefined;
  const textBytes =
    givenBytes === undefined
      ? corpusInputs.expectedTextBytes(inputs)
      : corpusInputs.expectedTextBytes(files) + givenBytes;
  const budget = new machine.MemoryBudget(asked.memoryLimit);
  const workerCountFor = machine.workersFor(asked.workers, budget.workerCountMax);
  return { inputs, budget, workerCount: workerCountFor(textBytes), workerCountFor };
}

async function trainOpened(
  opened: OpenTraining,
  cached: OpenCache | undefined,
  host: TrainingHost,
): Promise<Finished | undefined> {
  const { asked, training, corpus, counts } = opened;
  const warn = (warnings: readonly warnings.Warning[]) => warnings.forEach(host.warn);
  if (cached !== undefined) warn(warnings.streamWithCache(corpus.inputs));
  const former =
    cached === undefined || asked.output === undefined
      ? undefined
      : new (await import("./up-to-date.ts")).FormerRun(cached, opened);
  if (asked.ifChanged && (await former?.isUpToDate(host.report))) return undefined;
  if (asked.tokenizerClass !== undefined) warn(classOfModel(training.model));
  if (asked.chatTemplate !== undefined && asked.pad === undefined && training.model.roles.pad === undefined)
    warn([{ kind: "no pad" }]);
  if (training.base === null && training.normalization !== null && asked.formats === undefined)
    warn([{ kind: "normalizer" }]);
  warn(equalCounts(counts));
  warn(seeds.warnOfOdd(training.seedTokens, training.base));
  let finished: Finished;
  host.onOpen?.(opened);
  const run = {
    ...corpus,
    saveWords: async (words: WordTable) => {
      host.onWords?.(words);
      const { saveCounts: path } = asked;
      if (path === undefined) return;
      const { countsChunks } = await import("#words/counts-files");
      await host.writeFile(path, countsChunks(path, words, countsOptionsOf(training)));
    },
    ...(host.tellMemory && { tellMemory: host.tellMemory }),
    write: async (trained: learning.TrainedVocabulary | learning.Extended) => {
      host.onLearned?.(trained);
      warn(warnings.countedInvalidBytes(corpus.inputs, trained.statistics));
      if (training.compat === "huggingface" && training.base === null)
        warn(foundSpecialTokens(corpus.inputs, trained.statistics));
      const result = { ...opened, trained };
      const product = await productOfAny(result, host);
      const written =
        asked.output === undefined
          ? undefined
          : await writeProduct(asked.output, product, result, host.guard);
      finished = { result, product, written };
    },
  };
  const trained = await train(training, run, host.report);
  // An extension also depends on the base's files, which the recorded sources would lack. So the sources of an
  // extension are not recorded, and it never counts as up to date.
  if (training.base === null) former?.recordSources();
  cached?.shrink();
  warn(warningsOfEnd(training, trained, finished!.written));
  return finished!;
}

async function productOfAny(
  result: Result<learning.TrainedVocabulary | learning.Extended>,
  host: TrainingHost,
): Promise<AnyProduct> {
  const { trained, training } = result;
  if (!("extensions" in trained)) return productOf({ ...result, trained }, await loadFormats());
  return (await codeForBases()).extensionProduct({ ...result, trained }, training.base!, warnWithNote(host));
}

/** Returns the warnings that are known only at the end of a training. */
function warningsOfEnd(
  training: Training,
  trained: learning.TrainedVocabulary | learning.Extended,
  written: Written<object> | undefined,
): warnings.Warning[] {
  const left = written?.leftPath ?? null;
  const atPlace: warnings.Warning[] = left === null ? [] : [{ kind: "files in the old result", path: left }];
  if ("extensions" in trained) {
    const madeCount = trained.extensions.at(-1)!.tokens.length;
    const { parts, newSpecials } = training.base!;
    const wantedCount = training.vocabSize - parts.tokens.idLimit - newSpecials.length;
    return [...atPlace, ...warnings.earlyStop(madeCount, wantedCount, "new tokens")];
  }
  const { size, reservedCount } = trained.vocabulary;
  const leastSize = vocabularies.baseSize(training.specialTokens, training.compat);
  return [
    ...vocabularies
      .describeSharedIds(trained.vocabulary)
      .map((message) => ({ kind: "note" as const, message })),
    ...(training.parity?.ratio == null ? unevenLanguages(trained.languages) : []),
    ...atPlace,
    ...warnings.earlyStop(size - reservedCount - leastSize, training.vocabSize - leastSize, "merges"),
  ];
}
