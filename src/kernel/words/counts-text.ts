import {
  batchPretokens,
  endsStart,
  keepLoads,
  listedCountsStart,
  longHashesStart,
  textStart,
} from "../regions";
import {
  addLongWord,
  addMiddleWord,
  addShortWord,
  hashLong,
  hashMiddle,
  hashShort,
  homeShift,
  longSlotBytes,
  middleBytesMax,
  middleSlotBytes,
  middleTailKey,
  reserve,
  shortBytesMax,
  shortKey,
  shortSlotBytes,
} from "./word-slots";
import { addPretokens, long, middle, short } from "./word-tables";

/**
 * Reads word counts as text (src/words/tsv.ts): a line is a word in byte-to-character form, a tab, its count and a
 * newline. Lines are read in batches. The words of a batch are written as plain bytes, end to end, to the text's start; the
 * lines stand behind them. A line that is not plainly right is left to JavaScript, which says what is wrong with it.
 *
 *   ARRAY        MEANING, FOR THE WORDS OF A BATCH
 *   ends         word i is bytes [ends[i], ends[i + 1]) of the text
 *   listed       (`listedCounts`) u64: the count of each
 *   longHashes   the hash of word i, if it is a long one
 */

/** Lines that the last call added. */
let lineCount: u32 = 0;
/** The sum of all counts so far. */
let total: u64 = 0;
/** Words of the lines that were read last. */
let wordCount: u32 = 0;

const tab: u32 = 9;
const newline: u32 = 10;
const digitZero: u32 = 48;
/** Digits of 2^53 - 1. */
const digitCountMax: u32 = 16;
const countMax: u64 = 9007199254740991; // 2^53 - 1

/** What `addLines` returns where a table has no room. */
const noRoom: u32 = 0xffffffff;

/**
 * Adds the words of lines: bytes [start, start + byteCount) of the text, the last one a newline. Returns the bytes of the
 * lines that were added: not all, if one is not plainly right.
 *
 * @param totalBefore the sum of the counts of all lines before, at most 2^53 - 1; so is the new one
 */
export function addLines(start: u32, byteCount: u32, totalBefore: f64): u32 {
  const first = textStart + start;
  const end = first + byteCount;
  lineCount = 0;
  total = <u64>totalBefore;
  let line = first;
  while (line < end) {
    const hasRoom =
      reserve(short, batchPretokens) && reserve(middle, batchPretokens) && reserve(long, batchPretokens);
    if (!hasRoom) return noRoom;
    const next = readLines(line, end);
    if (next === line) break;
    touchSlots();
    if (!addBatch()) return noRoom;
    lineCount += wordCount;
    line = next;
  }
  return <u32>(line - first);
}

/** How many lines the last call added. */
export function addedLineCount(): u32 {
  return lineCount;
}

/** The sum of all counts, those of the last call included. */
export function linesTotal(): f64 {
  return <f64>total;
}

/** Reads a batch of the lines in [line, end). Returns the first line that was not read. */
function readLines(line: usize, end: usize): usize {
  let to = textStart;
  let endAt = endsStart;
  let countAt = listedCountsStart;
  let i: u32 = 0;
  store<u32>(endAt, 0);
  for (; i < batchPretokens && line < end; i++) {
    const word = to;
    let from = line;
    let byte: u32;
    // Neither a tab nor a newline is copied here, so this never leaves the line.
    for (;;) {
      const eight = load<u64>(from);
      const plainCount = plainBytes(eight);
      // Bytes behind the plain ones are overwritten.
      store<u64>(to, eight);
      to += plainCount;
      from += plainCount;
      if (plainCount === 8) continue;
      byte = load<u8>(from);
      if (byte >> 5 !== 0b110) break;
      const meant = byteOfCharacter(byte, load<u8>(from, 1));
      if (meant < 0) break;
      store<u8>(to++, <u8>meant);
      from += 2;
    }
    if (byte !== tab || to === word) break;
    from++;
    const digits = from;
    const eight = load<u64>(from);
    let count = firstDigits(eight);
    from += digitBytes(eight);
    if (from - digits === 8) {
      for (let digit = digitAt(from); digit < 10 && from - digits < digitCountMax; digit = digitAt(++from)) {
        count = count * 10 + digit;
      }
    }
    if (load<u8>(from) !== newline || count === 0 || total + count > countMax) break;
    total += count;
    line = from + 1;
    endAt += 4;
    store<u32>(endAt, <u32>(to - textStart));
    store<u64>(countAt, count);
    countAt += 8;
  }
  wordCount = i;
  return line;
}

const lowBits: u64 = 0x0101010101010101;
const highBits: u64 = 0x8080808080808080;

/** How many of eight bytes, from the lowest on, are characters of one byte (33 to 126). */
function plainBytes(eight: u64): usize {
  const low = eight & ~highBits;
  // Sets the high bit of each byte that is below 33, above 126, or above 127.
  const others = (~(low + 95 * lowBits) | (low + lowBits) | eight) & highBits;
  return <usize>(ctz(others) >> 3);
}

/** How many of eight bytes, from the lowest on, are digits. */
function digitBytes(eight: u64): usize {
  const values = eight ^ (48 * lowBits);
  // Sets the high bit of each byte above 9. A carry can only reach bytes behind the first of these.
  return <usize>(ctz(((values + 118 * lowBits) | values) & highBits) >> 3);
}

/** The number in the digits of eight bytes, from the lowest on; 0 without a digit. */
function firstDigits(eight: u64): u64 {
  const digitCount = digitBytes(eight);
  if (digitCount === 0) return 0;
  // The last digit moves to the highest byte. Then each step joins neighbours.
  let number = (eight ^ (48 * lowBits)) << (64 - 8 * <u64>digitCount);
  number = (number * 10 + (number >> 8)) & 0x00ff00ff00ff00ff;
  number = (number * 100 + (number >> 16)) & 0x0000ffff0000ffff;
  return (number * 10000 + (number >> 32)) & 0xffffffff;
}

function digitAt(at: usize): u32 {
  return <u32>load<u8>(at) - digitZero;
}

/** The byte that a character of two bytes stands for, or -1 (src/bytes/byte-characters.ts). */
function byteOfCharacter(first: u32, second: u32): i32 {
  if (second >> 6 !== 0b10) return -1;
  const codePoint = ((first & 31) << 6) | (second & 63);
  // The 68 bytes without a character of their own, in order: 0-32, 127-160 and 173.
  const moved = codePoint - 0x100;
  if (moved < 33) return moved;
  if (moved < 67) return moved - 33 + 127;
  if (moved === 67) return 173;
  return codePoint >= 161 && codePoint <= 255 && codePoint !== 173 ? codePoint : -1;
}

/**
 * Reads the home slot of each word of the batch, so that the cache misses overlap, and keeps the hashes of long words. It is
 * a loop of its own: the fewer instructions between two loads, the more loads are in flight.
 */
function touchSlots(): void {
  const shortShift = homeShift(short);
  const middleShift = homeShift(middle);
  let sum: u64 = 0;
  let start: u32 = 0;
  for (let i: u32 = 0; i < wordCount; i++) {
    const end = load<u32>(endsStart + (i << 2), 4);
    const length = end - start;
    const word = textStart + start;
    start = end;
    if (length <= middleBytesMax) {
      const shortHome =
        short.slots + <usize>(hashShort(shortKey(word, length)) >> shortShift) * shortSlotBytes;
      const hash = hashMiddle(load<u64>(word), middleTailKey(word, length));
      const middleHome = middle.slots + <usize>(hash >> middleShift) * middleSlotBytes;
      sum ^= load<u64>(length <= shortBytesMax ? shortHome : middleHome);
      continue;
    }
    const hash = hashLong(word, length);
    store<u32>(longHashesStart + (i << 2), hash);
    sum ^= load<u64>(long.slots + <usize>(((<u64>hash) << 32) >> homeShift(long)) * longSlotBytes);
  }
  keepLoads(sum);
}

/** Adds the words of the batch; there are slots for them. False if a record has no room. */
function addBatch(): bool {
  let sum: u64 = 0;
  let start: u32 = 0;
  for (let i: u32 = 0; i < wordCount; i++) {
    const end = load<u32>(endsStart + (i << 2), 4);
    const length = end - start;
    const word = textStart + start;
    const count = load<u64>(listedCountsStart + (i << 3));
    start = end;
    sum += count;
    if (length <= shortBytesMax) addShortWord(short, shortKey(word, length), count);
    else if (length <= middleBytesMax)
      addMiddleWord(middle, load<u64>(word), middleTailKey(word, length), count);
    else if (!addLongWord(long, word, length, load<u32>(longHashesStart + (i << 2)), count)) return false;
  }
  addPretokens(<f64>sum);
  return true;
}
