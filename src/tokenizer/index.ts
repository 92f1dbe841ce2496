// A tokenizer as a value: its vocabulary and merges, encoding and decoding. No files.
// It is one module because a tokenizer is one value: training builds it, formats read and write it, and pruning,
// truncating and encoding need the same tables of tokens and merges.

export * as changes from "./changes.ts";
export { chatTemplates } from "./chat-templates.ts";
export * as derivation from "./derivations.ts";
export * as asLearned from "./encode-as-learned.ts";
export { EncodingKernel, IdBuffer, type Ids, WordMerger } from "./encoding-kernel.ts";
export type { EncodingModel } from "./encoding-model.ts";
export * as encodingModels from "./encoding-model.ts";
export * as fingerprints from "./fingerprint.ts";
export { firstDifference } from "./first-difference.ts";
export { tokenizerImage } from "./image.ts";
export * as imageFile from "./image-file.ts";
export { KernelArrays } from "./kernel-arrays.ts";
export type { Compat, LearnedPairs, Merges } from "./merges.ts";
export * as modelsOfRanks from "./model-of-ranks.ts";
export type { AskedModelSettings, Role, Roles } from "./model-settings.ts";
export * as modelSettings from "./model-settings.ts";
export { NoMemory } from "./no-memory.ts";
export * as obstacles from "./offset-obstacles.ts";
export { digestOfParts } from "./parts-digest.ts";
export * as probe from "./probe.ts";
export { partsOfImage } from "./read-image.ts";
export type { RecodedSpan } from "./recoded-span.ts";
export { TextEncoding, TextNotes } from "./text-encoding.ts";
export { keptBytesMax, TokenBytes } from "./token-bytes.ts";
export * as tokenCounting from "./token-counts.ts";
export * as decoding from "./token-decoder.ts";
export * as tokenKeys from "./token-keys.ts";
export * as tokenShapes from "./token-shape.ts";
export type { TokenTable } from "./token-table.ts";
export * as tokenTables from "./token-table.ts";
export type { TokenizerParts } from "./tokenizer-parts.ts";
export * as tokenizers from "./tokenizer-parts.ts";
export type { Vocabulary } from "./vocabulary.ts";
export * as vocabularies from "./vocabulary.ts";
