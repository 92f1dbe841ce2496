import { bytes, counted, grouped, seconds } from "../bytes/quantities.ts";
import { refuseOverwriting, refuseOwnResults } from "../corpus/input.ts";
import { countsChunks } from "../count/counts-files.ts";
import { UserError, usageError } from "../errors.ts";
import { type BaseFile, checkSameTokenizer, kindsBeside, readBaseFiles } from "../formats/tokenizer-files.ts";
import { type ExtensionRecord, recordedBeside } from "../formats/training-json.ts";
import { resolvePattern } from "../pattern/pattern.ts";
import {
  checkBase,
  cuttingOfBase,
  type Extended,
  type ExtensionRule,
  extendTokenizer,
  patternOfBase,
  writeExtension,
} from "../pipeline/extend-tokenizer.ts";
import { loadInWorker } from "../pipeline/load-in-worker.ts";
import type { StageProgress } from "../pipeline/stage-progress.ts";
import { countsOptionsOf, settleLimits } from "../pipeline/training.ts";
import { shellLine } from "../runtime/hints.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import { describeCounts } from "../store/content-hash.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { checkOutputFile, placeOfFile } from "../store/staged-file.ts";
import { changesText } from "../text/cutting.ts";
import { asLearned, type Extension, ranksObstacle } from "../tokenizer/extend-vocabulary.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { checkSpecialTokens } from "../vocabulary/vocabulary.ts";
import type { Invocation, TypedOptions } from "./arguments.ts";
import {
  countsPaths,
  openCorpus,
  openCountsFiles,
  openRunMemory,
  readCacheOptions,
} from "./corpus-options.ts";
import { lockOutputs, writeChunks } from "./data-output.ts";
import { readInputOptions } from "./input-options.ts";
import {
  corpusNotes,
  type Output,
  rowLines,
  warnOfEarlyStop,
  warnOfEqualCounts,
  warnOfInvalidBytes,
  warnOfSlowPattern,
  warnOfStreams,
} from "./output.ts";
import { onStop } from "./stop.ts";
import { refuseOwnOutput } from "./tokenizer-options.ts";
import { writtenFiles } from "./train-summary.ts";
import { newTokenCounts, readAskedSizes, readLimits } from "./training-options.ts";

/** `bpe train --extend`: loads the base, reads the options, trains on from it, writes, tells. */
export async function runExtend(invocation: Invocation, output: Output): Promise<void> {
  const typed = readOptions(invocation);
  refuseOwnOutput(typed.basePath, typed.output);
  await takePlaces(invocation, typed, output);
  const startMs = performance.now();
  const { base, baseFiles } = await openBase(typed, output);
  const asked = settle(invocation, typed, { base, baseFiles }, output);
  const { options, countsFiles } = await openCountsFiles(invocation, asked, (made) => ({
    ...asked,
    specialTokens: typed.separators === undefined ? made.specialTokens : asked.specialTokens,
  }));
  refuseCountedAsText(asked.ownSeparators, options.specialTokens);
  const corpus = await openCorpus(invocation, options, output);
  const { inputs, skipped, workerCount, workerCountFor, budget } = corpus;
  refuseOwnResults(inputs, [options.output, options.cache?.path]);
  refuseOverwriting(inputs, [options.saveCounts]);
  const countsOptions = countsOptionsOf(options);
  const { memory, cached } = openRunMemory(
    options.cache,
    { pattern: options.pattern, budget, countsOptions },
    output,
  );
  const counts = await describeCounts(countsPaths(invocation));
  if (cached !== undefined) warnOfStreams(inputs, output);
  warnOfSlowPattern(options.pattern, output);
  warnOfEqualCounts(counts, output);
  const extended = await extendTokenizer(
    {
      ...{ ...options, base, inputs, workerCount, workerCountFor },
      cutting: cuttingOfBase(base, options.pattern, options.specialTokens),
      ...{ countsFiles, cache: cached?.cache, memory },
      tellMemory: (estimatedBytes: number) => output.tellMemory("merging", estimatedBytes),
      async saveWords(words) {
        if (options.saveCounts !== undefined) {
          await writeChunks(options.saveCounts, countsChunks(options.saveCounts, words, countsOptions));
        }
      },
    },
    (progress: StageProgress) => output.progress(progress),
  );
  warnOfInvalidBytes(inputs, extended.statistics, output);
  const command = {
    command: shellLine(["bpe", "train", ...invocation.typed]),
    arguments: ["train", ...invocation.typed],
  };
  const run = { ...command, inputs, skipped, counts, workerCount, startMs };
  const filesOfAll: (readonly BaseFile[])[] = [];
  for (const extension of extended.extensions) {
    filesOfAll.push(await expressible(baseFiles, base, extension, output));
  }
  const result = {
    run,
    base,
    basePath: options.basePath,
    baseFiles: filesOfAll,
    settings: options,
    pattern: options.pattern,
    extended,
  };
  const written = await writeExtension(
    options.output,
    {
      ...{ ...result, separators: options.specialTokens },
      ...{ baseReserved: options.baseReserved, keepCount: options.keepCount },
    },
    onStop,
  );
  await extended.keepRest?.();
  cached?.shrink();
  tellExtended(extended, written, options, corpusNotes({ inputs, skipped }), output);
}

function tellExtended(
  extended: Extended,
  { record, leftPath, keptPath }: Awaited<ReturnType<typeof writeExtension>>,
  { output: path, newTokenCounts }: { readonly output: string; readonly newTokenCounts: readonly number[] },
  notes: readonly (readonly [string, string])[],
  output: Output,
): void {
  if (leftPath !== null) output.warn(`what was written into the older result meanwhile is in "${leftPath}"`);
  warnOfEarlyStop(extended.extensions.at(-1)!.tokens.length, newTokenCounts.at(-1)!, "new tokens", output);
  const summary = () => summaryOf(extended, record, path, notes);
  output.succeed(summary, { changed: true, output: path, kept: keptPath, ...record });
}

/** What the command line alone says. */
function readOptions(invocation: Invocation) {
  const { options } = invocation;
  const outputPath = options.text("output")!;
  if (outputPath === "") throw usageError("--output is empty", "name a directory, e.g. --output tokenizer");
  const pattern = options.text("pattern");
  return {
    basePath: options.text("extend")!,
    output: outputPath,
    sizes: readAskedSizes(options.text("vocab-size")!),
    padTo: options.number("pad-to") ?? 1,
    rule: options.word("compat"),
    separators: options.get("special-token"),
    specialTokensAsText: options.has("special-tokens-as-text"),
    basePattern: pattern === undefined ? undefined : resolvePattern(pattern),
    ...readLimits(options),
    workers: options.number("workers"),
    reading: readInputOptions(invocation),
    memoryLimitBytes: options.number("memory-limit"),
    saveCounts: options.text("save-counts"),
    cache: readCacheOptions(invocation),
    keepCount: options.number("keep"),
  };
}

type Typed = ReturnType<typeof readOptions>;

async function takePlaces(invocation: Invocation, { output: path, saveCounts }: Typed, output: Output) {
  checkOutputDirectory(path);
  if (saveCounts !== undefined) checkOutputFile(saveCounts);
  const countsPlace = saveCounts === undefined ? null : placeOfFile(saveCounts);
  await lockOutputs(invocation, output, [placeOf(path), countsPlace]);
}

async function openBase({ basePath, basePattern }: Typed, output: Output) {
  const base = await loadInWorker({ path: basePath, options: { pattern: basePattern }, isDecoded: true });
  for (const note of base.notes) output.warn(note);
  checkBase(base);
  await nextTurn();
  const baseFiles = readBaseFiles(basePath);
  for (const { path } of kindsBeside(baseFiles)) {
    checkSameTokenizer(base, await loadInWorker({ path, options: {}, isDecoded: false }));
  }
  await nextTurn();
  return { base: asLearned(base), baseFiles };
}

/** The files of the base that can say what was learned; a UserError if none of them can. */
async function expressible(
  baseFiles: readonly BaseFile[],
  base: TokenizerParts,
  extension: Extension,
  output: Output,
): Promise<readonly BaseFile[]> {
  const ranks = baseFiles.find(({ kind }) => kind === "ranks");
  const obstacle = ranks === undefined ? null : await inTurns(ranksObstacle(base, extension));
  if (obstacle === null) return baseFiles;
  if (baseFiles.every(({ kind }) => kind === "ranks" || kind === "beside")) {
    throw new UserError(`a file of ranks cannot say the extended tokenizer: ${obstacle}`, {
      hint: "train with fewer new tokens, or extend the same tokenizer as a tokenizer.json",
    });
  }
  output.warn(`${ranks!.name} is left out: ${obstacle}`);
  return baseFiles.filter(({ kind }) => kind !== "ranks");
}

/** The options, with what the base says. */
function settle(
  { options }: Invocation,
  typed: Typed,
  { base, baseFiles }: Awaited<ReturnType<typeof openBase>>,
  output: Output,
) {
  const recorded = recordedBeside(baseFiles.map(({ path }) => path));
  const rule: ExtensionRule = typed.rule ?? recorded?.compat ?? "extension";
  const compat = rule === "extension" ? "cs336" : rule;
  const { separators = [], specialTokensAsText } = typed;
  checkSpecialTokens(separators, compat);
  if (changesText(base)) refuseCounts(options);
  const baseTexts = new Set(allAddedTokens(base).map(({ content }) => content));
  for (const text of separators) {
    if (baseTexts.has(text)) continue;
    output.warn(`"${text}" is no special token of the base: documents end there, and it gets no id`);
  }
  // Its training ended documents at them: they were never text. Reserved tokens are in no text.
  const reserved = new Set(recorded?.reservedTokens);
  const own = (recorded?.specialTokens ?? []).filter((text) => !reserved.has(text));
  const ownSeparators = specialTokensAsText ? [] : own;
  return {
    ...typed,
    rule,
    compat,
    ownSeparators,
    specialTokens: [...new Set([...ownSeparators, ...separators])],
    baseReserved: [...reserved],
    newTokenCounts: newTokenCounts(typed.sizes, base.tokens.idLimit),
    ...settleLimits(typed, rule),
    pattern: patternOfBase(base, rule),
  } as const;
}

/** Refuses word counts that have special tokens of the base as words. */
function refuseCountedAsText(own: readonly string[], separators: readonly string[]): void {
  const counted = own.filter((text) => !separators.includes(text));
  if (counted.length === 0) return;
  throw new UserError(`the word counts have the base's special token "${counted[0]}" as text`, {
    hint: "count with --special-token for each of them, or say that they are text: --special-tokens-as-text",
  });
}

/** Where documents end beside the ends of inputs and records, and whether special tokens of the base were text. */
function documentsText({ specialTokens, reservedTokens, documentsEndAt }: ExtensionRecord["options"]) {
  const named = new Set([...documentsEndAt, ...reservedTokens]);
  const asText = specialTokens.filter((text) => !named.has(text));
  const some = (texts: readonly string[]) =>
    `${texts.slice(0, 3).join(" ")}${texts.length > 3 ? ` and ${texts.length - 3} more` : ""}`;
  const ends = documentsEndAt.length === 0 ? "end with their inputs" : `end at ${some(documentsEndAt)}`;
  return asText.length === 0
    ? ends
    : `${ends}; special tokens of the base that are text (no -s): ${some(asText)}`;
}

/** Word counts do not say that text was changed before it was cut. */
function refuseCounts(options: TypedOptions): void {
  for (const name of ["counts", "save-counts", "cache"]) {
    if (!options.has(name)) continue;
    throw usageError(`--${name} does not go with this --extend: the base changes text before it cuts it`);
  }
}

function summaryOf(
  { extensions, pretokenBytes, tokenCount, tokenCountBefore }: Extended,
  { base, options, files, timings, wordCount, distinctWordCount, peakMemoryBytes }: ExtensionRecord,
  output: string,
  notes: readonly (readonly [string, string])[],
): string[] {
  const { tokens, reservedTokens } = extensions.at(-1)!;
  const { length } = tokens;
  const rate = (tokens: number) => (tokens === 0 ? "none" : (pretokenBytes / tokens).toFixed(3));
  const ms = (time: number) => seconds(time / 1000);
  const reserved =
    reservedTokens.length === 0
      ? ""
      : `${counted(reservedTokens.length, "token")}, to ${grouped(options.vocabSize)} ids`;
  const ids = length === 0 ? "" : `, ids ${base.vocabSize} to ${base.vocabSize + length - 1}`;
  return rowLines([
    ["base", `${base.path}, ${grouped(base.vocabSize)} ids`],
    ...notes,
    ["documents", documentsText(options)],
    ["pretokens", `${grouped(wordCount)}, ${grouped(distinctWordCount)} of them distinct`],
    ["new tokens", `${grouped(length)}${ids}`],
    ["reserved", reserved],
    ["rule", options.compat],
    [
      "time",
      `counting ${ms(timings.countMs)}, merging ${ms(timings.mergeMs)}, in all ${ms(timings.totalMs)}`,
    ],
    ["memory", `${bytes(peakMemoryBytes)} at its peak`],
    ["bytes/token", `${rate(tokenCount)}, by the base ${rate(tokenCountBefore)}`],
    ["written", writtenFiles(output, options.sizes, files)],
  ]);
}
