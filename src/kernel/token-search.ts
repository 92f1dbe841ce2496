import { reserveTable } from "./regions";

/**
 * Finds tokens in a text in one pass: from left to right, the longest at each position, without overlaps.
 *
 * Tokens with the same first byte are found by the longest *prefix* that they share. If each prefix belongs to a single
 * token, and is all of that token, each occurrence of a prefix is a match. If some prefix is not all of a single token,
 * a block of text that begins with an occurrence of a prefix is read backwards, by an Aho-Corasick automaton of the
 * reversed tokens. After each byte, the automaton's state identifies the longest token that begins there. A block is
 * not shorter than the longest token, so no byte is read more than twice, whatever the tokens are, unless the limit
 * changes (`findToken`). If the tokens begin with too many different bytes there are no prefixes, and all of the text
 * is read backwards.
 *
 * If tokens are equal, the last one counts. Callers describe each token by a *record*:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u32    the offset of the token's bytes in `contents`
 *   4        u32    the number of these bytes, at least 1
 *   8        u32    the token's id
 *   12       u32    flags of `AddedToken` (src/text/cutting.ts), from `lstripFlag` on (below)
 *
 * The search has these arrays:
 *
 *   ARRAY           TYPE   LENGTH           MEANING
 *   prefixes        32 B   prefixCount      the prefixes (below)
 *   labels          u8     states           the byte that leads to the state from its parent
 *   firstChildren   i32    states + 1       children of state s: states firstChildren[s] to firstChildren[s + 1],
 *                                           exclusive, by ascending label
 *   fallbacks       i32    states           the state to continue in if no child fits: that of the longest proper
 *                                           suffix of the state's string that has a state
 *   ends            u32    states           1 + the number of the longest token whose reversed bytes end the state's
 *                                           string, or 0
 *   rootChildren    i32    256              the child of state 0 by its label; 0: none
 *   places          i32    blockBytesMax    the positions in the block where tokens begin, from last to first
 *   numbers         u32    blockBytesMax    the number of the longest token at each of these positions
 *
 * `blockBytesMax` is the size of the largest block: `longestBlockBytes`, or the longest token if that is longer.
 *
 * State 0 is the root: the empty string. States are numbered level by level, so the children of a state are neighbours,
 * and each fallback is smaller than its state. The tokens "ab" and "b" give state 1 (b, token "b"), and its child 2 (b,
 * a: token "ab"): labels = [0, b, a], firstChildren = [1, 2, 3, 3], fallbacks = [0, 0, 0].
 *
 * A prefix:
 *
 *   OFFSET   TYPE    MEANING
 *   0        u32     length in bytes, 1 to 16
 *   4        i32     the position up to which the prefix was searched for; -1: not searched yet
 *   8        u32     1 if it occurs at that position
 *   12       u32     the number of a token that begins with it
 *   16       bytes   the prefix
 */
@unmanaged
export class TokenSearch {
  records: usize;
  contents: usize;
  count: u32;
  /** Length of the longest token; 0 if there is none. */
  longestBytes: i32;
  prefixes: usize;
  prefixCount: u32;
  /** 1: each prefix belongs to a single token, and is all of that token. */
  arePrefixesWhole: u32;
  labels: usize;
  firstChildren: usize;
  fallbacks: usize;
  ends: usize;
  rootChildren: usize;
  places: usize;
  numbers: usize;

  /** Address of the text; bytes before `limit` may be read. */
  text: usize;
  limit: i32;
  /** All tokens that begin before `blockEnd` and end by `blockLimit` have been found. */
  blockEnd: i32;
  blockLimit: i32;
  blockBytes: i32;
  /** The first `left` elements of `places` have not been reported yet. */
  left: i32;
  /** The number of the token that was found last. */
  found: u32;
  /** The number of bytes read backwards, plus the number of characters read to find white space; for tests. */
  readBytes: u32;
}

export const lstripFlag: u32 = 1;
export const rstripFlag: u32 = 2;
export const singleWordFlag: u32 = 4;
export const specialFlag: u32 = 8;

export const recordBytes: u32 = 16;
const prefixSize: u32 = 32;
/**
 * Searching for one prefix takes 0.02 ns per byte of text, reading backwards 0.4 to 0.7 ns, so more prefixes would gain
 * little.
 */
const prefixCountMax: u32 = 8;
const prefixBytesMax: u32 = 16;
const shortestBlockBytes: i32 = isSmallScale ? 8 : 64;
const longestBlockBytes: i32 = isSmallScale ? 16 : 1 << 14;

export function sizeOfToken(search: TokenSearch, token: u32): i32 {
  return load<i32>(search.records + token * recordBytes, 4);
}

export function idOfToken(search: TokenSearch, token: u32): u32 {
  return load<u32>(search.records + token * recordBytes, 8);
}

export function flagsOfToken(search: TokenSearch, token: u32): u32 {
  return load<u32>(search.records + token * recordBytes, 12);
}

export function areTokensSpecial(search: TokenSearch): bool {
  for (let token: u32 = 0; token < search.count; token++)
    if ((flagsOfToken(search, token) & specialFlag) === 0) return false;
  return true;
}

/**
 * Creates a search for `count` tokens, whose records and contents must stay in memory. Returns null if memory runs out,
 * or if the tokens have 256 MiB or more in all.
 */
export function newSearch(records: usize, count: u32, contents: usize): TokenSearch | null {
  const address = reserveTable(offsetof<TokenSearch>());
  if (address === 0) return null;
  memory.fill(address, 0, offsetof<TokenSearch>());
  const search = changetype<TokenSearch>(address);
  search.records = records;
  search.contents = contents;
  search.count = count;
  if (count === 0) return search;
  let stateMax: u64 = 1;
  for (let token: u32 = 0; token < count; token++) {
    search.longestBytes = max(search.longestBytes, sizeOfToken(search, token));
    stateMax += sizeOfToken(search, token);
  }
  search.prefixes = reserveTable(prefixSize * prefixCountMax);
  search.rootChildren = reserveTable(4 * 256);
  if (search.prefixes === 0 || search.rootChildren === 0) return null;
  makePrefixes(search);
  if (search.arePrefixesWhole) return search;
  return reserveTrie(search, stateMax) && buildTrie(search) ? search : null;
}

/**
 * Finds the prefixes: for each first byte of tokens, the longest prefix that all tokens with this first byte share, cut
 * to `prefixBytesMax` bytes. There are none if the tokens have more than `prefixCountMax` first bytes.
 */
function makePrefixes(search: TokenSearch): void {
  /** 1 + the index of the prefix with this first byte. */
  const indices = search.rootChildren;
  search.arePrefixesWhole = u32(search.longestBytes <= <i32>prefixBytesMax);
  for (let token: u32 = 0; token < search.count; token++) {
    const bytes = search.contents + load<u32>(search.records + token * recordBytes);
    const size = <u32>sizeOfToken(search, token);
    const index = indices + ((<usize>load<u8>(bytes)) << 2);
    if (load<u32>(index) === 0) {
      if (search.prefixCount === prefixCountMax) {
        search.prefixCount = search.arePrefixesWhole = 0;
        break;
      }
      const prefix = search.prefixes + search.prefixCount * prefixSize;
      store<u32>(index, ++search.prefixCount);
      store<u32>(prefix, min(size, prefixBytesMax));
      store<u32>(prefix, token, 12);
      memory.copy(prefix + 16, bytes, min(size, prefixBytesMax));
      continue;
    }
    search.arePrefixesWhole = 0;
    const prefix = search.prefixes + (load<u32>(index) - 1) * prefixSize;
    const most = min(size, load<u32>(prefix));
    let same: u32 = 0;
    while (same < most && load<u8>(bytes + same) === load<u8>(prefix + same, 16)) same++;
    store<u32>(prefix, same);
  }
  memory.fill(indices, 0, 4 * 256);
}

function reserveTrie(search: TokenSearch, stateMax: u64): bool {
  if (stateMax > 1 << 28) return false;
  const states = <usize>stateMax;
  const blockMax = <usize>max(longestBlockBytes, search.longestBytes);
  search.labels = reserveTable(states);
  search.firstChildren = reserveTable(4 * (states + 1));
  search.fallbacks = reserveTable(4 * states);
  search.ends = reserveTable(4 * states);
  search.places = reserveTable(4 * blockMax);
  search.numbers = reserveTable(4 * blockMax);
  const areReserved = search.labels !== 0 && search.firstChildren !== 0 && search.fallbacks !== 0;
  return areReserved && search.ends !== 0 && search.places !== 0 && search.numbers !== 0;
}

/**
 * Builds the automaton level by level. The tokens whose reversed bytes begin with a state's string are adjacent in
 * `order`. Each level sorts them by one more byte, from the end.
 *
 *   SCRATCH   TYPE   LENGTH   MEANING
 *   order     u32    count    the numbers of the tokens, as sorted so far
 *   spare     u32    count    scratch for sorting
 *
 * Until a state is visited, its tokens are order[fallbacks[s] .. ends[s]).
 */
function buildTrie(search: TokenSearch): bool {
  const count = search.count;
  const order = reserveTable(4 * count);
  const spare = reserveTable(4 * count);
  if (order === 0 || spare === 0) return false;
  for (let i: u32 = 0; i < count; i++) store<u32>(order + (i << 2), i);
  const labels = search.labels;
  const firstChildren = search.firstChildren;
  const fallbacks = search.fallbacks;
  const ends = search.ends;
  store<u32>(ends, count);
  store<u32>(fallbacks, 0);
  let states: u32 = 1;
  for (let state: u32 = 0, levelEnd: u32 = 1, depth: i32 = 0; state < states; state++) {
    if (state === levelEnd) {
      levelEnd = states;
      depth++;
    }
    const end = load<u32>(ends + (state << 2));
    let next = load<u32>(fallbacks + (state << 2));
    store<u32>(ends + (state << 2), 0);
    store<u32>(fallbacks + (state << 2), 0);
    store<u32>(firstChildren + (state << 2), states);
    if (end - next > 1) sortByByte(search, order, spare, next, end, depth);
    for (; next < end && byteOf(search, load<u32>(order + (next << 2)), depth) < 0; next++)
      store<u32>(ends + (state << 2), load<u32>(order + (next << 2)) + 1);
    while (next < end) {
      const label = byteOf(search, load<u32>(order + (next << 2)), depth);
      const child = states++;
      store<u8>(labels + child, <u8>label);
      store<u32>(fallbacks + (child << 2), next++);
      while (next < end && byteOf(search, load<u32>(order + (next << 2)), depth) === label) next++;
      store<u32>(ends + (child << 2), next);
    }
  }
  store<u32>(firstChildren + (states << 2), states);
  for (let child: u32 = 1; child < load<u32>(firstChildren, 4); child++)
    store<u32>(search.rootChildren + ((<usize>load<u8>(labels + child)) << 2), child);
  addFallbacks(search, states);
  return true;
}

/** Returns the byte of a token that has `depth` bytes after it; -1 if the token is shorter. */
function byteOf(search: TokenSearch, token: u32, depth: i32): i32 {
  const record = search.records + token * recordBytes;
  const place = load<i32>(record, 4) - 1 - depth;
  return place < 0 ? -1 : load<u8>(search.contents + load<u32>(record) + place);
}

const insertedMax: u32 = 32;

/** Sorts order[first .. end) stably by the byte at `depth`. */
function sortByByte(search: TokenSearch, order: usize, spare: usize, first: u32, end: u32, depth: i32): void {
  if (end - first <= insertedMax) {
    for (let i = first + 1; i < end; i++) {
      const token = load<u32>(order + (i << 2));
      const byte = byteOf(search, token, depth);
      let place = i;
      for (; place > first; place--) {
        const before = load<u32>(order + ((place - 1) << 2));
        if (byteOf(search, before, depth) <= byte) break;
        store<u32>(order + (place << 2), before);
      }
      store<u32>(order + (place << 2), token);
    }
    return;
  }
  const places = memory.data(4 * 258, 4);
  memory.fill(places, 0, 4 * 258);
  for (let i = first; i < end; i++) {
    const counted = places + ((byteOf(search, load<u32>(order + (i << 2)), depth) + 2) << 2);
    store<u32>(counted, load<u32>(counted) + 1);
  }
  for (let value = 1; value < 258; value++)
    store<u32>(
      places + (value << 2),
      load<u32>(places + (value << 2)) + load<u32>(places + ((value - 1) << 2)),
    );
  memory.copy(spare, order + (first << 2), (end - first) << 2);
  for (let i: u32 = 0; i < end - first; i++) {
    const token = load<u32>(spare + (i << 2));
    const counted = places + ((byteOf(search, token, depth) + 1) << 2);
    const place = load<u32>(counted);
    store<u32>(counted, place + 1);
    store<u32>(order + ((first + place) << 2), token);
  }
}

/** Fills in `fallbacks`, and `ends` of states whose own string is not a token. */
function addFallbacks(search: TokenSearch, states: u32): void {
  const labels = search.labels;
  const firstChildren = search.firstChildren;
  const fallbacks = search.fallbacks;
  const ends = search.ends;
  for (let state: u32 = 0; state < states; state++) {
    if (load<u32>(ends + (state << 2)) === 0)
      store<u32>(ends + (state << 2), load<u32>(ends + (load<u32>(fallbacks + (state << 2)) << 2)));
    const last = load<u32>(firstChildren + (state << 2), 4);
    for (let child = load<u32>(firstChildren + (state << 2)); child < last; child++) {
      const label = load<u8>(labels + child);
      let fallback = state;
      let next: u32 = 0;
      while (next === 0 && fallback !== 0) {
        fallback = load<u32>(fallbacks + (fallback << 2));
        next = childOf(labels, firstChildren, fallback, label);
      }
      store<u32>(fallbacks + (child << 2), next);
    }
  }
}

/** Returns the child of `state` that `label` leads to, or 0. */
function childOf(labels: usize, firstChildren: usize, state: u32, label: u8): u32 {
  let low = load<u32>(firstChildren + (state << 2));
  const end = load<u32>(firstChildren + (state << 2), 4);
  for (let high = end; low < high; ) {
    const middle = (low + high) >>> 1;
    if (load<u8>(labels + middle) < label) low = middle + 1;
    else high = middle;
  }
  return low < end && load<u8>(labels + low) === label ? low : 0;
}

/** Begins a text at an address, and forgets the previous one. Bytes before `limit` may be read. */
export function openSearch(search: TokenSearch, text: usize, limit: i32): void {
  search.text = text;
  search.limit = limit;
  search.blockLimit = -1;
  const end = search.prefixes + search.prefixCount * prefixSize;
  for (let prefix = search.prefixes; prefix < end; prefix += prefixSize) store<i32>(prefix, -1, 4);
}

/**
 * Returns the position of the first token that begins in [from, stop) and ends by `limit`; `stop` if there is none.
 * Sets `found` to the token's number. Until the next `openSearch`, `from` must not be lower than any earlier `from` or
 * result.
 */
export function findToken(search: TokenSearch, from: i32, stop: i32, limit: i32): i32 {
  if (search.longestBytes === 0) return stop;
  if (search.arePrefixesWhole) {
    let candidate = nextCandidate(search, from, stop);
    // A candidate that ends after the limit is not a match, and does not hide a token that begins inside it.
    while (candidate < stop && candidate + sizeOfToken(search, search.found) > limit)
      candidate = nextCandidate(search, candidate + 1, stop);
    return candidate;
  }
  if (limit !== search.blockLimit) {
    search.blockLimit = limit;
    search.blockEnd = from;
    search.left = 0;
  }
  for (;;) {
    while (search.left > 0 && placeOf(search, search.left - 1) < from) search.left--;
    if (search.left > 0) break;
    const candidate = nextCandidate(search, max(from, search.blockEnd), stop);
    if (candidate >= min(stop, limit)) return stop;
    readBlock(search, candidate);
  }
  search.found = load<u32>(search.numbers + ((search.left - 1) << 2));
  return min(placeOf(search, search.left - 1), stop);
}

function placeOf(search: TokenSearch, index: i32): i32 {
  return load<i32>(search.places + (index << 2));
}

/**
 * Returns the first position in [from, stop) where a token may begin, or `stop`. If there are prefixes, sets `found` to
 * the number of a token with the prefix there, which is the token itself if `arePrefixesWhole`.
 */
function nextCandidate(search: TokenSearch, from: i32, stop: i32): i32 {
  if (search.prefixCount === 0) return min(from, stop);
  let first = stop;
  const end = search.prefixes + search.prefixCount * prefixSize;
  for (let prefix = search.prefixes; prefix < end; prefix += prefixSize) {
    if (load<i32>(prefix, 4) < from) {
      store<i32>(prefix, from, 4);
      store<u32>(prefix, 0, 8);
    }
    if (load<u32>(prefix, 8) === 0) findPrefix(search, prefix, stop);
    const next = load<i32>(prefix, 4);
    if (next < first && load<u32>(prefix, 8) !== 0) {
      first = next;
      search.found = load<u32>(prefix, 12);
    }
  }
  return first;
}

/** Continues the search for the next occurrence of a prefix, up to `stop`. */
function findPrefix(search: TokenSearch, prefix: usize, stop: i32): void {
  const length = load<u32>(prefix);
  const next = load<i32>(prefix, 4);
  const end = min(stop, search.limit - <i32>length + 1);
  const place = next < end ? placeOfPrefix(search.text, next, end, prefix + 16, length) : end;
  store<i32>(prefix, place < end ? place : max(next, stop), 4);
  store<u32>(prefix, u32(place < end), 8);
}

/** Returns the first position in [from, stop) of a text where the `length` bytes at `prefix` occur, or `stop`. */
function placeOfPrefix(text: usize, from: i32, stop: i32, prefix: usize, length: u32): i32 {
  const first = load<u8>(prefix);
  const last = load<u8>(prefix + length - 1);
  if (ASC_FEATURE_SIMD) {
    const firsts = i8x16.splat(first);
    const lasts = i8x16.splat(last);
    for (let place = from; place < stop; place += 16) {
      // The first byte is rare in most texts, so 32 positions at once are checked for it, and skipped if none has it.
      for (; place + 32 <= stop; place += 32) {
        const at = text + place;
        const isNear = i8x16.eq(v128.load(at), firsts);
        if (i8x16.bitmask(v128.or(isNear, i8x16.eq(v128.load(at, 16), firsts))) !== 0) break;
      }
      if (place >= stop) return stop;
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

/** Sets the top bit of bytes that are 0, and possibly of bytes of value 1 that follow such a byte. */
function zeroBytes(bytes: u64): u64 {
  return (bytes - ones) & ~bytes & (ones << 7);
}

/** Finds all tokens that begin in the block at `from`. Blocks become longer while one closely follows another. */
function readBlock(search: TokenSearch, from: i32): void {
  const longestBytes = search.longestBytes;
  const shortest = max(shortestBlockBytes, longestBytes);
  const longest = max(longestBlockBytes, longestBytes);
  const isNear = from - search.blockEnd < shortest;
  const blockBytes = isNear ? min(2 * max(search.blockBytes, shortest), longest) : shortest;
  const blockLimit = search.blockLimit;
  const blockEnd = min(from + blockBytes, blockLimit);
  search.blockBytes = blockBytes;
  search.blockEnd = blockEnd;
  const limit = min(blockEnd + longestBytes - 1, blockLimit);
  search.readBytes += limit - from;
  search.left = matchBackwards(search, from, blockEnd, limit);
}

/**
 * Reads [from, limit) backwards. Lists in `places` the positions in [from, to) where a token begins that ends by
 * `limit`, and in `numbers` the longest token at each. Returns the length of the lists.
 */
function matchBackwards(search: TokenSearch, from: i32, to: i32, limit: i32): i32 {
  const text = search.text;
  const labels = search.labels;
  const firstChildren = search.firstChildren;
  const fallbacks = search.fallbacks;
  const ends = search.ends;
  const rootChildren = search.rootChildren;
  const places = search.places;
  const numbers = search.numbers;
  let placeCount: i32 = 0;
  let state: u32 = 0;
  for (let at = limit - 1; at >= from; at--) {
    const byte = load<u8>(text + at);
    let next: u32 = 0;
    while (next === 0 && state !== 0) {
      next = childOf(labels, firstChildren, state, byte);
      const fallback = load<u32>(fallbacks + (state << 2));
      // Only a damaged image has a fallback that is not smaller.
      if (fallback >= state) unreachable();
      state = fallback;
    }
    state = next === 0 ? load<u32>(rootChildren + ((<usize>byte) << 2)) : next;
    const token = load<u32>(ends + (state << 2));
    if (token !== 0 && at < to) {
      store<i32>(places + (placeCount << 2), at);
      store<u32>(numbers + (placeCount << 2), token - 1);
      placeCount++;
    }
  }
  return placeCount;
}
