/**
 * Regions of a counting thread's memory, by their addresses. Sizes are sixteenths of the memory's capacity, so that all
 * regions grow in place; pages that were never written cost nothing.
 *
 *   REGION         SIXTEENTHS      WITH 4 GB   CONTENT
 *   fixed          1, less 64 KB   256 MB      the compiler's own data, the heads of the tables, arrays of fixed length
 *                                              (below), then permanent tables (`reserveFixed`)
 *   text           4, and 64 KB    1 GB        the window of text; a buffer while no text is counted; at the end the regions
 *                                              of a merge engine (merge/merge-regions.ts), for superwords
 *   short slots    2               512 MB      words/word-slots.ts
 *   middle slots   3               768 MB      words/word-slots.ts
 *   long slots     1               256 MB      words/word-slots.ts
 *   records        5               1.25 GB     words/word-slots.ts
 *
 * The text has room for a window of 2^30 bytes and its padding. Its address is a multiple of 64 KB: a page of memory, on
 * any machine.
 *
 * Subtle: a file may be mapped to the text (src/runtime/file-window.ts) and be truncated at any time. So the text is read by
 * loads of the kernel's own code, never by `memory.copy`, and two loads of the same byte may give different values.
 *
 * Arrays of fixed length, in the order of their addresses:
 *
 *   ARRAY          BYTES       MEANING
 *   heads          256         words/word-tables.ts; the last 8 bytes: `keepLoads`
 *   ends           4 * 2^16    ends[0] is the start of the first pretoken, ends[i + 1] the end of pretoken i, as offsets from
 *                              `textStart`
 *   longer, long   4 * 1,025   indices of the pretokens of a batch that are not short, and of those that are long
 *   middleKeys     16 * 1,025  the two keys of each middle word of a batch
 *   middleHomes    4 * 1,025   the address of each one's home slot
 *   longHashes     4 * 1,025   the hash of each long word of a batch
 *   aside          2^18        slots that had wrapped around the end of a table, while it grows
 *   listed         2^18        bytes of words that are listed for JavaScript
 *   listedStarts   4 * 2^13    the start of each
 *   listedCounts   8 * 2^13    the count of each, a float
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
 * The maximum number of bytes that are scanned before ends are processed. Each may settle an end, in addition to the
 * slots.
 */
export const blockBytes: i32 = isSmallScale ? 16 : 1 << 14;
export const endCountMax: u32 = isSmallScale ? 256 : 1 << 16;
/** Pretokens counted together: few enough that their keys stay in the L1 cache, enough for cache misses to overlap. */
export const batchPretokens: u32 = isSmallScale ? 16 : 1024;
export const asideBytes: usize = isSmallScale ? 1 << 12 : 1 << 18;
export const listedBytes: usize = isSmallScale ? 128 : 1 << 18;
/** Short and middle words have at most 15 bytes, so this many fit; a longer one is checked before. */
export const listedWords: u32 = <u32>(listedBytes / 32);

const pageBytes: usize = 1 << 16;
/** The end of all regions. */
const addressLimit: usize = 0xffff0000;
/** The end of the reserved part of the fixed region. */
export let fixedEnd: usize = 0;

/** Lays out the memory. Every instance calls it first, when the memory has its full size. */
export function layOut(): void {
  sixteenth = <usize>((<u64>memory.size() * pageBytes) / 16) & ~(pageBytes - 1);
  textStart = sixteenth - pageBytes;
  layOutTables(0);
  reserveArrays();
}

/**
 * Lays out a memory for one text of at most `textBytes`, without tables of words: the text is at the end, all else is
 * fixed.
 */
export function layOutForText(textBytes: u32): void {
  shortStart = <usize>memory.size() * pageBytes;
  textStart = (shortStart - textBytes - pageBytes) & ~(pageBytes - 1);
  reserveArrays();
}

/**
 * Lays out a second set of tables inside the text's region, which must be all zeros: sixteenths are those of that region, and its
 * first five are the text. The previous tables are unchanged, for other threads to read.
 */
export function layOutInText(): void {
  sixteenth = ((shortStart - textStart) / 16) & ~(pageBytes - 1);
  layOutTables(textStart);
  headsStart = reserveFixed(256);
}

/** Lays out the regions of the tables, in sixteenths from `start` on. */
function layOutTables(start: usize): void {
  shortStart = start + 5 * sixteenth;
  middleStart = start + 7 * sixteenth;
  longSlotsStart = start + 10 * sixteenth;
  recordsStart = start + 11 * sixteenth;
}

function reserveArrays(): void {
  // Rounded up, because kernels with and without SIMD have data of different sizes, but must lay out the same image.
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

/** Reserves `byteCount` bytes permanently and returns their address, a multiple of 64; 0 if there is no room. */
export function reserveFixed(byteCount: usize): usize {
  const start = (fixedEnd + 63) & ~63;
  if (byteCount > textStart - start) return 0;
  fixedEnd = start + byteCount;
  return start;
}

/** Stores the sum of prefetched values, so that the compiler keeps the loads. */
export function keepLoads(sum: u64): void {
  store<u64>(headsStart, sum, 248);
}

/** The address of the text. */
export function textAddress(): usize {
  return textStart;
}

/** The size of the text's region in bytes, including padding. */
export function textCapacity(): f64 {
  return <f64>(shortStart - textStart);
}

/** The address of the ends. */
export function endsAddress(): usize {
  return endsStart;
}

/** The maximum number of ends. */
export function endsCapacity(): u32 {
  return endCountMax;
}

/** The size of this instance's memory in bytes. */
export function memoryBytes(): f64 {
  return <f64>memory.size() * 65536;
}

/**
 * The memory of a thread that encodes has other regions. It grows when more is needed:
 *
 *   REGION   CONTENT
 *   fixed    the arrays above; the model, the word cache and other tables, which are laid out once
 *   text     the text; the region grows if a pretoken is longer than it
 *   work     the ids of one call, followed by scratch memory for merging a long word. It is empty between two calls, so it can
 *            move when the text's region grows
 */
let workStart: usize = 0;

/**
 * Room for tables that make scanning faster, which are built after some text was scanned (src/pattern/kernel-scan.ts).
 */
const spareBytes: usize = 1 << 21;

/** Lays out a memory for encoding; returns false if there is no room. */
export function layOutEncoding(): bool {
  textStart = addressLimit;
  reserveArrays();
  return reserveTo(fixedEnd);
}

/** Lays out a memory with only the tables of the text module; returns false if there is no room. */
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
 * Reserves `byteCount` bytes of the fixed region and returns their address, a multiple of 64; 0 if there is no room.
 */
export function reserveTable(byteCount: usize): usize {
  const start = reserveFixed(byteCount);
  return start !== 0 && reserveTo(<u64>start + byteCount) ? start : 0;
}

/**
 * Makes room for `byteCount` bytes of text, including padding; false if there is none. Afterwards little room is left
 * for tables.
 */
export function reserveText(byteCount: u32): bool {
  if (workStart === 0) textStart = (fixedEnd + spareBytes + pageBytes - 1) & ~(pageBytes - 1);
  const end = (<u64>textStart + byteCount + 63) & ~63;
  if (!reserveTo(end)) return false;
  workStart = <usize>end;
  return true;
}

/** The address of the work region. */
export function workAddress(): usize {
  return workStart;
}

/** The limit of the memory's growth, and the end that was refused last. */
let endMost: u64 = addressLimit;
let refusedEnd: u64 = 0;

/** Limits the growth of the memory to `byteCount` more bytes. */
export function limitGrowth(byteCount: f64): void {
  endMost = min(<u64>addressLimit, <u64>memory.size() * pageBytes + <u64>byteCount);
}

/** The size that the memory should have had when growth was refused last. */
export function refusedBytes(): f64 {
  return <f64>refusedEnd;
}

/** Grows the memory so that it reaches `end`; returns false if that fails. */
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
