// The kernel: hot loops in AssemblyScript, compiled to one WebAssembly module. What is exported here is what JavaScript may
// call; `KernelExports` in src/runtime/kernel.ts has the same functions as JavaScript sees them.

export { countDocuments, countLookahead, documents, isInside, startCounting } from "./documents";
export {
  beginModel,
  encodeWords,
  idsAddress,
  mergeText,
  setTextBytes,
  useModel,
  wordIdsAddress,
} from "./encode/encode";
export { limitMerging } from "./encode/merge-word";
export { beginCuts, cutEndsAddress, nextCuts } from "./encode/never-merged";
export { encodeLookahead, encodeText, isTextDone, moveText, startEncoding } from "./encode/texts";
export { maskTablesBytes, useMaskTables } from "./masks/mask-tables";
export { masksEnd, scanMasks } from "./masks/scan-masks";
export { memoryBytes } from "./memory";
export * from "./merge";
export { endsAddress, endsCapacity, layOut, reserveFixed, textAddress, textCapacity } from "./regions";
export { useAutomaton, useSecondAutomaton } from "./scan/automaton";
export { usePieces } from "./scan/pieces";
export { useQuads } from "./scan/quads";
export {
  clearFirstInvalid,
  firstInvalidPosition,
  invalidBytes,
  keepPosition,
  scanPosition,
  shiftText,
} from "./scan/scanner";
export { searchText, usePrefixes, useTokenTrie } from "./special-tokens";
export { rowsEnd, useVocabulary, writeIds, writeMerges, writeRanks } from "./vocabulary-rows";
export { addedLineCount, addLines, beginLines, linesTotal, readLineCount } from "./words/counts-text";
export { countParts, fillParts, hasEqual, listLines, placeParts } from "./words/distinct-lines";
export {
  beginSortedWords,
  listSortedWords,
  sortedTotal,
  sortedWordCount,
} from "./words/sorted-words";
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
} from "./words/tables";
