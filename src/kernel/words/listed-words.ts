import { readLineCount, readLines } from "./counts-text";
import { hashBytes } from "./word-slots";

/**
 * Lines of word counts, listed as they come, with a hash of each word. At the end the words that stand more than once are
 * found by their hashes. No table of all words is needed, in which each word would be a cache miss.
 *
 * The hashes are first brought into parts by their top `partBits` bits, so that the table of one part stays in the cache.
 * All addresses are the caller's:
 *
 *   ARRAY    TYPE    LENGTH          MEANING
 *   words    bytes                   words of the lines listed last, end to end
 *   ends     u32     lines + 1       word i is bytes [ends[i], ends[i + 1]) of `words`
 *   counts   f64     lines           their counts
 *   hashes   u64     count           of all words; 2^32 or more. Below that: the index of the first word with the same hash
 *   stops    u32     2^partBits      first how many words each part has; then where its next word goes; at last where it
 *                                    ends, as indices into `parts`
 *   parts    u64     count           the words, part by part: in the upper half 32 bits of the hash behind those of the
 *                                    part, in the lower half the word's index
 *   slots    u64     2^slotBits      a table of the words of one part; all bits are set in a free slot
 */
let words: usize = 0;
let ends: usize = 0;
let counts: usize = 0;
let hashes: usize = 0;
let stops: usize = 0;
let parts: usize = 0;
let slots: usize = 0;
let partBits: u64 = 0;

const slotBits: u64 = 14;
/** So many distinct words of a part have room in `slots`. */
const partWordsMax: u32 = 12 << 10;
const freeSlot: u64 = ~0;
const upperHalf: u64 = 0xffffffff00000000;

/** What `findEqual` returns where a part has too many distinct words. */
const crowded: u32 = 0xffffffff;

/** Where `listLines` writes. */
export function useLists(wordsAddress: usize, endsAddress: usize, countsAddress: usize): void {
  words = wordsAddress;
  ends = endsAddress;
  counts = countsAddress;
}

/**
 * Lists the words of the lines in [line, end), at most `lineMax` of them, and writes their hashes to `hashesAt`. Returns the
 * first line that was not read.
 */
export function listLines(line: usize, end: usize, hashesAt: usize, lineMax: u32): usize {
  const next = readLines(line, end, words, ends, counts, lineMax);
  const lineCount = readLineCount();
  let start: u32 = 0;
  for (let i: u32 = 0; i < lineCount; i++) {
    const count = counts + ((<usize>i) << 3);
    store<f64>(count, <f64>load<u64>(count));
    const wordEnd = load<u32>(ends + ((<usize>i) << 2), 4);
    const hash = hashBytes(words + start, wordEnd - start);
    store<u64>(hashesAt + ((<usize>i) << 3), hash >> 32 === 0 ? hash | ((<u64>1) << 32) : hash);
    start = wordEnd;
  }
  return next;
}

/** Where the parts are made. `stops` is all zeros. */
export function useParts(
  hashesAddress: usize,
  stopsAddress: usize,
  partsAddress: usize,
  slotsAddress: usize,
  bits: u32,
): void {
  hashes = hashesAddress;
  stops = stopsAddress;
  parts = partsAddress;
  slots = slotsAddress;
  partBits = bits;
}

/** Counts the words of each part, among the words [first, stop). */
export function countParts(first: u32, stop: u32): void {
  for (let i = first; i < stop; i++) {
    const part = stopOf(hashOf(i));
    store<u32>(part, load<u32>(part) + 1);
  }
}

/** Makes of these numbers the places where the parts begin. */
export function placeParts(): void {
  let start: u32 = 0;
  for (let part = stops, end = stops + ((<usize>4) << (<usize>partBits)); part < end; part += 4) {
    const count = load<u32>(part);
    store<u32>(part, start);
    start += count;
  }
}

/** Brings the words [first, stop) into their parts. */
export function fillParts(first: u32, stop: u32): void {
  for (let i = first; i < stop; i++) {
    const hash = hashOf(i);
    const part = stopOf(hash);
    const place = load<u32>(part);
    store<u32>(part, place + 1);
    store<u64>(parts + ((<usize>place) << 3), ((hash << partBits) & upperHalf) | i);
  }
}

/**
 * Finds the words in the parts [first, stop) whose hash an earlier word has. Returns how many they are, or `crowded`.
 *
 * @param marks whether to write the index of the first word with that hash in place of the hash
 */
export function findEqual(first: u32, stop: u32, marks: bool): u32 {
  let equalCount: u32 = 0;
  for (let part = first; part < stop; part++) {
    const start: u32 = part === 0 ? 0 : load<u32>(stops + ((<usize>(part - 1)) << 2));
    const end = load<u32>(stops + ((<usize>part) << 2));
    memory.fill(slots, 0xff, (<usize>8) << (<usize>slotBits));
    let distinctCount: u32 = 0;
    for (let i = start; i < end; i++) {
      const entry = load<u64>(parts + ((<usize>i) << 3));
      const slot = findSlot(entry);
      const found = load<u64>(slot);
      if (found !== freeSlot) {
        equalCount++;
        if (marks) store<u64>(hashes + ((<usize>(<u32>entry)) << 3), <u64>(<u32>found));
        continue;
      }
      if (++distinctCount > partWordsMax) return crowded;
      store<u64>(slot, entry);
    }
  }
  return equalCount;
}

/** The slot of an earlier word with the same hash, or the free one where this word goes. */
function findSlot(entry: u64): usize {
  const mask: u64 = (1 << slotBits) - 1;
  let place = entry >> (64 - slotBits);
  let slot = slotAt(place);
  for (let found = load<u64>(slot); found !== freeSlot && !hasHashOf(found, entry); found = load<u64>(slot)) {
    place = (place + 1) & mask;
    slot = slotAt(place);
  }
  return slot;
}

function slotAt(place: u64): usize {
  return slots + ((<usize>place) << 3);
}

/** Whether two entries of a part have the same hash. Most that differ are told apart without a look at `hashes`. */
function hasHashOf(entry: u64, other: u64): bool {
  return ((entry ^ other) & upperHalf) === 0 && hashOf(<u32>entry) === hashOf(<u32>other);
}

function hashOf(word: u32): u64 {
  return load<u64>(hashes + ((<usize>word) << 3));
}

/** Where the number of a hash's part stands, in `stops`. */
function stopOf(hash: u64): usize {
  return stops + ((<usize>(hash >> (64 - partBits))) << 2);
}

/**
 * Lists the words of a counts file (src/words/counts-format.ts), frame by frame. They come in ascending order of their
 * bytes, each told apart from the one before. What is not plainly right is left to JavaScript, which says what is wrong.
 * All addresses are the caller's:
 *
 *   ARRAY        TYPE    LENGTH          MEANING
 *   frame        bytes                   payload of a frame; 8 bytes behind it may be read
 *   frameWords   bytes                   words end to end; 8 bytes more may be written
 *   frameEnds    u32     wordMax + 1     word i is bytes [frameEnds[i], frameEnds[i + 1]) of `frameWords`
 *   frameCounts  f64     wordMax         their counts
 *   last         bytes   lastBytesMax    the last word of the call before; 8 bytes more may be written
 *
 * After " that" the word " the" with count 12 is 3, 1, "e", 12.
 */
let frameWords: usize = 0;
let wordsEnd: usize = 0;
let frameEnds: usize = 0;
let frameCounts: usize = 0;
let last: usize = 0;

/** Longer words are left to JavaScript. */
const lastBytesMax: usize = 1 << 16;
const countMax: u64 = 9007199254740991; // 2^53 - 1

let lastLength: usize = 0;
/** Where the next number is read, and where the frame ends. */
let at: usize = 0;
let frameEnd: usize = 0;
let listedCount: u32 = 0;
let total: u64 = 0;

/** Begins a file: no word comes before its first. Says where `listFrame` writes: words to [frameWords, wordsEnd). */
export function beginFrames(
  wordsAddress: usize,
  wordsEndAddress: usize,
  endsAddress: usize,
  countsAddress: usize,
  lastAddress: usize,
): void {
  frameWords = wordsAddress;
  wordsEnd = wordsEndAddress;
  frameEnds = endsAddress;
  frameCounts = countsAddress;
  last = lastAddress;
  lastLength = 0;
  total = 0;
}

/** How many words were listed last. */
export function frameWordCount(): u32 {
  return listedCount;
}

/** All counts of the file so far. */
export function framesTotal(): f64 {
  return <f64>total;
}

/**
 * Lists the words in [start, end) of a frame, at most `wordMax` and as many as have room. Returns where the next call goes
 * on, the frame's end at last; 0 where a word is not plainly right.
 */
export function listFrame(start: usize, end: usize, startsFrame: bool, wordMax: u32): usize {
  let to = frameWords;
  let before = last;
  let beforeLength = lastLength;
  at = start;
  frameEnd = end;
  store<u32>(frameEnds, 0);
  let i: u32 = 0;
  for (; i < wordMax && at < end; i++) {
    const wordStart = at;
    const shared = readNumber();
    const rest = readNumber();
    if (rest < 1 || rest > lastBytesMax || shared + rest > lastBytesMax) return 0;
    const from = at;
    at += <usize>rest;
    if (at >= end) return 0;
    // The first word of a frame is written in full.
    const isFirst = startsFrame && i === 0;
    if (shared > (isFirst ? 0 : <u64>beforeLength)) return 0;
    let parting = <usize>shared;
    if (isFirst) {
      const most = min<usize>(<usize>rest, beforeLength);
      while (parting < most && load<u8>(from + parting) === load<u8>(before + parting)) parting++;
      if (parting === <usize>rest) return 0;
    }
    const firstByte = load<u8>(from + parting - <usize>shared);
    if (parting < beforeLength && firstByte <= load<u8>(before + parting)) return 0;
    const length = <usize>(shared + rest);
    if (to + length > wordsEnd) {
      at = wordStart;
      break;
    }
    copy(to, before, <usize>shared);
    copy(to + <usize>shared, from, <usize>rest);
    const count = readNumber();
    if (count < 1 || count > countMax || total + count > countMax) return 0;
    total += count;
    before = to;
    beforeLength = length;
    to += length;
    store<u32>(frameEnds + ((<usize>i) << 2), <u32>(to - frameWords), 4);
    store<f64>(frameCounts + ((<usize>i) << 3), <f64>count);
  }
  if (i === 0) return 0;
  memory.copy(last, before, beforeLength);
  lastLength = beforeLength;
  listedCount = i;
  return at;
}

/** A varint; more than any that is right where it is too long, or not whole. */
function readNumber(): u64 {
  let number: u64 = 0;
  for (let shift: u64 = 0; at < frameEnd && shift < 56; shift += 7) {
    const byte: u64 = load<u8>(at++);
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
  return 1 << 60;
}

/** Copies words, which are short, in eights of bytes; what is too much is written over. */
function copy(to: usize, from: usize, byteCount: usize): void {
  for (let pos: usize = 0; pos < byteCount; pos += 8) store<u64>(to + pos, load<u64>(from + pos));
}
