import { textStart } from "./regions";

/**
 * Finds special tokens in the text: leftmost, longest, not overlapping, in one pass, as
 * `SpecialTokenFinder` (src/bytes/special-token-finder.ts) finds them.
 *
 * For all tokens with the same first byte the kernel looks for the longest *prefix* that they share. If every prefix is a
 * whole token, a prefix that was found is a token. If not, a block from there on is read backwards by the automaton of
 * src/bytes/special-token-finder.ts, which shows all tokens that begin in it: no byte is read more than twice, whatever the tokens
 * are. If the tokens begin with too many different bytes there are no prefixes, and all of the text is read backwards.
 *
 *   ARRAY           TYPE   LENGTH           MEANING
 *   prefixes        32 B   prefixCount      a prefix each, below
 *   labels          u8     states           \\
 *   firstChildren   i32    states + 1        |
 *   fallbacks       i32    states            |  the automaton (TokenTrie)
 *   tokenLengths    i32    states            |
 *   rootChildren    i32    256              /
 *   places          i32    blockBytesMax    where tokens begin in the block, from last to first
 *   lengths         i32    blockBytesMax    the length of the longest token at each
 *
 * A prefix:
 *
 *   OFFSET   TYPE    MEANING
 *   0        u32     length in bytes, 1 to 16
 *   4        i32     the prefix does not occur before this place; -1 = not searched yet
 *   8        u32     1 if it occurs at that place
 *   16       bytes   the prefix
 */
let prefixesStart: usize = 0;
let prefixCount: u32 = 0;
/** Each prefix is the whole of its only token. */
let arePrefixesWhole: bool = false;
let labelsStart: usize = 0;
let firstChildrenStart: usize = 0;
let fallbacksStart: usize = 0;
let tokenLengthsStart: usize = 0;
let rootChildrenStart: usize = 0;
let placesStart: usize = 0;
let lengthsStart: usize = 0;
/** Length of the longest token; 0 if there is none. */
let longestBytes: i32 = 0;

const prefixBytes: u32 = 32;
const shortestBlockBytes: i32 = isSmallScale ? 8 : 64;
const longestBlockBytes: i32 = isSmallScale ? 16 : 1 << 14;

/** Bytes before it may be read. */
let searchLimit: i32 = 0;
/** Tokens that begin before `blockEnd` are known, if they end by `blockLimit`. */
let blockEnd: i32 = 0;
let blockLimit: i32 = -1;
let blockBytes: i32 = 0;
/** The first `left` places of the block are still ahead. */
let left: i32 = 0;
/** Length of the token found last; below 0 if it is to stay text. */
export let foundLength: i32 = 0;

/** Sets the address and number of the prefixes, and the length of the longest token. */
export function usePrefixes(prefixes: usize, count: u32, areWhole: bool, longest: i32): void {
  prefixesStart = prefixes;
  prefixCount = count;
  arePrefixesWhole = areWhole;
  longestBytes = longest;
}

/** Sets the addresses of the automaton, and of the list of places, which has room for the longest block. */
export function useTokenTrie(
  labels: usize,
  firstChildren: usize,
  fallbacks: usize,
  tokenLengths: usize,
  rootChildren: usize,
  places: usize,
): void {
  labelsStart = labels;
  firstChildrenStart = firstChildren;
  fallbacksStart = fallbacks;
  tokenLengthsStart = tokenLengths;
  rootChildrenStart = rootChildren;
  placesStart = places;
  lengthsStart = places + ((<usize>max(longestBlockBytes, longestBytes)) << 2);
}

/** Begins with a new text, of which bytes before `limit` may be read; forgets what was found before. */
export function searchText(limit: i32): void {
  searchLimit = limit;
  for (let i: u32 = 0; i < prefixCount; i++) store<i32>(prefixesStart + i * prefixBytes, -1, 4);
  blockLimit = -1;
}

/**
 * Position of the first token that begins in [from, stop) and ends by `limit`, its length in `foundLength`; `stop` if there
 * is none. Until the next `searchText`, positions must not decrease from call to call, results included. With a near `stop`
 * the text is searched while it is in the first cache.
 */
export function findToken(from: i32, stop: i32, limit: i32): i32 {
  if (longestBytes === 0) return stop;
  if (arePrefixesWhole) {
    let candidate = nextCandidate(from, stop);
    // A candidate that ends after the limit is no token, and does not hide one that begins inside it.
    while (candidate < stop && candidate + foundLength > limit)
      candidate = nextCandidate(candidate + 1, stop);
    return candidate;
  }
  if (limit !== blockLimit) {
    blockLimit = limit;
    blockEnd = from;
    left = 0;
  }
  for (;;) {
    while (left > 0 && placeOf(left - 1) < from) left--;
    if (left > 0) break;
    const candidate = nextCandidate(max(from, blockEnd), stop);
    if (candidate >= min(stop, limit)) return stop;
    readBlock(candidate);
  }
  foundLength = load<i32>(lengthsStart + ((left - 1) << 2));
  return min(placeOf(left - 1), stop);
}

function placeOf(index: i32): i32 {
  return load<i32>(placesStart + (index << 2));
}

/** The first place in [from, stop) where a token may begin, the length of its prefix in `foundLength`; or `stop`. */
function nextCandidate(from: i32, stop: i32): i32 {
  if (prefixCount === 0) return min(from, stop);
  let first = stop;
  for (let i: u32 = 0; i < prefixCount; i++) {
    const prefix = prefixesStart + i * prefixBytes;
    if (load<i32>(prefix, 4) < from) {
      store<i32>(prefix, from, 4);
      store<u32>(prefix, 0, 8);
    }
    if (load<u32>(prefix, 8) === 0) findPrefix(prefix, stop);
    const next = load<i32>(prefix, 4);
    if (next < first && load<u32>(prefix, 8) !== 0) {
      first = next;
      foundLength = load<i32>(prefix);
    }
  }
  return first;
}

/** Continues the search for a prefix, up to `stop`. */
function findPrefix(prefix: usize, stop: i32): void {
  const length = load<u32>(prefix);
  const next = load<i32>(prefix, 4);
  const end = min(stop, searchLimit - <i32>length + 1);
  const place = next < end ? placeOfPrefix(next, end, prefix + 16, length) : end;
  store<i32>(prefix, place < end ? place : max(next, stop), 4);
  store<u32>(prefix, u32(place < end), 8);
}

/**
 * The first place in [from, stop) where the `length` bytes at `prefix` occur; or `stop`. Their first and their last byte are
 * searched for at many places at once.
 */
function placeOfPrefix(from: i32, stop: i32, prefix: usize, length: u32): i32 {
  const text = textStart;
  const first = load<u8>(prefix);
  const last = load<u8>(prefix + length - 1);
  if (ASC_FEATURE_SIMD) {
    const firsts = i8x16.splat(first);
    const lasts = i8x16.splat(last);
    for (let place = from; place < stop; place += 16) {
      const at = text + place;
      const isFirst = i8x16.eq(v128.load(at), firsts);
      const isLast = i8x16.eq(v128.load(at + length - 1), lasts);
      for (let marks = i8x16.bitmask(v128.and(isFirst, isLast)); marks !== 0; marks &= marks - 1) {
        const found = place + ctz(marks);
        if (found >= stop) return stop;
        if (memory.compare(text + found, prefix, length) === 0) return found;
      }
    }
    return stop;
  }
  const firsts = first * ones;
  const lasts = last * ones;
  for (let place = from; place < stop; place += 8) {
    const at = text + place;
    const isFirst = zeroBytes(load<u64>(at) ^ firsts);
    const isLast = zeroBytes(load<u64>(at + length - 1) ^ lasts);
    for (let marks = isFirst & isLast; marks !== 0; marks &= marks - 1) {
      const found = place + (<i32>ctz(marks) >> 3);
      if (found >= stop) return stop;
      if (memory.compare(text + found, prefix, length) === 0) return found;
    }
  }
  return stop;
}

const ones: u64 = 0x0101010101010101;

/** Marks bytes that are 0 with their top bit, and perhaps bytes above a marked one that are 1. */
function zeroBytes(bytes: u64): u64 {
  return (bytes - ones) & ~bytes & (ones << 7);
}

/** Finds all tokens that begin in a block from `from` on. */
function readBlock(from: i32): void {
  const shortest = max(shortestBlockBytes, longestBytes);
  const longest = max(longestBlockBytes, longestBytes);
  const isNear = from - blockEnd < shortest;
  blockBytes = isNear ? min(2 * max(blockBytes, shortest), longest) : shortest;
  blockEnd = min(from + blockBytes, blockLimit);
  left = matchBackwards(from, blockEnd, min(blockEnd + longestBytes - 1, blockLimit));
}

/**
 * Reads bytes [from, limit) backwards. Writes each place in [from, to) where a token begins that ends by `limit`, and the
 * length of the longest such token, to the lists. Returns how many there are.
 */
function matchBackwards(from: i32, to: i32, limit: i32): i32 {
  let placeCount: i32 = 0;
  let state: i32 = 0;
  for (let at = limit - 1; at >= from; at--) {
    const byte = load<u8>(textStart + at);
    let next: i32 = 0;
    while (next === 0 && state !== 0) {
      next = childOf(state, byte);
      state = load<i32>(fallbacksStart + (state << 2));
    }
    state = next === 0 ? load<i32>(rootChildrenStart + ((<usize>byte) << 2)) : next;
    const length = load<i32>(tokenLengthsStart + (state << 2));
    if (length !== 0 && at < to) {
      store<i32>(placesStart + (placeCount << 2), at);
      store<i32>(lengthsStart + (placeCount << 2), length);
      placeCount++;
    }
  }
  return placeCount;
}

/** The child of `state` that `label` leads to, or 0. */
function childOf(state: i32, label: u8): i32 {
  let low = load<i32>(firstChildrenStart + (state << 2));
  const end = load<i32>(firstChildrenStart + (state << 2), 4);
  for (let high = end; low < high; ) {
    const middle = (low + high) >>> 1;
    if (load<u8>(labelsStart + middle) < label) low = middle + 1;
    else high = middle;
  }
  return low < end && load<u8>(labelsStart + low) === label ? low : 0;
}
