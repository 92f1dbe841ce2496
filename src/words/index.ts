// Counts the distinct words of a corpus: tables, sums, sorted runs on disk, counts files, the cache.

export * as cacheDirectory from "./cache-directory.ts";
export { describeCounts } from "./content-hash.ts";
export type { LanguageTables } from "./count-groups.ts";
export type { CorpusOptions, CountedWords } from "./count-parts.ts";
export { countToSave } from "./count-to-save.ts";
export { countWords } from "./count-words.ts";
export type { CountsOptions } from "./counts-format.ts";
export { type CutSettings, countsOptionsOf } from "./cut-settings.ts";
export { liftWords } from "./lift-words.ts";
export type { OpenCache } from "./open-cache.ts";
export * as openCounts from "./open-counts.ts";
export { openMemory } from "./open-memory.ts";
export * as inputWeights from "./weights.ts";
export { type FreeMemory, type RecordWords, WordCounter } from "./word-counter.ts";
export type { GivenWords, WordTable } from "./word-table.ts";
export * as wordTables from "./word-table.ts";
