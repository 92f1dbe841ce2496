/**
 * What the merge engine of the kernel exports (src/kernel/merge). Positions, ids and numbers of things are whole
 * numbers below 2^31; addresses are unsigned in the kernel and come back signed. A function with `Some` in its name
 * does `work` at most, and says whether there is more to do.
 */
export type MergeExports = {
  // What it is to do, and where everything goes. To be called in this order.

  describeWords(wordCount: number, positionCount: number, positionBytes: number, cellCount: number): void;
  describeMemories(memoryCount: number, memoryIndex: number, cellCountOfAll: number): void;
  describeStartTokens(count: number, byteCount: number, haveSizes: boolean, countsDensely: boolean): void;
  describeTokens(tokenCapacity: number, areWide: boolean, prefixLength: number): void;
  describeSpecials(count: number, byteCount: number): void;
  describeWordFacts(areKept: number): void;
  /** The bytes that the memory must have, or 0 if the engine does not fit into `capacityBytes`. */
  planRegions(threadCount: number, capacityBytes: number): number;
  startThreshold(first: number, least: number, fromMerge: number, shareOfTop: number, exponent: number): void;
  startMerges(blockSize: number, sharedLength: number): void;
  startEqualPairs(areDisjoint: boolean): void;
  startLimits(tokenSizeMax: number, mergesBytesAlways: boolean): void;
  startEngine(mergesWanted: number, sliceWork: number, cleanShare: number, doSmallerWin: boolean): void;

  // Addresses of regions that JavaScript fills, from the plan on.

  /** Float64, Uint32 (one more than words), and tokens of `positionBytes` each: the words. */
  readonly mergeWordCounts: WebAssembly.Global;
  readonly mergeWordStarts: WebAssembly.Global;
  readonly mergeWordTokens: WebAssembly.Global;
  /** Uint8 and Uint32 (one more than start tokens): the bytes of the start tokens, and where each begins. */
  readonly startBytes: WebAssembly.Global;
  readonly startOffsets: WebAssembly.Global;
  /** Uint32: the id of each start token in ties, where ids decide. */
  readonly startRanks: WebAssembly.Global;
  readonly wordFacts: WebAssembly.Global;
  /** 16 bytes for each token that exists already: where its bytes start, how many they are, and its tie key of 64 bits. */
  readonly specials: WebAssembly.Global;
  readonly specialBytes: WebAssembly.Global;

  // Addresses of regions that JavaScript reads and fills, where there are several memories.

  /** 16 bytes for each pair of bytes and thread: a Float64, the weight, and eight bytes more (byte-pairs.ts). */
  readonly bytePairs: WebAssembly.Global;
  /** 16 bytes each: a Float64, the weight, and two Uint32, tokens (memory-exchange.ts). */
  readonly exchangedRecords: WebAssembly.Global;

  // Addresses of regions that JavaScript reads: by token id, those of merges behind the start tokens.

  /** Uint32 each: the halves of a token. */
  readonly lefts: WebAssembly.Global;
  readonly rights: WebAssembly.Global;
  /** Float64: occurrences of the pair that became the token. */
  readonly mergeCounts: WebAssembly.Global;
  /** Float64: how many of those were replaced by the token. */
  readonly replacedCounts: WebAssembly.Global;

  // From words to cells.

  /** `firstStart`: the token that the first word starts at. */
  startLayout(firstStart: number): void;
  tallyWords(from: number, to: number): void;
  frequentWordCount(): number;
  startDigit(shift: number): boolean;
  tallyDigits(shift: number, from: number, to: number): void;
  addUpDigits(): void;
  placeByDigit(shift: number, from: number, to: number): void;
  endDigit(): void;
  layOutFrequentWords(work: number): boolean;
  startRareWords(): void;
  layOutRareWords(work: number): boolean;
  laidOutCells(): number;

  // From cells to pairs.

  startText(): void;
  countBytePairsSome(work: number): boolean;
  /** 0: all is well; 1: a pair occurs too often to be counted exactly; 2: the memory is too small. */
  addBytePairs(slack: number): number;
  writeBytePairsSome(work: number): boolean;

  // The index anew.

  wishedSketchBits(): number;
  startSketch(bits: number): void;
  sketchSome(work: number): boolean;
  sketchAddress(): number;
  sketchCellCount(): number;
  lowerToSketch(pairsWanted: number): void;
  endSketch(): void;
  startReindex(): void;
  /** 0: all pairs are counted; 1: some; 2: the memory is too small. */
  countPairsSome(work: number): number;
  /** In the first memory. */
  startKeeping(): void;
  /** Whether a pair occurs too often to be counted exactly. */
  foundCountTooLarge(): boolean;
  /** In a memory that was told what to keep. */
  startKeepingTold(): void;
  keepPairsSome(work: number): boolean;
  /** False: the memory is too small. */
  startLists(): boolean;
  writePairsSome(work: number): boolean;
  startPushing(): void;
  pushPairsSome(work: number): boolean;

  // Merges.

  /** Why it paused: 0 finished, 1 slice used up, 2 large pair on top, 3 top below threshold, 4 memory too small. */
  mergeUntilPause(work: number): number;
  workLeftOfSlice(): number;
  mergeCount(): number;
  mergedEntryCount(): number;
  /** The same where every merge is large: 0, 2 or 3. */
  lookAtTop(): number;
  startLargeMerge(): void;
  /** Its halves, and the entries of its list. */
  /** The recount of the pair on top; the token that both its halves are. In the other memories it is told. */
  startRecount(): number;
  followRecount(token: number): void;
  recountSome(work: number): boolean;
  recountedWeight(): number;
  endRecount(count: number): void;
  largeLeft(): number;
  largeRight(): number;
  largeListLength(): number;
  /** The same in another memory than the first. False: the memory is too small. */
  followMerge(left: number, right: number): boolean;
  mergeSome(work: number): boolean;
  endWalk(): void;
  needsRoom(): boolean;
  startMakingRoom(): void;
  compactSome(work: number): boolean;
  /** False: there is not enough room. */
  endMakingRoom(): boolean;
  startCleaningAll(): void;
  /** False: the memory is too small. */
  settleLargeMerge(): boolean;
  writeSome(work: number): boolean;
  endMerge(): void;

  // Several memories. `give` writes what this one has into the exchange and says how much that is; `take` reads what
  // all have together.

  giveNeighbours(areRight: boolean): number;
  takeNeighbours(areRight: boolean, count: number): void;
  giveVoidWeight(): number;
  takeVoidWeight(weight: number): void;
  givePairs(from: number, most: number): number;
  /** False: the memory is too small. */
  addPairs(count: number): boolean;
  keepToldPairs(count: number): void;
  /** In the first memory: replaces the counts of pairs that another one gave by its own. */
  answerCounts(count: number): void;
  takeCounts(from: number, count: number): void;
  thresholdNow(): number;
  adoptThreshold(count: number): void;

  // Threads.

  /** A helper's turn; false when all is over, else it is to be called again. */
  helpMerging(): boolean;
  /** Parts that helpers have done so far. */
  helpedCount(): number;
  /** Says that a helper cannot go on; whoever waits for it fails. */
  failHelp(): void;
  endHelp(): void;
};
