import { refuseOverwriting, refuseOwnResults } from "../corpus/own-results.ts";
import type { Parts } from "../count/add-up.ts";
import { countsChunks, isText } from "../count/counts-files.ts";
import { type Saved, saveSum, streamSum } from "../count/save-counts.ts";
import { inTurns, nextTurn } from "../next-turn.ts";
import { countsOptionsOf, openMemory } from "../open-memory.ts";
import { checkOutputFile, placeOfFile } from "../publish/file.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import { countParts, countWords, type StageProgress } from "../train.ts";
import { commonWordsOf, nothingLeftOut } from "../words/common-words.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { totalsOf } from "../words/counts-writer.ts";
import { sortBytesPerWord } from "../words/sort.ts";
import { type TableSize, tableBytes, type WordTable } from "../words/word-table.ts";
import type { Invocation } from "./arguments.ts";
import { readCacheOptions } from "./cache-options.ts";
import { corpusNoteLines } from "./corpus-notes.ts";
import { openCorpus, openCountsFiles, readCorpusOptions } from "./corpus-options.ts";
import { writeChunks, writeData } from "./data-output.ts";
import { lockOutputs } from "./lock.ts";
import { wholeNumber } from "./option-values.ts";
import type { Output } from "./output.ts";
import { openRanges, rangesPath } from "./planned-corpus.ts";
import { onStop } from "./stop.ts";
import { bytes, counted, grouped, seconds } from "./units.ts";
import { warnOfInvalidBytes, warnOfSlowPattern, warnOfStreams } from "./warnings.ts";

/** `bpe count`: the words of text and of counts files, as text or as a file that can be added up again. */
export async function runCount(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const asked = readCorpusOptions(invocation);
  const cacheOptions = readCacheOptions(invocation);
  const minCount = wholeNumber("--min-count", invocation.options.get("min-count")?.[0] ?? "1", 1);
  const plan = rangesPath(invocation);
  const places = await takePlaces(invocation, output);
  const { options, countsFiles } = await openCountsFiles(invocation, asked, (made) =>
    readCorpusOptions(invocation, made),
  );
  const countsOptions = countsOptionsOf(options);
  const planned =
    plan === undefined
      ? undefined
      : await openRanges(plan, { ...countsOptions, textField: options.reading.textField });
  const opened = openCorpus(invocation, options, output, planned);
  const { inputs, skipped, budget, workerCount, workerCountFor } = opened;
  refuseOwnResults(inputs, [cacheOptions?.path]);
  refuseOverwriting(inputs, places);
  warnOfSlowPattern(options.pattern, output);
  const { memory, cached } = openMemory(
    cacheOptions,
    countsOptions,
    options.pattern.compiled,
    budget,
    (message) => output.warn(message),
  );
  onStop(() => memory.scratch.remove());
  const cache = cached?.cache;
  if (cache !== undefined) warnOfStreams(inputs, output);
  const pattern = options.pattern.compiled;
  const corpus = {
    ...options,
    inputs,
    ranges: planned?.ranges,
    pattern,
    workerCount,
    workerCountFor,
    countsFiles,
    memory,
    cache,
  };

  const report = (progress: StageProgress) => output.progress(progress);
  // Text stands by falling count, which takes a table of all words; the compact form is written word by word.
  const [place] = places;
  const isStreamed = places.length === 1 && !isText(place!) && cache === undefined;
  const { parts, words, findings, keepRest } = isStreamed
    ? { words: null, keepRest: undefined, ...(await countParts(corpus, report)) }
    : { parts: null, ...(await countWords(corpus, report, sortingFits(budget))) };
  warnOfInvalidBytes(inputs, findings, output);
  const { totals, leftOut } =
    words !== null
      ? await writeTable(words, places, countsOptions, minCount)
      : await writeSum(parts, place!, countsOptions, minCount);
  await keepRest?.();
  cached?.shrink();
  const { pretokenCount: wordCount, wordCount: distinctWordCount } = totals;

  const sizeBytes = findings.reduce((sum, found) => sum + found.textBytes, 0);
  const elapsed = (performance.now() - startMs) / 1000;
  const from = inputs.length === 0 ? "files of counts" : bytes(sizeBytes);
  const rare =
    minCount > 1
      ? `\nleft out ${counted(leftOut.wordCount, "distinct word")} rarer than ${grouped(minCount)}, ${counted(leftOut.pretokenCount, "occurrence")} in all`
      : "";
  output.succeed(
    `counted ${counted(wordCount, "word")}, ${grouped(distinctWordCount)} of them distinct, in ${from} and ${seconds(elapsed)}${rare}${corpusNoteLines(opened)}`,
    { wordCount, distinctWordCount, sizeBytes, leftOut, skipped, output: places.at(-1) },
  );
}

/** Finds out that the files can be written, and keeps other runs away from them. Returns where the counts go, `-` for stdout. */
async function takePlaces(invocation: Invocation, output: Output): Promise<string[]> {
  const { options } = invocation;
  // Files first: who reads stdout may stop the run.
  const named = ["save-counts", "output"].flatMap((name) => options.get(name)?.[0] ?? []);
  const files = named.filter((place) => place !== "-");
  for (const path of files) checkOutputFile(path);
  await lockOutputs(invocation, output, files.map(placeOfFile));
  return named.length === 0 ? ["-"] : named;
}

function sortingFits(budget: MemoryBudget): (size: TableSize) => void {
  return (size) => {
    const neededBytes = tableBytes(size) + sortBytesPerWord * size.wordCount;
    const remedy = "write one file in the compact form, which needs no sorting: any name but .tsv";
    budget.check("sorting all words by their counts", neededBytes, remedy);
  };
}

async function writeTable(
  all: WordTable,
  places: readonly string[],
  options: CountsOptions,
  minCount: number,
): Promise<Saved> {
  const leftOut = nothingLeftOut();
  const words = minCount > 1 ? commonWordsOf(all, minCount, leftOut) : all;
  for (const place of places) await writeChunks(place, countsChunks(place, words, options));
  return { totals: totalsOf(words), leftOut };
}

/** Writes the compact form word by word, without a table of all. */
async function writeSum(
  parts: Parts,
  place: string,
  options: CountsOptions,
  minCount: number,
): Promise<Saved> {
  if (placeOfFile(place) !== null) return inTurns(saveSum(parts, place, options, onStop, minCount));
  return writeData(place, async (put) => {
    const chunks: Uint8Array[] = [];
    const work = streamSum(parts, (chunk) => chunks.push(chunk.slice()), options, minCount);
    for (let step = work.next(); ; step = work.next()) {
      for (const chunk of chunks.splice(0)) await put(chunk);
      if (step.done) return step.value;
      await nextTurn();
    }
  });
}
