/**
 * Rows of vocabulary files. A row has the halves of a merge, or a token and its id, with separators around and between
 * them. Rows are written to a buffer until it is full, or until JavaScript has to write a row. JavaScript writes the
 * rows of tokens that are too long to be kept (src/tokenizer/token-bytes.ts), and of ids that belong to neither a byte
 * nor a learned token (their entries are below 0).
 *
 *   STRUCTURE    FIELD      SIZE             MEANING
 *   tokens       kept       any              the kept tokens' bytes, end to end
 *                starts     4 tokenCount     i32: offset of a token's bytes in `kept`; -1: not kept
 *                lengths    4 tokenCount     u32: bytes of each token; a kept one has at most 64
 *   merges       lefts      4 mergeCount     i32: token number of the left half
 *                rights     4 mergeCount     i32: token number of the right half
 *   ids          entries    4 idCount        i32: the token number of an id; below 0 if the id has none
 *   spelling                4 * 256          u32: how each byte is written: one or two bytes in bits 0-15, their number
 *                                            in bits 16-31
 *   separator    length     4                u32: bytes of text, at most 24
 *                (unused)   4
 *                text       24
 *   separators              32 * 3           the text before, between and after the two fields of a row
 *   digits                  64               the digits of base64
 *
 * With the separators ",", " " and "\n", and bytes spelled as in merges.txt, the merge of " " and "t" is ",Ġ t\n".
 */
let kept: usize = 0;
let starts: usize = 0;
let lengths: usize = 0;
let lefts: usize = 0;
let rights: usize = 0;
let entries: usize = 0;

/** The address after the last row. */
let end: usize = 0;

const keptBytesMax: u32 = 64;
const separatorSize: usize = 32;
const separatorText: usize = 8;
const padding: u8 = 61; // =
const space: u8 = 32;
const newline: u8 = 10;

/**
 * Fills the structure `tokens`: first with the 256 single bytes, then with the token that each merge makes. Returns the
 * number of kept bytes; up to 7 bytes after them are written, too.
 */
export function makeTokens(
  mergeCount: u32,
  lefts: usize,
  rights: usize,
  lengths: usize,
  starts: usize,
  kept: usize,
): u32 {
  for (let byte: usize = 0; byte < 256; byte++) {
    store<u32>(lengths + (byte << 2), 1);
    store<u32>(starts + (byte << 2), <u32>byte);
    store<u8>(kept + byte, <u8>byte);
  }
  let keptCount: u32 = 256;
  for (let merge: u32 = 0; merge < mergeCount; merge++) {
    const left = (<usize>load<u32>(lefts + ((<usize>merge) << 2))) << 2;
    const right = (<usize>load<u32>(rights + ((<usize>merge) << 2))) << 2;
    const token = (<usize>(256 + merge)) << 2;
    const leftLength = load<u32>(lengths + left);
    const length = leftLength + load<u32>(lengths + right);
    store<u32>(lengths + token, length);
    store<i32>(starts + token, length > keptBytesMax ? -1 : keptCount);
    if (length > keptBytesMax) continue;
    const to = kept + keptCount;
    // This token is short enough to be kept, so its halves are kept, too.
    copyKept(kept + load<u32>(starts + left), to, leftLength);
    copyKept(kept + load<u32>(starts + right), to + leftLength, length - leftLength);
    keptCount += length;
  }
  return keptCount;
}

/** Copies eight bytes at a time, so up to 7 bytes after the copy are written, too. */
function copyKept(from: usize, to: usize, length: usize): void {
  for (let pos: usize = 0; pos < length; pos += 8) store<u64>(to + pos, load<u64>(from + pos));
}

/** Sets the vocabulary whose rows are written. */
export function useVocabulary(
  keptAddress: usize,
  startsAddress: usize,
  lengthsAddress: usize,
  leftsAddress: usize,
  rightsAddress: usize,
  entriesAddress: usize,
): void {
  kept = keptAddress;
  starts = startsAddress;
  lengths = lengthsAddress;
  lefts = leftsAddress;
  rights = rightsAddress;
  entries = entriesAddress;
}

/** Returns the address after the last row. */
export function rowsEnd(): usize {
  return end;
}

/**
 * Writes rows for the merges [first, stop). Returns the first merge that was not written. The last row may begin at
 * `limit`, so the buffer must have room for one more row after it.
 */
export function writeMerges(
  first: u32,
  stop: u32,
  separators: usize,
  spelling: usize,
  to: usize,
  limit: usize,
): u32 {
  let merge = first;
  for (; merge < stop && to <= limit; merge++) {
    const left = load<i32>(lefts + (merge << 2));
    const right = load<i32>(rights + (merge << 2));
    if (!isKept(left) || !isKept(right)) break;
    to = separate(separators, to);
    to = spell(left, spelling, to);
    to = separate(separators + separatorSize, to);
    to = spell(right, spelling, to);
    to = separate(separators + 2 * separatorSize, to);
  }
  end = to;
  return merge;
}

/**
 * Writes rows for the ids [first, stop): the token, and the id in decimal. Returns the first id that was not written.
 * `limit` is as for `writeMerges`.
 */
export function writeIds(
  first: u32,
  stop: u32,
  separators: usize,
  spelling: usize,
  to: usize,
  limit: usize,
): u32 {
  let id = first;
  for (; id < stop && to <= limit; id++) {
    const token = load<i32>(entries + (id << 2));
    if (token < 0 || !isKept(token)) break;
    to = separate(separators, to);
    to = spell(token, spelling, to);
    to = separate(separators + separatorSize, to);
    to = writeDecimal(id, to);
    to = separate(separators + 2 * separatorSize, to);
  }
  end = to;
  return id;
}

/**
 * Writes rows for the ids [first, stop): the token in base64, a space, the id in decimal. Returns the first id that was
 * not written. `limit` is as for `writeMerges`.
 */
export function writeRanks(first: u32, stop: u32, digits: usize, to: usize, limit: usize): u32 {
  let id = first;
  for (; id < stop && to <= limit; id++) {
    const token = load<i32>(entries + (id << 2));
    if (token < 0 || !isKept(token)) break;
    to = writeBase64(token, digits, to);
    store<u8>(to++, space);
    to = writeDecimal(id, to);
    store<u8>(to++, newline);
  }
  end = to;
  return id;
}

function isKept(token: i32): bool {
  return load<i32>(starts + ((<usize>token) << 2)) >= 0;
}

/** Writes 24 bytes, which begin with the separator. Returns the address after the separator. */
function separate(separator: usize, to: usize): usize {
  const text = separator + separatorText;
  store<u64>(to, load<u64>(text));
  store<u64>(to, load<u64>(text, 8), 8);
  store<u64>(to, load<u64>(text, 16), 16);
  return to + load<u32>(separator);
}

function spell(token: i32, spelling: usize, to: usize): usize {
  let from = kept + load<u32>(starts + ((<usize>token) << 2));
  const length = load<u32>(lengths + ((<usize>token) << 2));
  assert(length <= keptBytesMax);
  for (const stop = from + length; from < stop; from++) {
    const written = load<u32>(spelling + ((<usize>load<u8>(from)) << 2));
    // Always stores two bytes. If the spelling has only one, the next store overwrites the second.
    store<u16>(to, <u16>written);
    to += written >>> 16;
  }
  return to;
}

function writeDecimal(number: u32, to: usize): usize {
  let digitCount: usize = 1;
  for (let rest = tenth(number); rest > 0; rest = tenth(rest)) digitCount++;
  for (let pos = to + digitCount - 1; pos >= to; pos--) {
    const rest = tenth(number);
    store<u8>(pos, <u8>(48 + number - 10 * rest));
    number = rest;
  }
  return to + digitCount;
}

/**
 * Returns number / 10, rounded down, for every u32. A division would be slower, because the first compiler tier of a
 * JavaScript engine does not replace it by a multiplication.
 */
function tenth(number: u32): u32 {
  return <u32>((<u64>number * 0xcccccccd) >> 35);
}

function writeBase64(token: i32, digits: usize, to: usize): usize {
  let from = kept + load<u32>(starts + ((<usize>token) << 2));
  let left = load<u32>(lengths + ((<usize>token) << 2));
  assert(left <= keptBytesMax);
  for (; left >= 3; left -= 3, from += 3, to += 4) {
    writeDigits(
      ((<u32>load<u8>(from)) << 16) | ((<u32>load<u8>(from, 1)) << 8) | load<u8>(from, 2),
      digits,
      to,
    );
  }
  if (left === 0) return to;
  writeDigits(((<u32>load<u8>(from)) << 16) | (left === 2 ? (<u32>load<u8>(from, 1)) << 8 : 0), digits, to);
  if (left === 1) store<u8>(to, padding, 2);
  store<u8>(to, padding, 3);
  return to + 4;
}

/** Writes 24 bits as four base64 digits. */
function writeDigits(bits: u32, digits: usize, to: usize): void {
  store<u8>(to, load<u8>(digits + (bits >>> 18)));
  store<u8>(to, load<u8>(digits + ((bits >>> 12) & 63)), 1);
  store<u8>(to, load<u8>(digits + ((bits >>> 6) & 63)), 2);
  store<u8>(to, load<u8>(digits + (bits & 63)), 3);
}
