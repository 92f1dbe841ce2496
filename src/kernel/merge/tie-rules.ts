import {
  labels,
  prefixLengthMax,
  Special,
  shared,
  sorted,
  specialByteCount,
  specialBytes,
  specialCount,
  specialSlotCount,
  specialSlots,
  specials,
  stack,
  startCount,
  startRanks,
  tieKeys,
  tokenCapacity,
} from "./merge-regions";
import {
  comparePrefixes,
  copyBytes,
  isStart,
  leftOf,
  prefixLengthOf,
  prefixOf,
  pushHalves,
  sizeOf,
  startBytesOf,
} from "./merge-tokens";
import { pairAt } from "./pair-table";

/**
 * Tie rules: which of two pairs with equal counts is merged first. The pairs are compared by their left tokens or, if
 * the rule ranks these as equal, by their right ones. Of two tokens, the one with the greater tie key, a number, wins.
 * If the keys are equal, a rule about bytes compares all bytes of the two tokens.
 *
 *   RULE           WINS                                      TIE KEY OF A TOKEN
 *   greater bytes  greater (bytes of left, bytes of right)   its first 8 bytes as one number
 *   smaller bytes  smaller (bytes of left, bytes of right)   likewise, with all bits inverted
 *   smaller id     smaller (left id, right id)               if it spells a special (below): the special's `key`;
 *                                                            otherwise 2^32 minus its rank, which is in `startRanks`
 *                                                            for a start token, and the id for any other token
 *
 * The order of bytes is that of the numbers in `startBytes` (merge-tokens.ts). These are byte values, unless the
 * imitated trainer orders bytes differently. Then JavaScript has replaced each byte by its place in the trainer's
 * order.
 *
 *   REGION        ELEMENT  ELEMENTS              MEANING
 *   tieKeys       u64      tokenCapacity         the tie key of each token
 *   startRanks    i32      startCount            the rank of each start token: its id in the imitated trainer, or a
 *                                                negative number if it spells a special token. Such a token wins
 *                                                against all tokens of rank 0 or more. Unused if bytes are compared
 *   specials      Special  specialCount          tokens that exist before the first merge and that a merge may spell
 *                                                again: special tokens, and tokens of a base
 *   specialBytes  u8       2 x specialByteCount  the bytes of the specials, then space for the token that is looked up
 *   specialSlots  u32      specialSlotCount      hash table of the specials by their bytes, with linear probing, at
 *                                                most half full. A slot has 1 + the index of a special, or 0 if it is
 *                                                empty. Of specials with the same bytes, the first one is found
 */
const middleKey: u64 = 1 << 32;
const keyBytes: u32 = 8;

/** Whether smaller bytes win instead of greater ones. */
let smallerWins: bool = false;

function tieKeyOf(id: u32): u64 {
  return load<u64>(tieKeys + ((<usize>id) << 3));
}

/** Computes the keys of the start tokens. */
export function startTieKeys(doSmallerWin: bool): void {
  smallerWins = doSmallerWin;
  indexSpecials();
  for (let id: u32 = 0; id < startCount; id++) giveTieKey(id);
}

/**
 * Computes a token's tie key. If bytes decide ties and the token is long (`isLong`), also inserts it into `sorted`.
 * Returns false if the token spells one of the specials.
 */
export function giveTieKey(id: u32): bool {
  const key = keyAsSpecial(id);
  if (prefixLengthMax > 0) {
    setTieKey(id, smallerWins ? ~prefixKey(id) : prefixKey(id));
    if (isLong(id)) insertLongToken(id);
  } else if (key > 0) setTieKey(id, key);
  else setTieKey(id, middleKey - (isStart(id) ? <u64>(<i64>load<i32>(startRanks + ((<usize>id) << 2))) : id));
  return key === 0;
}

function setTieKey(id: u32, key: u64): void {
  store<u64>(tieKeys + ((<usize>id) << 3), key);
}

function prefixKey(id: u32): u64 {
  const prefix = prefixOf(id);
  const length = prefixLengthOf(id);
  let key: u64 = 0;
  for (let k: u32 = 0; k < keyBytes; k++) key = (key << 8) | (k < length ? <u64>load<u8>(prefix + k) : 0);
  return key;
}

/** The length in bytes of the longest of the specials. */
let longestSpecial: u32 = 0;

function indexSpecials(): void {
  longestSpecial = 0;
  for (let k: u32 = 0; k < specialCount; k++) {
    const special = specialAt(k);
    let slot = slotOf(specialBytes + special.start, special.length);
    while (specialInSlot(slot) > 0) slot = slotAfter(slot);
    store<u32>(specialSlots + ((<usize>slot) << 2), k + 1);
    longestSpecial = max(longestSpecial, special.length);
  }
}

/** Returns the key of the existing token in `specials` that has the same bytes as token `id`; 0 if there is none. */
function keyAsSpecial(id: u32): u64 {
  const length = sizeOf(id);
  if (specialCount === 0 || length > longestSpecial) return 0;
  const bytes = specialBytes + specialByteCount;
  copyBytes(id, bytes);
  for (let slot = slotOf(bytes, length); specialInSlot(slot) > 0; slot = slotAfter(slot)) {
    const special = specialAt(specialInSlot(slot) - 1);
    const isSame =
      special.length === length && memory.compare(specialBytes + special.start, bytes, length) === 0;
    if (isSame) return special.key;
  }
  return 0;
}

function specialAt(k: u32): Special {
  return changetype<Special>(specials + <usize>k * offsetof<Special>());
}

function specialInSlot(slot: u32): u32 {
  return load<u32>(specialSlots + ((<usize>slot) << 2));
}

function slotAfter(slot: u32): u32 {
  return (slot + 1) & (specialSlotCount - 1);
}

/** Returns the home slot of bytes: their FNV-1a hash, with its upper half folded into the lower one. */
function slotOf(bytes: usize, length: u32): u32 {
  let hash: u32 = 0x811c9dc5;
  for (let k: u32 = 0; k < length; k++) hash = (hash ^ load<u8>(bytes + k)) * 0x01000193;
  return (hash ^ (hash >> 16)) & (specialSlotCount - 1);
}

/**
 * Whether pair `p` is merged before another pair `q` with the same count. The tie rule may rank two tokens as equal,
 * because they have the same bytes. If so, the pair with the older token wins.
 */
export function pairWins(p: u32, q: u32): bool {
  const a = pairAt(p);
  const b = pairAt(q);
  if (a.left !== b.left) {
    const order = tieOrder(a.left, b.left);
    if (order !== 0) return order > 0;
  }
  if (a.right !== b.right) {
    const order = tieOrder(a.right, b.right);
    if (order !== 0) return order > 0;
  }
  return a.left !== b.left ? a.left < b.left : a.right < b.right;
}

/** Returns a positive number if token `a` wins against `b`, a negative number if it loses, and 0 if they are equal. */
function tieOrder(a: u32, b: u32): i32 {
  const keyA = tieKeyOf(a);
  const keyB = tieKeyOf(b);
  if (keyA !== keyB) return keyA > keyB ? 1 : -1;
  // If ids decide ties, equal keys are those of one special, which both tokens spell.
  if (prefixLengthMax === 0) return 0;
  return smallerWins ? -compareTokens(a, b) : compareTokens(a, b);
}

/**
 * Long tokens: those that are longer than the stored prefixes, sorted by their bytes. A new long token is inserted
 * once. From then on, two long tokens are compared by their labels, however long they are (order maintenance).
 *
 *   REGION  ELEMENT  ELEMENTS       MEANING
 *   sorted  u32      longCount      ids of the long tokens, ascending by bytes
 *   shared  u32      longCount      length of the common prefix of sorted[k] and sorted[k + 1] in bytes
 *   labels  u64      tokenCapacity  ascending along `sorted`, with gaps; tokens with the same bytes have the same label
 *
 * With prefixes of 2 bytes, after learning "abc", "abd", "abcab": sorted = abc, abcab, abd; shared = [3, 2].
 */
let longCount: u32 = 0;

const labelGap: u64 = isSmallScale ? 2 : 1 << 30;

export function startLongTokens(): void {
  longCount = 0;
}

/** Whether the token is longer than its stored prefix. */
function isLong(id: u32): bool {
  return sizeOf(id) > prefixLengthMax;
}

/** Compares the bytes of two tokens. A long token must have its label already. */
function compareTokens(a: u32, b: u32): i32 {
  if (isLong(a) && isLong(b)) return i32(labelOf(a) > labelOf(b)) - i32(labelOf(a) < labelOf(b));
  const order = comparePrefixes(a, b);
  return order !== 0 ? order : <i32>sizeOf(a) - <i32>sizeOf(b);
}

function labelOf(id: u32): u64 {
  return load<u64>(labels + ((<usize>id) << 3));
}

function setLabel(id: u32, label: u64): void {
  store<u64>(labels + ((<usize>id) << 3), label);
}

function sortedAt(place: u32): u32 {
  return load<u32>(sorted + ((<usize>place) << 2));
}

function sharedAt(place: u32): u32 {
  return load<u32>(shared + ((<usize>place) << 2));
}

/** The result of a search: the index in `sorted` where a token is inserted. */
let place: u32 = 0;
/** The number of first bytes that the token shares with sorted[place - 1]. */
let sharedBelow: u32 = 0;
/** The number of first bytes that the token shares with sorted[place], before it is inserted there. */
let sharedAbove: u32 = 0;

/** Inserts a new long token into `sorted`, and sets its label. */
function insertLongToken(id: u32): void {
  if (!isStart(id) && isLong(leftOf(id))) findPlaceAfter(id, leftOf(id));
  else findPlace(id);
  const rest = (<usize>(longCount - place)) << 2;
  const sortedHere = sorted + ((<usize>place) << 2);
  const sharedHere = shared + ((<usize>place) << 2);
  memory.copy(sortedHere + 4, sortedHere, rest);
  memory.copy(sharedHere + 4, sharedHere, rest);
  store<u32>(sortedHere, id);
  store<u32>(sharedHere, sharedAbove);
  if (place > 0) store<u32>(sharedHere - 4, sharedBelow);
  longCount++;
  if (isSpelledAsNext(place)) {
    setLabel(id, labelOf(sortedAt(place + 1)));
    return;
  }
  if (place > 0 && isSpelledAsNext(place - 1)) {
    setLabel(id, labelOf(sortedAt(place - 1)));
    return;
  }
  const below = place === 0 ? 0 : labelOf(sortedAt(place - 1));
  const above = place + 1 === longCount ? below + 2 * labelGap : labelOf(sortedAt(place + 1));
  const label = (below + above) >> 1;
  setLabel(id, label);
  // If no label is left between the neighbours, all long tokens get new labels. Their order does not change, so the
  // order of the queue stays valid.
  if (label === below) spreadLabels();
}

function spreadLabels(): void {
  let label: u64 = 0;
  for (let k: u32 = 0; k < longCount; k++) {
    if (k === 0 || !isSpelledAsNext(k - 1)) label += labelGap;
    setLabel(sortedAt(k), label);
  }
}

/** Whether sorted[k] and sorted[k + 1] have the same bytes. */
function isSpelledAsNext(k: u32): bool {
  if (k + 1 === longCount) return false;
  const size = sizeOf(sortedAt(k));
  return sharedAt(k) === size && sizeOf(sortedAt(k + 1)) === size;
}

function findPlace(id: u32): void {
  let low: u32 = 0;
  let high = longCount;
  sharedBelow = 0;
  sharedAbove = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(id, sortedAt(middle), 0) > 0) {
      low = middle + 1;
      sharedBelow = sharedBytes;
    } else {
      high = middle;
      sharedAbove = sharedBytes;
    }
  }
  place = low;
}

/**
 * Finds the place in `sorted` of a new token that begins with the long token `left`. Tokens with that prefix follow
 * `left`, so the walk starts there. Each step compares how many bytes sorted[place - 1] shares with sorted[place]
 * (`shared`) and with the new token (`sharedBelow`). If the two numbers differ, they decide the order; bytes are read
 * only if the numbers are equal. So a token that grows step by step to megabytes is cheap to insert.
 */
function findPlaceAfter(id: u32, left: u32): void {
  place = placeOf(left) + 1;
  sharedBelow = sizeOf(left);
  sharedAbove = 0;
  for (; place < longCount; place++) {
    const sharedByOthers = sharedAt(place - 1);
    if (sharedByOthers < sharedBelow) {
      sharedAbove = sharedByOthers;
      return;
    }
    if (sharedByOthers > sharedBelow) continue;
    const order = compareBytes(id, sortedAt(place), sharedBelow);
    if (order < 0) {
      sharedAbove = sharedBytes;
      return;
    }
    sharedBelow = sharedBytes;
  }
}

function placeOf(id: u32): u32 {
  let low: u32 = 0;
  let high = longCount - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (labelOf(sortedAt(middle)) < labelOf(id)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The length of the common prefix of the two tokens that were compared last. */
let sharedBytes: u32 = 0;

/**
 * Compares two tokens whose first `agreed` bytes are equal, and sets `sharedBytes`. Each token has a stack of the parts
 * that are left to compare. A part that is on top of both stacks, and begins at the same position, is skipped. `doneA`
 * and `doneB` count the bytes of the two top parts that were compared already. They are above 0 only for start tokens.
 */
function compareBytes(a: u32, b: u32, agreed: u32): i32 {
  const bottomB = stack + ((<usize>tokenCapacity) << 2);
  let topA = skipBytes(stack, a, agreed);
  let doneA = doneOfTop;
  let topB = skipBytes(bottomB, b, agreed);
  let doneB = doneOfTop;
  sharedBytes = agreed;
  while (topA > stack && topB > bottomB) {
    topA -= 4;
    topB -= 4;
    const u = load<u32>(topA);
    const v = load<u32>(topB);
    const restU = sizeOf(u) - doneA;
    const restV = sizeOf(v) - doneB;
    const areSame = u === v && doneA === doneB;
    if (areSame || (isStart(u) && isStart(v))) {
      const common = min(restU, restV);
      const order = areSame ? 0 : compareRuns(startBytesOf(u) + doneA, startBytesOf(v) + doneB, common);
      if (order !== 0) return order;
      sharedBytes += common;
      doneA = restU > common ? doneA + common : 0;
      doneB = restV > common ? doneB + common : 0;
      if (doneA > 0) topA += 4;
      if (doneB > 0) topB += 4;
    } else if (!isStart(u) && (restU >= restV || isStart(v))) {
      topA = pushHalves(topA, u);
      topB += 4;
    } else {
      topA += 4;
      topB = pushHalves(topB, v);
    }
  }
  return i32(topA > stack) - i32(topB > bottomB);
}

/**
 * Compares the `length` bytes at two addresses. If they differ, adds the length of their common prefix to
 * `sharedBytes`.
 */
function compareRuns(a: usize, b: usize, length: u32): i32 {
  for (let k: u32 = 0; k < length; k++) {
    const difference = <i32>load<u8>(a + k) - <i32>load<u8>(b + k);
    if (difference === 0) continue;
    sharedBytes += k;
    return difference;
  }
  return 0;
}

/** The number of bytes of the top token that `skipBytes` skipped. If it is not 0, the top is a start token. */
let doneOfTop: u32 = 0;

/**
 * Skips the first `bytesToSkip` bytes of a token, and pushes the parts that cover the rest, so that the first of them
 * is on top. If the skip ends inside a start token, that token is pushed whole (see `doneOfTop`). Returns the new top
 * of the stack.
 */
function skipBytes(bottom: usize, id: u32, bytesToSkip: u32): usize {
  store<u32>(bottom, id);
  let top = bottom + 4;
  doneOfTop = 0;
  while (bytesToSkip > 0) {
    top -= 4;
    const token = load<u32>(top);
    const size = sizeOf(token);
    if (size <= bytesToSkip) bytesToSkip -= size;
    else if (isStart(token)) {
      doneOfTop = bytesToSkip;
      return top + 4;
    } else top = pushHalves(top, token);
  }
  return top;
}
