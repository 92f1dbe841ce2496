// Reads and writes tokenizers in many formats. GGUF is only written, and SentencePiece models are only read. For any
// other format, the reader and the writer share its layout.

export * as baseFiles from "./base-files.ts";
export { finishCharacters } from "./finish-characters.ts";
export type { FinishedTokenizer } from "./finished-tokenizer.ts";
export * as formats from "./formats.ts";
export { newMergeLines } from "./gpt2.ts";
export * as idMergesNames from "./id-merges-path.ts";
export { readLikeFrom } from "./like.ts";
export * as tokenizerFiles from "./load-tokenizer.ts";
export { mergesSha256 } from "./merge-lines.ts";
export { modelCardFile } from "./model-card.ts";
export * as modelFiles from "./model-files.ts";
export * as namedTokenizers from "./named-tokenizers.ts";
export * as outputFiles from "./output-file.ts";
export { postProcessingOfRecord } from "./post-processor.ts";
export * as writtenCounts from "./read-tokens-tsv.ts";
export * as recordFiles from "./read-training-record.ts";
export * as recordSchemas from "./record-fields.ts";
export * as recordedFiles from "./recorded-files.ts";
export * as companionFiles from "./rename-tokens.ts";
export * as renumberingTables from "./renumbering-tables.ts";
export type { ScannedModel } from "./scan-tokenizer-json.ts";
export * as rankFiles from "./tiktoken.ts";
export { pruneCompanionFiles, tokenizerOfJson } from "./tokenizer-json.ts";
export { tokensTsvFiles } from "./tokens-tsv.ts";
export * as trainingRecords from "./training-json.ts";
