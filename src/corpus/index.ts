// Lists inputs, cuts them into ranges, and reads the texts in ranges.

export { zlib } from "./content.ts";
export type { RangePlanOptions } from "./cut-into-ranges.ts";
export * as inputSearch from "./find-inputs.ts";
export type { Texts } from "./given-texts.ts";
export type { Input, InputFormat, Range } from "./input.ts";
export * as corpusInputs from "./input.ts";
export * as inspection from "./inspect-input.ts";
export { checkPlainText } from "./plain-text.ts";
export * as planFile from "./plan-file.ts";
export * as rangeReader from "./range-reader.ts";
export * as keptField from "./records/kept-fields.ts";
export * as parquet from "./records/parquet/parquet.ts";
export { RecordBatch } from "./records/record-batch.ts";
export * as tasks from "./task.ts";
export { type RangeStatistics, TaskTexts } from "./task-texts.ts";
export { joinChecksums } from "./text-checksum.ts";
export { openTextStream } from "./text-stream.ts";
