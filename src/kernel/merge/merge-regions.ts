/**
 * Regions: the memory layout of a merge engine. The main thread plans them once; helper threads plan the same layout
 * from the same numbers. Regions never move: each has address space for its maximum size, which costs nothing until it
 * is written. The engine relies on regions that are all zeros at first. They may be in the text region of a memory in
 * which words were counted (regions.ts); if the words are records, they are in the memory that has the records
 * (words/word-records.ts).
 *
 *   REGION          ELEMENT      ELEMENTS                  FILE
 *   job             Job          1                         merge-threads.ts
 *   merge           Merge        1                         merge-pair.ts
 *   parts           Part         partCount + 1             merge-regions.ts
 *   cells           u16 or u32   cellCount + 1             word-layout.ts
 *   weightEnds      u32          wordCount + 1             word-layout.ts
 *   weights         u64          wordCount + 1             word-layout.ts
 *   rareCells       u32          rareCountEnd a part       word-layout.ts
 *   numbers         u32          numberCount               word-layout.ts
 *   lefts, rights   u32          tokenCapacity             merge-tokens.ts
 *   lengths, sizes  u32          tokenCapacity             merge-tokens.ts
 *   startBytes      u8           startByteCount            merge-tokens.ts
 *   startOffsets    u32          startCount + 1            merge-tokens.ts
 *   mergeCounts     f64          tokenCapacity             merge-loop.ts
 *   replacedCounts  f64          tokenCapacity             merge-loop.ts
 *   tieKeys         u64          tokenCapacity             tie-rules.ts
 *   startRanks      i32          startCount                tie-rules.ts
 *   specials        Special      specialCount              tie-rules.ts
 *   wordFacts       u8           tokenCapacity             merge-tokens.ts; if words in tokens are limited
 *   characterStates u8           tokenCapacity             whole-characters.ts; if characters stay whole
 *   specialBytes    u8           2 x specialByteCount      tie-rules.ts
 *   specialSlots    u32          specialSlotCount          tie-rules.ts
 *   stack           u32          2 x tokenCapacity         merge-tokens.ts
 *   buckets         u32          bucketCount + 1           pair-queue.ts
 *   prefixStarts    u32          tokenCapacity             merge-tokens.ts; if prefixes are stored
 *   prefixBytes     u8           prefixLengthMax a token   merge-tokens.ts; likewise
 *   labels          u64          tokenCapacity             tie-rules.ts; likewise
 *   sorted, shared  u32          tokenCapacity             tie-rules.ts; likewise
 *   sums            Sum          2 x tokenCount, a part    neighbours.ts
 *   seen            u32          2 x tokenCount, a part    neighbours.ts
 *   stagedLefts     u16 or u32   cellCount                 neighbours.ts
 *   stagedRights    u16 or u32   cellCount                 neighbours.ts
 *   bytePairs       BytePair     65,536 a part             byte-pairs.ts; if pairs are counted in dense tables
 *   halves          u8           512 a part                byte-pairs.ts; likewise
 *   rightHalves     u8           256                       first-index.ts; likewise
 *   indexedKeys     u16          65,536                    first-index.ts; likewise
 *   pairBatches     u32          4 x batchCells a part     index-pairs.ts
 *   exchange        ExchangeCell tokenCount                memory-exchange.ts; if there are several memories
 *   pairs           Pair         pairCapacity              pair-table.ts
 *   slots           u32          2 x pairCapacity          pair-table.ts
 *   queue           QueueEntry   pairCapacity              pair-queue.ts
 *   nextInBucket    u32          pairCapacity              pair-queue.ts
 *   entries         u32          entryCapacityMax          occurrences.ts; the rest of the memory
 *
 * Until the first entry is written, the region of `entries` has the arrays from which the words are laid out:
 *
 *   wordCounts      f64          wordCount                 occurrences in the corpus
 *   wordStarts      u32          wordCount + 1             offset of each word in the tokens of all words
 *   order           u32          wordCount                 word-layout.ts
 *   frequentCounts  f64          wordCount                 word-layout.ts
 *   frequentCells   u32          wordCount                 word-layout.ts
 *   wordTokens      see right    positionCount             concatenated words; u8, u16 or u32, by `positionBytes`
 */
export let job: usize = 0;
export let merge: usize = 0;
export let parts: usize = 0;
export let cells: usize = 0;
export let weightEnds: usize = 0;
export let weights: usize = 0;
export let rareCells: usize = 0;
export let numbers: usize = 0;
export let lefts: usize = 0;
export let rights: usize = 0;
export let lengths: usize = 0;
export let sizes: usize = 0;
export let startBytes: usize = 0;
export let startOffsets: usize = 0;
export let mergeCounts: usize = 0;
export let replacedCounts: usize = 0;
export let tieKeys: usize = 0;
export let startRanks: usize = 0;
export let specials: usize = 0;
export let wordFacts: usize = 0;
export let characterStates: usize = 0;
export let specialBytes: usize = 0;
export let specialSlots: usize = 0;
export let stack: usize = 0;
export let prefixStarts: usize = 0;
export let prefixBytes: usize = 0;
export let labels: usize = 0;
export let sorted: usize = 0;
export let shared: usize = 0;
export let sums: usize = 0;
export let seen: usize = 0;
export let stagedLefts: usize = 0;
export let stagedRights: usize = 0;
export let bytePairs: usize = 0;
export let halves: usize = 0;
export let rightHalves: usize = 0;
export let indexedKeys: usize = 0;
export let pairBatches: usize = 0;
export let exchange: usize = 0;
export let pairs: usize = 0;
export let slots: usize = 0;
export let queue: usize = 0;
export let buckets: usize = 0;
export let nextInBucket: usize = 0;
export let entries: usize = 0;
export let wordCounts: usize = 0;
export let wordStarts: usize = 0;
export let order: usize = 0;
export let frequentCounts: usize = 0;
export let frequentCells: usize = 0;
export let wordTokens: usize = 0;

export let wordCount: u32 = 0;
/** The number of tokens in all words to lay out. */
let positionCount: u32 = 0;
/** The size in bytes of a token in `wordTokens`: 1, 2 or 4. */
export let positionBytes: u32 = 1;
export let cellCount: u32 = 0;
/** The number of memories that contain words. Each memory has its own engine. */
export let memoryCount: u32 = 1;
/** Whether this is the first memory, whose engine chooses the pairs to merge (memory-exchange.ts). */
export let isFirst: bool = true;
let cellCountOfAll: u64 = 0;
/** The number of start tokens. */
export let startCount: u32 = 0;
/** The total number of bytes of the start tokens. */
export let startByteCount: u32 = 0;
/** Whether pairs of start tokens have dense tables (byte-pairs.ts). */
let hasBytePairs: bool = false;
/** Whether some start token has several bytes. */
let hasSizes: bool = false;
/** Whether the number of words in a token is limited. */
export let hasWordFacts: bool = false;
/** Whether tokens must not join whole characters with parts of other characters (whole-characters.ts). */
export let hasCharacterStates: bool = false;
/** The maximum number of tokens. */
export let tokenCapacity: u32 = 0;
/** The content of the cells before, between and after the words: a number above every token's id. */
export let boundary: u32 = 0;
/** The number of values that a cell can have: `tokenCapacity` ids, and the boundary. */
export let tokenCount: u32 = 0;
/** Whether cells are u32. */
export let isWide: bool = false;
/**
 * The maximum length in bytes of the stored prefix of a token; 0 if the tie rule does not compare bytes, or if this is
 * not the first memory.
 */
export let prefixLengthMax: u32 = 0;
export let specialCount: u32 = 0;
export let specialByteCount: u32 = 0;
/** The number of slots in `specialSlots`: a power of two. */
export let specialSlotCount: u32 = 1;
/** The maximum number of parts of a list or of the text: one for each thread. */
export let partCount: u32 = 0;
/** The maximum number of pair records: a power of two. */
export let pairCapacity: u32 = 0;
export let entryCapacityMax: u32 = 0;

/** The offset of this memory's first word in the tokens of all words. */
export let firstWordStart: u32 = 0;

/**
 * Describes the words to lay out in this memory. `firstStart` is the offset of the first of them in the tokens of all
 * words. `positions` is the number of tokens in these words, and `cells` the maximum number of cells that they take
 * (word-layout.ts).
 */
export function describeWords(
  count: u32,
  firstStart: u32,
  positions: u32,
  bytesOfPosition: u32,
  cells: u32,
): void {
  wordCount = count;
  firstWordStart = firstStart;
  positionCount = positions;
  positionBytes = bytesOfPosition;
  cellCount = cells;
}

/** Whether the words are records in this memory (words/word-records.ts). */
export let areRecords: bool = false;
/** The address where the regions begin, if the memory has other data before them; otherwise 0. */
let firstByte: usize = 0;
/** Whether `numbers` maps the ids in the words to the start tokens in the cells. */
export let hasNumbers: bool = false;
/** The number of ids that `numbers` maps. */
let numberCount: u32 = 0;

/**
 * Describes where the regions begin, whether the words are records in this memory, and what their ids mean. `idLimit`
 * is the number of ids that `numbers` maps to start tokens; 0 if the ids are start tokens.
 */
export function describeIds(first: usize, isOfRecords: bool, idLimit: u32): void {
  firstByte = first;
  areRecords = isOfRecords;
  hasNumbers = idLimit > 0;
  numberCount = idLimit;
}

/** Sets the actual number of cells, which must not exceed the maximum that was described. */
export function setCellCount(count: u32): void {
  assert(count <= cellCount, "the words take no more cells than was said");
  cellCount = count;
}

/** Sets the number of memories, the index of this one, and the number of cells in all of them. */
export function describeMemories(count: u32, index: u32, cells: f64): void {
  memoryCount = count;
  isFirst = index === 0;
  cellCountOfAll = <u64>cells;
}

/**
 * Describes the start tokens: their number; the total number of their bytes; whether some have several bytes; and
 * whether their pairs are counted in dense tables.
 */
export function describeStartTokens(
  count: u32,
  byteCount: u32,
  haveLongTokens: bool,
  countsDensely: bool,
): void {
  startCount = count;
  startByteCount = byteCount;
  hasSizes = haveLongTokens;
  hasBytePairs = countsDensely;
}

/** Sets the maximum number of tokens, whether cells have 32 bits, and the length of the stored prefixes in bytes. */
export function describeTokens(capacity: u32, areWide: bool, prefixLength: u32): void {
  tokenCapacity = capacity;
  boundary = capacity;
  tokenCount = capacity + 1;
  isWide = areWide;
  prefixLengthMax = prefixLength;
}

/** Sets the number of existing tokens that a merge may spell (tie-rules.ts), and the total number of their bytes. */
export function describeSpecials(count: u32, byteCount: u32): void {
  specialCount = count;
  specialByteCount = byteCount;
  specialSlotCount = 1;
  while (specialSlotCount < 2 * count) specialSlotCount *= 2;
}

export function describeFacts(areWordsLimited: bool, areCharactersWhole: bool): void {
  hasWordFacts = areWordsLimited;
  hasCharacterStates = areCharactersWhole;
}

const alignment: u64 = 64;
/** The log2 of the smallest number of cells of a sketch (rebuild-index.ts). */
export const sketchBitsMin: u32 = 4;
/** The number of bytes of 8 sketches of the smallest size. Each thread has a sketch, and at most 8 threads merge. */
const sketchesMin: u64 = (8 * sizeof<u32>()) << sketchBitsMin;
export const bytePairCount: u32 = 1 << 16;
export const halvesBytes: u32 = 512;
/**
 * The minimum number of pair records. The first index may add one for each pair of 256 start tokens, and does not check
 * for space (first-index.ts).
 */
const pairCapacityMin: u64 = 2 * bytePairCount;
/**
 * Counts below this are rare: `rareCells` has an element for each of them in each part of the words (word-layout.ts).
 */
export const rareCountEnd: u32 = isSmallScale ? 3 : 2048;
/** The number of cells whose pairs are looked up together (index-pairs.ts). */
export const batchCells: u32 = isSmallScale ? 3 : 128;
/** The size in bytes of an entry of a batch. */
export const batchEntryBytes: usize = 16;
export const batchBytes: usize = <usize>batchCells * batchEntryBytes;
/** There must be memory for at least one pair record per this many cells. English text used only one per 360. */
const cellsPerPairMax: u64 = 128;
/** The minimum number of entries per cell with which the engine begins. */
const entriesMin: f64 = 1.25;
/**
 * The maximum number of entries per cell. More are never needed, because the cleaned lists have at most one entry per
 * cell, and the lists that one merge creates have at most two.
 */
const entriesMax: u64 = 3;

/** The end of the regions that have been placed so far. */
let end: u64 = 0;

/**
 * Lays out all regions in a memory of at most `capacityBytes`, for `threadCount` threads that walk long lists. Returns
 * the required size of the memory in bytes, or 0 if the engine does not fit.
 */
export function planRegions(threadCount: u32, capacityBytes: f64): f64 {
  partCount = threadCount;
  const capacity = <u64>capacityBytes;
  placeFixedRegions();
  const leastBytes = max(<u64>(entriesMin * <f64>cellCount) * sizeof<u32>(), wordRegionBytes()) + alignment;
  let leastPairCount = pairCapacityMin;
  while (leastPairCount < cellCountOfAll / cellsPerPairMax) leastPairCount *= 2;
  let pairCount = leastPairCount;
  // Merges create at most 2 * cellCountOfAll pairs: there are at most as many tokens as cells, each merged occurrence
  // replaces two tokens by one, and it creates at most two pairs.
  while (pairCount < 2 * cellCountOfAll + bytePairCount) pairCount *= 2;
  while (pairCount > leastPairCount && end + pairRegionBytes(pairCount) + leastBytes > capacity)
    pairCount /= 2;
  if (end + pairRegionBytes(pairCount) + leastBytes > capacity) return 0;
  pairCapacity = <u32>pairCount;
  pairs = place(pairCount * offsetof<Pair>());
  slots = place(pairCount * 2 * sizeof<u32>());
  queue = place(pairCount * queueEntryBytes);
  nextInBucket = place(pairCount * sizeof<u32>());
  const wantedBytes = max(entriesMax * (<u64>cellCount + 1) * sizeof<u32>(), wordRegionBytes());
  const entryBytes = min(wantedBytes, capacity - end);
  entryCapacityMax = <u32>(entryBytes / sizeof<u32>());
  placeWordRegions();
  entries = place(entryBytes);
  return <f64>min(end, capacity);
}

function pairRegionBytes(pairCount: u64): u64 {
  return pairCount * (offsetof<Pair>() + 3 * sizeof<u32>() + queueEntryBytes);
}

/**
 * Lays out the regions whose sizes do not depend on the capacity. If they do not fit, their addresses are meaningless,
 * and `end` exceeds the capacity.
 */
function placeFixedRegions(): void {
  const cellBytes: u64 = isWide ? sizeof<u32>() : sizeof<u16>();
  const idBytes = <u64>tokenCapacity * sizeof<u32>();
  end = (max(<u64>firstByte, <u64>__heap_base) + alignment - 1) & ~(alignment - 1);
  job = place(offsetof<Job>());
  merge = place(offsetof<Merge>());
  parts = place((<u64>partCount + 1) * partStride);
  cells = place((<u64>cellCount + 1) * cellBytes);
  weightEnds = place((<u64>wordCount + 1) * sizeof<u32>());
  weights = place((<u64>wordCount + 1) * sizeof<u64>());
  rareCells = place(<u64>partCount * rareCountEnd * sizeof<u32>());
  numbers = place(<u64>numberCount * sizeof<u32>());
  lefts = place(idBytes);
  rights = place(idBytes);
  lengths = place(idBytes);
  sizes = hasSizes ? place(idBytes) : lengths;
  startBytes = place(startByteCount);
  startOffsets = place((<u64>startCount + 1) * sizeof<u32>());
  mergeCounts = place(<u64>tokenCapacity * sizeof<f64>());
  replacedCounts = place(<u64>tokenCapacity * sizeof<f64>());
  tieKeys = place(<u64>tokenCapacity * sizeof<u64>());
  startRanks = place(<u64>startCount * sizeof<u32>());
  specials = place(<u64>specialCount * offsetof<Special>());
  specialBytes = place(2 * <u64>specialByteCount);
  specialSlots = place(<u64>specialSlotCount * sizeof<u32>());
  wordFacts = place(hasWordFacts ? tokenCapacity : 0);
  characterStates = place(hasCharacterStates ? tokenCapacity : 0);
  stack = place(2 * idBytes);
  buckets = place((bucketCount + 1) * sizeof<u32>());
  if (prefixLengthMax > 0) {
    prefixStarts = place(idBytes);
    prefixBytes = place(<u64>tokenCapacity * prefixLengthMax);
    labels = place(<u64>tokenCapacity * sizeof<u64>());
    sorted = place(idBytes);
    shared = place(idBytes);
  }
  sums = place(<u64>partCount * 2 * tokenCount * offsetof<Sum>());
  seen = place(<u64>partCount * 2 * tokenCount * sizeof<u32>());
  stagedLefts = place(<u64>cellCount * cellBytes);
  stagedRights = place(<u64>cellCount * cellBytes);
  bytePairs = place(hasBytePairs ? <u64>partCount * bytePairCount * offsetof<BytePair>() : 0);
  halves = place(hasBytePairs ? partCount * halvesBytes : 0);
  rightHalves = place(hasBytePairs ? 256 : 0);
  indexedKeys = place(hasBytePairs ? bytePairCount * sizeof<u16>() : 0);
  pairBatches = place(<u64>partCount * batchBytes);
  exchange = place(memoryCount > 1 ? <u64>tokenCount * offsetof<ExchangeCell>() : 0);
}

function wordRegionBytes(): u64 {
  const bytesOfWord = 2 * sizeof<f64>() + 3 * sizeof<u32>();
  return <u64>wordCount * bytesOfWord + <u64>positionCount * positionBytes + 6 * alignment + sketchesMin;
}

function placeWordRegions(): void {
  const entriesAddress = end;
  wordCounts = place(<u64>wordCount * sizeof<f64>());
  wordStarts = place((<u64>wordCount + 1) * sizeof<u32>());
  order = place(<u64>wordCount * sizeof<u32>());
  frequentCounts = place(<u64>wordCount * sizeof<f64>());
  frequentCells = place(<u64>wordCount * sizeof<u32>());
  wordTokens = place(<u64>positionCount * positionBytes);
  end = entriesAddress;
}

function place(byteCount: u64): usize {
  const address = end;
  end = (end + byteCount + alignment - 1) & ~(alignment - 1);
  return <usize>address;
}

/**
 * Records: elements that have several fields. They are read and written in their regions; none is allocated or freed.
 */

/** A pair of start tokens while the first index is made (byte-pairs.ts). */
@unmanaged
export class BytePair {
  /**
   * The total weight of its occurrences in the part. It is a Float64, which becomes inexact instead of wrapping around.
   */
  weight: f64;
  /** The number of its occurrences in the part. */
  count: u32;
  /** The index in the arena (`entries`) where its next occurrence is written, or `noStart`. */
  start: u32;
}

/** The record of a pair (pair-table.ts). */
@unmanaged
export class Pair {
  /** Token ids of the halves. */
  left: u32;
  right: u32;
  /**
   * The current weight of its occurrences; 0 if it was merged, no longer occurs, or was dropped. Of several memories,
   * only the first keeps it up to date (memory-exchange.ts).
   */
  count: u64;
  /**
   * The value of `count` when the list was written or last cleaned. The further `count` has fallen since then, the more
   * entries of the list are stale.
   */
  listCount: u64;
  /** The start of its list in the arena (occurrences.ts). */
  listStart: u32;
  /** The number of entries in the list, including stale ones. */
  listLength: u32;
}

/** The number of buckets: enough for counts of 64 bits (pair-queue.ts). */
export const bucketCount: u32 = 59 * 64;

/** An element of the heap (pair-queue.ts). */
@unmanaged
export class QueueEntry {
  /** The pair's count when the entry was written. */
  count: u64;
  /** The index of the pair's record. */
  pair: u32;
}

/** The size of an entry, with the padding that aligns the next one. */
export const queueEntryBytes: usize = 16;

/** The sum for a neighbour on one side of the merged token (neighbours.ts). */
@unmanaged
export class Sum {
  weight: u64;
  /** The number of occurrences next to this neighbour. */
  count: u32;
  /**
   * The index in the arena where the next occurrence of the created pair is written; `noSlot` if no pair was created.
   * It may be `isListed` while the sums of several parts or memories are added up (merge-pair.ts).
   */
  slot: u32;
}

/** The current merge: tokens `left` and `right` become `id` wherever they are adjacent. */
@unmanaged
export class Merge {
  left: u32;
  right: u32;
  id: u32;
  leftLength: u32;
  rightLength: u32;
  /** The start of the list of occurrences in the arena. */
  listStart: u32;
  /** The number of occurrences that are processed together. */
  blockSize: u32;
}

/**
 * Part: a piece of parallel work, and its progress. The work is a list of occurrences, the text, or, during layout, the
 * words. It is cut into at most one part for each thread. During layout, the frequent words are another part
 * (lay-out-words.ts).
 *
 *   FIELD            UNIT       MEANING
 *   state            State      atomic: which thread may work on it (merge-threads.ts)
 *   start, end       entries    indices in the list; or cells of the text; or words (word-layout.ts)
 *   next             likewise   the next entry, cell or word
 *   step             steps      the current weight step of the walk (word-layout.ts)
 *   stagedCount      entries    merged occurrences that were staged (neighbours.ts)
 *   writtenCount     entries    staged occurrences that were written to the lists of created pairs; during layout,
 *                               tokens of the next word that were written
 *   leftSeenCount    tokens     distinct left neighbours
 *   rightSeenCount   tokens     distinct right neighbours
 *   hasMore          bool       whether work of the current kind is left
 *   touched          none       keeps prefetching loads from being optimized away
 *   countSlots       slots      home slots of its table of counts (index-pairs.ts)
 *   countedPairs     pairs      pairs in its table of counts
 *   isFull           bool       1 if its table of counts cannot grow any more
 *   voidWeight       weight     weight of right neighbours that begin the next merged occurrence, as in "xyxy"
 */
@unmanaged
export class Part {
  state: u32;
  start: u32;
  end: u32;
  next: u32;
  step: u32;
  stagedCount: u32;
  writtenCount: u32;
  leftSeenCount: u32;
  rightSeenCount: u32;
  hasMore: u32;
  touched: u32;
  countSlots: u32;
  countedPairs: u32;
  isFull: u32;
  voidWeight: u64;
}

/** The distance between parts in bytes: two cache lines, because different threads write adjacent parts. */
export const partStride: usize = 128;

/**
 * The shared work of threads (merge-threads.ts).
 *
 *   FIELD        MEANING
 *   turn         atomic: incremented when parts are opened, and at the end; helpers wait for it to change
 *   sleepers     atomic: the number of helpers that sleep
 *   isOver       atomic: 1 when helpers must end
 *   kind         the kind of work (Work)
 *   share        the amount of work for each part: entries or cells
 *   partCount    the number of parts
 *   stepCount    the number of weight steps (word-layout.ts)
 *   sketchBits   log2 of the number of cells of the sketch (index-pairs.ts)
 *   areSingle    1 if every token covers one cell
 *   walkCount    the number of parts that the text is cut into
 *   cursorSlots  the number of slots of a table of cursors
 *   helped       atomic: how often helpers have worked on a part
 *   hasFailed    1 if a helper ended in the middle of a part
 */
@unmanaged
export class Job {
  turn: i32;
  sleepers: u32;
  isOver: u32;
  kind: u32;
  share: u32;
  partCount: u32;
  stepCount: u32;
  sketchBits: u32;
  areSingle: u32;
  walkCount: u32;
  cursorSlots: u32;
  helped: u32;
  hasFailed: u32;
}

/** An existing token that a merge may spell (tie-rules.ts): a special token, or one of a base. */
@unmanaged
export class Special {
  /** Its bytes are specialBytes[start .. start + length). */
  start: u32;
  length: u32;
  /** The tie key of a token that spells it, if ids decide ties. */
  key: u64;
}

/** A value that memories exchange (memory-exchange.ts). */
@unmanaged
export class ExchangeCell {
  /** A weight or a count, a whole number below 2^53. */
  weight: f64;
  /** A neighbour, or the left half of a pair. */
  token: u32;
  /** The right half of a pair. */
  right: u32;
}
