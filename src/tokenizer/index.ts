// A tokenizer as a value: encoding, decoding, vocabularies made from others. No files.
// It is one module because a tokenizer is one value: training builds it, formats read and write it, and pruning,
// truncating and encoding need the same tables of tokens and merges.

export {
  CanonicalCheck,
  firstDifference,
  type NoncanonicalPlace,
} from "./canonical-ids.ts";
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
export { type ExplainedPart, explainText } from "./explain.ts";
export { behaviorFingerprint, shortEncoder } from "./fingerprint.ts";
export { fingerprintAsLearned } from "./fingerprint-as-learned.ts";
export { tokenizerImage } from "./image.ts";
export { isImageOfOtherBuild } from "./image-digest.ts";
export { imageMagic, imageName } from "./image-name.ts";
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
export { NoMemory } from "./no-memory.ts";
export { offsetObstacle, trimObstacle } from "./offset-obstacles.ts";
export { digestOfParts } from "./parts-digest.ts";
export { fingerprintOf, probeParts, probeText } from "./probe.ts";
export { partsOfImage } from "./read-image.ts";
export type { RecodedSpan } from "./recoded-span.ts";
export { SessionIds } from "./session-ids.ts";
export { StreamDecoder } from "./stream-decoder.ts";
export { NoCut, TextCuts } from "./text-cuts.ts";
export { bytesOf, TextEncoding, TextNotes } from "./text-encoding.ts";
export { textPieces } from "./text-pieces.ts";
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
  copyGivenIds,
  decodableEnd,
  haveAllBytes,
  idLimitMax,
  joinTokens,
  lazyTokenTable,
  nameObstacle,
  packTokenList,
  positionOf,
  type TokenTable,
  tableOfPacked,
  tokenBytesOf,
  unknownId,
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
export {
  baseSize,
  buildVocabulary,
  type CharacterMerges,
  checkSpecialTokens,
  copyTokenBytes,
  describeSharedIds,
  type FinishedTokenizer,
  firstMerges,
  forEachPart,
  isSpecialEntry,
  isStillLoaded,
  keptBytesMax,
  makeTokenBytes,
  mergesOfSize,
  notKept,
  otherOfEntry,
  type PieceKind,
  type PutArrays,
  pieceKinds,
  putArrays,
  reservedOf,
  reservedTokens,
  specialOfEntry,
  type TokenBytes,
  type Vocabulary,
} from "./vocabulary.ts";
export {
  type Share,
  scriptClasses,
  scriptOrKindOf,
  scriptShares,
  type VocabularyStatistics,
  vocabularyStatistics,
} from "./vocabulary-statistics.ts";
