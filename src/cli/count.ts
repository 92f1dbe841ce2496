import { refuseOverwriting, refuseOwnResults } from "../corpus/own-results.ts";
import { countsChunks, isTsv } from "../count/counts-files.ts";
import { saveSum } from "../count/save-counts.ts";
import { inTurns } from "../next-turn.ts";
import { countsOptionsOf, openMemory } from "../open-memory.ts";
import { checkOutputFile, placeOfFile } from "../publish/file.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import { countParts, countWords } from "../train.ts";
import { commonWordsOf, nothingLeftOut } from "../words/common-words.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { totalsOf } from "../words/counts-writer.ts";
import { sortBytesPerWord } from "../words/sort.ts";
import { sortedTsvChunks } from "../words/tsv.ts";
import { type TableSize, tableBytes, type WordTable } from "../words/word-table.ts";
import { wholeNumber } from "./arguments.ts";
import { readCacheOptions, tellOfStreams } from "./cache-options.ts";
import { corpusNoteLines } from "./corpus-notes.ts";
import { openCorpus, openCountsFiles, readCorpusOptions } from "./corpus-options.ts";
import { writeChunks } from "./data-output.ts";
import { warnOfInvalidBytes } from "./invalid-bytes.ts";
import { lockOutputs } from "./lock.ts";
import type { Output } from "./output.ts";
import { warnOfSlowPattern } from "./patterns.ts";
import { openRanges, rangesPath } from "./planned-corpus.ts";
import type { Invocation } from "./run.ts";
import { onStop } from "./stop.ts";
import { bytes, counted, grouped, seconds } from "./units.ts";

/** `bpe count`: the words of text and of counts files, as text or as a file that can be added up again. */
export async function runCount(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const options = readCorpusOptions(invocation);
  const countsOptions = countsOptionsOf(options);
  const cacheOptions = readCacheOptions(invocation);
  const minCount = wholeNumber("--min-count", invocation.options.get("min-count")?.[0] ?? "1", 1);
  const plan = rangesPath(invocation);
  const places = await takePlaces(invocation, output);
  const planned =
    plan === undefined
      ? undefined
      : await openRanges(plan, { ...countsOptions, textField: options.reading.textField });
  const opened = openCorpus(invocation, options, output, planned);
  const { inputs, skipped, budget, workerCount, workerCountFor } = opened;
  refuseOwnResults(inputs, [cacheOptions?.path]);
  refuseOverwriting(inputs, [places.text, places.save]);
  const countsFiles = openCountsFiles(invocation, countsOptions);
  warnOfSlowPattern(options.pattern, output);
  const { memory, cached } = openMemory(
    cacheOptions,
    countsOptions,
    options.pattern.compiled,
    budget,
    output.warn,
  );
  onStop(() => memory.scratch.remove());
  const cache = cached?.cache;
  if (cache !== undefined) tellOfStreams(inputs, output);
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

  // Text stands by falling count, which takes a table of all words; the compact form is written word by word.
  const streams = places.text === undefined && !isTsv(places.save!) && cache === undefined;
  const { parts, words, findings, keepRest } = streams
    ? { words: null, keepRest: undefined, ...(await countParts(corpus, output.progress)) }
    : { parts: null, ...(await countWords(corpus, output.progress, sortingFits(budget))) };
  warnOfInvalidBytes(inputs, findings, output);
  const { totals, leftOut } =
    words !== null
      ? await writeWords(words, places, countsOptions, minCount)
      : await inTurns(saveSum(parts, places.save!, countsOptions, onStop, minCount));
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
    { wordCount, distinctWordCount, sizeBytes, leftOut, skipped, output: places.text ?? places.save },
  );
}

/** Where the counts go: as text to a path or, for `-`, to stdout; and to a file whose name says the form. */
type Places = { readonly text: string | undefined; readonly save: string | undefined };

/** Finds out that the files can be written, and keeps other runs away from them. */
async function takePlaces(invocation: Invocation, output: Output): Promise<Places> {
  const save = invocation.options.get("save-counts")?.[0];
  const text = invocation.options.get("output")?.[0] ?? (save === undefined ? "-" : undefined);
  const files = [text === "-" ? undefined : text, save].filter((path) => path !== undefined);
  for (const path of files) checkOutputFile(path);
  await lockOutputs(invocation, output, files.map(placeOfFile));
  return { text, save };
}

function sortingFits(budget: MemoryBudget): (size: TableSize) => void {
  return (size) => {
    const neededBytes = tableBytes(size) + sortBytesPerWord * size.wordCount;
    const remedy = "write the compact form, which needs no sorting: --save-counts without --output";
    budget.check("sorting all words by their counts", neededBytes, remedy);
  };
}

async function writeWords(all: WordTable, { text, save }: Places, options: CountsOptions, minCount: number) {
  const leftOut = nothingLeftOut();
  const words = minCount > 1 ? commonWordsOf(all, minCount, leftOut) : all;
  if (save !== undefined) await writeChunks(save, countsChunks(save, words, options));
  if (text !== undefined) await writeChunks(text, sortedTsvChunks(words));
  return { totals: totalsOf(words), leftOut };
}
