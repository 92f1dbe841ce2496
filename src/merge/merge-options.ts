import { UserError } from "../errors.ts";
import type { TokenWordsSize } from "../words/token-words.ts";
import type { MergeTuning } from "./merge-tuning.ts";
import type { Compat } from "./merges.ts";
import type { StartTokens } from "./start-tokens.ts";

export type MergeOptions = {
  /**
   * Most merges wanted. Under `huggingface`: most entries wanted that merges add to the vocabulary; a merge that
   * spells a special token adds none, so there can be as many more merges as there are special tokens.
   */
  readonly mergeCount: number;
  readonly compat: Compat;
  /** What the words are made of; default the 256 bytes. */
  readonly startTokens?: StartTokens;
  /** Who wins a tie; default what `compat` says. */
  readonly ties?: TieOrder;
  /** Training ends when the best pair occurs fewer times; default 1. */
  readonly minFrequency?: number;
  /** Longest token in bytes, or in start tokens if these have no bytes; under `huggingface` HF's own rule: strictly less, and two bytes always merge. */
  readonly maxTokenLength?: number | null;
  /** Only `huggingface` asks: a learned token that equals a special token's text takes its id, which decides ties. */
  readonly specialTokens?: readonly string[];
  /**
   * Superwords: no token has more than four words, which are what stands between spaces, or a colon before a space. The start
   * tokens are spelled.
   */
  readonly limitsWords?: boolean;
  /** Threads that merge; default 1. */
  readonly threadCount?: number;
};

/**
 * Who wins a tie: the pair with the greater (left, right), as bytes; with the smaller one, as the strings of HF's
 * byte-to-character form, by code point, or as ids.
 */
export type TieOrder = "greater bytes" | "smaller characters" | "smaller id";

export type MergeLimits = {
  /** Merges wanted; under `huggingface` new vocabulary entries wanted. */
  readonly mergeCountMax: number;
  /** A best pair with a lower count ends the training; at least 1. */
  readonly countMin: number;
  /** Longest token that a merge may make of anything but two bytes. */
  readonly lengthMax: number;
  /** Whether two bytes may be merged whatever `lengthMax` says: HF looks only at pairs that a merge forms. */
  readonly bytePairsAlways: boolean;
};

/** Cells that the layout of these words takes at most: a boundary first, then each word with one behind it. */
export const cellCountBound = ({ wordCount, positionCount }: TokenWordsSize) => 1 + positionCount + wordCount;

/** Positions are below 2^31, and the last weight step must end beyond every cell. */
const cellCountMax = 2 ** 31 - 2;

export function checkCellCount(cellCount: number): void {
  if (cellCount <= cellCountMax) return;
  throw new UserError(
    `the distinct words hold ${cellCount.toLocaleString("en-US")} positions; at most ${cellCountMax.toLocaleString("en-US")} can be merged`,
    { hint: "use a --pattern that cuts the text into shorter words, or train from a part of the input" },
  );
}

export function limitsOf(options: MergeOptions, cellCount: number): MergeLimits {
  const isHuggingface = options.compat === "huggingface";
  const maxTokenLength = options.maxTokenLength ?? null;
  return {
    // Each merge takes at least one position away, so there are never more merges than cells.
    mergeCountMax: Math.min(options.mergeCount, cellCount),
    countMin: Math.max(1, options.minFrequency ?? 1),
    lengthMax: maxTokenLength === null ? Number.POSITIVE_INFINITY : maxTokenLength - (isHuggingface ? 1 : 0),
    bytePairsAlways: isHuggingface,
  };
}

/** Each has sums of its own to be added up. */
const threadCountMax = 8;

/** How many threads merge so many cells. */
export function threadCountOf(
  { threadCount = 1 }: MergeOptions,
  cellCount: number,
  tuning: MergeTuning,
): number {
  return cellCount < tuning.sharedCellCount ? 1 : Math.min(threadCount, threadCountMax);
}
