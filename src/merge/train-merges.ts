import { asOption, phrase, releasePages, UserError } from "#runtime";
import { byteWords, sizeOfWords, type TokenWords, type TokenWordsSize, type WordTable } from "#words";
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
  threadCountOf,
  tieOrderOf,
} from "./merge-options.ts";
import type { Merges } from "./merges.ts";

/** Seven hold the most cells there may be; more help where the system gives each of them less than 4 GB. */
const memoryCountMax = 16;

/**
 * Learns the merges of words: a word table, whose start tokens are the bytes, or words of any start tokens. Yields after a bounded amount of work, tens of milliseconds at most, in every
 * phase; the caller draws progress, sees signals, and calls on. The result depends on the words and the options alone.
 *
 * The engine takes as few memories as it fits into. Whether it does may show only in the middle, if the words have
 * more pairs than any text that was seen: then it begins anew with twice as many.
 */
export function* trainMerges(
  table: WordTable | NumberedTable,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges> {
  const words = "tokens" in table ? table : byteWords(table);
  checkCellCount(cellCountBound(sizeOfWords(words)));
  for (let memoryCount = tuning.memoryCountMin; memoryCount <= memoryCountMax; ) {
    const engine = createMergeEngine(words, memoryCount, options, tuning);
    const merges = engine && (yield* runEngine(engine, words, tuning));
    if (merges !== undefined) return merges;
    memoryCount = engine === undefined ? memoryCount + 1 : 2 * memoryCount;
    // A word lies in one memory.
    if (memoryCount > words.wordCount) break;
  }
  throw tooLarge(words, options);
}

/**
 * The same of words that stand as records, in the memory where they are. Undefined if there is no room for it. If that shows only
 * in the middle, the generator gives undefined, and the words are discarded.
 */
export function trainInPlace(
  words: NumberedRecords,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges | undefined> | undefined {
  checkCellCount(cellCountBound(words));
  const engine = createMergeEngine(words, 1, options, tuning);
  return engine && runEngine(engine, words, tuning);
}

/** Undefined if a memory is too small; what it held is given back. */
function* runEngine(
  engine: MergeEngine,
  words: MergeWords,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  const { memories } = engine;
  const helpers = tuning.startsHelpers ? memories.map(startMergeHelpers) : [];
  try {
    const merges = yield* learnMerges(engine, words, tuning);
    if (merges === undefined) for (const memory of memories) releasePages(regionsOf(memory));
    return merges;
  } finally {
    for (const helper of helpers) helper.end();
  }
}

export const tooLarge = ({ wordCount }: TokenWords, { mergeCount }: MergeOptions) =>
  new UserError(
    `${wordCount.toLocaleString("en-US")} distinct words and ${mergeCount.toLocaleString("en-US")} merges do not fit into the memory of the merge engine`,
    {
      hint: phrase`use a smaller ${asOption("vocab-size")}, a ${asOption("pattern")} that cuts the text into shorter words, or a part of the input`,
    },
  );

/**
 * The memory that the engine will take beside the word table, in bytes, said before it starts. Cells, the order of
 * the words and the arena are nearly exact; the longest list and the number of records are guesses, and the arena grows if
 * a text is unlike any seen. Words that need several memories (src/merge/merge-memories.ts) have their tokens and pairs in
 * each of them.
 */
export function estimateMergeMemoryBytes(size: TokenWordsSize, options: MergeOptions): number {
  const { wordCount } = size;
  const cellCount = cellCountBound(size);
  const { mergeCount, startTokens = byteTokens } = options;
  const threadCount = threadCountOf(options, cellCount, defaultTuning);
  const tokenCount = startTokens.count + Math.min(mergeCount, cellCount);
  const cellBytes = cellCount * (tokenCount > 0xffff ? 4 : 2);
  // A copy of the words, which stands where the arena will be.
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

/** Bytes of an id of a start token in the words (src/words/word-table.ts). */
export const bytesOfId = (startCount: number) => (startCount <= 256 ? 1 : startCount <= 0x10000 ? 2 : 4);

/** What one memory of the engine has for cells and lists: what is left of 4 GB beside its pairs and tokens. */
const memoryBytesMax = 3.5e9;

/** Address space for a cell: itself, its neighbours, which may be staged, and the least that the arena begins with. */
const roomPerCell = (cellBytes: number) => 3 * cellBytes + 5;

/** One huge word can be one pair throughout; among many words the commonest pair held at most 3 % of the cells. */
function longestListLength(wordCount: number, cellCount: number): number {
  return wordCount < 1000 ? cellCount : 0.03 * cellCount;
}

// What the regions of the kernel's engine hold (src/kernel/merge/merge-regions.ts).

/** Its count, its start, and its place in the order, if it is frequent. */
const bytesPerWord = 8 + 4;
/** Halves, length, two counts, tie key. */
const bytesPerToken = 12 + 16 + 8;
/** Of a token, a thread: neighbours at the left and at the right, and which were seen. */
const bytesOfSums = 2 * (16 + 4);
/** The mean length of a token on English is near 7; and where they begin. */
const bytesOfPrefix = 8 + 4;
/** A record, at least two slots of the hash table, and a place in the queue. */
const bytesPerPair = 32 + 3 * 4 + 16;
/** What a thread that helps takes beside the engine's memory: measured, 10 MB. */
const helperBytes = 12e6;
/** 65,536 pairs of bytes. */
const bytePairTableBytes = 16 << 16;
/** 6 million words, 72 million cells, 32,000 merges: 200,000 records; 145,000 words: 85,000. */
const positionsPerPair = 400;
const pairsPerToken = 3;
