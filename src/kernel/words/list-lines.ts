import { readLineCount, readLines } from "./counts-text";
import { hashBytes } from "./word-keys";

/**
 * Lines of word counts whose words, as far as is known, are distinct: they are listed as they come, with a hash of each, and
 * at the end it is found out whether two hashes are equal. No table of words is needed, which takes a cache miss a word.
 *
 * Hashes are brought into parts by their top `partBits` bits, so that each part has its place in the cache when it is looked
 * through. All addresses are the caller's:
 *
 *   ARRAY    TYPE   LENGTH              MEANING
 *   hashes   u64    count               of the words, in their order; none is 0
 *   ends     u32    2^partBits          while they are counted: how many hashes each part has; then where the next one of it
 *                                       goes, and at last where it ends, as indices into `parts`
 *   parts    u64    count               the hashes, part by part
 *   slots    u64    2^slotBits          a table of one part's hashes; 0 is free
 */
const slotBits: u32 = 14;
/** So many hashes of a part have room in `slots`. */
const partCountMax: u32 = 12 << 10;

/**
 * Lists the words of the lines in [line, end), at most `lineMax` of them, as `readLines` does, and their hashes. Counts are
 * f64. Returns the first line that was not read.
 */
export function listLines(
  line: usize,
  end: usize,
  words: usize,
  ends: usize,
  counts: usize,
  hashes: usize,
  lineMax: u32,
): usize {
  const next = readLines(line, end, words, ends, counts, lineMax);
  const lineCount = readLineCount();
  let start: u32 = 0;
  for (let i: u32 = 0; i < lineCount; i++) {
    const count = counts + ((<usize>i) << 3);
    store<f64>(count, <f64>load<u64>(count));
    const wordEnd = load<u32>(ends + ((<usize>i) << 2), 4);
    const hash = hashBytes(words + start, wordEnd - start);
    store<u64>(hashes + ((<usize>i) << 3), hash === 0 ? 1 : hash);
    start = wordEnd;
  }
  return next;
}

/** Counts the hashes of each part, among those of [first, stop). */
export function countParts(hashes: usize, first: u32, stop: u32, ends: usize, partBits: u32): void {
  for (let i = first; i < stop; i++) {
    const part = ends + partOf(load<u64>(hashes + ((<usize>i) << 3)), partBits);
    store<u32>(part, load<u32>(part) + 1);
  }
}

/** Makes of these numbers the places where the parts begin. */
export function placeParts(ends: usize, partBits: u32): void {
  let start: u32 = 0;
  for (let part = ends, stop = ends + ((<usize>4) << partBits); part < stop; part += 4) {
    const count = load<u32>(part);
    store<u32>(part, start);
    start += count;
  }
}

/** Brings the hashes of [first, stop) into their parts. */
export function fillParts(
  hashes: usize,
  first: u32,
  stop: u32,
  ends: usize,
  partBits: u32,
  parts: usize,
): void {
  for (let i = first; i < stop; i++) {
    const hash = load<u64>(hashes + ((<usize>i) << 3));
    const part = ends + partOf(hash, partBits);
    const place = load<u32>(part);
    store<u32>(part, place + 1);
    store<u64>(parts + ((<usize>place) << 3), hash);
  }
}

/** Where a hash's part has its end, behind `ends`. */
function partOf(hash: u64, partBits: u32): usize {
  return (<usize>(hash >> (64 - <u64>partBits))) << 2;
}

/** Whether two hashes are equal in the parts [first, stop), or a part has more than can be looked through. */
export function hasEqual(
  first: u32,
  stop: u32,
  ends: usize,
  partBits: u32,
  parts: usize,
  slots: usize,
): bool {
  const shift = 64 - <u64>partBits - slotBits;
  const slotMask: u64 = (1 << slotBits) - 1;
  for (let part = first; part < stop; part++) {
    const start: u32 = part === 0 ? 0 : load<u32>(ends + ((<usize>(part - 1)) << 2));
    const end = load<u32>(ends + ((<usize>part) << 2));
    if (end - start > partCountMax) return true;
    memory.fill(slots, 0, (<usize>8) << slotBits);
    for (let i = start; i < end; i++) {
      const hash = load<u64>(parts + ((<usize>i) << 3));
      // The bits behind those of the part.
      let place = (hash >> shift) & slotMask;
      for (;;) {
        const slot = slots + ((<usize>place) << 3);
        const found = load<u64>(slot);
        if (found === hash) return true;
        if (found === 0) {
          store<u64>(slot, hash);
          break;
        }
        place = (place + 1) & slotMask;
      }
    }
  }
  return false;
}
