import { UserError } from "../errors.ts";
import { extendedFiles, newMergeLines } from "../formats/extended-files.ts";
import type { OutputFile } from "../formats/output-file.ts";
import type { BaseFile } from "../formats/tokenizer-files.ts";
import { type ExtensionRecord, recordName, trainingFile } from "../formats/training-json.ts";
import { type TokenLimits, tokenLimits } from "../merge/merge-options.ts";
import type { Compat } from "../merge/merges.ts";
import type { MergeOptions } from "../merge/train-merges.ts";
import { patternOfSources, type ResolvedPattern } from "../pattern/pattern.ts";
import { createSha256 } from "../runtime/host.ts";
import { inTurns } from "../runtime/turns.ts";
import type { Guard } from "../store/staged-file.ts";
import { type Cutting, plainCutting } from "../text/cutting.ts";
import { segmentWords } from "../tokenizer/encoding-kernel.ts";
import {
  checkReachable,
  type Extension,
  firstTokens,
  numberExtension,
  padExtension,
  startTokensOf,
} from "../tokenizer/extend-vocabulary.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { byteWordsSize, sizeOf, type TableSize, type WordTable } from "../words/word-table.ts";
import type { CorpusOptions, CountedWords } from "./count-words.ts";
import { countWords } from "./count-words.ts";
import { learnPairs, type MergeSettings, mergeRoom, mergeThreads } from "./learn-merges.ts";
import type { Report } from "./stage-progress.ts";
import {
  corpusFacts,
  costFacts,
  publishFiles,
  type RecordedRun,
  recordedPattern,
  runFacts,
} from "./write-result.ts";

/** The rule of an extension: that of a trainer, or that of the reference for extensions (docs/extension.md). */
export type ExtensionRule = Compat | "extension";

export type ExtensionSettings = TokenLimits & {
  /** How many new tokens are wanted, ascending. With several, each tokenizer is written into a directory of its own. */
  readonly newTokenCounts: readonly number[];
  /** Vocabularies are filled with reserved tokens to a multiple of this. */
  readonly padTo: number;
  readonly rule: ExtensionRule;
};

export type ExtendOptions = CorpusOptions &
  ExtensionSettings & {
    readonly base: TokenizerParts;
    readonly tellMemory?: NonNullable<MergeSettings["tellMemory"]>;
    readonly saveWords?: (words: WordTable) => Promise<void>;
  };

export type Extended = Pick<CountedWords, "statistics" | "pretokenCount"> & {
  /** One for each number of new tokens that is wanted, in that order. */
  readonly extensions: readonly Extension[];
  readonly distinctWordCount: number;
  /** Bytes of all pretokens, and how many tokens they are by the base, and by the largest extended tokenizer. */
  readonly pretokenBytes: number;
  readonly tokenCountBefore: number;
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
  readonly keepRest?: (() => Promise<void>) | undefined;
};

/** How the base cuts text. HF's trainer is fed line by line, so under its rule no pretoken goes on behind a line end. */
export function patternOfBase({ description }: TokenizerParts, rule: ExtensionRule): ResolvedPattern {
  return patternOfSources(description.patternSources, { lineWise: rule === "huggingface" });
}

/** How the base turns text into pretokens, where documents end at `separators`. */
export const cuttingOfBase = (
  { normalization, addsPrefixSpace }: TokenizerParts,
  pattern: ResolvedPattern,
  separators: readonly string[],
): Cutting => ({ ...plainCutting(pattern.compiled, separators), normalization, addsPrefixSpace });

/** A UserError if the base is a tokenizer that cannot be extended. */
export function checkBase({ model, description }: TokenizerParts): void {
  const refuse = (what: string) => {
    throw new UserError(`"${description.path}" cannot be extended: ${what}`);
  };
  if (model.dropsBytes || new Set(model.byteIds).size < 256) refuse("its vocabulary lacks some bytes");
}

/** Continues the merges of a base on a corpus: the base's tokens keep their ids, new ones come behind them. */
export async function extendTokenizer(options: ExtendOptions, report: Report): Promise<Extended> {
  const { base, inputs } = options;
  const startMs = performance.now();
  const startTokens = await inTurns(startTokensOf(base));
  const mergeOptions = { ...mergeOptionsOf(options), startTokens };
  const check = (size: TableSize) => mergeRoom(options, byteWordsSize(size), mergeOptions);

  // 1. Count the pretokens of the corpus, as the base cuts them.
  const { words, pretokenCount, statistics, keepRest } = await countWords(options, report, check);
  if (inputs.length === 0 && pretokenCount === 0) throw noWords();
  check(sizeOf(words));
  await options.saveWords?.(words);
  const countedMs = performance.now();

  // 2. Encode each with the base: what its merges leave is what the new ones begin with.
  const segmented = await inTurns(segmentWords(words, base.model, base.tokens));
  const tokenCountBefore = weightedLength(segmented.starts, words.counts);

  // 3. Merge on from there.
  const merges = await learnPairs(segmented, mergeOptions, "merging", options.tellMemory, report);

  // 4. Number the new tokens, and see that each of them can come about.
  const all = numberExtension(base, merges, startTokens.known!);
  const extensions = options.newTokenCounts.map((count) =>
    padExtension(base, firstTokens(all, count), options.padTo),
  );
  for (const extension of extensions) await inTurns(checkReachable(base, extension));
  return {
    extensions,
    statistics,
    pretokenCount,
    distinctWordCount: words.wordCount,
    pretokenBytes: weightedLength(words.starts, words.counts),
    tokenCountBefore,
    tokenCount: tokenCountBefore - merges.replacedCounts.reduce((sum, count) => sum + count, 0),
    countMs: countedMs - startMs,
    mergeMs: performance.now() - countedMs,
    keepRest,
  };
}

function mergeOptionsOf(options: ExtendOptions): MergeOptions {
  const { newTokenCounts, rule } = options;
  const limits = {
    mergeCount: newTokenCounts.at(-1)!,
    ...tokenLimits(options),
    threadCount: mergeThreads(options),
  };
  return rule === "extension"
    ? { ...limits, compat: "cs336", ties: "smaller characters" }
    : { ...limits, compat: rule };
}

const noWords = () =>
  new UserError("there is nothing to train on: the word counts hold no words", {
    hint: "name counts of a text with words in it, or a text",
  });

function weightedLength(starts: Uint32Array, counts: Float64Array): number {
  let sum = 0;
  for (let w = 0; w < counts.length; w++) sum += (starts[w + 1]! - starts[w]!) * counts[w]!;
  return sum;
}

export type ExtensionResult = {
  readonly run: RecordedRun;
  readonly base: TokenizerParts;
  readonly basePath: string;
  /** The base's files that are extended, for each extension. */
  readonly baseFiles: readonly (readonly BaseFile[])[];
  readonly settings: ExtensionSettings;
  readonly pattern: ResolvedPattern;
  /** What ended documents. */
  readonly separators: readonly string[];
  /** Special tokens of the base that only fill its size. */
  readonly baseReserved: readonly string[];
  readonly extended: Extended;
  readonly keepCount?: number | undefined;
};

/** Writes the extended tokenizer as the kinds of file that its base came as, and the record. */
export async function writeExtension(path: string, result: ExtensionResult, guard: Guard) {
  const writeStartMs = performance.now();
  let record: ExtensionRecord | undefined;
  const files = (generation: () => number) =>
    extensionFiles(result, (made) => {
      record = recordOf(result, made, generation(), writeStartMs);
      return record;
    });
  const former = await publishFiles(path, files, { keepCount: result.keepCount, guard });
  return { ...former, record: record! };
}

/** What a record is of: the extension at `index`, and the files that are listed; or all, the largest among them. */
type Made = {
  readonly index: number;
  readonly sizes?: readonly number[];
  readonly names: readonly string[];
};

/** The files of one extended tokenizer; or those of each in a directory of its own, and the record of all. */
export function extensionFiles(
  result: ExtensionResult,
  makeRecord: (made: Made) => ExtensionRecord,
): OutputFile[] {
  const { base, baseFiles, extended, settings } = result;
  const filesOf = (index: number): OutputFile[] => {
    const files = extendedFiles(baseFiles[index]!, base, extended.extensions[index]!);
    const names = [...files.map(({ name }) => name), recordName];
    return [...files, trainingFile(() => makeRecord({ index, names }))];
  };
  const { newTokenCounts } = settings;
  if (newTokenCounts.length === 1) return filesOf(0);
  const sizes = newTokenCounts.map((count) => base.tokens.idLimit + count);
  const files = sizes.flatMap((size, index) =>
    filesOf(index).map(({ name, chunks }) => ({ name: `${size}/${name}`, chunks })),
  );
  const names = [...files.map(({ name }) => name), recordName];
  return [...files, trainingFile(() => makeRecord({ index: sizes.length - 1, sizes, names }))];
}

function recordOf(
  { run, base, basePath, baseFiles, settings, pattern, separators, baseReserved, extended }: ExtensionResult,
  { index, sizes, names }: Made,
  generation: number,
  writeStartMs: number,
): ExtensionRecord {
  const extension = extended.extensions[index]!;
  const special = [...allAddedTokens(base), ...extension.reservedTokens];
  return {
    ...runFacts(run, generation),
    base: {
      path: basePath,
      kind: base.description.kind,
      files: baseFiles[index]!.map(({ path, bytes, sha256 }) => ({ path, sizeBytes: bytes.length, sha256 })),
      vocabSize: base.tokens.idLimit,
    },
    options: {
      vocabSize: extension.idLimit,
      newTokens: settings.newTokenCounts[index]!,
      ...(sizes && { sizes }),
      specialTokens: special.map(({ content }) => content),
      specialIds: special.map(({ id }) => id),
      normalization: base.normalization,
      padTo: settings.padTo,
      reservedTokens: [...baseReserved, ...extension.reservedTokens.map(({ content }) => content)],
      documentsEndAt: separators,
      pattern: recordedPattern(pattern),
      compat: settings.rule,
      ...tokenLimits(settings),
      workers: run.workerCount,
    },
    ...corpusFacts(run, extended),
    mergeCount: extension.merges.left.length,
    files: names,
    ...costFacts(run, extended, writeStartMs),
    mergesSha256: sha256Of(newMergeLines(base, extension)),
  };
}

function sha256Of(text: string): string {
  const sha256 = createSha256();
  sha256.update(text);
  return sha256.digest("hex");
}
