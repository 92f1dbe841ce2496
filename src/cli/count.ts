import { countWords } from "../train.ts";
import { sortedTsvChunks } from "../words/tsv.ts";
import { openCache, readCacheOptions } from "./cache-options.ts";
import { countsOptionsOf, openCorpus, readCorpusOptions } from "./corpus-options.ts";
import { writeChunks } from "./data-output.ts";
import { warnOfInvalidBytes } from "./invalid-bytes.ts";
import { lockOutputFile } from "./lock.ts";
import type { Output } from "./output.ts";
import { warnOfSlowPattern } from "./patterns.ts";
import { openRanges, rangesPath } from "./planned-corpus.ts";
import type { Invocation } from "./run.ts";
import { bytes, counted, grouped, seconds } from "./units.ts";

/** `bpe count`: word counts, the most frequent first, equal counts by the word's bytes. */
export async function runCount(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const options = readCorpusOptions(invocation);
  const cacheOptions = readCacheOptions(invocation);
  const path = invocation.options.get("output")?.[0];
  const plan = rangesPath(invocation);
  await lockOutputFile(invocation, output, path);
  const planned =
    plan === undefined
      ? undefined
      : await openRanges(plan, { ...countsOptionsOf(options), textField: options.reading.textField });
  const { inputs, ranges, workerCount } = openCorpus(invocation, options, planned);
  warnOfSlowPattern(options.pattern, output);
  const cached = openCache(cacheOptions, countsOptionsOf(options), output);
  const corpus = { ...options, inputs, ranges, pattern: options.pattern.compiled, workerCount, ...cached };
  const { words, wordCount, findings } = await countWords(corpus, output.progress);
  warnOfInvalidBytes(inputs, findings, output);

  await writeChunks(path, sortedTsvChunks(words));
  const sizeBytes = findings.reduce((sum, found) => sum + found.textBytes, 0);
  const elapsed = (performance.now() - startMs) / 1000;
  output.succeed(
    `counted ${counted(wordCount, "word")}, ${grouped(words.wordCount)} of them distinct, in ${bytes(sizeBytes)} and ${seconds(elapsed)}`,
    { wordCount, distinctWordCount: words.wordCount, sizeBytes, output: path ?? "-" },
  );
}
