/**
 * Lists the words of a counts file (src/words/counts-format.ts), frame by frame. They come in ascending order of their
 * bytes, each told apart from the one before. What is not plainly right is left to JavaScript, which says what is wrong.
 * All addresses are the caller's:
 *
 *   ARRAY    TYPE    LENGTH          MEANING
 *   frame    bytes                   payload of a frame; 8 bytes behind it may be read
 *   words    bytes                   words end to end; 8 bytes more may be written
 *   ends     u32     wordMax + 1     word i is bytes [ends[i], ends[i + 1]) of `words`
 *   counts   f64     wordMax         their counts
 *   last     bytes   lastBytesMax    the last word of the call before; 8 bytes more may be written
 *
 * After " that" the word " the" with count 12 is 3, 1, "e", 12.
 */
let words: usize = 0;
let wordsEnd: usize = 0;
let ends: usize = 0;
let counts: usize = 0;
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

/** Begins a file: no word comes before its first. Says where `listFrame` writes: words to [words, wordsEnd). */
export function beginFrames(
  wordsAddress: usize,
  wordsEndAddress: usize,
  endsAddress: usize,
  countsAddress: usize,
  lastAddress: usize,
): void {
  words = wordsAddress;
  wordsEnd = wordsEndAddress;
  ends = endsAddress;
  counts = countsAddress;
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
  let to = words;
  let before = last;
  let beforeLength = lastLength;
  at = start;
  frameEnd = end;
  store<u32>(ends, 0);
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
    store<u32>(ends + ((<usize>i) << 2), <u32>(to - words), 4);
    store<f64>(counts + ((<usize>i) << 3), <f64>count);
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
