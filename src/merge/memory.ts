import type { TableSize, WordTable } from "../words/word-table.ts";
import type { MergeOptions } from "./engine.ts";
import { countCells } from "./layout.ts";
import { defaultTuning } from "./tuning.ts";

/**
 * The memory that the engine will take beside the word table, in bytes, said before it starts. Cells, the order of
 * the words and the arena are known exactly; the longest list and the number of records are guesses (the measured
 * ones stand in docs/merge.md), and the arena grows if a text is unlike any seen.
 */
export function estimateMergeMemoryBytes(words: WordTable, options: MergeOptions): number {
  return estimateBytes(words.wordCount, countCells(words), options);
}

/** The same before there is a word table: an upper bound, because words of one byte take no cells. */
export function boundMergeMemoryBytes({ wordCount, byteCount }: TableSize, options: MergeOptions): number {
  return estimateBytes(wordCount, 1 + byteCount + wordCount, options);
}

function estimateBytes(wordCount: number, cellCount: number, options: MergeOptions): number {
  const tokenCount = 256 + Math.min(options.mergeCount, cellCount);
  const cellSize = tokenCount > 0xffff ? 4 : 2;
  const cellBytes = cellCount * cellSize;
  const wordOrderBytes = 2 * 4 * wordCount;
  const arenaBytes = 4 * defaultTuning.arenaSlack * (cellCount - wordCount);
  const stagedBytes = 2 * cellSize * longestListLength(wordCount, cellCount);
  const tokenBytes = tokenCount * (bytesPerToken + (options.compat === "cs336" ? bytesOfPrefix : 0));
  const pairBytes = bytesPerPair * (cellCount / positionsPerPair + pairsPerToken * tokenCount);
  // The order of the words is done with before the arena is made.
  return Math.ceil(cellBytes + Math.max(wordOrderBytes, arenaBytes) + stagedBytes + tokenBytes + pairBytes);
}

/** One huge word can be one pair throughout; among many words the commonest pair held at most 3 % of the cells. */
function longestListLength(wordCount: number, cellCount: number): number {
  return wordCount < 1000 ? cellCount : 0.03 * cellCount;
}

/** tokens.ts: 4 + 4 + 4 + 8 + 4 bytes; neighbours.ts: 2 x (16 + 4 + 4). */
const bytesPerToken = 72;
/** The mean length of a token on English is near 7. */
const bytesOfPrefix = 8;
/** pairs.ts: 32 a record and 8 in the hash table; queue.ts: 12; half as much again for arrays that have doubled. */
const bytesPerPair = 52 * 1.5;
/** 6 million words, 72 million cells, 32,000 merges: 200,000 records; 145,000 words: 85,000. */
const positionsPerPair = 400;
const pairsPerToken = 3;
