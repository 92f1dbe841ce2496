// A tokenizer as a value: encoding, decoding, vocabularies made from others. No files.
// It is one module because a tokenizer is one value: training builds it, formats read and write it, and pruning,
// truncating and encoding need the same tables of tokens and merges.

export { chatTemplates } from "./chat-templates.ts";
export { type Derivations, deriveTokens, Reach } from "./derivations.ts";
export { EncodingKernel, IdBuffer, type Ids, segmentWords, WordMerger } from "./encoding-kernel.ts";
export {
  buildModel,
  droppedByte,
  type EncodingModel,
  maxOf,
  noTokens,
  type PackedTokens,
  type RankedMerges,
} from "./encoding-model.ts";
export { behaviorFingerprint, shortEncoder } from "./fingerprint.ts";
export { fingerprintAsLearned } from "./fingerprint-as-learned.ts";
export { firstDifference } from "./first-difference.ts";
export { tokenizerImage } from "./image.ts";
export { isImageOfOtherBuild } from "./image-digest.ts";
export { imageMagic, imageName } from "./image-name.ts";
export { KernelArrays } from "./kernel-arrays.ts";
export { makeModelOfRanks, modelOfRanks } from "./model-of-ranks.ts";
export {
  type AskedModelSettings,
  contentOf,
  describeSharedId,
  type JsonObject,
  type Like,
  type ModelSettings,
  postProcessorSteps,
  type Role,
  type Roles,
  roleNames,
  settingOnlyInTokenizerJson,
  settleModelLike,
  templateTokens,
} from "./model-settings.ts";
export { NoMemory, noMemory } from "./no-memory.ts";
export { offsetObstacle, trimObstacle } from "./offset-obstacles.ts";
export { digestOfParts } from "./parts-digest.ts";
export { fingerprintOf, probeParts, probeText } from "./probe.ts";
export { partsOfImage } from "./read-image.ts";
export type { RecodedSpan } from "./recoded-span.ts";
export { bytesOf, TextEncoding, TextNotes } from "./text-encoding.ts";
export { pretokensOf, sectionsOf, textPieces } from "./text-pieces.ts";
export { keptBytesMax, notKept, TokenBytes } from "./token-bytes.ts";
export {
  makeTokenCounts,
  type TokenCountFacts,
  type TokenCounts,
  tokenCountFacts,
  tokenCountsOfFirst,
} from "./token-counts.ts";
export { leadingBytes, type Spans, TokenDecoder } from "./token-decoder.ts";
export { idsByKey, keysById, textsOfShared, tokenNamer } from "./token-keys.ts";
export { longestWithLetters, shapeOf } from "./token-shape.ts";
export {
  buildTokenTable,
  decodableEnd,
  haveAllBytes,
  idLimitMax,
  joinTokens,
  lazyTokenTable,
  nameObstacle,
  packTokenList,
  type TokenTable,
  tableOfPacked,
  tokenBytesOf,
} from "./token-table.ts";
export {
  allAddedTokens,
  checkSameTokenizer,
  type EncodingParts,
  type Extension,
  findDocumentEndId,
  fitNarrowIds,
  haveSameMerges,
  type LoadOptions,
  mergesInIds,
  type Numbering,
  narrowIdMax,
  newIdOf,
  newSpecials,
  type PostProcessing,
  refuse,
  refuseCharacters,
  removed,
  type SpecialTokenOption,
  specialTokenId,
  type TokenizerParts,
  trainedParts,
} from "./tokenizer-parts.ts";
export { unknownId } from "./unknown-id.ts";
export {
  baseSize,
  buildVocabulary,
  checkSpecialTokens,
  describeSharedIds,
  firstMerges,
  isSpecialEntry,
  mergesOfSize,
  otherOfEntry,
  reservedOf,
  reservedTokens,
  specialOfEntry,
  type Vocabulary,
} from "./vocabulary.ts";
