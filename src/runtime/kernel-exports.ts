import type { MergeExports } from "./merge-exports.ts";

/**
 * What src/kernel exports, by its files. Addresses and numbers of bytes are unsigned in the kernel and come back signed:
 * `>>> 0` makes them unsigned again, where they may be 2 GB or more. Truth values are 0 and 1.
 */
export type KernelExports = MergeExports & {
  memoryBytes(): number;
  // masks/mask-tables.ts, masks/scan-masks.ts
  maskTablesBytes(columnsLength: number): number;
  useMaskTables(address: number, columnBlocks: number, columns: number, columnsLength: number): void;
  scanMasks(text: number, start: number, stop: number, limit: number, ends: number): number;
  masksEnd(): number;
  // vocabulary-rows.ts
  useVocabulary(
    kept: number,
    starts: number,
    lengths: number,
    lefts: number,
    rights: number,
    entries: number,
  ): void;
  writeMerges(
    first: number,
    stop: number,
    separators: number,
    spelling: number,
    to: number,
    limit: number,
  ): number;
  writeIds(
    first: number,
    stop: number,
    separators: number,
    spelling: number,
    to: number,
    limit: number,
  ): number;
  writeRanks(first: number, stop: number, digits: number, to: number, limit: number): number;
  rowsEnd(): number;

  // regions.ts
  layOut(): void;
  reserveFixed(byteCount: number): number;
  textAddress(): number;
  textCapacity(): number;
  endsAddress(): number;
  endsCapacity(): number;

  // scan/automaton-steps.ts, scan/four-byte-steps.ts, scan/scanner.ts
  useAutomaton(transitions: number, columnBlocks: number, columns: number, slots: number): void;
  useFourByteTables(pairs: number, quads: number, quadEntries: number, bits: number): void;
  shiftText(delta: number): void;
  keepPosition(): number;
  scanPosition(): number;
  invalidBytes(): number;
  firstInvalidPosition(): number;
  clearFirstInvalid(): void;

  // special-token-search.ts
  usePrefixes(prefixes: number, count: number, areWhole: number, longest: number): void;
  useTokenTrie(
    labels: number,
    firstChildren: number,
    fallbacks: number,
    tokenLengths: number,
    rootChildren: number,
    places: number,
  ): void;
  searchText(limit: number): void;

  // document-loop.ts
  startCounting(at: number, isInside: number): void;
  countDocuments(
    end: number,
    sureEnd: number,
    lastStop: number,
    lastLimit: number,
    endsDocument: number,
  ): number;
  countLookahead(rangeEnd: number, limit: number): number;
  documents(): number;
  isInside(): number;

  // words/counts-text.ts
  addLines(start: number, byteCount: number, totalBefore: number): number;
  addedLineCount(): number;
  linesTotal(): number;
  beginLines(): void;
  readLineCount(): number;

  // words/list-lines.ts
  useLists(words: number, ends: number, counts: number): void;
  listLines(line: number, end: number, hashes: number, lineMax: number): number;
  useParts(hashes: number, stops: number, parts: number, slots: number, partBits: number): void;
  countParts(first: number, stop: number): void;
  placeParts(): void;
  fillParts(first: number, stop: number): void;
  findEqual(first: number, stop: number, marks: number): number;

  // words/list-frames.ts
  beginFrames(words: number, wordsEnd: number, ends: number, counts: number, last: number): void;
  listFrame(start: number, end: number, startsFrame: number, wordMax: number): number;
  frameWordCount(): number;
  framesTotal(): number;

  // words/word-tables.ts
  openTables(): void;
  beginTables(shortSlotBits: number, middleSlotBits: number, longSlotBits: number): void;
  pretokenCount(): number;
  addPretokens(count: number): void;
  distinctWordCount(): number;
  countPretokens(pretokenCount: number): number;
  addWord(length: number, count: number): number;
  slotsAddress(kind: number): number;
  slotsBytes(kind: number): number;
  slotsBytesWith(kind: number, keyCount: number): number;
  usedSlots(kind: number): number;
  hasSlots(kind: number, keyCount: number): number;
  reserveSlots(kind: number, keyCount: number): number;
  recordsAddress(): number;
  recordsBytes(): number;
  hasRecords(byteCount: number): number;
  addSlots(kind: number, byteCount: number): void;
  missingKeys(kind: number, byteCount: number): number;
  addRecords(byteCount: number): number;
  wordBytes(): number;
  beginList(): void;
  listWords(firstStart: number): number;
  listedBytesAddress(): number;
  listedBytesCount(): number;
  listedStartsAddress(): number;
  listedCountsAddress(): number;

  // encode/lifted-pieces.ts
  useLiftedPieces(modelHead: number): number;
  startPieces(): void;
  listPieces(endCount: number): number;
  pieceEndsAddress(): number;
  listedPieceCount(): number;

  // encode/encode-words.ts, encode/encode-texts.ts
  beginModel(byteCount: number): number;
  useModel(shrinkBits: number): number;
  setTextBytes(byteCount: number): number;
  encodeWords(endCount: number): number;
  idsAddress(): number;
  startEncoding(): void;
  moveText(delta: number): void;
  encodeText(end: number, sureEnd: number, lastStop: number, lastLimit: number, endsText: number): number;
  encodeTexts(endsPos: number, textCount: number): number;
  isTextDone(): number;
  encodeLookahead(rangeEnd: number, limit: number): number;
  mergeText(lengthBytes: number): number;
  wordIdsAddress(): number;
  limitMerging(scannedMax: number, listedMin: number): void;
  beginCuts(endCount: number): void;
  nextCuts(): number;
  cutEndsAddress(): number;
};
