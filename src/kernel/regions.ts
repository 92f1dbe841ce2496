/**
 * The regions of a counting thread's memory, by address. Sizes are sixteenths of the memory's capacity, so every region
 * can grow in place. Pages that are never written cost nothing.
 *
 *   REGION         SIXTEENTHS      WITH 4 GB   CONTENT
 *   fixed          1, less 64 KB   256 MB      the compiler's own data, arrays of fixed length (below), then permanent
 *                                              tables (`reserveFixed`)
 *   text           4, and 64 KB    1 GB        the window of text; between windows, a buffer. After counting: tables of
 *                                              a slice of the words (`layOutInText`), or the regions of a merge
 *                                              engine (merge/merge-regions.ts)
 *   short slots    2               512 MB      words/word-slots.ts
 *   middle slots   3               768 MB      words/word-slots.ts
 *   long slots     1               256 MB      words/word-slots.ts
 *   records        5               1.25 GB     words/word-slots.ts
 *
 * With 4 GB, the text region fits a window of 2^30 bytes and its padding. Its address is a multiple of 64 KB, so it is
 * aligned to a page on any machine.
 *
 * Subtle: the text may be a mapped file (src/runtime/file-window.ts), which others can change or truncate at any time.
 * So the kernel reads it only by its own loads, never by `memory.copy`, and must cope if two loads of one byte give
 * different values.
 *
 * Arrays of fixed length, in the order of their addresses. At small scale, most are shorter:
 *
 *   ARRAY          BYTES       MEANING
 *   heads          256         words/word-tables.ts; the last 8 bytes are for `keepLoads`
 *   ends           4 * 2^16    ends[0] is the start of the first pretoken, ends[i + 1] the end of pretoken i, as
 *                              offsets from `textStart`
 *   longer         4 * 1,025   indices of the pretokens of a batch that are middle or long (words/word-slots.ts)
 *   long           4 * 1,025   indices of the pretokens of a batch that are long
 *   middleKeys     16 * 1,025  the key and the first 8 bytes of each middle word of a batch
 *   middleHomes    4 * 1,025   the address of the home slot of each middle word
 *   longHashes     4 * 1,025   the hash of each long word of a batch
 *   aside          2^18        while a table grows, its slots that had wrapped around the end. For listing pairs,
 *                              words/word-records.ts uses `aside` and `listed`
 *   listed         2^18        bytes of words that are listed for JavaScript
 *   listedStarts   4 * 2^13    the start of each listed word
 *   listedCounts   8 * 2^13    the count of each listed word, f64
 */
export let headsStart: usize = 0;
export let endsStart: usize = 0;
export let longerStart: usize = 0;
export let longStart: usize = 0;
export let middleKeysStart: usize = 0;
export let middleHomesStart: usize = 0;
export let longHashesStart: usize = 0;
export let asideStart: usize = 0;
export let listedStart: usize = 0;
export let listedStartsStart: usize = 0;
export let listedCountsStart: usize = 0;

export let textStart: usize = 0;
export let shortStart: usize = 0;
export let middleStart: usize = 0;
export let longSlotsStart: usize = 0;
export let recordsStart: usize = 0;
/** The size of a sixteenth in bytes. */
export let sixteenth: usize = 0;

/**
 * The maximum number of bytes of a block: the text that one call of `scanTo` (scan/scanner.ts) scans. Each byte may add
 * one end.
 */
export const blockBytes: i32 = isSmallScale ? 16 : 1 << 14;
export const endCountMax: u32 = isSmallScale ? 256 : 1 << 16;
/**
 * The number of pretokens that are counted together: few enough for their keys to stay in the L1 cache, enough for
 * cache misses to overlap.
 */
export const batchPretokens: u32 = isSmallScale ? 16 : 1024;
export const asideBytes: usize = isSmallScale ? 1 << 12 : 1 << 18;
export const listedBytes: usize = isSmallScale ? 128 : 1 << 18;
/**
 * The maximum number of words that are listed at a time. This many short and middle words always fit into `listed`; for
 * each long word, the capacity is checked.
 */
export const listedWords: u32 = <u32>(listedBytes / 32);

const pageBytes: usize = 1 << 16;
/** A memory that grows does not extend beyond this address. */
const addressLimit: usize = 0xffff0000;
/** The end of the reserved part of the fixed region. */
export let fixedEnd: usize = 0;

/** Lays out the memory in the regions above. Must be called once, when the memory has its full size. */
export function layOut(): void {
  sixteenth = <usize>((<u64>memory.size() * pageBytes) / 16) & ~(pageBytes - 1);
  textStart = sixteenth - pageBytes;
  layOutTables(0);
  reserveArrays();
}

/**
 * Lays out the first `byteCount` bytes of the memory for one text of at most `textBytes` bytes, without tables of words:
 * the text is at their end, and all memory before it is the fixed region.
 */
export function layOutForText(textBytes: u32, byteCount: usize): void {
  shortStart = byteCount & ~(pageBytes - 1);
  textStart = (shortStart - textBytes - pageBytes) & ~(pageBytes - 1);
  reserveArrays();
}

/**
 * Lays out a second set of tables inside the text's region, which must be all zeros. The first five sixteenths of that
 * region remain for text. The first set of tables is unchanged, and other threads may read it.
 */
export function layOutInText(): void {
  sixteenth = ((shortStart - textStart) / 16) & ~(pageBytes - 1);
  layOutTables(textStart);
  headsStart = reserveFixed(256);
}

/** Lays out the regions of the tables. The regions before them take five sixteenths from `start` on. */
function layOutTables(start: usize): void {
  shortStart = start + 5 * sixteenth;
  middleStart = start + 7 * sixteenth;
  longSlotsStart = start + 10 * sixteenth;
  recordsStart = start + 11 * sixteenth;
}

function reserveArrays(): void {
  // This address is rounded up, because kernels with and without SIMD have data of different sizes, but must lay out
  // the same image.
  fixedEnd = (__heap_base + pageBytes - 1) & ~(pageBytes - 1);
  headsStart = reserveFixed(256);
  endsStart = reserveFixed(4 * endCountMax);
  longerStart = reserveFixed(4 * (batchPretokens + 1));
  longStart = reserveFixed(4 * (batchPretokens + 1));
  middleKeysStart = reserveFixed(16 * (batchPretokens + 1));
  middleHomesStart = reserveFixed(4 * (batchPretokens + 1));
  longHashesStart = reserveFixed(4 * (batchPretokens + 1));
  asideStart = reserveFixed(asideBytes);
  listedStart = reserveFixed(listedBytes);
  listedStartsStart = reserveFixed(4 * listedWords);
  listedCountsStart = reserveFixed(8 * listedWords);
}

/**
 * Reserves `byteCount` bytes of the fixed region permanently. Returns their address, a multiple of 64; 0 if the region
 * is full.
 */
export function reserveFixed(byteCount: usize): usize {
  const start = (fixedEnd + 63) & ~63;
  if (byteCount > textStart - start) return 0;
  fixedEnd = start + byteCount;
  return start;
}

/** Stores the sum of prefetched values, so that the compiler does not drop the loads. */
export function keepLoads(sum: u64): void {
  store<u64>(headsStart, sum, 248);
}

/** Returns the address of the text's region. */
export function textAddress(): usize {
  return textStart;
}

/** Returns the size of the text's region in bytes, including padding. */
export function textCapacity(): f64 {
  return <f64>(shortStart - textStart);
}

/** Returns `endsStart`, the address of the ends of pretokens. */
export function endsAddress(): usize {
  return endsStart;
}

/** Returns the maximum number of ends, `endCountMax`. */
export function endsCapacity(): u32 {
  return endCountMax;
}

/** Returns the size of this instance's memory in bytes. */
export function memoryBytes(): f64 {
  return <f64>memory.size() * 65536;
}

/**
 * The memory of a thread that encodes grows when more is needed, and has other regions:
 *
 *   REGION   CONTENT
 *   fixed    the arrays above; the model, the word cache and other tables, which are laid out once
 *   text     the text; it grows if a pretoken is longer than the region
 *   work     the ids of one call, followed by scratch memory for merging a long word. It is empty between calls, so it
 *            can move when the text's region grows
 */
let workStart: usize = 0;

/**
 * Bytes before the text that are left for the scanner's optional tables, which are built after some text was scanned
 * (src/pattern/kernel-scan.ts).
 */
const spareBytes: usize = 1 << 21;

/** Lays out a memory for encoding. Returns false if memory runs out. */
export function layOutEncoding(): bool {
  textStart = addressLimit;
  reserveArrays();
  return reserveTo(fixedEnd);
}

/** Lays out a memory with only the tables of the text module. Returns false if memory runs out. */
export function layOutTextModule(): bool {
  textStart = addressLimit;
  fixedEnd = (__heap_base + 63) & ~63;
  return reserveTo(fixedEnd);
}

/** Marks the memory before `end` as used, so that the next table follows it. */
export function keepUpTo(end: usize): void {
  fixedEnd = max(fixedEnd, end);
}

/** Marks all of the memory as used, so that the next table follows it. */
export function useWholeMemory(): void {
  fixedEnd = <usize>memory.size() * pageBytes;
}

/**
 * Reserves `byteCount` bytes of the fixed region, and grows the memory if necessary. Returns their address, a multiple
 * of 64; 0 if memory runs out.
 */
export function reserveTable(byteCount: usize): usize {
  const start = reserveFixed(byteCount);
  return start !== 0 && reserveTo(<u64>start + byteCount) ? start : 0;
}

/**
 * Reserves memory for `byteCount` bytes of text, including padding. Returns false if memory runs out. After the first
 * call, only about `spareBytes` are left for tables.
 */
export function reserveText(byteCount: u32): bool {
  if (workStart === 0) textStart = (fixedEnd + spareBytes + pageBytes - 1) & ~(pageBytes - 1);
  const end = (<u64>textStart + byteCount + 63) & ~63;
  if (!reserveTo(end)) return false;
  workStart = <usize>end;
  return true;
}

/** Returns the address of the work region. */
export function workAddress(): usize {
  return workStart;
}

/** The limit of the memory's size in bytes. */
let endMost: u64 = addressLimit;
/** The last size that was refused, or 0. */
let refusedEnd: u64 = 0;

/** Limits the growth of the memory to `byteCount` bytes from now on. */
export function limitGrowth(byteCount: f64): void {
  endMost = min(<u64>addressLimit, <u64>memory.size() * pageBytes + <u64>byteCount);
}

/** Returns the last size of the memory, in bytes, that was refused; 0 if none was. */
export function refusedBytes(): f64 {
  return <f64>refusedEnd;
}

/** Grows the memory to at least `end` bytes. Returns false if that fails. */
export function reserveTo(end: u64): bool {
  const sizeBytes = <u64>memory.size() * pageBytes;
  if (end <= sizeBytes) return true;
  if (end > endMost) {
    refusedEnd = end;
    return false;
  }
  if (memory.grow(<i32>((end - sizeBytes + pageBytes - 1) / pageBytes)) >= 0) return true;
  refusedEnd = end;
  return false;
}
