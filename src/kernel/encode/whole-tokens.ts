import { reserveTable } from "../regions";
import {
  EncodingModel,
  equalBytes,
  findTokenAt,
  indexTokens,
  insertToken,
  nextSlot,
  TokenTable,
  tokenId,
  tokenIn,
  tokenLength,
  tokenStart,
} from "./model-layout";

/**
 * Whole tokens: tokens of two bytes or more that merging does not produce. A pretoken that equals a whole token gets
 * its id; a part of a pretoken never does. Arrays in addition to the `TokenTable`:
 *
 *   ARRAY        TYPE   LENGTH         MEANING
 *   beginnings   u32    2^slotBits     hash table with linear probing: 1 + the index of a token, at the hash of its
 *                                      first `edgeBytes` bytes; 0: free
 *   endings      u32    2^slotBits     likewise, at the hash of its last `edgeBytes` bytes
 *   edges        u8     2^edgeBits     bit 0 at the hash of a token's first bytes, bit 1 at that of its last ones
 *
 * `edgeBytes` is 3, or 2 if some token has only two. A few hundred tokens fill a few percent of `edges`, which stays in
 * the L1 cache.
 */
let whole: TokenTable = changetype<TokenTable>(0);
let bytesMax: u32 = 0;
let edgeBytes: u32 = 3;
let beginnings: usize = 0;
let endings: usize = 0;
let edges: usize = 0;

const edgeBits: u32 = isSmallScale ? 2 : 13;
const isBeginning: u32 = 1;
const isEnding: u32 = 2;

/** Indexes the tokens; returns false if memory runs out. */
export function useWholeTokens(model: EncodingModel): bool {
  whole = model.wholeTokens;
  if (whole.count === 0) return true;
  if (!indexTokens(whole)) return false;
  beginnings = reserveTable((<usize>4) << whole.slotBits);
  endings = reserveTable((<usize>4) << whole.slotBits);
  edges = reserveTable(1 << edgeBits);
  if (edges === 0) return false;
  bytesMax = 0;
  edgeBytes = 3;
  for (let token: u32 = 0; token < whole.count; token++) {
    const length = tokenLength(whole, token);
    bytesMax = max(bytesMax, length);
    if (length < 3) edgeBytes = 2;
  }
  for (let token: u32 = 0; token < whole.count; token++) {
    const start = tokenStart(whole, token);
    const beginning = edgeAt(start);
    const ending = edgeAt(start + tokenLength(whole, token) - edgeBytes);
    insertToken(whole, beginnings, hashEdge(beginning), token);
    insertToken(whole, endings, hashEdge(ending), token);
    mark(beginning, isBeginning);
    mark(ending, isEnding);
  }
  return true;
}

export function wholeTokenCount(): u32 {
  return whole.count;
}

/** Returns the id of the whole token that equals the `length` bytes at `start`, or -1. */
export function findWholeToken(start: usize, length: u32): i32 {
  if (length > bytesMax) return -1;
  const token = findTokenAt(whole, start, length);
  return token < 0 ? -1 : tokenId(whole, token);
}

/**
 * Whether a whole token may begin or end at a position. `left` is the three bytes before the position, `right` the
 * three bytes after it, each with the first byte highest.
 */
export function mayTouchWhole(left: u32, right: u32): bool {
  if (whole.count === 0) return false;
  const before = edgeBytes === 2 ? left & 0xffff : left;
  const after = edgeBytes === 2 ? right >> 8 : right;
  return hasMark(before, isEnding, endings) || hasMark(after, isBeginning, beginnings);
}

/** Whether a whole token inside the pretoken [start, end) begins or ends at `at`. */
export function touchesWhole(start: usize, at: usize, end: usize): bool {
  const last: u32 = (1 << whole.slotBits) - 1;
  let home = hashEdge(edgeAt(at)) >> (32 - whole.slotBits);
  let pos = home;
  for (let token = tokenIn(beginnings, pos); token >= 0; token = tokenIn(beginnings, pos)) {
    const length = tokenLength(whole, token);
    if (at + length <= end && equalBytes(tokenStart(whole, token), at, length)) return true;
    pos = nextSlot(pos, last, home);
  }
  home = hashEdge(edgeAt(at - edgeBytes)) >> (32 - whole.slotBits);
  pos = home;
  for (let token = tokenIn(endings, pos); token >= 0; token = tokenIn(endings, pos)) {
    const length = tokenLength(whole, token);
    if (at - length >= start && equalBytes(tokenStart(whole, token), at - length, length)) return true;
    pos = nextSlot(pos, last, home);
  }
  return false;
}

/** Returns the first byte of a token. */
export function firstByteOf(token: u32): u32 {
  return load<u8>(tokenStart(whole, token));
}

/** Returns the last byte of a token. */
export function lastByteOf(token: u32): u32 {
  return load<u8>(tokenStart(whole, token) + tokenLength(whole, token) - 1);
}

/** Returns the `edgeBytes` bytes at `at` as a number, the first byte highest. */
function edgeAt(at: usize): u32 {
  const two = ((<u32>load<u8>(at)) << 8) | load<u8>(at, 1);
  return edgeBytes === 2 ? two : (two << 8) | load<u8>(at, 2);
}

function hashEdge(edge: u32): u32 {
  return edge * 0x9e3779b1;
}

function mark(edge: u32, bit: u32): void {
  const at = edges + (hashEdge(edge) >> (32 - edgeBits));
  store<u8>(at, load<u8>(at) | bit);
}

/**
 * Whether some token begins or ends with the bytes `edge`: begins if `table` is `beginnings`, ends if it is `endings`.
 * Usually the filter `edges` rules that out.
 */
function hasMark(edge: u32, bit: u32, table: usize): bool {
  if ((load<u8>(edges + (hashEdge(edge) >> (32 - edgeBits))) & bit) === 0) return false;
  const last: u32 = (1 << whole.slotBits) - 1;
  const home = hashEdge(edge) >> (32 - whole.slotBits);
  let pos = home;
  for (let token = tokenIn(table, pos); token >= 0; token = tokenIn(table, pos)) {
    const start = tokenStart(whole, token);
    if (edgeAt(bit === isBeginning ? start : start + tokenLength(whole, token) - edgeBytes) === edge)
      return true;
    pos = nextSlot(pos, last, home);
  }
  return false;
}
