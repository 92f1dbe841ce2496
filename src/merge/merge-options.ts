import { byteToCharacter } from "#bytes";
import { asOption, phrase, scaled, UserError } from "#runtime";
import type { TokenWordsSize } from "#words";
import type { Compat } from "./merges.ts";

/** Limits on the tokens that are learned. */
export type TokenLimits = {
  /** Training ends when the best pair occurs fewer times. */
  readonly minFrequency: number;
  /**
   * Maximum length of a token in bytes, or in start tokens if these have no bytes. `huggingface` has HF's own rule: strictly
   * less, and two bytes always merge.
   */
  readonly maxTokenLength: number | null;
  /** No token joins a whole character with a part of another (docs/clean-and-fair.md). Start tokens must have bytes. */
  readonly wholeCharacters?: true;
};

/** Only the token limits of some options, for an engine and for records. */
export const tokenLimits = ({ minFrequency, maxTokenLength, wholeCharacters }: TokenLimits): TokenLimits => ({
  minFrequency,
  maxTokenLength,
  ...(wholeCharacters && { wholeCharacters }),
});

/** The options of the merge engine. By default a pair must occur once. */
export type MergeOptions = Partial<TokenLimits> & {
  /**
   * Maximum number of merges. Under `huggingface`, the maximum number of entries that merges add to the vocabulary; a merge that
   * spells a special token adds none, so there may be one more merge for each special token.
   */
  readonly mergeCount: number;
  readonly compat: Compat;
  /** The start tokens of the words; by default the 256 bytes. */
  readonly startTokens?: StartTokens;
  /** The order of ties; by default that of `compat`. */
  readonly ties?: TieOrder;
  /** Used by `huggingface` only: a learned token that equals a special token's text has its id, which decides ties. */
  readonly specialTokens?: readonly string[];
  /**
   * Superwords: no token has more than four words (the parts between spaces), or a colon before a space. Start tokens must have
   * bytes.
   */
  readonly limitsWords?: boolean;
  /**
   * Merges that are made first, in this order, regardless of their counts; `mergeCount` includes them. The previous merges must
   * cut the text of each new token into exactly its two tokens, and the limits must allow the merge.
   */
  readonly firstMerges?: readonly TokenPair[];
  /** The number of threads that merge; default 1. */
  readonly threadCount?: number;
};

/** The engine's ids of two tokens. */
export type TokenPair = readonly [left: number, right: number];

/**
 * The pair that wins a tie: the one with the greater (left, right) as bytes; with the greater or smaller one as strings of HF's
 * byte-to-character form, by code point; or with the smaller one as ids.
 */
export type TieOrder = "greater bytes" | "greater characters" | "smaller characters" | "smaller id";

const ordersOfCompats = {
  cs336: "greater bytes",
  huggingface: "smaller id",
  rustbpe: "smaller id",
} as const satisfies Record<MergeOptions["compat"], TieOrder>;

/** The order of ties for these options. */
export const tieOrderOf = ({ compat, ties = ordersOfCompats[compat] }: MergeOptions): TieOrder => ties;

/** The position of each byte in the alphabet, which HF sorts by the code points of the byte-to-character form. */
export function alphabetOrder(): Int32Array {
  const ranks = new Int32Array(256);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  bytes.sort((a, b) => byteToCharacter[a]!.codePointAt(0)! - byteToCharacter[b]!.codePointAt(0)!);
  bytes.forEach((byte, rank) => {
    ranks[byte] = rank;
  });
  return ranks;
}

export type MergeLimits = {
  /** Maximum number of merges; under `huggingface`, of new vocabulary entries. */
  readonly mergeCountMax: number;
  /** A best pair with a lower count ends the training; at least 1. */
  readonly countMin: number;
  /** Maximum length of a token that a merge may make of anything but two bytes. */
  readonly lengthMax: number;
  /** Whether two bytes may be merged regardless of `lengthMax`: HF checks only pairs that a merge forms. */
  readonly allowsBytePairs: boolean;
};

/** Upper bound of the cells of these words: a boundary first, then each word with a boundary after it. */
export const cellCountBound = ({ wordCount, positionCount }: TokenWordsSize) => 1 + positionCount + wordCount;

/** Positions are below 2^31, and the last weight step must end beyond every cell. */
const cellCountMax = 2 ** 31 - 2;

export function checkCellCount(cellCount: number): void {
  if (cellCount <= cellCountMax) return;
  throw new UserError(
    `the distinct words hold ${cellCount.toLocaleString("en-US")} positions; at most ${cellCountMax.toLocaleString("en-US")} can be merged`,
    {
      hint: phrase`use a ${asOption("pattern")} that splits the text into shorter words, or train on a part of the input`,
    },
  );
}

export function limitsOf(options: MergeOptions, cellCount: number): MergeLimits {
  const isHuggingface = options.compat === "huggingface";
  const maxTokenLength = options.maxTokenLength ?? null;
  const firstCount = options.firstMerges?.length ?? 0;
  return {
    // Each learned merge removes at least one position, so there are never more of them than cells.
    mergeCountMax: Math.min(options.mergeCount, cellCount + firstCount),
    countMin: Math.max(1, options.minFrequency ?? 1),
    lengthMax: maxTokenLength === null ? Number.POSITIVE_INFINITY : maxTokenLength - (isHuggingface ? 1 : 0),
    allowsBytePairs: isHuggingface,
  };
}

/** A limit, because each thread has sums of its own, which must be added up. */
const threadCountMax = 8;

/** The number of threads that merge `cellCount` cells. */
export function threadCountOf(
  { threadCount = 1 }: MergeOptions,
  cellCount: number,
  tuning: MergeTuning,
): number {
  return cellCount < tuning.sharedCellCount ? 1 : Math.min(threadCount, threadCountMax);
}

/**
 * Tuning of the engine. The result never depends on it: tests vary every setting to reach code paths that are rare on real
 * text; no other code sets one.
 */
export type MergeTuning = {
  /** Work between two yields, in accessed entries or cells: some 5 to 15 ms, with a cache miss each at worst. */
  readonly sliceWork: number;
  /** Counts the pairs of the first index in a hash table, even with few enough start tokens for dense tables. */
  readonly hashesFirstPairs: boolean;
  /** Occurrences that are processed together, so that their cache misses overlap. */
  readonly blockSize: number;
  /** Cells of 32 bits, even if 16 suffice. */
  readonly wideCells: boolean;
  /** The initial room for tokens in an engine of one of several languages: enough for cells of 16 bits. */
  readonly fewTokens: number;
  /** "rising" as described in pair-queue.ts, or a number that is constant until it proves too high. */
  readonly threshold: "rising" | number;
  /** The threshold does not rise before this many merges, because early counts say little about the last. */
  readonly thresholdFromMerge: number;
  /** The exponent of its rise (merge-memories.ts). */
  readonly thresholdExponent: number;
  /** Room for occurrences, as a multiple of those of the first index. */
  readonly arenaSlack: number;
  /** When room is short, a list is cleaned if its pair has lost more than this share of its count. */
  readonly cleanShare: number;
  /** Length of the prefix of each token that is stored for comparing. */
  readonly prefixBytes: number;
  /** Lists of at least this many entries are cut into parts, one for each thread. */
  readonly sharedListLength: number;
  /** With fewer cells, one thread does everything, and superwords use pages of the usual size. */
  readonly sharedCellCount: number;
  /** Whether helper threads are started; the work is cut into their parts even without them. */
  readonly startsHelpers: boolean;
  /** Maximum address space of a memory of the engine; words that need more are in several memories. */
  readonly memoryBytesMax: number;
  /** Minimum number of memories of the engine, even if fewer suffice. */
  readonly memoryCountMin: number;
};

export const defaultTuning: MergeTuning = {
  sliceWork: scaled(1 << 18, 97),
  hashesFirstPairs: false,
  blockSize: scaled(128, 3),
  wideCells: false,
  fewTokens: scaled(0xffff, 280),
  threshold: "rising",
  thresholdFromMerge: scaled(64, 1),
  thresholdExponent: 1.7,
  arenaSlack: scaled(1.5, 1),
  cleanShare: 0.5,
  prefixBytes: scaled(64, 2),
  sharedListLength: scaled(2048, 4),
  sharedCellCount: scaled(4_000_000, 2),
  startsHelpers: true,
  memoryBytesMax: 2 ** 32,
  memoryCountMin: 1,
};

/**
 * Start tokens: the tokens of words before the first merge. Their ids are 0 .. count - 1; merge k makes token count + k. Usually
 * they are the 256 bytes. They may also be the tokens of a vocabulary that is extended, whole pretokens, or symbols without
 * bytes.
 */
export type StartTokens = {
  readonly count: number;
  /** Token t is bytes[starts[t] .. starts[t + 1]). Absent: tokens have no bytes, and the length limit counts start tokens. */
  readonly spelling?: { readonly bytes: Uint8Array; readonly starts: Uint32Array };
  /**
   * If ids decide ties: the id of each start token for the rule, below `count`. Absent: its own id. New tokens always have their
   * own ids.
   */
  readonly ranks?: Int32Array;
  /** Tokens that exist already and that no word holds: a merge that spells one adds no entry to the vocabulary. */
  readonly known?: readonly KnownToken[];
};

/** `rank`: its id in ties, where ids decide. */
export type KnownToken = { readonly bytes: Uint8Array; readonly rank: number };

const byteCount = 256;

/** The 256 bytes: the id of a token is the byte. */
export const byteTokens: StartTokens = {
  count: byteCount,
  spelling: {
    bytes: countingUp(new Uint8Array(byteCount)),
    starts: countingUp(new Uint32Array(byteCount + 1)),
  },
};

function countingUp<Numbers extends Uint8Array | Uint32Array>(numbers: Numbers): Numbers {
  for (let i = 0; i < numbers.length; i++) numbers[i] = i;
  return numbers;
}

/** Whether some start token has several bytes. If not, a token's size is the number of its start tokens. */
export function haveLongTokens({ count, spelling }: StartTokens): boolean {
  if (spelling === undefined) return false;
  for (let id = 0; id < count; id++) if (spelling.starts[id + 1]! - spelling.starts[id]! !== 1) return true;
  return false;
}
