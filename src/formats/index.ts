// Reads and writes tokenizers in each format.
// It is one module because the reader and the writer of a format share its layout, and a directory holds files of
// several formats, which must agree.

export { type BaseFiles, readBase, readCompanionFiles } from "./base-files.ts";
export { finishCharacters } from "./finish-characters.ts";
export type { CharacterMerges, FinishedTokenizer } from "./finished-tokenizer.ts";
export {
  describeWritten,
  type FormatEntry,
  formats,
  imageFormat,
  usualNames,
  writtenFormats,
  writtenOnRequest,
} from "./formats.ts";
export { newMergeLines } from "./gpt2.ts";
export { idMergesHead, idMergesPath } from "./id-merges-path.ts";
export { readLikeFrom } from "./like.ts";
export {
  decisiveFileNames,
  loadSource,
  loadTokenizerParts,
  pathsOf,
  pathsReadAt,
  readSource,
  sizesIn,
  type TokenizerSource,
  tokenizerFileOf,
  tokenizersAt,
  tokenizersIn,
} from "./load-tokenizer.ts";
export { mergesSha256 } from "./merge-lines.ts";
export { modelCardFile } from "./model-card.ts";
export { modelFactsOf, parseCompanionFiles, roleTokensAt } from "./model-files.ts";
export { type FoundTokenizer, findTokenizer } from "./named-tokenizers.ts";
export { Chunk, type OutputFile, sha256Of, type TokenizerFormat } from "./output-file.ts";
export { postProcessingOfRecord } from "./post-processor.ts";
export { nameOf } from "./pre-tokenizer.ts";
export { readTokenCounts, type WrittenTokenCounts } from "./read-tokens-tsv.ts";
export {
  findTrainingRecord,
  type RecordedTraining,
  readRecordedInputs,
  readRecordedReading,
  readTokenCountFacts,
} from "./read-training-record.ts";
export { inputFields, optionFields, textsByName } from "./record-fields.ts";
export { readJson, readRecordedFiles, recordName } from "./recorded-files.ts";
export { extendCompanionFiles, type Names, renameCompanionFile } from "./rename-tokens.ts";
export { idsTsv, piecesTsv } from "./renumbering-tables.ts";
export type { ScannedModel } from "./scan-tokenizer-json.ts";
export { findKnownRanksBySum, partsOfRanks, scanRanks } from "./tiktoken.ts";
export { pruneCompanionFiles, tokenizerOfJson } from "./tokenizer-json.ts";
export { tokensTsvFiles } from "./tokens-tsv.ts";
export {
  type CountsRecord,
  type ExtensionRecord,
  type FieldsOf,
  type IdsRecord,
  type InputWeight,
  type LanguageOfInput,
  type LanguageRecord,
  recordFormat,
  type TrainingRecord,
  trainingFile,
} from "./training-json.ts";
