// The main module of the kernel; encode-module.ts and text-module.ts are compiled to other modules. JavaScript may call
// the functions exported here; the build writes their types into `KernelExports` of src/runtime/kernel-exports.ts.
//
// src/merge/merge-engine.ts drives the merge engine. Its long work is cut into short calls. A function with `Some` in
// its name does about `work` steps, in all or in each part of the text, or `share` steps in each part of a list. It
// returns whether there is more to do. Only `countPairsSome` and `lookSome` return something else.

export { beginModel, buildTables, useModel } from "./encode/build-model";
export {
  encodeWords,
  idCountsAddress,
  listedPieceCount,
  listPieces,
  mergeText,
  pieceEndsAddress,
  startPieces,
  wordIdsAddress,
} from "./encode/encode-words";
export { limitMerging } from "./encode/merge-word";
export { modelHeadBytes, tokenTableHeadBytes } from "./encode/model-layout";
export { beginCuts, cutEndsAddress, limitCuts, nextCuts } from "./encode/never-merged";
export { mergeRanked, useRankedTokens } from "./encode/ranked-tokens";
export { traceAddress, traceText } from "./encode/trace";
export { cacheHeads } from "./encode/word-cache";
export { applyMerges, learnedIdsAddress, startTokens } from "./learned-ids";
export { maskTablesBytes, useMaskTables } from "./masks/mask-tables";
export { masksEnd, scanMasks } from "./masks/scan-masks";
export { addBytePairs, countBytePairsSome, startText, writeBytePairsSome } from "./merge/first-index";
export {
  frequentWordCount,
  layOutSome,
  placeWords,
  startLayout,
  tallyWordsSome,
} from "./merge/lay-out-words";
export {
  addPairs,
  answerCounts,
  giveNeighbours,
  givePairs,
  giveVoidWeight,
  keepGivenPairs,
  takeCounts,
  takeNeighbours,
  takeVoidWeight,
} from "./merge/memory-exchange";
export {
  bestCount,
  endMakingRoom,
  followMerge,
  largeLeft,
  largeListLength,
  largeRight,
  limitRecords,
  lookAtTop,
  mergeChosen,
  mergeCount,
  mergedEntryCount,
  mergeUntilPause,
  needsRoom,
  settleLargeMerge,
  startCleaningAll,
  startEngine,
  startLargeMerge,
  startMakingRoom,
  startNamedMerge,
  workLeftOfSlice,
} from "./merge/merge-loop";
export { endMerge, endWalk, mergeSome, startMerges, writeSome } from "./merge/merge-pair";
export {
  bytePairs,
  characterStates,
  describeFacts,
  describeIds,
  describeMemories,
  describeSpecials,
  describeStartTokens,
  describeTokens,
  describeWords,
  exchange as exchangedRecords,
  frequentCounts,
  lefts,
  mergeCounts,
  numbers,
  planRegions,
  replacedCounts,
  rights,
  specialBytes,
  specials,
  startBytes,
  startOffsets,
  startRanks,
  wordCounts as mergeWordCounts,
  wordFacts,
  wordStarts as mergeWordStarts,
  wordTokens as mergeWordTokens,
} from "./merge/merge-regions";
export { endHelp, failHelp, helpedCount, helpMerging } from "./merge/merge-threads";
export { startLimits } from "./merge/merge-tokens";
export { compactSome } from "./merge/occurrences";
export { adoptThreshold, startThreshold, thresholdNow } from "./merge/pair-queue";
export {
  countPairsSome,
  endSketch,
  foundCountTooLarge,
  keepPairsSome,
  lowerToSketch,
  pushPairsSome,
  sketchAddress,
  sketchCellCount,
  sketchSome,
  startKeeping,
  startKeepingGiven,
  startLists,
  startPushing,
  startReindex,
  startSketch,
  wantedSketchBits,
  writePairsSome,
} from "./merge/rebuild-index";
export { stateAfterByte, stateBeforeBytes } from "./merge/whole-characters";
export {
  endsAddress,
  endsCapacity,
  layOut,
  layOutForText,
  layOutInText,
  limitGrowth,
  memoryBytes,
  refusedBytes,
  reserveFixed,
  reserveText as setTextBytes,
  textAddress,
  textCapacity,
  workAddress as idsAddress,
} from "./regions";
export { shadowBytes } from "./scan/annotate";
export {
  firstInvalidPosition,
  invalidBytes,
  keepPosition,
  scanPosition,
  useAutomaton,
  useFourByteTables,
} from "./scan/scanner";
export { findSafeCut, useHoles, useSafeCuts } from "./text/safe-cuts";
export {
  documents,
  idCount,
  isInside,
  lookAhead,
  lookForTokens,
  moveText,
  openText,
  searchText,
  takeText,
  takeToMark,
  useLiftedPieces,
  useTokens,
} from "./text-loop";
export { makeTokens, rowsEnd, useVocabulary, writeIds, writeMerges, writeRanks } from "./vocabulary-rows";
export {
  beginLook,
  endMovingToRecords,
  hasLooked,
  lookedIds,
  lookedPairsAddress,
  lookSome,
  moveToRecordsSome,
  startMovingToRecords,
} from "./words/word-records";
export { setSlice } from "./words/word-slots";
export {
  addPretokens,
  addRecords,
  addSlots,
  addWord,
  beginList,
  beginTables,
  countPretokens,
  distinctWordCount,
  hasRecords,
  hasSlots,
  listedBytesAddress,
  listedBytesCount,
  listedCountsAddress,
  listedStartsAddress,
  listWords,
  missingKeys,
  openTables,
  pretokenCount,
  recordsAddress,
  recordsBytes,
  reserveSlots,
  slotsAddress,
  slotsBytes,
  slotsBytesWith,
  usedSlots,
  wordBytes,
} from "./words/word-tables";
