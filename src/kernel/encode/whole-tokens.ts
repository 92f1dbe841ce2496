import { hashLong } from "../words/keys";
import { equalBytes } from "./bytes";
import { EncodingModel } from "./model";
import { reserveTable } from "./work";

/**
 * WholeTokens: tokens at which merging their bytes does not arrive, of two bytes or more. A pretoken that is one of them
 * gets its id; a part of a pretoken never does.
 *
 *   ARRAY        TYPE   LENGTH         MEANING
 *   bytes        u8     starts[count]  the tokens end to end, and 8 bytes more
 *   starts       u32    count + 1      token t is bytes[starts[t] .. starts[t + 1])
 *   ids          i32    count          their ids
 *   slots        u32    2^slotBits     t + 1 by the hash of the whole token; 0 in a free slot
 *   beginnings   u32    2^slotBits     t + 1 by the hash of its first `edgeBytes` bytes; 0 in a free slot. Tokens that begin
 *                                      alike stand one behind the other
 *   endings      u32    2^slotBits     the same by its last `edgeBytes` bytes
 *   edges        u8     2^edgeBits     at the hash of a token's first bytes: bit 0; of its last ones: bit 1
 *
 * `edgeBytes` is 3, or 2 if some token has no more. Of the tables of slots at most a quarter is used. Some hundred tokens
 * take a few of a hundred places in `edges`, which stays in the first cache.
 */
let count: u32 = 0;
let bytes: usize = 0;
let starts: usize = 0;
let ids: usize = 0;
let bytesMax: u32 = 0;
let edgeBytes: u32 = 3;
let slotBits: u32 = 0;
let slots: usize = 0;
let beginnings: usize = 0;
let endings: usize = 0;
let edges: usize = 0;

const edgeBits: u32 = 13;
const isBeginning: u32 = 1;
const isEnding: u32 = 2;

/** Indexes the tokens; false if there is no room for that. */
export function useWholeTokens(model: EncodingModel): bool {
  count = model.wholeCount;
  if (count === 0) return true;
  bytes = model.wholeBytes;
  starts = model.wholeStarts;
  ids = model.wholeIds;
  slotBits = 34 - clz(count);
  slots = reserveTable((<usize>4) << slotBits);
  beginnings = reserveTable((<usize>4) << slotBits);
  endings = reserveTable((<usize>4) << slotBits);
  edges = reserveTable(1 << edgeBits);
  if (edges === 0) return false;
  bytesMax = 0;
  edgeBytes = 3;
  for (let token: u32 = 0; token < count; token++) {
    const length = lengthOf(token);
    bytesMax = max(bytesMax, length);
    if (length < 3) edgeBytes = 2;
  }
  for (let token: u32 = 0; token < count; token++) {
    const start = addressOf(token);
    const length = lengthOf(token);
    const beginning = edgeAt(start);
    const ending = edgeAt(start + length - edgeBytes);
    insert(slots, hashLong(start, length), token);
    insert(beginnings, hashEdge(beginning), token);
    insert(endings, hashEdge(ending), token);
    mark(beginning, isBeginning);
    mark(ending, isEnding);
  }
  return true;
}

export function wholeTokenCount(): u32 {
  return count;
}

/** The id of the whole token that the pretoken of `length` bytes at `start` is, or -1. */
export function findWholeToken(start: usize, length: u32): i32 {
  if (length > bytesMax) return -1;
  const last: u32 = (1 << slotBits) - 1;
  let pos = hashLong(start, length) >> (32 - slotBits);
  for (let token = tokenAt(slots, pos); token >= 0; token = tokenAt(slots, pos)) {
    if (lengthOf(token) === length && equalBytes(addressOf(token), start, length)) {
      return load<i32>(ids + (token << 2));
    }
    pos = (pos + 1) & last;
  }
  return -1;
}

/**
 * Whether three bytes on either side of a place, the first one highest, leave it open that a whole token begins or ends
 * there.
 */
export function mayTouchWhole(left: u32, right: u32): bool {
  if (count === 0) return false;
  const before = edgeBytes === 2 ? left & 0xffff : left;
  const behind = edgeBytes === 2 ? right >> 8 : right;
  return hasMark(before, isEnding, endings) || hasMark(behind, isBeginning, beginnings);
}

/** Whether a whole token inside the pretoken [start, end) begins or ends at `at`. */
export function touchesWhole(start: usize, at: usize, end: usize): bool {
  const last: u32 = (1 << slotBits) - 1;
  let pos = hashEdge(edgeAt(at)) >> (32 - slotBits);
  for (let token = tokenAt(beginnings, pos); token >= 0; token = tokenAt(beginnings, pos)) {
    const length = lengthOf(token);
    if (at + length <= end && equalBytes(addressOf(token), at, length)) return true;
    pos = (pos + 1) & last;
  }
  pos = hashEdge(edgeAt(at - edgeBytes)) >> (32 - slotBits);
  for (let token = tokenAt(endings, pos); token >= 0; token = tokenAt(endings, pos)) {
    const length = lengthOf(token);
    if (at - length >= start && equalBytes(addressOf(token), at - length, length)) return true;
    pos = (pos + 1) & last;
  }
  return false;
}

/** The first byte of a token. */
export function firstByteOf(token: u32): u32 {
  return load<u8>(addressOf(token));
}

/** The last byte of a token. */
export function lastByteOf(token: u32): u32 {
  return load<u8>(addressOf(token) + lengthOf(token) - 1);
}

/** The token in a slot, or -1. */
function tokenAt(table: usize, pos: u32): i32 {
  return load<i32>(table + (pos << 2)) - 1;
}

function addressOf(token: u32): usize {
  return bytes + load<u32>(starts + (token << 2));
}

function lengthOf(token: u32): u32 {
  return load<u32>(starts + (token << 2), 4) - load<u32>(starts + (token << 2));
}

/** `edgeBytes` bytes as a number, the first one highest. */
function edgeAt(at: usize): u32 {
  const two = ((<u32>load<u8>(at)) << 8) | load<u8>(at, 1);
  return edgeBytes === 2 ? two : (two << 8) | load<u8>(at, 2);
}

function hashEdge(edge: u32): u32 {
  return edge * 0x9e3779b1;
}

function insert(table: usize, hash: u32, token: u32): void {
  const last: u32 = (1 << slotBits) - 1;
  let pos = hash >> (32 - slotBits);
  while (load<u32>(table + (pos << 2)) !== 0) pos = (pos + 1) & last;
  store<u32>(table + (pos << 2), token + 1);
}

function mark(edge: u32, bit: u32): void {
  const at = edges + (hashEdge(edge) >> (32 - edgeBits));
  store<u8>(at, load<u8>(at) | bit);
}

/** Whether some token in the table has the edge; `edges` answers most often. */
function hasMark(edge: u32, bit: u32, table: usize): bool {
  if ((load<u8>(edges + (hashEdge(edge) >> (32 - edgeBits))) & bit) === 0) return false;
  const last: u32 = (1 << slotBits) - 1;
  let pos = hashEdge(edge) >> (32 - slotBits);
  for (let token = tokenAt(table, pos); token >= 0; token = tokenAt(table, pos)) {
    const start = addressOf(token);
    if (edgeAt(bit === isBeginning ? start : start + lengthOf(token) - edgeBytes) === edge) return true;
    pos = (pos + 1) & last;
  }
  return false;
}
