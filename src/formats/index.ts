// Reads and writes tokenizers in each format.

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
export { likeAt } from "./like.ts";
export {
  type BaseFiles,
  filesBeside,
  loadTokenizerParts,
  namesThatDecide,
  pathsOf,
  pathsReadAt,
  readBase,
  readSource,
  sizesIn,
  type TokenizerSource,
  tokenizerFileOf,
  tokenizersAt,
  tokenizersIn,
} from "./load-tokenizer.ts";
export { modelCardFile } from "./model-card.ts";
export { modelFactsOf, readBeside, roleTokensAt } from "./model-files.ts";
export { type FoundTokenizer, findTokenizer } from "./named-tokenizers.ts";
export { Chunk, type OutputFile, sha256Of, type TokenizerFormat } from "./output-file.ts";
export { nameOf } from "./pre-tokenizer.ts";
export { extendedBeside, type Names, renamedBeside } from "./rename-tokens.ts";
export { knownBySum, partsOfRanks, scanRanks } from "./tiktoken.ts";
export { prunedBeside, tokenizerOfJson } from "./tokenizer-json.ts";
export { idsTsv, piecesTsv, readTokenCounts, tokensTsvFiles, type WrittenTokenCounts } from "./tokens-tsv.ts";
export {
  type CountsRecord,
  type ExtensionRecord,
  type FieldsOf,
  type IdsRecord,
  type InputWeight,
  type LanguageOfInput,
  type LanguageRecord,
  type RecordedTraining,
  readJson,
  readTokenCountFacts,
  recordedBeside,
  recordedFiles,
  recordedInputs,
  recordedReading,
  recordFormat,
  recordName,
  type TrainingRecord,
  trainingFile,
} from "./training-json.ts";
