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
  /** "rising" as described in count-threshold.ts, or a number that stays until it proves too high. */
  readonly threshold: "rising" | number;
  /** The threshold does not rise before this many merges: the first counts say little about the last. */
  readonly thresholdFromMerge: number;
  /** The threshold after merge k of K is thresholdShare x top count x (k / K) ^ thresholdExponent. */
  readonly thresholdShare: number;
  readonly thresholdExponent: number;
  /** Room for occurrences, as a multiple of those of the first index. */
  readonly arenaSlack: number;
  /** A list is cleaned, where room is short, if its pair has lost more than this share of its count. */
  readonly cleanShare: number;
  /** Bytes of each token that are kept at hand for comparing. */
  readonly prefixBytes: number;
  /** Lists of as many entries are cut into parts, one for each thread. */
  readonly sharedListLength: number;
  /** With fewer cells in all one thread does everything. */
  readonly sharedCellCount: number;
  /** Whether there are threads that help; the work is cut for them in any case. */
  readonly startsHelpers: boolean;
  /** Address space that a memory of the engine may plan for; words that need more lie in several. */
  readonly memoryBytesMax: number;
  /** Memories of the engine, also where fewer would do. */
  readonly memoryCountMin: number;
};

export const defaultTuning: MergeTuning = {
  sliceWork: 1 << 18,
  hashesFirstPairs: false,
  blockSize: 128,
  wideCells: false,
  threshold: "rising",
  thresholdFromMerge: 64,
  thresholdShare: 0.5,
  thresholdExponent: 1.7,
  arenaSlack: 1.5,
  cleanShare: 0.5,
  prefixBytes: 64,
  sharedListLength: 2048,
  sharedCellCount: 4_000_000,
  startsHelpers: true,
  memoryBytesMax: 2 ** 32,
  memoryCountMin: 1,
};
