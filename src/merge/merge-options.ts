import { byteToCharacter } from "#bytes";
import { asOption, phrase, scaled, UserError } from "#runtime";
import type { TokenWordsSize } from "#words";
import type { Compat } from "./merges.ts";

/** Which tokens are not learned. */
export type TokenLimits = {
  /** Training ends when the best pair occurs fewer times. */
  readonly minFrequency: number;
  /** Longest token in bytes, or in start tokens if these have no bytes; under `huggingface` HF's own rule: strictly less, and two bytes always merge. */
  readonly maxTokenLength: number | null;
  /** No token joins a whole character with a part of another (docs/clean-and-fair.md). The start tokens are spelled. */
  readonly wholeCharacters?: true;
};

/** They alone, as an engine is told and a record keeps them. */
export const tokenLimits = ({ minFrequency, maxTokenLength, wholeCharacters }: TokenLimits): TokenLimits => ({
  minFrequency,
  maxTokenLength,
  ...(wholeCharacters && { wholeCharacters }),
});

/** Without limits a pair has to occur once. */
export type MergeOptions = Partial<TokenLimits> & {
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
  /** Only `huggingface` asks: a learned token that equals a special token's text takes its id, which decides ties. */
  readonly specialTokens?: readonly string[];
  /**
   * Superwords: no token has more than four words, which are what stands between spaces, or a colon before a space. The start
   * tokens are spelled.
   */
  readonly limitsWords?: boolean;
  /**
   * Merges that are made first, whatever their counts, in this order; `mergeCount` counts them, too. Each is of two tokens that
   * the text of the new one is cut into by those before it, and that the limits let be merged.
   */
  readonly firstMerges?: readonly TokenPair[];
  /** Threads that merge; default 1. */
  readonly threadCount?: number;
};

/** The ids of two tokens, as the engine numbers them. */
export type TokenPair = readonly [left: number, right: number];

/**
 * Who wins a tie: the pair with the greater (left, right), as bytes; with the greater or the smaller one, as the strings of
 * HF's byte-to-character form, by code point; or with the smaller one, as ids.
 */
export type TieOrder = "greater bytes" | "greater characters" | "smaller characters" | "smaller id";

const ordersOfCompats = {
  cs336: "greater bytes",
  huggingface: "smaller id",
  rustbpe: "smaller id",
} as const satisfies Record<MergeOptions["compat"], TieOrder>;

/** Who wins a tie. */
export const tieOrderOf = ({ compat, ties = ordersOfCompats[compat] }: MergeOptions): TieOrder => ties;

/** Place of each byte in the alphabet, which HF sorts by the code points of the byte-to-character form. */
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
    {
      hint: phrase`use a ${asOption("pattern")} that cuts the text into shorter words, or train on a part of the input`,
    },
  );
}

export function limitsOf(options: MergeOptions, cellCount: number): MergeLimits {
  const isHuggingface = options.compat === "huggingface";
  const maxTokenLength = options.maxTokenLength ?? null;
  const firstCount = options.firstMerges?.length ?? 0;
  return {
    // Each merge that is learned takes at least one position away, so there are never more of them than cells.
    mergeCountMax: Math.min(options.mergeCount, cellCount + firstCount),
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

/**
 * What the engine may be told beside its task. The result never depends on any of it: tests turn every knob to reach
 * paths that real text seldom takes; nobody else sets one.
 */
export type MergeTuning = {
  /** Work between two yields, in entries or cells touched: some 5 to 15 ms, a cache miss each at worst. */
  readonly sliceWork: number;
  /** The first index counts pairs in a hash table even where there are few enough start tokens for dense tables. */
  readonly hashesFirstPairs: boolean;
  /** Occurrences looked at together, so that their cache misses overlap. */
  readonly blockSize: number;
  /** Cells of 32 bits even where 16 would do. */
  readonly wideCells: boolean;
  /** An engine of one of several languages has room for so many tokens at first: for cells of 16 bits. */
  readonly fewTokens: number;
  /** "rising" as described in pair-queue.ts, or a number that stays until it proves too high. */
  readonly threshold: "rising" | number;
  /** The threshold does not rise before this many merges: the first counts say little about the last. */
  readonly thresholdFromMerge: number;
  /** How it rises then (merge-memories.ts). */
  readonly thresholdExponent: number;
  /** Room for occurrences, as a multiple of those of the first index. */
  readonly arenaSlack: number;
  /** A list is cleaned, where room is short, if its pair has lost more than this share of its count. */
  readonly cleanShare: number;
  /** Bytes of each token that are kept at hand for comparing. */
  readonly prefixBytes: number;
  /** Lists of as many entries are cut into parts, one for each thread. */
  readonly sharedListLength: number;
  /** With fewer cells in all one thread does everything, for superwords in pages of the usual size. */
  readonly sharedCellCount: number;
  /** Whether there are threads that help; the work is cut for them in any case. */
  readonly startsHelpers: boolean;
  /** Address space that a memory of the engine may plan for; words that need more lie in several. */
  readonly memoryBytesMax: number;
  /** Memories of the engine, also where fewer would do. */
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
 * Start tokens: what words are made of before the first merge. Their ids are 0 .. count - 1; merge k makes token count + k.
 * Usually they are the 256 bytes. They may be the tokens of a vocabulary that is to grow, whole pretokens, or symbols that
 * have no bytes at all.
 */
export type StartTokens = {
  readonly count: number;
  /** Their bytes: token t is bytes[starts[t] .. starts[t + 1]). Absent: they have none, and a limit of length counts tokens. */
  readonly spelling?: { readonly bytes: Uint8Array; readonly starts: Uint32Array };
  /**
   * Where ids decide ties: the id of each as the rule has it, below `count`. Absent: its own. A new token has its own in
   * any case.
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

/** Whether some have more bytes than one; only then the size of a token is not how many start tokens it holds. */
export function haveLongTokens({ count, spelling }: StartTokens): boolean {
  if (spelling === undefined) return false;
  for (let id = 0; id < count; id++) if (spelling.starts[id + 1]! - spelling.starts[id]! !== 1) return true;
  return false;
}
