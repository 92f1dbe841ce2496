import {
  hasWordFacts,
  lefts,
  lengths,
  prefixBytes,
  prefixLengthMax,
  prefixStarts,
  rights,
  sizes,
  stack,
  startByteCount,
  startBytes,
  startCount,
  startOffsets,
  tokenCapacity,
  wordFacts,
} from "./merge-regions";
import { giveCharacterState, mayJoinCharacters } from "./whole-characters";

/**
 * Tokens: the halves and bytes of each token id. The first `startCount` ids are the start tokens, of which words
 * consist before the first merge: the 256 bytes, or any other tokens. Merge k makes id `startCount` + k.
 *
 *   REGION        ELEMENT  ELEMENTS                MEANING
 *   lefts         u32      tokenCapacity           token id of the left half; none for start tokens
 *   rights        u32      tokenCapacity           token id of the right half
 *   lengths       u32      tokenCapacity           number of cells that the token covers, one for each of its start
 *                                                  tokens
 *   sizes         u32      tokenCapacity           number of bytes of the token; the same region as `lengths` unless
 *                                                  some start token has several bytes. If start tokens have no bytes,
 *                                                  each counts as one byte
 *   startBytes    u8       startByteCount          concatenated bytes of the start tokens, mapped so that they sort as
 *                                                  the tie rule demands
 *   startOffsets  u32      startCount + 1          start token t is startBytes[startOffsets[t] .. startOffsets[t + 1])
 *   prefixBytes   u8       prefixLengthMax a token at most `prefixLengthMax` first bytes of each token, concatenated
 *   prefixStarts  u32      tokenCapacity           the start of each prefix
 *   stack         u32      2 x tokenCapacity       two stacks, for walks over derivations
 *
 * Storing only prefixes bounds the memory: a vocabulary learned from one repetitive word of 10 MB has tokens of
 * megabytes. If the tie rule does not compare bytes, no prefixes are stored.
 */
export let madeCount: u32 = 0;
let prefixByteCount: u32 = 0;

export function startTokens(): void {
  madeCount = startCount;
  prefixByteCount = 0;
  for (let id: u32 = 0; id < startCount; id++) {
    const size = startByteCount > 0 ? startOffset(id + 1) - startOffset(id) : 1;
    store<u32>(sizes + ((<usize>id) << 2), size);
    store<u32>(lengths + ((<usize>id) << 2), 1);
    if (prefixLengthMax === 0) continue;
    const length = min(size, prefixLengthMax);
    store<u32>(prefixStarts + ((<usize>id) << 2), prefixByteCount);
    memory.copy(prefixBytes + prefixByteCount, startBytesOf(id), length);
    prefixByteCount += length;
  }
}

function startOffset(id: u32): u32 {
  return load<u32>(startOffsets + ((<usize>id) << 2));
}

/** Returns the address of a start token's bytes. */
export function startBytesOf(id: u32): usize {
  return startBytes + startOffset(id);
}

/** Whether a token is a start token, which has no halves. */
export function isStart(id: u32): bool {
  return id < startCount;
}

export function leftOf(id: u32): u32 {
  return load<u32>(lefts + ((<usize>id) << 2));
}

function rightOf(id: u32): u32 {
  return load<u32>(rights + ((<usize>id) << 2));
}

/** Returns the number of cells that a token covers. */
export function lengthOf(id: u32): u32 {
  return load<u32>(lengths + ((<usize>id) << 2));
}

/** Returns the number of bytes of a token. */
export function sizeOf(id: u32): u32 {
  return load<u32>(sizes + ((<usize>id) << 2));
}

/**
 * Adds the token that `left` and `right` make, and returns its id, the next one. Its tie key is set separately
 * (tie-rules.ts).
 */
export function addToken(left: u32, right: u32): u32 {
  assert(madeCount < tokenCapacity, "there is room for one token more");
  const id = madeCount++;
  store<u32>(lefts + ((<usize>id) << 2), left);
  store<u32>(rights + ((<usize>id) << 2), right);
  const size = sizeOf(left) + sizeOf(right);
  store<u32>(lengths + ((<usize>id) << 2), lengthOf(left) + lengthOf(right));
  store<u32>(sizes + ((<usize>id) << 2), size);
  if (prefixLengthMax > 0) writePrefix(id, left, right);
  giveWordFacts(id, left, right);
  giveCharacterState(id, left, right);
  return id;
}

export function prefixLengthOf(id: u32): u32 {
  return min(sizeOf(id), prefixLengthMax);
}

/** Returns the address of a token's stored prefix. */
export function prefixOf(id: u32): usize {
  return prefixBytes + load<u32>(prefixStarts + ((<usize>id) << 2));
}

function writePrefix(id: u32, left: u32, right: u32): void {
  const length = prefixLengthOf(id);
  const leftLength = prefixLengthOf(left);
  store<u32>(prefixStarts + ((<usize>id) << 2), prefixByteCount);
  const prefix = prefixBytes + prefixByteCount;
  memory.copy(prefix, prefixOf(left), leftLength);
  // The right half's prefix suffices: it has `prefixLengthMax` bytes, or the whole half.
  memory.copy(prefix + leftLength, prefixOf(right), length - leftLength);
  prefixByteCount += length;
}

/** Compares the stored prefixes of two tokens, then the lengths of the prefixes. */
export function comparePrefixes(a: u32, b: u32): i32 {
  const lengthA = prefixLengthOf(a);
  const lengthB = prefixLengthOf(b);
  const prefixA = prefixOf(a);
  const prefixB = prefixOf(b);
  const length = min(lengthA, lengthB);
  for (let k: u32 = 0; k < length; k++) {
    const difference = <i32>load<u8>(prefixA + k) - <i32>load<u8>(prefixB + k);
    if (difference !== 0) return difference;
  }
  return <i32>lengthA - <i32>lengthB;
}

/** Writes all bytes of a token to `address`, which must have space for them. */
export function copyBytes(id: u32, address: usize): void {
  let top = stack;
  store<u32>(top, id);
  top += 4;
  while (top > stack) {
    top -= 4;
    const token = load<u32>(top);
    if (isStart(token)) {
      memory.copy(address, startBytesOf(token), sizeOf(token));
      address += sizeOf(token);
    } else top = pushHalves(top, token);
  }
}

/** Pushes the halves of a token onto a stack, the left one last. Returns the new top. */
export function pushHalves(top: usize, token: u32): usize {
  store<u32>(top, rightOf(token));
  store<u32>(top, leftOf(token), 4);
  return top + 8;
}

/**
 * Facts about the words in a token, for tokens that may span spaces. Words are the parts between spaces (0x20). The
 * facts decide whether a token may be made (`mayJoinWords`). The facts of a merged token follow from those of its
 * halves.
 *
 *   REGION      ELEMENT   ELEMENTS        MEANING
 *   wordFacts   u8        tokenCapacity   the bits below for each token; JavaScript writes those of the start tokens
 *                                         (src/merge/merge-memories.ts)
 *
 *   BITS   MEANING
 *   0-2    the number of words; 5: five or more
 *   3      the token begins with a space
 *   4      the token ends with a space
 *   5      the token ends with a colon
 *   6      the token has a colon before a space
 */
const countBits: u32 = 7;
const beginsWithSpace: u32 = 1 << 3;
const endsWithSpace: u32 = 1 << 4;
const endsWithColon: u32 = 1 << 5;
const hasColonAndSpace: u32 = 1 << 6;

/** The maximum number of words in a token. */
const wordsMax: u32 = 4;

function factsOf(id: u32): u32 {
  return load<u8>(wordFacts + id);
}

function joinedFacts(left: u32, right: u32): u32 {
  const a = factsOf(left);
  const b = factsOf(right);
  const isOneWord = (a & endsWithSpace) === 0 && (b & beginsWithSpace) === 0;
  const count = min((a & countBits) + (b & countBits) - u32(isOneWord), wordsMax + 1);
  const meet = (a & endsWithColon) !== 0 && (b & beginsWithSpace) !== 0 ? hasColonAndSpace : 0;
  return (
    count |
    (a & beginsWithSpace) |
    (b & (endsWithSpace | endsWithColon)) |
    ((a | b) & hasColonAndSpace) |
    meet
  );
}

/**
 * Whether the merged token has at most `wordsMax` words, and no colon before a space. True if words are not limited.
 */
function mayJoinWords(left: u32, right: u32): bool {
  if (!hasWordFacts) return true;
  const joined = joinedFacts(left, right);
  return (joined & countBits) <= wordsMax && (joined & hasColonAndSpace) === 0;
}

/** Stores the facts of a new token. */
function giveWordFacts(id: u32, left: u32, right: u32): void {
  if (hasWordFacts) store<u8>(wordFacts + id, <u8>joinedFacts(left, right));
}

/**
 * The limits that decide which pairs may be merged. A pair that may not be merged has no record, except while the index
 * is rebuilt (pair-table.ts).
 */

/** The maximum size in bytes of a merged token. */
let sizeMax: u32 = 0;
/** Whether two bytes may be merged regardless of `sizeMax`. */
let bytePairsAlways: bool = false;

export function startLimits(tokenSizeMax: u32, mergesBytesAlways: bool): void {
  sizeMax = tokenSizeMax;
  bytePairsAlways = mergesBytesAlways;
}

export function mayMerge(left: u32, right: u32): bool {
  const size = sizeOf(left) + sizeOf(right);
  const isShort = size <= sizeMax || (size === 2 && bytePairsAlways);
  return isShort && mayJoinWords(left, right) && mayJoinCharacters(left, right);
}
