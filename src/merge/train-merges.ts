import { asOption, memoryPages, messages, phrase, UserError } from "#runtime";
import type { Merges } from "#tokenizer";
import { type WordTable, wordTables } from "#words";
import { learnMerges } from "./merge-engine.ts";
import { startMergeHelpers } from "./merge-helpers.ts";
import {
  createMergeEngine,
  type MergeEngine,
  type MergeProgress,
  type MergeWords,
  type NumberedRecords,
  type NumberedTable,
  regionsOf,
} from "./merge-memories.ts";
import {
  byteTokens,
  cellCountBound,
  checkCellCount,
  defaultTuning,
  type MergeOptions,
  type MergeTuning,
  nounOfWords,
  threadCountOf,
  tieOrderOf,
} from "./merge-options.ts";

/**
 * A cell has a token of a word, or marks the end of a word. By `roomPerCell`, the maximum number of cells fits into 7
 * memories if cells have 16 bits, into 11 if they have 32. If the system grants less than 4 GB per memory, more
 * memories are needed.
 */
const memoryCountMax = 16;

/**
 * Learns merges from words: a word table, whose start tokens are the bytes, or words of other start tokens. The result
 * depends only on the words and the options.
 */
export function* trainMerges(
  table: WordTable | NumberedTable,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges> {
  const words = "tokens" in table ? table : wordTables.byteWords(table);
  checkCellCount(cellCountBound(wordTables.sizeOfWords(words)), options);
  let { mergesPerSpecial } = tuning;
  for (let memoryCount = tuning.memoryCountMin; memoryCount <= memoryCountMax; ) {
    const engine = createMergeEngine(words, memoryCount, options, { ...tuning, mergesPerSpecial });
    const merges = engine && (yield* runEngine(engine, words, tuning));
    if (merges !== undefined) return merges;
    if (engine !== undefined && isFullOfTokens(engine)) {
      mergesPerSpecial *= 2;
      continue;
    }
    // If the engine did not fit, one more memory is tried. If memory ran out midway, the engine starts again with twice
    // as many memories.
    memoryCount = engine === undefined ? memoryCount + 1 : 2 * memoryCount;
    // A word is never split between memories, so more memories than words cannot help.
    if (memoryCount > words.wordCount) break;
  }
  throw tooLarge(words, options);
}

/** Whether the engine has no room for another token. */
function isFullOfTokens({ memories: [memory] }: MergeEngine): boolean {
  const { exports, plan } = memory!;
  return plan.startCount + exports.mergeCount() === plan.tokenCapacity;
}

/**
 * Like `trainMerges`, for words that are records in a kernel's memory: the engine works in this memory. Returns
 * undefined if the memory is too small. If memory runs out later, the generator returns undefined, and the words are
 * lost.
 */
export function trainInPlace(
  words: NumberedRecords,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges | undefined> | undefined {
  checkCellCount(cellCountBound(words), options);
  const engine = createMergeEngine(words, 1, options, tuning);
  return engine && runEngine(engine, words, tuning);
}

/** Runs an engine with its helpers. If a memory is too small, releases all memories and returns undefined. */
function* runEngine(
  engine: MergeEngine,
  words: MergeWords,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  const { memories } = engine;
  const helpers = tuning.startsHelpers ? memories.map(startMergeHelpers) : [];
  try {
    const merges = yield* learnMerges(engine, words, tuning);
    if (merges === undefined) for (const memory of memories) memoryPages.release(regionsOf(memory));
    return merges;
  } finally {
    for (const helper of helpers) helper.end();
  }
}

export const tooLarge = ({ wordCount }: wordTables.TokenWords, options: MergeOptions) =>
  new UserError(
    `${wordCount.toLocaleString("en-US")} ${nounOfWords(options)} and ${options.mergeCount.toLocaleString("en-US")} merges do not fit into the memory for merging`,
    {
      hint: phrase`lower ${asOption("vocab-size")}, or ${messages.shorterWordsOr}train on a part of the input`,
    },
  );

/**
 * Estimates the engine's memory in bytes, without the word table. The size of the longest list and the number of pairs
 * are guesses.
 */
export function estimateMergeMemoryBytes(size: wordTables.TokenWordsSize, options: MergeOptions): number {
  const { wordCount } = size;
  const cellCount = cellCountBound(size);
  const { mergeCount, startTokens = byteTokens } = options;
  const threadCount = threadCountOf(options, cellCount, defaultTuning);
  const tokenCount = startTokens.count + Math.min(mergeCount, cellCount);
  const cellBytes = cellCount * (tokenCount > 0xffff ? 4 : 2);
  // A copy of the words, in memory that the lists of occurrences (the arena) later overwrite.
  const wordBytes = wordCount * bytesPerWord + bytesOfId(startTokens.count) * (cellCount - wordCount);
  const arenaBytes = 4 * defaultTuning.arenaSlack * (cellCount - wordCount);
  const stagedBytes = 2 * (cellBytes / cellCount) * longestListLength(wordCount, cellCount);
  const bytesOfToken = bytesPerToken + (tieOrderOf(options) === "smaller id" ? 0 : bytesOfPrefix);
  const tokenBytes = tokenCount * (bytesOfToken + threadCount * bytesOfSums);
  const pairBytes = bytesPerPair * (cellCount / positionsPerPair + pairsPerToken * tokenCount);
  const threadBytes = threadCount * bytePairTableBytes + (threadCount - 1) * helperBytes;
  const bytesOfEach = tokenBytes + pairBytes + threadBytes;
  const memoryCount = Math.ceil((cellCount * roomPerCell(cellBytes / cellCount)) / memoryBytesMax);
  return Math.ceil(cellBytes + Math.max(wordBytes, arenaBytes) + stagedBytes + memoryCount * bytesOfEach);
}

/** The size in bytes of a start token's id in the words (src/words/word-table.ts). */
export const bytesOfId = (startCount: number) => (startCount <= 256 ? 1 : startCount <= 0x10000 ? 2 : 4);

/**
 * An estimate of the maximum size of cells and lists in one memory of the engine: 4 GB minus the size of pairs and
 * tokens.
 */
const memoryBytesMax = 3.5e9;

/**
 * Returns the address space per cell: for the cell, for its entries in `stagedLefts` and `stagedRights`, and for its
 * share of the smallest initial arena (the region with the lists of occurrences).
 */
const roomPerCell = (cellBytes: number) => 3 * cellBytes + 5;

/**
 * Returns an estimate of the longest list. A single huge word can be one pair repeated; among many words, the commonest
 * pair had at most 3 % of the cells (measured).
 */
function longestListLength(wordCount: number, cellCount: number): number {
  return wordCount < 1000 ? cellCount : 0.03 * cellCount;
}

// The content of the engine's regions (src/kernel/merge/merge-regions.ts).

/** The count of a word (8) and its start (4). The arrays for frequent words are not counted. */
const bytesPerWord = 8 + 4;
/** The two halves, the length, two counts and the tie key. */
const bytesPerToken = 12 + 16 + 8;
/** Per token and thread: the sums for left and right neighbours, and the lists of neighbours that were seen. */
const bytesOfSums = 2 * (16 + 4);
/** The bytes of a token, about 7 on average in English text, rounded up (8), and its start (4). */
const bytesOfPrefix = 8 + 4;
/** A record (32), two slots of the hash table and the link in its bucket (3 * 4), and an entry of the queue (16). */
const bytesPerPair = 32 + 3 * 4 + 16;
/** The memory that a helper thread needs in addition to the engine's: 10 MB measured, with a margin. */
const helperBytes = 12e6;
/** A table of the 65,536 pairs of bytes. */
const bytePairTableBytes = 16 << 16;
/**
 * The number of pairs is estimated as one per 400 cells plus three per token. Measured: 200,000 pairs for 6 million
 * words, 72 million cells and 32,000 merges; 85,000 pairs for 145,000 words.
 */
const positionsPerPair = 400;
const pairsPerToken = 3;
