// A training as a request, and its steps from counting to publication.
// It is one module because every step takes the same request and adds to the same result.

export {
  checkFormatNames,
  fileBytes,
  finishedTokenizer,
  type LoadedFormats,
  loadFormats,
  type SaveOptions,
  selectFiles,
} from "./chosen-files.ts";
export { openMemory } from "./count-memory.ts";
export { type CountedWords, countParts } from "./count-parts.ts";
export { countWords } from "./count-words.ts";
export { imageAt } from "./image-at.ts";
export {
  type Extended,
  learnPairs,
  type MergeRun,
  mergeOptionsOf,
  mergeRoom,
  type SuperwordFacts,
  type TrainedVocabulary,
} from "./learn-merges.ts";
export { countsPaths, settleWithCounts } from "./open-counts.ts";
export { partsOfTraining } from "./parts-of-training.ts";
export { type Finished, runTraining, type TrainingHost } from "./run-training.ts";
export { imageFactsOf } from "./tokenizer-facts.ts";
export { mergeBytes, type TrainingStatistics, trainingStatistics } from "./trained-facts.ts";
export {
  countsOptionsOf,
  cuttingOf,
  encodingPatternOf,
  settle,
  settleCutting,
  settleLimits,
  type Training,
} from "./training.ts";
export {
  type AnyProduct,
  filesOfSizes,
  makeDerivedRecord,
  type Product,
  productOf,
  publishFiles,
  type Run,
  writeProduct,
} from "./write-result.ts";
