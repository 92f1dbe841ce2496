/**
 * Regions of a counting thread's memory, by their addresses. Sizes are sixteenths of the memory's capacity, so that
 * whatever grows grows in place; pages that were never written cost nothing.
 *
 *   REGION         SIXTEENTHS      WITH 4 GB   WHAT STANDS THERE
 *   fixed          1, less 64 KB   256 MB      the compiler's own data, the heads of the tables, arrays of fixed length
 *                                              (below), then what is set up once (`reserveFixed`)
 *   text           4, and 64 KB    1 GB        the window of text; a buffer where no text is counted; in the end the regions
 *                                              of a merge engine (merge/merge-regions.ts), for superwords
 *   short slots    2               512 MB      words/word-slots.ts
 *   middle slots   3               768 MB      words/word-slots.ts
 *   long slots     1               256 MB      words/word-slots.ts
 *   records        5               1.25 GB     words/word-slots.ts
 *
 * The text has room for a window of 2^30 bytes and its padding. Its address is a multiple of 64 KB: a page of memory, on
 * any machine.
 *
 * Subtle: a file may be mapped to the text (src/runtime/file-window.ts) and be cut at any time. So what may stand there is
 * read by loads of the kernel's own, never by `memory.copy`, and another load of the same byte may give another value.
 *
 * Arrays of fixed length, in the order of their addresses:
 *
 *   ARRAY          BYTES       MEANING
 *   heads          256         words/word-tables.ts; the last 8 bytes: `keepLoads`
 *   ends           4 * 2^16    ends[0] is the start of the first pretoken, ends[i + 1] the end of pretoken i, as addresses
 *                              less `textStart`
 *   longer, long   4 * 1,025   indices of the pretokens of a batch that are not short, and of those that are long
 *   middleKeys     16 * 1,025  the two keys of each middle word of a batch
 *   middleHomes    4 * 1,025   the address of the home slot of each
 *   longHashes     4 * 1,025   the hash of each long word of a batch
 *   aside          2^18        slots that had wrapped around the end of a table, while it grows
 *   listed         2^18        bytes of words on their way to JavaScript
 *   listedStarts   4 * 2^13    where each of them starts
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
/** Bytes of a sixteenth. */
export let sixteenth: usize = 0;

/** Bytes that are scanned at most before ends are taken. Each may settle an end, and slots come on top. */
export const blockBytes: i32 = isSmallScale ? 16 : 1 << 14;
export const endCountMax: u32 = isSmallScale ? 256 : 1 << 16;
/** Pretokens counted together: few enough that their keys stay in the first cache, enough for cache misses to overlap. */
export const batchPretokens: u32 = isSmallScale ? 16 : 1024;
export const asideBytes: usize = isSmallScale ? 1 << 12 : 1 << 18;
export const listedBytes: usize = isSmallScale ? 128 : 1 << 18;
/** Short and middle words have 15 bytes at most, so all of these fit; a longer one is looked at before. */
export const listedWords: u32 = <u32>(listedBytes / 32);

const pageBytes: usize = 1 << 16;
/** No region lies beyond. */
const addressLimit: usize = 0xffff0000;
/** Where `reserveFixed` goes on. */
export let fixedEnd: usize = 0;

/** Lays out the memory as it is now: to be called first, by every instance, in memory that has its full size. */
export function layOut(): void {
  sixteenth = <usize>((<u64>memory.size() * pageBytes) / 16) & ~(pageBytes - 1);
  textStart = sixteenth - pageBytes;
  layOutTables(0);
  reserveArrays();
}

/**
 * Lays out a second set of tables inside the text's region, which is all zeros then: sixteenths are those of that region, and
 * its first five are the text. The tables of before stay as they are, for other threads to read.
 */
export function layOutInText(): void {
  sixteenth = ((shortStart - textStart) / 16) & ~(pageBytes - 1);
  layOutTables(textStart);
  headsStart = reserveFixed(256);
}

/** The regions of the tables, in sixteenths from `start` on. */
function layOutTables(start: usize): void {
  shortStart = start + 5 * sixteenth;
  middleStart = start + 7 * sixteenth;
  longSlotsStart = start + 10 * sixteenth;
  recordsStart = start + 11 * sixteenth;
}

function reserveArrays(): void {
  // Kernels with and without SIMD have data of other lengths, and lay out the same image.
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

/** Address of so many bytes for what is set up once, a multiple of 64; 0 where there is no room. */
export function reserveFixed(byteCount: usize): usize {
  const start = (fixedEnd + 63) & ~63;
  if (byteCount > textStart - start) return 0;
  fixedEnd = start + byteCount;
  return start;
}

/** Takes the sum of what was loaded ahead of its use, so that the compiler keeps the loads. */
export function keepLoads(sum: u64): void {
  store<u64>(headsStart, sum, 248);
}

/** Address of the text. */
export function textAddress(): usize {
  return textStart;
}

/** Bytes that the text's region has, padding included. */
export function textCapacity(): f64 {
  return <f64>(shortStart - textStart);
}

/** Address of the ends. */
export function endsAddress(): usize {
  return endsStart;
}

/** How many ends there may be. */
export function endsCapacity(): u32 {
  return endCountMax;
}

/** Bytes of the memory that this instance works in. */
export function memoryBytes(): f64 {
  return <f64>memory.size() * 65536;
}

/**
 * The memory of a thread that encodes has other regions. It grows when more is needed:
 *
 *   REGION   CONTENT
 *   fixed    the arrays above; the model, the word cache and other tables, which are laid out once
 *   text     the text; the region grows if a pretoken is longer than it
 *   work     the ids of one call, and behind them what merging a long word needs. It is empty between two calls, so it can
 *            move when the text's region grows
 */
let workStart: usize = 0;

/** Room for tables that make scanning faster, which are built after some text was scanned (src/pattern/kernel-scan.ts). */
const spareBytes: usize = 1 << 21;

/** Lays out a memory for encoding; false without room. */
export function layOutEncoding(): bool {
  textStart = addressLimit;
  reserveArrays();
  return reserveTo(fixedEnd);
}

/** Lays out a memory that has only tables, of the text module; false without room. */
export function layOutTextModule(): bool {
  textStart = addressLimit;
  fixedEnd = (__heap_base + 63) & ~63;
  return reserveTo(fixedEnd);
}

/** What is before `end` is in use: the next table is after it. */
export function keepUpTo(end: usize): void {
  fixedEnd = max(fixedEnd, end);
}

/** All of the memory is in use: the next table is after it. */
export function useWholeMemory(): void {
  fixedEnd = <usize>memory.size() * pageBytes;
}

/** Address of so many bytes of the fixed region, a multiple of 64; 0 without room. */
export function reserveTable(byteCount: usize): usize {
  const start = reserveFixed(byteCount);
  return start !== 0 && reserveTo(<u64>start + byteCount) ? start : 0;
}

/** Makes room for so many bytes of text, padding included; false without room. From then on little room is left for tables. */
export function reserveText(byteCount: u32): bool {
  if (workStart === 0) textStart = (fixedEnd + spareBytes + pageBytes - 1) & ~(pageBytes - 1);
  const end = (<u64>textStart + byteCount + 63) & ~63;
  if (!reserveTo(end)) return false;
  workStart = <usize>end;
  return true;
}

/** Address of the work region. */
export function workAddress(): usize {
  return workStart;
}

/** The memory grows no further; and how far it would have had to. */
let endMost: u64 = addressLimit;
let refusedEnd: u64 = 0;

/** From now on the memory may grow by so many bytes. */
export function limitGrowth(byteCount: f64): void {
  endMost = min(<u64>addressLimit, <u64>memory.size() * pageBytes + <u64>byteCount);
}

/** How many bytes the memory should have had when growing was refused last. */
export function refusedBytes(): f64 {
  return <f64>refusedEnd;
}

/** Grows the memory so that it reaches `end`; false if it cannot. */
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
