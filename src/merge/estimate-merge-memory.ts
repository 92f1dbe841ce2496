import type { TokenWordsSize } from "../words/token-words.ts";
import { tieOrderOf } from "./fill-tie-rule.ts";
import { cellCountBound, type MergeOptions, threadCountOf } from "./merge-options.ts";
import { defaultTuning } from "./merge-tuning.ts";
import { byteTokens } from "./start-tokens.ts";

/**
 * The memory that the engine will take beside the word table, in bytes, said before it starts. Cells, the order of
 * the words and the arena are nearly exact; the longest list and the number of records are guesses (the measured
 * ones stand in docs/merge.md), and the arena grows if a text is unlike any seen. Words that need several memories
 * (src/merge/merge-memories.ts) have their tokens and pairs in each of them.
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

/** Bytes of an id of a start token in the words (src/words/token-words.ts). */
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
