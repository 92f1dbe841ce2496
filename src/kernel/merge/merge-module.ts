// The merge engine as JavaScript drives it; src/merge/merge-engine.ts is the story. What may take long is cut into calls of
// bounded work: a function with `Some` in its name does `work` at most, and says whether there is more to do.

// What it is to do, and where everything goes.
export { adoptThreshold, startThreshold, thresholdNow } from "./count-threshold";
// From cells to pairs.
export { addBytePairs, countBytePairsSome, startText, writeBytePairsSome } from "./first-index";
export {
  countPairsSome,
  foundCountTooLarge,
  keepPairsSome,
  pushPairsSome,
  startKeeping,
  startKeepingTold,
  startLists,
  startPushing,
  startReindex,
  writePairsSome,
} from "./index-anew";
export { startLimits } from "./may-merge";
// Several memories.
export {
  addPairs,
  answerCounts,
  giveNeighbours,
  givePairs,
  giveVoidWeight,
  keepToldPairs,
  takeCounts,
  takeNeighbours,
  takeVoidWeight,
} from "./memory-exchange";
// Merges.
export {
  endMakingRoom,
  followMerge,
  largeLeft,
  largeListLength,
  largeRight,
  lookAtTop,
  mergeCount,
  mergedEntryCount,
  mergeUntilPause,
  needsRoom,
  settleLargeMerge,
  startCleaningAll,
  startEngine,
  startLargeMerge,
  startMakingRoom,
  workLeftOfSlice,
} from "./merge-loop";
export { endMerge, endWalk, mergeSome, startMerges, writeSome } from "./merge-pair";
export {
  bytePairs,
  describeMemories,
  describeSpecials,
  describeStartTokens,
  describeTokens,
  describeWordFacts,
  describeWords,
  exchange as exchangedRecords,
  lefts,
  mergeCounts,
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
} from "./merge-regions";
// Threads.
export { endHelp, failHelp, helpedCount, helpMerging } from "./merge-threads";
export { compactSome } from "./occurrences";
export {
  endSketch,
  lowerToSketch,
  sketchAddress,
  sketchCellCount,
  sketchSome,
  startSketch,
  wishedSketchBits,
} from "./pair-sketch";
// Pairs of equal tokens.
// From words to cells.
export {
  laidOutCells,
  layOutFrequentWords,
  layOutRareWords,
  startLayout,
  startRareWords,
  tallyWords,
} from "./word-layout";
export {
  addUpDigits,
  endDigit,
  frequentWordCount,
  placeByDigit,
  startDigit,
  tallyDigits,
} from "./word-order";
