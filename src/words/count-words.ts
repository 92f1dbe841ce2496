import type { Report } from "#jobs";
import {
  type CheckSize,
  type CorpusOptions,
  type CountedWords,
  checkNotEmpty,
  countWithoutCache,
  type KeepRest,
} from "./count-parts.ts";

/** Counts the words of the corpus and the counts files. */
export async function countWords(
  options: CorpusOptions,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & KeepRest> {
  const { cutting, cache } = options;
  // Counts files and the cache do not record whether a space was put before a text.
  const counted = cutting.addsPrefixSpace
    ? await countWithoutCache({ ...options, cache: undefined, countsFiles: undefined }, report, check)
    : cache === undefined
      ? await countWithoutCache(options, report, check)
      : await (await import("./count-with-cache.ts")).countWithCache(cache, options, report, check);
  checkNotEmpty(options, counted.statistics);
  return counted;
}
