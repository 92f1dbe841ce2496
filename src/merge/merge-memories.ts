import { byteCharacters } from "#bytes";
import { kernels, memoryPages } from "#runtime";
import { type FreeMemory, type RecordWords, wordTables } from "#words";
import { type MergePlan, planRegions } from "./merge-helpers.ts";
import {
  alphabetOrder,
  byteTokens,
  cellCountBound,
  haveLongTokens,
  limitsOf,
  type MergeLimits,
  type MergeOptions,
  type MergeTuning,
  type StartTokens,
  type TokenPair,
  threadCountOf,
  tieOrderOf,
} from "./merge-options.ts";

/** A merge engine, set up for its task. Its words are in one memory of up to 4 GB, or in several if they do not fit. */
export type MergeEngine = {
  readonly memories: readonly MergeMemory[];
  readonly limits: MergeLimits;
  readonly budget: WorkBudget;
  readonly firstMerges: readonly TokenPair[];
  /**
   * Sets the count that a pair needs in order to be indexed (the threshold, src/kernel/merge/pair-queue.ts), and how it
   * rises. Called after `firstMerges`, if there are any: until then, all pairs are indexed (`startExact`). An engine
   * without `firstMerges` begins with such a threshold.
   */
  readonly startRising: () => void;
};

export type MergeMemory = kernels.Kernel & {
  readonly plan: MergePlan;
  /** The capacity for which the regions were planned. */
  readonly capacityBytes: number;
};

/** For words whose ids are not ids of start tokens. */
export type Numbers = {
  /** The start token of each id; -1 for an id that does not occur. */
  readonly numbers: Int32Array;
  /** How often each start token occurs. */
  readonly startCounts: Float64Array;
};

/** The words from which merges are learned: a table, or records in a kernel's memory. */
export type MergeWords = NumberedTable | NumberedRecords;
export type NumberedTable = wordTables.TokenWords & (Numbers | { readonly numbers?: undefined });
export type NumberedRecords = RecordWords & Numbers & { readonly positionCount: number };

/**
 * Sets up an engine in `memoryCount` memories, or, if the words are records, in the memory that has them. If one memory
 * suffices, it is `free` if the engine fits there. Returns undefined if the engine does not fit.
 */
export function createMergeEngine(
  words: MergeWords,
  memoryCount: number,
  options: MergeOptions,
  tuning: MergeTuning,
): MergeEngine | undefined {
  const areRecords = "kernel" in words;
  const cellCountOfAll = cellCountBound(areRecords ? words : wordTables.sizeOfWords(words));
  const slices = areRecords ? [recordSlice(words)] : cutWords(words, memoryCount);
  const limits = limitsOf(options, cellCountOfAll);
  const { firstMerges = [], startTokens = byteTokens } = options;
  const rule = tieRuleOf(options);
  // A merge that spells one of the existing tokens in `specials` takes an id, even if it does not count towards
  // `mergeCountMax`. If all start tokens are single bytes, there is at most one such merge for each of these tokens;
  // otherwise several merges may spell the same token, and there is room for `mergesPerSpecial` of them on average. The
  // id `tokenCapacity`, after that of the last token, is the boundary of words.
  const { startCount } = rule;
  const spareCount = rule.specials.length * (rule.haveLongTokens ? tuning.mergesPerSpecial : 1);
  const tokenCapacity = startCount + limits.mergeCountMax + spareCount;
  if (tokenCapacity >= 2 ** 31) return undefined;
  const countsDensely = startCount <= denseStartCountMax && !tuning.hashesFirstPairs;
  const planOfAll = {
    memoryCount,
    cellCountOfAll,
    positionBytes: areRecords ? words.positionBytes : words.tokens.BYTES_PER_ELEMENT,
    firstByte: areRecords ? words.freeStart : 0,
    areRecords,
    idLimit: words.numbers?.length ?? 0,
    startCount,
    startByteCount: rule.spelling.bytes.length,
    haveLongTokens: rule.haveLongTokens,
    countsDensely,
    tokenCapacity,
    isWide: tuning.wideCells || tokenCapacity > 0xffff,
    specialCount: rule.specials.length,
    specialByteCount: sum(rule.specials.map(({ bytes }) => bytes.length)),
    limitsWords: options.limitsWords ?? false,
    wholeCharacters: options.wholeCharacters ?? false,
    threadCount: threadCountOf(options, cellCountOfAll, tuning),
  };
  const memories: MergeMemory[] = [];
  for (const [memoryIndex, slice] of slices.entries()) {
    // Only the first memory compares tokens.
    const prefixLength = rule.comparesBytes && memoryIndex === 0 ? tuning.prefixBytes : 0;
    const plan = { ...planOfAll, ...slice, memoryIndex, prefixLength };
    const memory = planMemory(words, plan, options, tuning.memoryBytesMax);
    if (memory === undefined) return undefined;
    if (plan.limitsWords && cellCountOfAll >= tuning.sharedCellCount) requestHugeRegions(memory);
    fillTieRule(memory, rule);
    if (plan.limitsWords) fillFacts(memory, memory.exports.wordFacts, startTokens, wordFactsOf);
    if (plan.wholeCharacters) {
      const stateOf = (bytes: Uint8Array) => characterStateOf(memory, bytes);
      fillFacts(memory, memory.exports.characterStates, startTokens, stateOf);
    }
    startEngine(memory, limits, rule, tuning);
    if (firstMerges.length > 0) startExact(memory);
    memories.push(memory);
  }
  const startRising = () => {
    for (const memory of memories) startThreshold(memory, limits, tuning, true);
  };
  return { memories, limits, budget: createWorkBudget(tuning.sliceWork), firstMerges, startRising };
}

/** Returns the slice with all words, if they are records. */
const recordSlice = (words: NumberedRecords) => ({
  ...{ first: 0, end: 0, firstStart: 0, positionCount: 0 },
  wordCount: words.wordCount,
  cellCount: cellCountBound(words),
});

/**
 * Cuts the table into parts, one for each memory, with about the same number of cells (one for each token of a word,
 * and one for its end). No word is split, so the cuts do not affect the merges.
 */
function cutWords(words: wordTables.TokenWords, sliceCount: number) {
  const { wordCount, starts } = words;
  const sizeBefore = (word: number) => starts[word]! + word;
  const cuts = Array.from({ length: sliceCount + 1 }, (_, k) =>
    firstWord(wordCount, (word) => sizeBefore(word) >= (sizeBefore(wordCount) * k) / sliceCount),
  );
  return Array.from({ length: sliceCount }, (_, k) => {
    const [first, end] = [cuts[k]!, cuts[k + 1]!];
    const size = { wordCount: end - first, positionCount: starts[end]! - starts[first]! };
    return { first, end, firstStart: starts[first]!, ...size, cellCount: cellCountBound(size) };
  });
}

/** Returns the first word for which `isAfter` is true, by binary search; `wordCount` if there is none. */
function firstWord(wordCount: number, isAfter: (word: number) => boolean): number {
  let [low, high] = [0, wordCount];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Creates a memory and plans its regions, in at most `bytesMax` bytes. Each time the system refuses the planned size,
 * half of it is tried.
 */
function createMergeMemory(plan: MergePlan, bytesMax: number): MergeMemory | undefined {
  const kernel = kernels.create();
  for (let capacityBytes = bytesMax; ; ) {
    const plannedBytes = planRegions(kernel, plan, capacityBytes);
    if (plannedBytes === 0) return undefined;
    try {
      kernels.growMemory(kernel.memory, plannedBytes);
      return { ...kernel, plan, capacityBytes };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      capacityBytes = plannedBytes / 2;
    }
  }
}

/**
 * Plans the engine in the memory that holds the records, in free memory, or in a memory of at most `bytesMax` bytes that
 * it creates. Returns undefined if the engine does not fit.
 */
function planMemory(words: MergeWords, plan: MergePlan, { free }: MergeOptions, bytesMax: number) {
  if ("kernel" in words) return planInPlace(words, plan);
  const inFree = free !== undefined && plan.memoryCount === 1 ? planInFree(free, plan, bytesMax) : undefined;
  return inFree ?? createMergeMemory(plan, bytesMax);
}

/**
 * Plans the engine in free memory, if the regions fit there that a memory of `bytesMax` bytes would have. With a memory
 * of its own instead, the JavaScript engine would collect garbage, because it counts the bytes by which memories grow.
 */
function planInFree(free: FreeMemory, plan: MergePlan, bytesMax: number): MergeMemory | undefined {
  const placed = { ...plan, firstByte: free.freeStart };
  const end = planRegions(free.kernel, placed, bytesMax);
  const fits = end > 0 && end <= free.freeEnd;
  return fits ? { ...free.kernel, plan: placed, capacityBytes: bytesMax } : undefined;
}

/** Plans the engine in the memory that holds the records. */
function planInPlace({ kernel, freeEnd }: RecordWords, plan: MergePlan): MergeMemory | undefined {
  return planRegions(kernel, plan, freeEnd) === 0 ? undefined : { ...kernel, plan, capacityBytes: freeEnd };
}

/** Returns a view of an engine's regions, up to the highest address that they may reach. */
export const regionsOf = ({ memory: { buffer }, plan: { firstByte }, capacityBytes }: MergeMemory) =>
  new Uint8Array(buffer, firstByte, Math.min(capacityBytes, buffer.byteLength) - firstByte);

/**
 * Requests huge pages for the cells, which are the first large region, and for the lists of occurrences, which are the
 * last. With superwords, both are accessed randomly. With other words, huge pages save no more time than the system
 * takes to clear them.
 */
function requestHugeRegions(engine: MergeMemory): void {
  const { exports, plan } = engine;
  const regions = regionsOf(engine);
  memoryPages.requestHuge(regions.subarray(0, plan.cellCount * (plan.isWide ? 4 : 2)));
  memoryPages.requestHuge(regions.subarray((exports.mergeWordCounts.value >>> 0) - plan.firstByte));
}

/** A limit above every count. It is finite, because the kernel stores counts as 64-bit integers. */
const countEnd = 2 ** 53;
const noLimit = 2 ** 32 - 1;
/**
 * How the threshold rises, if it does: after merge k of K, it is raised to c * thresholdShare * (k / K) ^
 * thresholdExponent, if that is higher. Here c is the highest count of any pair at that time. While k is below
 * `thresholdFromMerge`, the threshold stays.
 */
const thresholdShare = 0.5;
/** Dense tables have an entry for each of the 65,536 pairs of this many tokens. */
const denseStartCountMax = 256;

/** @param isIndexed false if the next index is built by a rebuild, which first lowers the threshold */
function startThreshold(
  { exports }: MergeMemory,
  limits: MergeLimits,
  tuning: MergeTuning,
  isIndexed: boolean,
): void {
  const least = Math.min(Math.ceil(limits.countMin), countEnd);
  const rises = tuning.threshold === "rising";
  const dense = rises ? least : Math.min(Math.max(least, tuning.threshold), countEnd);
  // A rebuild begins by dividing the threshold by four or more. So if the next index is built by a rebuild, the
  // threshold starts at four times the fixed value or, if it rises, at four times a number above every count.
  const first = isIndexed ? dense : 4 * (rises ? countEnd : dense);
  exports.startThreshold(
    first,
    least,
    tuning.thresholdFromMerge,
    rises ? thresholdShare : 0,
    tuning.thresholdExponent,
  );
}

/** Sets a threshold so low that every pair that occurs is indexed, because any pair may be one of `firstMerges`. */
function startExact({ exports, plan }: MergeMemory): void {
  exports.startThreshold(plan.countsDensely ? 1 : 4, 1, 0, 0, 1);
}

function startEngine(memory: MergeMemory, limits: MergeLimits, rule: TieRule, tuning: MergeTuning): void {
  startThreshold(memory, limits, tuning, memory.plan.countsDensely);
  const { exports } = memory;
  const lengthMax = Math.max(0, Math.min(limits.lengthMax, noLimit));
  exports.startMerges(tuning.blockSize, tuning.sharedListLength);
  exports.startLimits(lengthMax, limits.allowsBytePairs);
  exports.startEngine(limits.mergeCountMax, tuning.sliceWork, tuning.cleanShare, rule.smallerWins);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The engine's data about start tokens, and the rule for ties (src/kernel/merge/tie-rules.ts). */
type TieRule = {
  readonly startCount: number;
  readonly haveLongTokens: boolean;
  readonly comparesBytes: boolean;
  /** Whether the smaller pair wins, by bytes or by ids. */
  readonly smallerWins: boolean;
  /**
   * The bytes of the start tokens. If ties compare characters, each byte is replaced by its position in HF's alphabet.
   */
  readonly spelling: { readonly bytes: Uint8Array; readonly starts: Uint32Array };
  /** For each start token, the id that is compared in ties, if ids decide ties. */
  readonly ranks: Int32Array;
  /** The existing tokens that a merge may spell, with their tie keys. */
  readonly specials: readonly { readonly bytes: Uint8Array; readonly key: bigint }[];
};

/**
 * Of two tie keys, the greater one wins. An id's key is this number minus the id; the keys of special tokens are above
 * this number.
 */
const middleKey = 2n ** 32n;

function tieRuleOf(options: MergeOptions): TieRule {
  const { startTokens = byteTokens } = options;
  const ties = tieOrderOf(options);
  const { count, spelling = { bytes: new Uint8Array(0), starts: new Uint32Array(count + 1) } } = startTokens;
  const known = (startTokens.known ?? []).map(({ bytes, rank }) => ({
    bytes,
    key: middleKey - BigInt(rank),
  }));
  const specials = [...known, ...specialsOf(options)];
  const places = ties === "smaller characters" || ties === "greater characters" ? alphabetOrder() : null;
  return {
    startCount: count,
    haveLongTokens: haveLongTokens(startTokens),
    comparesBytes: ties !== "smaller id",
    smallerWins: ties === "smaller characters" || ties === "smaller id",
    spelling: places ? { ...spelling, bytes: inAlphabet(spelling.bytes, places) } : spelling,
    ranks: startTokens.ranks ?? ranksOf(options),
    specials: places ? specials.map((s) => ({ ...s, bytes: inAlphabet(s.bytes, places) })) : specials,
  };
}

function ranksOf({ compat, startTokens = byteTokens }: MergeOptions): Int32Array {
  if (compat === "huggingface" && startTokens === byteTokens) return alphabetOrder();
  return Int32Array.from({ length: startTokens.count }, (_, id) => id);
}

/**
 * Returns the special tokens that a merge may spell under HF's rule, each as the bytes that HF's byte-to-character map
 * turns into its text.
 */
function specialsOf({ compat, specialTokens }: MergeOptions) {
  if (compat !== "huggingface") return [];
  const texts = [...new Set(specialTokens)];
  return texts.flatMap((text, index) => {
    const bytes = byteCharacters.decode(text);
    // The first special token has the smallest id of all, so the greatest key.
    return bytes === null ? [] : [{ bytes, key: middleKey + BigInt(texts.length - index) }];
  });
}

/** Maps bytes to their positions in the alphabet, so that they compare as the strings of their characters do. */
const inAlphabet = (bytes: Uint8Array, places: Int32Array) => bytes.map((byte) => places[byte]!);

/** Writes start tokens and the tie rule into the regions of an engine. */
function fillTieRule({ exports, memory }: kernels.Kernel, { spelling, ranks, specials }: TieRule): void {
  const { buffer } = memory;
  new Uint8Array(buffer, exports.startBytes.value >>> 0).set(spelling.bytes);
  new Uint32Array(buffer, exports.startOffsets.value >>> 0).set(spelling.starts);
  new Int32Array(buffer, exports.startRanks.value >>> 0).set(ranks);
  const entries = new Uint32Array(buffer, exports.specials.value >>> 0, 4 * specials.length);
  const allBytes = new Uint8Array(buffer, exports.specialBytes.value >>> 0);
  let start = 0;
  specials.forEach(({ bytes, key }, index) => {
    entries.set([start, bytes.length, Number(key & 0xffffffffn), Number(key >> 32n)], 4 * index);
    allBytes.set(bytes, start);
    start += bytes.length;
  });
}

const space = 0x20;
const colon = 0x3a;
/** The largest number of words in a token that is stored; a larger number is stored as this one. */
const countMax = 5;

/** Returns the facts about the words in the bytes of a token (src/kernel/merge/merge-tokens.ts). */
function wordFactsOf(bytes: Uint8Array): number {
  let count = 0;
  let hasColonAndSpace = false;
  let before = space;
  for (const byte of bytes) {
    if (byte !== space && before === space) count++;
    if (byte === space && before === colon) hasColonAndSpace = true;
    before = byte;
  }
  return (
    Math.min(count, countMax) |
    (Number(bytes[0] === space) << 3) |
    (Number(bytes.at(-1) === space) << 4) |
    (Number(bytes.at(-1) === colon) << 5) |
    (Number(hasColonAndSpace) << 6)
  );
}

/** Returns the state of a UTF-8 reader after these bytes (src/kernel/merge/whole-characters.ts). */
const characterStateOf = ({ exports }: kernels.Kernel, bytes: Uint8Array) =>
  bytes.reduce((state, byte) => exports.stateAfterByte(state, byte), exports.stateBeforeBytes());

/** Writes a byte of facts about each start token into a region of an engine. */
function fillFacts(
  { memory }: kernels.Kernel,
  region: WebAssembly.Global,
  { count, spelling }: StartTokens,
  factOf: (bytes: Uint8Array) => number,
): void {
  const facts = new Uint8Array(memory.buffer, region.value >>> 0, count);
  const { bytes, starts } = spelling!;
  for (let id = 0; id < count; id++) facts[id] = factOf(bytes.subarray(starts[id]!, starts[id + 1]!));
}

/** The engine's progress, which it yields between two slices of work. */
export type MergeProgress = { readonly phase: "layout" | "index" | "merge"; readonly mergeCount: number };

/**
 * The work that is left until the engine yields, counted in accesses, because the engine has no clock. Long loops are
 * cut into calls of at most `sliceWork`, each followed by `if (spend(budget, work)) yield budget.progress`.
 */
export type WorkBudget = { readonly sliceWork: number; workLeft: number; progress: MergeProgress };

export function createWorkBudget(sliceWork: number): WorkBudget {
  return { sliceWork, workLeft: sliceWork, progress: { phase: "layout", mergeCount: 0 } };
}

/** Subtracts `work` from what is left of the slice of work. Returns true when it is time to yield. */
export function spend(budget: WorkBudget, work: number): boolean {
  budget.workLeft -= work;
  if (budget.workLeft > 0) return false;
  budget.workLeft = budget.sliceWork;
  return true;
}

/**
 * Calls `doSome` for one slice of work at a time, until it returns 0. `workMax` is an upper bound of the work of all
 * calls, so that a short loop is not charged a whole slice.
 */
export function* inSlices(
  budget: WorkBudget,
  doSome: (work: number) => 0 | 1,
  workMax = Number.POSITIVE_INFINITY,
): Generator<MergeProgress, void> {
  let workLeft = workMax;
  for (let hasMore = true; hasMore; ) {
    hasMore = doSome(budget.sliceWork) === 1;
    const work = Math.min(budget.sliceWork, workLeft);
    workLeft -= work;
    if (spend(budget, work)) yield budget.progress;
  }
}
