// Reads and writes token ids in each format.
// It is one module because the same description of a format serves its reader and its writer.

export * as idFormats from "./id-formats.ts";
export * as idMerges from "./id-merges.ts";
export * as idReaders from "./id-reader.ts";
export * as idWriters from "./id-writers.ts";
export { readParquetIds } from "./read-parquet-ids.ts";
