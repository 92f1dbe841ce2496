import { checkNames, type FoundInputs } from "../corpus/find-inputs.ts";
import { inputOfTexts, type Texts } from "../corpus/given-texts.ts";
import { expectedTextBytes, type InputFormat } from "../corpus/input.ts";
import type { InputOptions } from "../corpus/inspect-input.ts";
import { countsChunks } from "../count/counts-files.ts";
import { usageError } from "../errors.ts";
import type { AskedTraining } from "../options/training-table.ts";
import { resolvePattern } from "../pattern/pattern.ts";
import { MemoryBudget, workersFor } from "../runtime/system-limits.ts";
import { describeCounts } from "../store/content-hash.ts";
import { type Place, placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { checkOutputFile, type Guard, placeOfFile } from "../store/staged-file.ts";
import { baseSize, notesOfShared } from "../vocabulary/vocabulary.ts";
import type { WordTable } from "../words/word-table.ts";
import { loadFormats } from "./chosen-files.ts";
import { type LanguageFile, languageFilesOf, languagesOf } from "./count-groups.ts";
import { type OpenCache, openMemory } from "./count-memory.ts";
import type { Extended, TrainedVocabulary } from "./learn-merges.ts";
import { likeInWorker } from "./load-in-worker.ts";
import { type CountsSources, settleWithCounts } from "./open-counts.ts";
import { oddSeeds } from "./seed-tokens.ts";
import type { Report } from "./stage-progress.ts";
import { train } from "./train.ts";
import { countsOptionsOf, type Looked, refuseCountedAsText, settle, type Training } from "./training.ts";
import type { OpenTraining } from "./up-to-date.ts";
import {
  classOfModel,
  countedInvalidBytes,
  earlyStop,
  equalCounts,
  foundSpecialTokens,
  streamBesideCache,
  unevenLanguages,
  type Warning,
} from "./warnings.ts";
import {
  type AnyProduct,
  outputsOf,
  productOf,
  type Result,
  type Written,
  writeProduct,
} from "./write-result.ts";

/** What differs between the callers of a training, and nothing else. */
export type World = CountsSources & {
  /** The files named; with languages, or counts, there may be none. */
  readonly files: readonly string[];
  readonly texts?: Texts | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The run as its record has it. */
  readonly command: Pick<Result, "command" | "arguments">;
  readonly warn: (warning: Warning) => void;
  readonly report: Report;
  readonly guard: Guard;
  /** Keeps other runs away from what is written; what it returns ends that. */
  readonly lock: (places: readonly (Place | null)[]) => Promise<() => void>;
  /** The inputs that names stand for, as they are now. None may be what the run writes. */
  readonly find: (names: readonly string[], reading: InputOptions) => FoundInputs | Promise<FoundInputs>;
  readonly writeFile: (path: string, chunks: Iterable<Uint8Array>) => Promise<void>;
  /** Called when reading begins, when all words are counted, and when the merges are learned. */
  readonly onOpen?: (opened: OpenTraining) => void;
  readonly onWords?: (words: WordTable) => void;
  readonly onLearned?: (trained: TrainedVocabulary | Extended) => void;
  readonly tellMemory?: (estimatedBytes: number) => void;
};

/** What came of it. `product` makes the files; they are `written`, if there is an output. */
export type Finished = {
  readonly opened: OpenTraining;
  readonly trained: TrainedVocabulary | Extended;
  readonly result: Result<TrainedVocabulary | Extended>;
  readonly product: AnyProduct;
  readonly written: Written<object> | undefined;
};

/** Warns of what is a sentence already. */
const noting =
  ({ warn }: World) =>
  (message: string) =>
    warn({ kind: "note", message });

/** Trains, and writes the result. Undefined if nothing has changed since the output was written. */
export async function runTraining(asked: AskedTraining, world: World): Promise<Finished | undefined> {
  const { spell, guard } = world;
  const other = asked.extend ?? asked.like;
  // What the options alone show is refused before anything is looked at.
  const settled = other === undefined ? settle(asked, {}, spell) : undefined;
  const languageFiles = languageFilesOf(asked, spell);
  const names = languageFiles?.map(({ file }) => file) ?? world.files;
  if (names.length > 0) checkNames(names, readingOf(asked));
  refuseUnsized(asked, names, world);
  const unlock = await takePlaces(asked, world);
  const startMs = performance.now();
  let forget = () => {};
  try {
    const { training, countsFiles } = await look(asked, settled, world);
    const { found, ...corpus } = await openCorpus(asked, names, languageFiles, world);
    const choice =
      asked.cache === undefined ? undefined : { path: asked.cache, limitBytes: asked.cacheLimit };
    const { compiled } = training.pattern;
    const cutting = countsOptionsOf(training);
    const { memory, cached } = openMemory(choice, cutting, compiled, corpus.budget, noting(world));
    const unguard = guard(() => memory.scratch.remove());
    forget = () => {
      unguard();
      memory.scratch.remove();
    };
    const opened = {
      ...{ asked, training, startMs, skipped: found.skipped },
      counts: await describeCounts(countsFiles?.paths ?? []),
      hasGivenWords: world.wordCounts !== undefined,
      corpus: { ...corpus, countsFiles, memory, cache: cached?.cache },
    };
    return await trainOpened(opened, cached, world);
  } finally {
    forget();
    unlock();
  }
}

/** A usage error for a corpus from which nothing is to be learned. */
function refuseUnsized(
  { vocabSize }: AskedTraining,
  names: readonly string[],
  { texts, wordCounts, spell }: World,
): void {
  if (vocabSize !== undefined || (names.length === 0 && texts === undefined && wordCounts === undefined))
    return;
  const name = spell("vocab-size");
  throw usageError(`${name} is missing`, `${name} +8k learns 8,192 tokens from the corpus`);
}

const readingOf = ({ inputFormat, textField, include, binary }: AskedTraining): InputOptions => ({
  format: inputFormat as InputFormat | undefined,
  textField,
  include,
  binary,
});

/** Checks that the outputs can be written, and keeps other runs away from them. */
async function takePlaces({ output, saveCounts, report }: AskedTraining, { lock }: World) {
  const files = [saveCounts, report].filter((path) => path !== undefined);
  if (output !== undefined) checkOutputDirectory(output);
  for (const path of files) checkOutputFile(path);
  return lock([output === undefined ? null : placeOf(output), ...files.map(placeOfFile)]);
}

/** Few trainings need it. */
const codeForBases = () => import("./extend-tokenizer.ts");

/** Looks at the tokenizer to go on from, or to be like, and at word counts, each once; then all is settled. */
async function look(asked: AskedTraining, settled: Training | undefined, world: World) {
  const { spell } = world;
  const like = asked.like === undefined ? undefined : await likeInWorker(asked.like);
  const pattern = asked.pattern === undefined ? undefined : resolvePattern(asked.pattern);
  const base =
    asked.extend === undefined
      ? undefined
      : await (await codeForBases()).openBase({ ...asked, path: asked.extend, pattern }, noting(world));
  const looked: Looked = { like, base };
  const { settled: training, countsFiles } = await settleWithCounts(asked, world, (made) =>
    made === undefined && settled !== undefined ? settled : settle(asked, { ...looked, made }, spell),
  );
  if (base !== undefined) refuseCountedAsText(asked, base, training, spell);
  return { training, countsFiles };
}

/** The inputs as they are now, and the threads and the memory for them. With word counts there may be no input. */
async function openCorpus(
  asked: AskedTraining,
  names: readonly string[],
  languageFiles: readonly LanguageFile[] | undefined,
  world: World,
) {
  const { texts, signal } = world;
  const nothing: FoundInputs = { inputs: [], skipped: [] };
  const found = names.length === 0 ? nothing : await world.find(names, readingOf(asked));
  const languages = languageFiles && languagesOf(languageFiles, found, noting(world));
  const given = texts === undefined ? [] : [inputOfTexts(texts, signal)];
  const inputs = [...found.inputs, ...given];
  // A stream's length is guessed; that of a list is known.
  const givenBytes = Array.isArray(texts)
    ? texts.reduce((sum, text) => sum + (text.length ?? 0), 0)
    : undefined;
  const textBytes =
    givenBytes === undefined ? expectedTextBytes(inputs) : expectedTextBytes(found.inputs) + givenBytes;
  const budget = new MemoryBudget(asked.memoryLimit);
  const workerCountFor = workersFor(asked.workers, budget.workerCountMax);
  return { found, inputs, languages, budget, workerCount: workerCountFor(textBytes), workerCountFor };
}

async function trainOpened(
  opened: OpenTraining,
  cached: OpenCache | undefined,
  world: World,
): Promise<Finished | undefined> {
  const { asked, training, corpus, counts } = opened;
  const warn = (warnings: readonly Warning[]) => warnings.forEach(world.warn);
  if (cached !== undefined) {
    warn(streamBesideCache(corpus.inputs));
    const { isUpToDateWith } = await import("./up-to-date.ts");
    if (asked.ifChanged && (await isUpToDateWith(cached, opened, world.report))) return undefined;
  }
  if (asked.tokenizerClass !== undefined) warn(classOfModel(training.model));
  if (asked.chatTemplate !== undefined && asked.pad === undefined && training.model.roles.pad === undefined)
    warn([{ kind: "no pad" }]);
  if (training.base === null && training.normalization !== null && asked.formats === undefined)
    warn([{ kind: "normalizer" }]);
  warn(equalCounts(counts));
  warn(oddSeeds(training.seedTokens, training.base));
  let made: Pick<Finished, "result" | "product" | "written"> | undefined;
  world.onOpen?.(opened);
  const run = {
    ...corpus,
    saveWords: async (words: WordTable) => {
      world.onWords?.(words);
      const { saveCounts: path } = asked;
      if (path !== undefined)
        await world.writeFile(path, countsChunks(path, words, countsOptionsOf(training)));
    },
    ...(world.tellMemory && { tellMemory: world.tellMemory }),
    write: async (trained: TrainedVocabulary | Extended) => {
      world.onLearned?.(trained);
      warn(countedInvalidBytes(corpus.inputs, trained.statistics));
      if (training.compat === "huggingface" && training.base === null)
        warn(foundSpecialTokens(corpus.inputs, trained.statistics));
      const result = resultOf(opened, trained, world);
      const product = await productOfAny(result, training, world);
      const written =
        asked.output === undefined
          ? undefined
          : await writeProduct(asked.output, product, result, world.guard);
      made = { result, product, written };
    },
  };
  const trained = await train(training, run, world.report);
  // What goes on from a base does not depend on options and inputs alone.
  if (training.base === null && cached !== undefined && asked.output !== undefined)
    (await import("./up-to-date.ts")).noteResult(cached, opened);
  cached?.shrink();
  warn(warningsOfEnd(training, trained, made!.written));
  return { opened, trained, ...made! };
}

/** What a record says of the run. */
function resultOf<T extends TrainedVocabulary | Extended>(
  { asked, training, corpus, skipped, counts, startMs }: OpenTraining,
  trained: T,
  { command }: World,
): Result<T> {
  const { inputs, languages, workerCount } = corpus;
  return {
    ...{ ...command, ...outputsOf(asked), keepCount: asked.keep, startMs },
    ...{ training, inputs, languages, skipped, counts, workerCount, trained },
  };
}

async function productOfAny(
  result: Result<TrainedVocabulary | Extended>,
  { base }: Training,
  world: World,
): Promise<AnyProduct> {
  const { trained } = result;
  if (!("extensions" in trained)) return productOf({ ...result, trained }, await loadFormats());
  return (await codeForBases()).extensionProduct({ ...result, trained }, base!, noting(world));
}

/** What only the end shows. */
function warningsOfEnd(
  training: Training,
  trained: TrainedVocabulary | Extended,
  written: Written<object> | undefined,
): Warning[] {
  const left = written?.leftPath ?? null;
  const atPlace: Warning[] = left === null ? [] : [{ kind: "files in the old result", path: left }];
  if ("extensions" in trained) {
    const madeCount = trained.extensions.at(-1)!.tokens.length;
    const { parts, newSpecials } = training.base!;
    const wantedCount = training.vocabSize - parts.tokens.idLimit - newSpecials.length;
    return [...atPlace, ...earlyStop(madeCount, wantedCount, "new tokens")];
  }
  const { size, reservedCount } = trained.vocabulary;
  const leastSize = baseSize(training.specialTokens, training.compat);
  return [
    ...notesOfShared(trained.vocabulary).map((message) => ({ kind: "note" as const, message })),
    ...(training.parity?.ratio == null ? unevenLanguages(trained.languages) : []),
    ...atPlace,
    ...earlyStop(size - reservedCount - leastSize, training.vocabSize - leastSize, "merges"),
  ];
}
