// Distinct words with exact counts: tables, sums, sorted runs on disk, counts files. They are one module because each
// form of the words is made from the others.

export { addUp } from "./add-up.ts";
export { CountsFileReader, type CountsSource, isText } from "./counts-file-reader.ts";
export {
  type AddedCounts,
  CountsFiles,
  CountsFilesAndWords,
  countsChunks,
  countsPathsOf,
} from "./counts-files.ts";
export type { CountsOptions } from "./counts-format.ts";
export * as countsFormat from "./counts-format.ts";
export { type Parts, sourcesOfSortedRuns } from "./parts.ts";
export { sortBytesPerWord } from "./sort-by-bytes.ts";
export { type SortedRun, type SortedRunOptions, writeSortedRun } from "./sorted-run.ts";
export type { SortedWords } from "./sorted-words.ts";
export * as sortedWords from "./sorted-words.ts";
export { SpillingCounter, type SpillingOptions } from "./spilling-counter.ts";
export { type SavedSum, writeSum } from "./sum-of-parts.ts";
export * as wordCounter from "./word-counter.ts";
export { type RecordWords, WordCounter } from "./word-counter.ts";
export type { GivenWords, TokenWords, WordTable } from "./word-table.ts";
export * as wordTables from "./word-table.ts";
