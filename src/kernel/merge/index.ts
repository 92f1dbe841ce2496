// The merge engine as JavaScript drives it. src/merge/kernel-engine.ts is the story; `MergeExports` in
// src/runtime/merge-exports.ts says what each function takes. What may take long is cut into calls of bounded work.

// What it is to do, and where everything goes.
export { startGate } from "./gate";
// From words to cells.
export {
  laidOutCells,
  layOutFrequentWords,
  layOutRareWords,
  startLayout,
  startRareWords,
  tallyWords,
} from "./layout";
// Merges.
export {
  endMakingRoom,
  mergeCount,
  mergedEntryCount,
  mergeUntilPause,
  replacedCount,
  settleLargeMerge,
  startCleaningAll,
  startEngine,
  startLargeMerge,
  startMakingRoom,
  workLeftOfSlice,
} from "./merge-loop";
export { endMerge, mergeSome, startMerges, writeSome } from "./merge-pair";
export { compactSome } from "./occurrences";
// From cells to pairs.
export { addBytePairs, countBytePairsSome, startText, writeBytePairsSome } from "./pair-index";
export {
  byteRanks,
  describeSpecials,
  describeTokens,
  describeWords,
  lefts,
  mergeCounts,
  planRegions,
  rights,
  specialBytes,
  specials,
  wordBytes as mergeWordBytes,
  wordCounts as mergeWordCounts,
  wordStarts as mergeWordStarts,
} from "./regions";
export {
  countPairsSome,
  keepPairsSome,
  pushPairsSome,
  startKeeping,
  startLists,
  startPushing,
  startReindex,
  writePairsSome,
} from "./reindex";
// Threads.
export { endHelp, failHelp, helpedCount, helpMerging } from "./together";
export {
  addUpDigits,
  endDigit,
  frequentWordCount,
  placeByDigit,
  startDigit,
  tallyDigits,
} from "./word-order";
