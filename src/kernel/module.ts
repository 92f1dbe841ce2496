// The kernel: hot loops in AssemblyScript, compiled to one WebAssembly module. What is exported here is what JavaScript may
// call; the build writes its types, as JavaScript sees them, into `KernelExports` of src/runtime/kernel-exports.ts.

export { countDocuments, countLookahead, documents, isInside, startCounting } from "./document-loop";
export { beginModel, useModel } from "./encode/build-model";
export {
  encodeLookahead,
  encodeText,
  encodeTexts,
  isTextDone,
  moveText,
  startEncoding,
} from "./encode/encode-texts";
export { encodeWords, idsAddress, mergeText, setTextBytes, wordIdsAddress } from "./encode/encode-words";
export {
  listedPieceCount,
  listPieces,
  pieceEndsAddress,
  startPieces,
  useLiftedPieces,
} from "./encode/lifted-pieces";
export { limitMerging } from "./encode/merge-word";
export { beginCuts, cutEndsAddress, nextCuts } from "./encode/never-merged";
export { maskTablesBytes, useMaskTables } from "./masks/mask-tables";
export { masksEnd, scanMasks } from "./masks/scan-masks";
export { memoryBytes } from "./memory";
export * from "./merge/merge-module";
export { endsAddress, endsCapacity, layOut, reserveFixed, textAddress, textCapacity } from "./regions";
export { useAutomaton } from "./scan/automaton-steps";
export { useFourByteTables } from "./scan/four-byte-steps";
export {
  clearFirstInvalid,
  firstInvalidPosition,
  invalidBytes,
  keepPosition,
  scanPosition,
  shiftText,
} from "./scan/scanner";
export { searchText, usePrefixes, useTokenTrie } from "./special-token-search";
export { rowsEnd, useVocabulary, writeIds, writeMerges, writeRanks } from "./vocabulary-rows";
export { addedLineCount, addLines, beginLines, linesTotal, readLineCount } from "./words/counts-text";
export { beginFrames, framesTotal, frameWordCount, listFrame } from "./words/list-frames";
export {
  countParts,
  fillParts,
  findEqual,
  listLines,
  placeParts,
  useLists,
  useParts,
} from "./words/list-lines";
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
