// Reads and writes token ids in each format.
// It is one module because the same description of a format serves its reader and its writer.

export {
  baseOf,
  type FormattedIds,
  type IdFormat,
  idFormatOf,
  idFormats,
  openFormattedIds,
} from "./id-formats.ts";
export {
  charactersObstacle,
  type IdMerges,
  idMergeLines,
  idMergesFile,
  idTokenizerJson,
  idTypesOf,
  readIdMerges,
  symbolCounts,
  symbolsOf,
} from "./id-merges.ts";
export {
  type BinaryType,
  type IdDocuments,
  readDocuments,
  readIds,
  readSequences,
  SequenceList,
} from "./id-reader.ts";
export {
  appendIdToDocuments,
  checkIdFileName,
  endsAfter,
  type IdSink,
  type IdType,
  type IdWriter,
  idFormatNames,
  idTypeFor,
  idWriterFor,
  isIdFileName,
} from "./id-writers.ts";
export { readParquetIds } from "./read-parquet-ids.ts";
