import { byteCharacters } from "#bytes";
import type { trainingRecords } from "#formats";
import { messages, phrase, scaled, UserError } from "#runtime";
import type { Compat } from "#tokenizer";
import type { FreeMemory, wordTables } from "#words";

/** Returns only the token limits of the options. */
export const tokenLimits = ({
  minFrequency,
  maxTokenLength,
  wholeCharacters,
}: trainingRecords.TokenLimits): trainingRecords.TokenLimits => ({
  minFrequency,
  maxTokenLength,
  ...(wholeCharacters && { wholeCharacters }),
});

/** The options of the merge engine. By default, a pair must occur at least once. */
export type MergeOptions = Partial<trainingRecords.TokenLimits> & {
  /**
   * The maximum number of entries that merges add to the vocabulary. A merge that spells a token of `startTokens.known`
   * adds none, and neither does one that spells a special token under `huggingface`.
   */
  readonly mergeCount: number;
  readonly compat: Compat;
  /** The tokens that the words consist of; by default the 256 bytes. */
  readonly startTokens?: StartTokens;
  /** The order of ties; by default that of `compat`. */
  readonly ties?: TieOrder;
  /**
   * Used under `huggingface` only: a learned token that equals a special token's text has the special token's id, which
   * decides ties.
   */
  readonly specialTokens?: readonly string[];
  /**
   * Used for superwords: no learned token may have more than four words (parts between spaces), or a colon before a
   * space. Start tokens must have bytes.
   */
  readonly limitsWords?: boolean;
  /**
   * Merges that are made first, in this order, whatever their counts; `mergeCount` includes them. The token of each must
   * be within the limits. If its bytes are encoded with only the merges before it, the result must be the two tokens
   * that the merge joins.
   */
  readonly firstMerges?: readonly TokenPair[];
  /** Memory to merge in, if the engine fits there; its content is lost. */
  readonly free?: FreeMemory | undefined;
  /** The number of threads that merge; default 1. A function is called only for a large text. */
  readonly threadCount?: number | (() => number);
};

/** Two tokens, by the engine's ids. */
export type TokenPair = readonly [left: number, right: number];

/**
 * What decides which of two pairs wins a tie: bytes, code points in HF's byte-to-character form, or ids. First the left
 * tokens are compared, then the right ones.
 */
export type TieOrder = "greater bytes" | "greater characters" | "smaller characters" | "smaller id";

const ordersOfCompats = {
  cs336: "greater bytes",
  huggingface: "smaller id",
  rustbpe: "smaller id",
} as const satisfies Record<MergeOptions["compat"], TieOrder>;

/** The order of ties for these options. */
export const tieOrderOf = ({ compat, ties = ordersOfCompats[compat] }: MergeOptions): TieOrder => ties;

/** Returns the position of each byte in HF's alphabet, sorted by code points of its byte-to-character form. */
export function alphabetOrder(): Int32Array {
  const ranks = new Int32Array(256);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  bytes.sort(
    (a, b) => byteCharacters.characters[a]!.codePointAt(0)! - byteCharacters.characters[b]!.codePointAt(0)!,
  );
  bytes.forEach((byte, rank) => {
    ranks[byte] = rank;
  });
  return ranks;
}

export type MergeLimits = {
  /** The maximum number of entries that merges add to the vocabulary. */
  readonly mergeCountMax: number;
  /** Training ends when the best pair has a lower count. At least 1. */
  readonly countMin: number;
  /**
   * The maximum length of a token in bytes, or in start tokens if these are not spelled in bytes. It does not apply to
   * a token made of two bytes if `allowsBytePairs` is set.
   */
  readonly lengthMax: number;
  /**
   * Whether two bytes may be merged whatever `lengthMax` is. HF checks only the pairs that a merge creates, not the
   * pairs of bytes that words have at the start.
   */
  readonly allowsBytePairs: boolean;
};

/**
 * An upper bound of the number of cells of these words (src/kernel/merge/word-layout.ts): one boundary, then the tokens
 * of each word and a boundary after them.
 */
export const cellCountBound = ({ wordCount, positionCount }: wordTables.TokenWordsSize) =>
  1 + positionCount + wordCount;

/** What users call the words to learn from: if start tokens have no bytes, they are ids, and words are documents. */
export const nounOfWords = ({ startTokens }: MergeOptions) =>
  startTokens !== undefined && startTokens.spelling === undefined ? "documents" : "distinct words";

/** The maximum number of cells. Positions, including the one after the last cell, are below 2^31. */
const cellCountMax = 2 ** 31 - 2;

export function checkCellCount(cellCount: number, options: MergeOptions): void {
  if (cellCount <= cellCountMax) return;
  throw new UserError(
    `before the first merge, the ${nounOfWords(options)} have ${cellCount.toLocaleString("en-US")} tokens (counting the end of each as one), but at most ${cellCountMax.toLocaleString("en-US")} fit`,
    {
      hint: phrase`${messages.shorterWordsOr}train on a part of the input`,
    },
  );
}

export function limitsOf(options: MergeOptions, cellCount: number): MergeLimits {
  const isHuggingface = options.compat === "huggingface";
  const maxTokenLength = options.maxTokenLength ?? null;
  const firstCount = options.firstMerges?.length ?? 0;
  return {
    // Each learned merge removes at least one position, so there are never more merges than cells.
    mergeCountMax: Math.min(options.mergeCount, cellCount + firstCount),
    countMin: Math.max(1, options.minFrequency ?? 1),
    lengthMax: maxTokenLength === null ? Number.POSITIVE_INFINITY : maxTokenLength - (isHuggingface ? 1 : 0),
    allowsBytePairs: isHuggingface,
  };
}

/** The number of threads is limited because each has sums of its own, which must be added up. */
const threadCountMax = 8;

/** Returns the number of threads for merging `cellCount` cells. */
export function threadCountOf(
  { threadCount = 1 }: MergeOptions,
  cellCount: number,
  tuning: MergeTuning,
): number {
  if (cellCount < tuning.sharedCellCount) return 1;
  return Math.min(typeof threadCount === "number" ? threadCount : threadCount(), threadCountMax);
}

/** The engine's tuning. The result never depends on it. */
export type MergeTuning = {
  /** The work between two yields, in accessed entries or cells: about 5 to 15 ms, if each access is a cache miss. */
  readonly sliceWork: number;
  /**
   * Whether the pairs of the first index are counted in a hash table even if there are few enough start tokens for
   * dense tables.
   */
  readonly hashesFirstPairs: boolean;
  /** How many occurrences are processed together, so that their cache misses overlap. */
  readonly blockSize: number;
  /** Whether cells have 32 bits even if 16 suffice. */
  readonly wideCells: boolean;
  /**
   * Under parity, each language has a merge engine of its own (parity-merges.ts). This is the number of tokens,
   * including start tokens, for which such an engine has room at first: few enough for cells of 16 bits.
   */
  readonly fewTokens: number;
  /**
   * The count below which a new pair is not indexed, so that it gets no record (src/kernel/merge/pair-queue.ts):
   * "rising", or a number, which is lowered only if it proves too high.
   */
  readonly threshold: "rising" | number;
  /** The threshold does not rise before this many merges, because early counts say little about later ones. */
  readonly thresholdFromMerge: number;
  /** The exponent with which the threshold rises (merge-memories.ts). */
  readonly thresholdExponent: number;
  /**
   * The initial capacity for occurrences, as a multiple of their number, if the first index is made from dense tables.
   */
  readonly arenaSlack: number;
  /**
   * When the capacity for occurrences is used up, lists that will not be read again are dropped. If that is not enough,
   * lists are cleaned: a list loses its outdated entries if its pair has lost more than this share of its count.
   */
  readonly cleanShare: number;
  /** How many bytes from the start of each token are stored for comparisons. */
  readonly prefixBytes: number;
  /**
   * If start tokens may have several bytes, several merges may spell the same existing token: a known token or a special
   * token. There is room for this many merges per such token, on average. If the room is used up, `trainMerges` starts
   * again with twice as much.
   */
  readonly mergesPerSpecial: number;
  /** The minimum length of a list that is cut into parts, at most one for each thread. */
  readonly sharedListLength: number;
  /** With fewer cells than this, one thread merges, and no huge pages are requested for superwords. */
  readonly sharedCellCount: number;
  /** Whether helper threads are started. The work is cut into parts even without them. */
  readonly startsHelpers: boolean;
  /** The maximum address space of one of the engine's memories. */
  readonly memoryBytesMax: number;
  /** The minimum number of the engine's memories, even if fewer suffice. */
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
  mergesPerSpecial: scaled(4, 1),
  sharedListLength: scaled(2048, 4),
  sharedCellCount: scaled(4_000_000, 2),
  startsHelpers: true,
  memoryBytesMax: 2 ** 32,
  memoryCountMin: 1,
};

/**
 * The tokens that words consist of before the first merge, such as the 256 bytes or the tokens of a base. Their ids are
 * 0 to count - 1, and merge k makes token count + k.
 */
export type StartTokens = {
  readonly count: number;
  /**
   * Token t is bytes[starts[t] .. starts[t + 1]). If left out, tokens have no bytes, and the length limit counts start
   * tokens.
   */
  readonly spelling?: { readonly bytes: Uint8Array; readonly starts: Uint32Array };
  /**
   * For each start token, the id that is compared if ids decide ties. If left out, this is its own id or, for the 256
   * bytes under `huggingface`, the byte's position in HF's alphabet.
   */
  readonly ranks?: Int32Array;
  /**
   * Tokens that exist already, but that no merge makes yet. A merge that spells one adds no entry to the vocabulary.
   */
  readonly known?: readonly KnownToken[];
};

/** A token that exists already. `rank` is its id in ties, if ids decide them. */
export type KnownToken = { readonly bytes: Uint8Array; readonly rank: number };

const byteCount = 256;

/** The 256 bytes. The id of each token is its byte. */
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

/**
 * Whether start tokens are spelled in bytes, and one of them is not one byte long. If false, the size of any token is
 * the number of its start tokens.
 */
export function haveLongTokens({ count, spelling }: StartTokens): boolean {
  if (spelling === undefined) return false;
  for (let id = 0; id < count; id++) if (spelling.starts[id + 1]! - spelling.starts[id]! !== 1) return true;
  return false;
}
