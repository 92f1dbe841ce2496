// Counts the distinct words of a corpus: tables, sums, sorted runs on disk, counts files, the cache. This is one module
// because each form of the words is made from the others.

export { addUp } from "./add-up.ts";
export * as cacheDirectory from "./cache-directory.ts";
export { describeCounts } from "./content-hash.ts";
export type { LanguageTables } from "./count-groups.ts";
export { type CountMemory, openMemory } from "./count-memory.ts";
export { type CorpusOptions, type CountedWords, countParts } from "./count-parts.ts";
export { identify } from "./count-with-cache.ts";
export { countWords } from "./count-words.ts";
export { isText } from "./counts-file-reader.ts";
export { countsChunks } from "./counts-files.ts";
export type { CountsOptions } from "./counts-format.ts";
export { type CutSettings, countsOptionsOf } from "./cut-settings.ts";
export { idBytesOf } from "./lifted-pretokens.ts";
export type { OpenCache } from "./open-cache.ts";
export { countsPaths, settleWithCounts } from "./open-counts.ts";
export type { Parts } from "./parts.ts";
export { sortBytesPerWord } from "./sort-by-bytes.ts";
export * as sortedWords from "./sorted-words.ts";
export { type SavedSum, writeSum } from "./sum-of-parts.ts";
export { checkWeight, weightsOf } from "./weights.ts";
export { type RecordWords, WordCounter } from "./word-counter.ts";
export type { GivenWords, TokenWords, WordTable } from "./word-table.ts";
export * as wordTables from "./word-table.ts";
