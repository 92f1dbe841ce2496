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
export {
  CountsFileError,
  type CountsOptions,
  CountsReader,
  formatVersion,
  hasOptions,
  optionFields,
} from "./counts-format.ts";
export { type Parts, sourcesOfSortedRuns } from "./parts.ts";
export { sortBytesPerWord } from "./sort-by-bytes.ts";
export { type SortedRun, type SortedRunOptions, writeSortedRun } from "./sorted-run.ts";
export {
  addTable,
  commonWordsOf,
  emptyTable,
  inByteOrder,
  isValidTable,
  NegativeSumError,
  noWordsLeftOut,
  type SortedWords,
  type Summand,
  SumOfWords,
  TableWords,
  tableOverflows,
  totalsOfSum,
  wordTableOfSum,
} from "./sorted-words.ts";
export { SpillingCounter, type SpillingOptions } from "./spilling-counter.ts";
export { type SavedSum, writeSum } from "./sum-of-parts.ts";
export {
  discardRound,
  type PackedCounts,
  type PackedTables,
  type RecordWords,
  sliceRounds,
  sumOfCounts,
  textBytesForTables,
  WordCounter,
} from "./word-counter.ts";
export {
  byteWords,
  byteWordsSize,
  type GivenWords,
  sizeOf,
  sizeOfWords,
  type TableSize,
  type TokenWords,
  type TokenWordsSize,
  tableBytes,
  tableMemory,
  totalsOf,
  type WordTable,
} from "./word-table.ts";
