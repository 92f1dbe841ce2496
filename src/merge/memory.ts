import type { WordTable } from "../words/word-table.ts";
import type { MergeOptions } from "./engine.ts";
import { countCells } from "./layout.ts";
import { defaultTuning } from "./tuning.ts";

/**
 * The most memory that the engine will take beside the word table, in bytes, as far as it can be known before it
 * starts. The layout and the arena are exact; the longest list and the records of pairs are guesses from real text,
 * where the longest list held at most 3 % of the positions and there was a record for every 20 positions or fewer.
 */
export function estimateMergeMemoryBytes(words: WordTable, options: MergeOptions): number {
  const cellCount = countCells(words);
  const tokenCount = 256 + Math.min(options.mergeCount, cellCount);
  const cellSize = tokenCount > 0xffff ? 4 : 2;
  const cellBytes = cellCount * cellSize;
  const wordOrderBytes = 2 * 4 * words.wordCount;
  const arenaBytes = 4 * defaultTuning.arenaSlack * (cellCount - words.wordCount);
  const stagedBytes = 2 * cellSize * longestListLength(words, cellCount);
  const tokenBytes = tokenCount * (bytesPerToken + (options.compat === "cs336" ? bytesOfPrefix : 0));
  const pairBytes = bytesPerPair * (cellCount / positionsPerPair + pairsPerToken * tokenCount);
  // The order of the words is done with before the arena is made.
  return Math.ceil(cellBytes + Math.max(wordOrderBytes, arenaBytes) + stagedBytes + tokenBytes + pairBytes);
}

/** One huge word can be one pair throughout; many words never are. */
function longestListLength(words: WordTable, cellCount: number): number {
  return words.wordCount < 1000 ? cellCount : 0.03 * cellCount;
}

/** tokens.ts: 4 + 4 + 4 + 8 + 4; neighbours.ts: 2 x (16 + 4 + 4). */
const bytesPerToken = 72;
/** Most tokens are short; the mean on English is near 7. */
const bytesOfPrefix = 8;
/** pairs.ts: 32 a record, 16 in the hash table; queue.ts: 12. Arrays that double are half empty at worst. */
const bytesPerPair = 60 * 1.5;
const positionsPerPair = 400;
const pairsPerToken = 6;
