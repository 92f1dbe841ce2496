// A tokenizer as a value: encoding, decoding, vocabularies made from others. No files.
// It is one module because a tokenizer is one value: training builds it, formats read and write it, and pruning,
// truncating and encoding need the same tables of tokens and merges.

export type { Extension } from "./changes.ts";
export * as changes from "./changes.ts";
export { chatTemplates } from "./chat-templates.ts";
export type { Derivations } from "./derivations.ts";
export * as derivation from "./derivations.ts";
export { encodeAsLearned } from "./encode-as-learned.ts";
export { EncodingKernel, IdBuffer, type Ids, WordMerger } from "./encoding-kernel.ts";
export type { EncodingModel, PackedTokens, RankedMerges } from "./encoding-model.ts";
export * as encodingModels from "./encoding-model.ts";
export { behaviorFingerprint, shortEncoder } from "./fingerprint.ts";
export { fingerprintAsLearned } from "./fingerprint-as-learned.ts";
export { firstDifference } from "./first-difference.ts";
export { tokenizerImage } from "./image.ts";
export { isImageOfOtherBuild } from "./image-digest.ts";
export * as imageFile from "./image-name.ts";
export { KernelArrays } from "./kernel-arrays.ts";
export type { Compat, LearnedPairs, Merges } from "./merges.ts";
export { makeModelOfRanks, modelOfRanks } from "./model-of-ranks.ts";
export type { AskedModelSettings, JsonObject, Like, ModelSettings, Role, Roles } from "./model-settings.ts";
export * as modelSettings from "./model-settings.ts";
export { NoMemory, noMemory } from "./no-memory.ts";
export * as obstacles from "./offset-obstacles.ts";
export { digestOfParts } from "./parts-digest.ts";
export * as probe from "./probe.ts";
export { partsOfImage } from "./read-image.ts";
export type { RecodedSpan } from "./recoded-span.ts";
export { bytesOf, TextEncoding, TextNotes } from "./text-encoding.ts";
export { keptBytesMax, notKept, TokenBytes } from "./token-bytes.ts";
export type { TokenCounts } from "./token-counts.ts";
export * as tokenCounting from "./token-counts.ts";
export { leadingBytes, type Spans, TokenDecoder } from "./token-decoder.ts";
export * as tokenKeys from "./token-keys.ts";
export * as tokenShapes from "./token-shape.ts";
export type { TokenTable } from "./token-table.ts";
export * as tokenTables from "./token-table.ts";
export * as tokenizers from "./tokenizer-parts.ts";
export { type EncodingParts, refuse, type TokenizerParts } from "./tokenizer-parts.ts";
export { unknownId } from "./unknown-id.ts";
export type { Vocabulary } from "./vocabulary.ts";
export * as vocabularies from "./vocabulary.ts";
