/**
 * Regions: where everything of a merge engine stands in its memory. The main thread plans them once; a thread that
 * helps plans the same from the same numbers. A region never moves: one that grows has address space for the most it
 * may need, which costs nothing until it is written. The memory is new, all zeros, and the engine relies on that. Where the words
 * stand as records, it is the region of text in the memory that they were counted in (words/word-records.ts).
 *
 *   REGION          ELEMENT      ELEMENTS                  FILE
 *   job             Job          1                         merge-threads.ts
 *   merge           Merge        1                         neighbours.ts
 *   parts           Part         partCount + 1             merge-regions.ts
 *   cells           u16 or u32   cellCount + 1             word-layout.ts
 *   weightEnds      u32          wordCount + 1             word-layout.ts
 *   weights         u64          wordCount + 1             word-layout.ts
 *   rareCells       u32          2,048 a part              word-layout.ts
 *   numbers         u32          numberCount               word-layout.ts
 *   lefts, rights   u32          tokenCapacity             merge-tokens.ts
 *   lengths, sizes  u32          tokenCapacity             merge-tokens.ts
 *   startBytes      u8           startByteCount            merge-tokens.ts
 *   startOffsets    u32          startCount + 1            merge-tokens.ts
 *   mergeCounts     f64          tokenCapacity             merge-loop.ts
 *   replacedCounts  f64          tokenCapacity             merge-loop.ts
 *   tieKeys         u64          tokenCapacity             tie-rules.ts
 *   startRanks      u32          startCount                tie-rules.ts
 *   specials        Special      specialCount              tie-rules.ts
 *   wordFacts       u8           tokenCapacity             merge-tokens.ts; where words in tokens are limited
 *   characterStates u8           tokenCapacity             whole-characters.ts; where characters stay whole
 *   specialBytes    u8           2 x specialByteCount      tie-rules.ts
 *   specialSlots    u32          specialSlotCount          tie-rules.ts
 *   stack           u32          2 x tokenCapacity         merge-tokens.ts
 *   buckets         u32          bucketCount + 1           pair-queue.ts
 *   prefixStarts    u32          tokenCapacity             merge-tokens.ts
 *   prefixBytes     u8           prefixLengthMax a token   merge-tokens.ts
 *   labels          u64          tokenCapacity             tie-rules.ts
 *   sorted, shared  u32          tokenCapacity             tie-rules.ts
 *   sums            Sum          2 x tokenCount, a part    neighbours.ts
 *   seen            u32          2 x tokenCount, a part    neighbours.ts
 *   stagedLefts     u16 or u32   cellCount                 neighbours.ts
 *   stagedRights    u16 or u32   cellCount                 neighbours.ts
 *   bytePairs       BytePair     65,536 a part             byte-pairs.ts; where there are at most 256 start tokens
 *   pairBatches     u32          512 a part                index-pairs.ts
 *   exchange        ExchangeCell tokenCount                memory-exchange.ts; where there are several memories
 *   pairs           Pair         pairCapacity              pair-table.ts
 *   slots           u32          2 x pairCapacity          pair-table.ts
 *   queue           QueueEntry   pairCapacity              pair-queue.ts
 *   nextInBucket    u32          pairCapacity              pair-queue.ts
 *   entries         u32          entryCapacityMax          occurrences.ts; the rest of the memory
 *
 * The words that are laid out stand where `entries` will be: they are read for the last time before the first entry is
 * written.
 *
 *   wordCounts      f64          wordCount                 occurrences in the corpus
 *   wordStarts      u32          wordCount + 1             offset into the table's tokens
 *   order           u32          wordCount                 word-layout.ts
 *   frequentCounts  f64          wordCount                 word-layout.ts
 *   frequentCells   u32          wordCount                 word-layout.ts
 *   wordTokens      see right    positionCount             words end to end; u8, u16 or u32, as `positionBytes` says
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
/** Tokens of the words that are laid out, and the bytes that each takes in `wordTokens`: 1, 2 or 4. */
let positionCount: u32 = 0;
export let positionBytes: u32 = 1;
export let cellCount: u32 = 0;
/** In how many memories the words lie, an engine in each; and the cells of all of them. */
export let memoryCount: u32 = 1;
/** Whether this is the first memory, which leads (memory-exchange.ts). */
export let isFirst: bool = true;
let cellCountOfAll: u64 = 0;
/** How many start tokens there are, and the bytes that they are spelled with; 0: they have none. */
export let startCount: u32 = 0;
export let startByteCount: u32 = 0;
/** Whether pairs of start tokens have dense tables (byte-pairs.ts). */
let hasBytePairs: bool = false;
/** Whether some have more bytes than one. */
let hasSizes: bool = false;
/** Whether the words in a token are limited. */
export let hasWordFacts: bool = false;
/** Whether no token joins whole characters with parts of others. */
export let hasCharacterStates: bool = false;
/** How many tokens there may be. */
export let tokenCapacity: u32 = 0;
/** What stands between two words: the id behind the last token's. */
export let boundary: u32 = 0;
/** The ids and the boundary. */
export let tokenCount: u32 = 0;
/** Whether cells are u32. */
export let isWide: bool = false;
/** Bytes of each token that are kept at hand for comparing; 0 where the rule for ties asks for no bytes. */
export let prefixLengthMax: u32 = 0;
export let specialCount: u32 = 0;
export let specialByteCount: u32 = 0;
/** A power of two. */
export let specialSlotCount: u32 = 1;
/** Into how many parts a long list is cut, one for each thread. */
export let partCount: u32 = 0;
/** A power of two. */
export let pairCapacity: u32 = 0;
export let entryCapacityMax: u32 = 0;

/** Where the first word of this memory starts in the tokens of the table. */
export let firstWordStart: u32 = 0;

/** The words to be laid out in this memory, and the cells that they take at most (word-layout.ts). */
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

/** Whether the words stand as records in the same memory. Then the regions stand behind an address. */
export let areRecords: bool = false;
let firstByte: usize = 0;
/** Whether the ids in the words are not those in the cells, and how many there may be. */
export let hasNumbers: bool = false;
let numberCount: u32 = 0;

/** Where the regions begin if the words stand as records in the same memory, or 0; how many ids have numbers. */
export function describeIds(first: usize, idLimit: u32): void {
  areRecords = first > 0;
  firstByte = first;
  hasNumbers = idLimit > 0;
  numberCount = idLimit;
}

/** The cells that they do take. */
export function setCellCount(count: u32): void {
  assert(count <= cellCount, "the words take no more cells than was said");
  cellCount = count;
}

/** How many memories there are, which of them this is, and the cells of all: the first has the pairs of all. */
export function describeMemories(count: u32, index: u32, cells: f64): void {
  memoryCount = count;
  isFirst = index === 0;
  cellCountOfAll = <u64>cells;
}

/**
 * The start tokens: how many they are, and how many bytes they have together; whether some have more than one, and whether
 * their pairs are counted in dense tables.
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

/** How many tokens there may be, how wide their ids are in the cells, and what is kept of their bytes. */
export function describeTokens(capacity: u32, areWide: bool, prefixLength: u32): void {
  tokenCapacity = capacity;
  boundary = capacity;
  tokenCount = capacity + 1;
  isWide = areWide;
  prefixLengthMax = prefixLength;
}

/** The special tokens that a merge may spell (tie-rules.ts), and how many bytes they have in all. */
export function describeSpecials(count: u32, byteCount: u32): void {
  specialCount = count;
  specialByteCount = byteCount;
  specialSlotCount = 1;
  while (specialSlotCount < 2 * count) specialSlotCount *= 2;
}

/** Whether the words in a token are limited (merge-tokens.ts), and whether characters stay whole (whole-characters.ts). */
export function describeFacts(areWordsLimited: bool, areCharactersWhole: bool): void {
  hasWordFacts = areWordsLimited;
  hasCharacterStates = areCharactersWhole;
}

const alignment: u64 = 64;
/** The smallest sketch, as a power of two (rebuild-index.ts), and the bytes of those of 8 threads. */
export const sketchBitsMin: u32 = 4;
const sketchesMin: u64 = (8 * sizeof<u32>()) << sketchBitsMin;
export const bytePairCount: u32 = 1 << 16;
/** The first index adds a record for each pair of bytes, and relies on the room for them (first-index.ts). */
const pairCapacityMin: u64 = 2 * bytePairCount;
/** Words that occur more rarely have a place for each count, in each part of the words (word-layout.ts). */
export const rareCountEnd: u32 = isSmallScale ? 3 : 2048;
/** Cells whose pairs are looked up together, and the bytes of each (index-pairs.ts). */
export const batchCells: u32 = isSmallScale ? 3 : 128;
export const batchEntryBytes: usize = 16;
export const batchBytes: usize = <usize>batchCells * batchEntryBytes;
/** With fewer records than one for so many cells the engine does not begin: English took one for 360. */
const cellsPerPairMax: u64 = 128;
/** Of a cell. With fewer the engine does not begin. */
const entriesMin: f64 = 1.25;
/** Of a cell. More are never needed: a cleaned arena has one at most, and the pairs that are created two at most. */
const entriesMax: u64 = 3;

/** The first address that has no region yet. */
let end: u64 = 0;

/**
 * Gives every region its place in a memory of at most `capacityBytes`; `threadCount` threads will walk long lists.
 * The result is the bytes that the memory must have, or 0 if the engine does not fit.
 */
export function planRegions(threadCount: u32, capacityBytes: f64): f64 {
  partCount = threadCount;
  const capacity = <u64>capacityBytes;
  placeFixedRegions();
  const leastBytes = max(<u64>(entriesMin * <f64>cellCount) * sizeof<u32>(), wordRegionBytes()) + alignment;
  // A merge takes one cell away for each occurrence, and two pairs at most are created of it.
  let leastPairCount = pairCapacityMin;
  while (leastPairCount < cellCountOfAll / cellsPerPairMax) leastPairCount *= 2;
  let pairCount = leastPairCount;
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

/** The regions whose size is certain. Where they do not fit their addresses are meaningless, and `end` tells. */
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
 * Records: the elements of the regions that have several fields (merge-regions.ts). A record is read and written in its
 * place in the memory; none is ever made or freed. Who uses it, and how, is said in the file that the region names.
 */

/** A pair of bytes while the first index is made (byte-pairs.ts). */
@unmanaged
export class BytePair {
  /** Weight of all its occurrences in the part; a Float64, which does not wrap where it is no longer exact. */
  weight: f64;
  /** How many occurrences that are. */
  count: u32;
  /** Where the next of them goes in the arena, or `noStart`. */
  start: u32;
}

/** A pair that can still win (pair-table.ts). */
@unmanaged
export class Pair {
  /** Token ids of the halves. */
  left: u32;
  right: u32;
  /** Occurrences now, weighted; 0: merged, gone or forgotten. */
  count: u64;
  /** `count` when the list was written: their ratio says how stale it is. */
  listCount: u64;
  /** Where its list stands in the arena (occurrences.ts), and how many entries that has, stale ones included. */
  listStart: u32;
  listLength: u32;
}

/** Enough for counts of 64 bits (pair-queue.ts). */
export const bucketCount: u32 = 59 * 64;

/** An element of the heap (pair-queue.ts). */
@unmanaged
export class QueueEntry {
  /** Count of the pair when the entry was written. */
  count: u64;
  /** The pair's record. */
  pair: u32;
}

/** Bytes of an entry, with what aligns the next one. */
export const queueEntryBytes: usize = 16;

/** What stands on one side of the token in work, summed up by token id (neighbours.ts). */
@unmanaged
export class Sum {
  weight: u64;
  /** Occurrences. */
  count: u32;
  /** Where the next occurrence of the pair created goes in the arena, or `noSlot`. */
  slot: u32;
}

/** A merge in work: tokens `left` and `right` become `id` wherever they stand together. */
@unmanaged
export class Merge {
  left: u32;
  right: u32;
  id: u32;
  leftLength: u32;
  rightLength: u32;
  /** Where the list of occurrences begins in the arena. */
  listStart: u32;
  /** Occurrences looked at together. */
  blockSize: u32;
}

/**
 * Part: a piece of the work that is done at once, and how far it is. A list of occurrences, or the text, is one part or
 * is cut into several, one for each thread. Whoever works at a part is the only one that writes it.
 *
 *   FIELD            UNIT       MEANING
 *   state            see below  atomic: who may work at it (merge-threads.ts)
 *   start, end       entries    of the list, counted from its first one; or cells of the text
 *   next             the same   what is next
 *   step             steps      the weight step that the walk has come to (word-layout.ts)
 *   stagedCount      entries    occurrences merged (neighbours.ts)
 *   writtenCount     entries    of those, how many have been written into the lists of the pairs that were created
 *   leftSeenCount    tokens     distinct left neighbours
 *   rightSeenCount   tokens     distinct right neighbours
 *   hasMore          bool       whether something is left of the work in hand
 *   touched          none       keeps the loads ahead of their use from being optimised away
 *   countSlots       slots      home slots of its table of pairs (index-pairs.ts)
 *   countedPairs     pairs      in that table
 *   isFull           bool       1 if there is no room for that table
 *   voidWeight       weight     of the right neighbours that were themselves merged a moment later: "xyxy"
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

/** Bytes from one part to the next: two cache lines, since neighbours are written by different threads. */
export const partStride: usize = 128;

/**
 * The work that threads do together (merge-threads.ts).
 *
 *   FIELD      MEANING
 *   turn       atomic: counts up with each work; a helper waits for it to change
 *   sleepers   atomic: helpers that have to be woken
 *   isOver     atomic: 1 when helpers shall end
 *   kind       which work (Work)
 *   share      how much of each part: entries or cells
 *   partCount  parts in work
 *   stepCount  weight steps (word-layout.ts)
 *   sketchBits   log2 of the cells of the sketch (index-pairs.ts)
 *   areSingle    1 if every token covers one cell
 *   walkCount    parts that the text is cut into
 *   cursorSlots  slots of a table of cursors
 *   helped     atomic: parts that helpers have done
 *   hasFailed  1 if a helper ended in the middle of a part
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

/** A token that exists already and that a merge may spell (tie-rules.ts): a special token, or one of a base. */
@unmanaged
export class Special {
  /** Its bytes are specialBytes[start .. start + length). */
  start: u32;
  length: u32;
  /** The tie key of the token that spells it. */
  key: u64;
}

/** What one memory tells another (memory-exchange.ts). */
@unmanaged
export class ExchangeCell {
  /** A weight or a count, a whole number below 2^53. */
  weight: f64;
  /** A neighbour, or the left half of a pair. */
  token: u32;
  /** The right half of a pair. */
  right: u32;
}
