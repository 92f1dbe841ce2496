// Lists inputs, cuts them into ranges, and reads their texts. This is one module because all of it depends on the same
// inputs and ranges: a range is safe only if it is read by the rule that cut it.

export { compressionOf, contentOf, headBytesMax, notText, zlib } from "./content.ts";
export type { RangePlanOptions } from "./cut-into-ranges.ts";
export {
  checkNames,
  type FoundInputs,
  filesMatching,
  findCorpus,
  findInputs,
  includeFilter,
  reasonSkipped,
  type Skipped,
} from "./find-inputs.ts";
export { inputOfTexts, type Texts } from "./given-texts.ts";
export {
  canBeCutByBytes,
  canSeek,
  checkUnchanged,
  emptyCorpusError,
  expectedTextBytes,
  formatOfName,
  hasFields,
  type Input,
  type InputFormat,
  inputFormats,
  openInput,
  type Range,
  shrunkError,
  sizeOfRanges,
  totalBytesOf,
  wholeRange,
} from "./input.ts";
export {
  type InputOptions,
  inspectFirstStream,
  inspectInput,
  type Reading,
  readHead,
} from "./inspect-input.ts";
export { defaultTextField, jsonHeadBytesMax, recordsIn } from "./json-shape.ts";
export {
  checkPlannable,
  followHint,
  noFileToPlan,
  type PlanLine,
  type PlannedCutting,
  type PlannedRanges,
  planLineMaker,
  plannedRanges,
  readPlan,
  readPlanLines,
} from "./plan-file.ts";
export { FileSource, readFully, TextMemory } from "./range-reader.ts";
export {
  KeptColumns,
  type KeptField,
  type KeptKind,
  type KeptValue,
  keptBytesOf,
  keptKinds,
} from "./records/kept-fields.ts";
export { KeptColumnReader } from "./records/parquet/kept-columns.ts";
export { decodeRleBitPacked } from "./records/parquet/parquet-reader.ts";
export { pageAt, readAsParquet, readMetadata, topLevel } from "./records/parquet/plan-pages.ts";
export { RecordBatch } from "./records/record-batch.ts";
export {
  ChunkBuffers,
  inputBytesOf,
  isEmpty,
  mayTakeLong,
  memoryOf,
  planTasks,
  type Task,
  textBytesOf,
} from "./task.ts";
export { type RangeStatistics, TaskTexts } from "./task-texts.ts";
export { joinChecksums } from "./text-checksum.ts";
export { openTextStream } from "./text-stream.ts";
