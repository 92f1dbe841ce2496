// Reads and writes tokenizers in each format.
// It is one module because the reader and the writer of a format share its layout, and a directory holds files of
// several formats, which must agree.

export {
  describeWritten,
  type FormatEntry,
  formats,
  imageFormat,
  usualNames,
  writtenFormats,
  writtenOnRequest,
} from "./formats.ts";
export { mergesSha256, newMergeLines } from "./gpt2.ts";
export { idMergesHead, idMergesPath } from "./id-merges-path.ts";
export { readLikeFrom } from "./like.ts";
export {
  type BaseFiles,
  decisiveFileNames,
  loadTokenizerParts,
  pathsOf,
  pathsReadAt,
  readBase,
  readCompanionFiles,
  readSource,
  sizesIn,
  type TokenizerSource,
  tokenizerFileOf,
  tokenizersAt,
  tokenizersIn,
} from "./load-tokenizer.ts";
export { modelCardFile } from "./model-card.ts";
export { modelFactsOf, parseCompanionFiles, roleTokensAt } from "./model-files.ts";
export { type FoundTokenizer, findTokenizer } from "./named-tokenizers.ts";
export { Chunk, type OutputFile, sha256Of, type TokenizerFormat } from "./output-file.ts";
export { postProcessingOfRecord } from "./post-processor.ts";
export { nameOf } from "./pre-tokenizer.ts";
export { extendCompanionFiles, type Names, renameCompanionFile } from "./rename-tokens.ts";
export { findKnownRanksBySum, partsOfRanks, scanRanks } from "./tiktoken.ts";
export { pruneCompanionFiles, tokenizerOfJson } from "./tokenizer-json.ts";
export { idsTsv, piecesTsv, readTokenCounts, tokensTsvFiles, type WrittenTokenCounts } from "./tokens-tsv.ts";
export {
  type CountsRecord,
  type ExtensionRecord,
  type FieldsOf,
  findTrainingRecord,
  type IdsRecord,
  type InputWeight,
  type LanguageOfInput,
  type LanguageRecord,
  type RecordedTraining,
  readJson,
  readRecordedFiles,
  readRecordedInputs,
  readRecordedReading,
  readTokenCountFacts,
  recordFormat,
  recordName,
  type TrainingRecord,
  trainingFile,
} from "./training-json.ts";
