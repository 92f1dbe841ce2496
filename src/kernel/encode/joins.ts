import { reserveTable } from "./encoding-memory";
import { droppedByte, EncodingModel } from "./model-layout";
import { tokenLength, tokenStart } from "./token-index";

/**
 * Joins: where the two halves of a merge meet. A merge can cross a place in a text only if the bytes on both sides of the
 * place equal the bytes on both sides of some join. So where no join fits, no token crosses.
 *
 * A join has up to three bytes on each side, fewer if a half is shorter. A merge adds one join, where its halves meet: its
 * halves are tokens, whose merges have added the joins inside them. A whole token, which merging does not make, adds every
 * place inside it.
 *
 *   ARRAY      TYPE      LENGTH       MEANING
 *   slots      u32,u32   2^slotBits   open addressing, at most half full, home = top bits of the hash: the two *edges* of a
 *                                     join, the left half's last bytes and the right half's first bytes; 0 if free
 *   hasSizes   u8        16           1 at 4 l + r if some join has l bytes on the left and r on the right. Most sizes do not
 *                                     occur
 *
 * An edge is up to three bytes, the first one highest, and their number << 24. "é" is c3 a9. The join of "é" and "é" is
 * [2 << 24 | c3a9, 2 << 24 | c3a9]. Only joins between two characters that are not ASCII are kept: elsewhere nobody asks.
 */
let slots: usize = 0;
let slotBits: u32 = 0;
let hasSizes: usize = 0;

const multiplier0: u32 = 0x9e3779b1;
const multiplier1: u32 = 0x85ebca77;

const contextBytes: u32 = 3;
const bytesMask: u32 = 0xffffff;

/** Makes room for the joins of all merges and whole tokens; false without room. */
export function reserveJoins(model: EncodingModel): bool {
  const whole = model.wholeTokens;
  const wholeBytes = whole.count === 0 ? 0 : load<u32>(whole.starts + (whole.count << 2));
  const joinCount = <u64>model.mergeCount + wholeBytes;
  slotBits = 4;
  while ((<u64>1) << slotBits < 2 * joinCount) slotBits++;
  slots = reserveTable((<usize>8) << slotBits);
  hasSizes = reserveTable(16);
  model.joinSlots = slots;
  model.joinSlotBits = slotBits;
  model.joinSizes = hasSizes;
  return slots !== 0 && hasSizes !== 0;
}

/**
 * Adds the joins of all merges, and marks the pairs of bytes at them in `adjacency`. With `mayBeLate` it looks for late merges
 * first, and leaves their joins out. False if two bytes share an id, or one has none.
 * `firsts` and `lasts` are scratch for the edges of each id.
 */
export function addJoins(model: EncodingModel, firsts: usize, lasts: usize, mayBeLate: bool): bool {
  if (!findEdges(model, firsts, lasts)) return false;
  if (mayBeLate) findLateRank(model, firsts, lasts);
  for (let rank: u32 = 0; rank < model.lateRank; rank++) {
    const leftEdge = load<u32>(lasts + (load<i32>(model.lefts + (rank << 2)) << 2));
    const rightEdge = load<u32>(firsts + (load<i32>(model.rights + (rank << 2)) << 2));
    if (leftEdge !== 0 && rightEdge !== 0) addJoin(model.adjacency, leftEdge, rightEdge);
  }
  const whole = model.wholeTokens;
  for (let token: u32 = 0; token < whole.count; token++) {
    const start = tokenStart(whole, token);
    const length = tokenLength(whole, token);
    for (let i: u32 = 1; i < length; i++) {
      const before = min(i, contextBytes);
      const left = edgeOf(start + i - before, before);
      addJoin(model.adjacency, left, edgeOf(start + i, min(length - i, contextBytes)));
    }
  }
  return true;
}

const space: u32 = 0x20;
const del: u32 = 0x7f;

/** The first rank at which a merge goes over the end of a word into a space. */
function findLateRank(model: EncodingModel, firsts: usize, lasts: usize): void {
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    const left = load<u32>(lasts + (load<i32>(model.lefts + (rank << 2)) << 2));
    const right = load<u32>(firsts + (load<i32>(model.rights + (rank << 2)) << 2));
    // Words that end in ASCII: Unicode's blanks stand before spaces in ordinary tokenizers, too.
    if ((left & 255) <= space || (left & 255) >= del || firstByte(right) !== space) continue;
    model.lateRank = rank;
    return;
  }
}

/** The first byte of an edge. */
function firstByte(edge: u32): u32 {
  return (edge & bytesMask) >> (8 * ((edge >> 24) - 1));
}

function edgeOf(start: usize, length: u32): u32 {
  let edge: u32 = 0;
  for (let i: u32 = 0; i < length; i++) edge = (edge << 8) | load<u8>(start + i);
  return edge | (length << 24);
}

/** Finds the edges of every token that merging can make, 0 for other ids; false if two bytes share an id, or one has none. */
function findEdges(model: EncodingModel, firsts: usize, lasts: usize): bool {
  memory.fill(firsts, 0, <usize>4 * model.idLimit);
  memory.fill(lasts, 0, <usize>4 * model.idLimit);
  for (let byte: u32 = 0; byte < 256; byte++) {
    const id = load<i32>(model.byteIds + (byte << 2));
    if (id === droppedByte || load<u32>(firsts + (id << 2)) !== 0) return false;
    store<u32>(firsts + (id << 2), (1 << 24) | byte);
    store<u32>(lasts + (id << 2), (1 << 24) | byte);
  }
  // A merge may come before those that make its halves: repeat until nothing is open, or nothing is new.
  for (let isOpen = true, isNew = true; isOpen && isNew; ) {
    isOpen = false;
    isNew = false;
    for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
      const id = load<i32>(model.mergedIds + (rank << 2));
      if (load<u32>(firsts + (id << 2)) !== 0) continue;
      const left = load<i32>(model.lefts + (rank << 2)) << 2;
      const right = load<i32>(model.rights + (rank << 2)) << 2;
      if (load<u32>(firsts + left) === 0 || load<u32>(firsts + right) === 0) {
        isOpen = true;
        continue;
      }
      store<u32>(firsts + (id << 2), joinFirst(load<u32>(firsts + left), load<u32>(firsts + right)));
      store<u32>(lasts + (id << 2), joinLast(load<u32>(lasts + left), load<u32>(lasts + right)));
      isNew = true;
    }
  }
  return true;
}

/** The first bytes of two joined tokens, from the first bytes of each. */
function joinFirst(left: u32, right: u32): u32 {
  const leftCount = left >> 24;
  const takenCount = min(contextBytes - leftCount, right >> 24);
  if (takenCount === 0) return left;
  const taken = (right & bytesMask) >> (8 * ((right >> 24) - takenCount));
  return ((left & bytesMask) << (8 * takenCount)) | taken | ((leftCount + takenCount) << 24);
}

/** The last bytes of two joined tokens, from the last bytes of each. */
function joinLast(left: u32, right: u32): u32 {
  const rightCount = right >> 24;
  const takenCount = min(contextBytes - rightCount, left >> 24);
  if (takenCount === 0) return right;
  const taken = left & ((1 << (8 * takenCount)) - 1);
  return (taken << (8 * rightCount)) | (right & bytesMask) | ((rightCount + takenCount) << 24);
}

function addJoin(adjacency: usize, left: u32, right: u32): void {
  const last = left & 255;
  const first = firstByte(right);
  store<u8>(adjacency + ((last << 8) | first), 1);
  // Only between two characters that are not ASCII: there the byte behind is a lead byte.
  if (last < 0x80 || first < 0xc0) return;
  store<u8>(hasSizes + 4 * (left >> 24) + (right >> 24), 1);
  const lastSlot: u32 = (1 << slotBits) - 1;
  let pos = homeOf(left, right);
  while (load<u32>(slots + (pos << 3)) !== 0 && !isAt(pos, left, right)) pos = (pos + 1) & lastSlot;
  store<u32>(slots + (pos << 3), left);
  store<u32>(slots + (pos << 3), right, 4);
}

function isAt(pos: u32, left: u32, right: u32): bool {
  return load<u32>(slots + (pos << 3)) === left && load<u32>(slots + (pos << 3), 4) === right;
}

function homeOf(left: u32, right: u32): u32 {
  return ((left * multiplier0 + right) * multiplier1) >> (32 - slotBits);
}

/**
 * Whether some join fits between the three bytes `left`, the last one lowest, and the three bytes `right`, the first one
 * highest. Each side is looked for with three, two and one of its bytes.
 */
export function fitsJoin(left: u32, right: u32): bool {
  for (let leftCount = contextBytes; leftCount > 0; leftCount--) {
    const leftEdge = (left & ((1 << (8 * leftCount)) - 1)) | (leftCount << 24);
    for (let rightCount = contextBytes; rightCount > 0; rightCount--) {
      if (load<u8>(hasSizes + 4 * leftCount + rightCount) === 0) continue;
      const rightEdge = (right >> (8 * (contextBytes - rightCount))) | (rightCount << 24);
      if (hasJoin(leftEdge, rightEdge)) return true;
    }
  }
  return false;
}

function hasJoin(left: u32, right: u32): bool {
  const last: u32 = (1 << slotBits) - 1;
  let pos = homeOf(left, right);
  while (load<u32>(slots + (pos << 3)) !== 0) {
    if (isAt(pos, left, right)) return true;
    pos = (pos + 1) & last;
  }
  return false;
}
