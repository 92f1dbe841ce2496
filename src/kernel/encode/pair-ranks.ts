import { middleKeysStart, reserveTable } from "../regions";
import { EncodingModel } from "./model-layout";

/**
 * The rank of each pair of ids. Lookups are rare and scattered, so the number of cache lines of the table matters most.
 *
 *   ARRAY    TYPE      LENGTH            MEANING
 *   slots    u32       2^slotBits        hash table with linear probing, at most half full. A slot has rank + 1 in its
 *                                        low `rankBits` bits. Above these is the *tag*: low bits of the pair's hash. A
 *                                        free slot is 0
 *   halves   i32,i32   mergeCount        left and right id of each rank
 *   filter   u32       2^(slotBits - 3)  a bit for each pair: the hash's top bits select the word, its lowest five the
 *                                        bit. Most pairs that are looked up do not merge, and the filter rejects most
 *                                        of these
 *
 * The home slot of a pair is the top `slotBits` bits of its hash.
 *
 * Most pairs need only a *guess*: the rank of the first slot with the right tag. Ranks are added in ascending order, so
 * the slots that are probed before a pair's own slot have lower ranks. So a guess is never above the true rank. Only
 * the lowest guess of a word is checked, by comparing the pair with `halves`, before that pair is merged. That saves
 * half of the cache misses.
 */

/**
 * The rank of a pair that does not merge: higher than every real rank. All its bytes are equal, so `memory.fill` can
 * write it.
 */
export const noRank: i32 = 0x7f7f7f7f;
export const noRankByte: u8 = 0x7f;

/** Eight slots share the 32 bits of a word of the filter. */
const filterShift: u32 = 3;

const multiplier0: u32 = 0x9e3779b1;
const multiplier1: u32 = 0x85ebca77;

let slots: usize = 0;
let slotBits: u32 = 0;
let rankBits: u32 = 0;
let halves: usize = 0;
let filter: usize = 0;
let mergedIds: usize = 0;
/**
 * The id that the merge of rank 0 makes, if each later rank makes the next id, so that ids are computed instead of
 * loaded; -1 if the ids are not consecutive.
 */
let firstMerged: i32 = -1;

/**
 * Whether ranks are never guessed, because a pair is listed twice, merges are tied, or ranks are added in any order.
 */
let isExact: bool = false;

/**
 * The address of an array i32[mergeCount], or 0 if no merges are tied. Tied merges share one rank, that of the first of
 * them, and are made from left to right. The array has this rank for each merge.
 */
let firstTied: usize = 0;

/** Allows ranks to be added in any order from now on. Ranks are then no longer guessed. */
export function allowAnyOrder(): void {
  isExact = true;
}

/** Lookups find only ranks below this one. It excludes late merges (late-merges.ts) while all other merges are made. */
let rankLimit: i32 = noRank;

/** Sets `rankLimit`, and returns the previous one. */
export function limitRanks(limit: i32): i32 {
  const before = rankLimit;
  rankLimit = limit;
  return before;
}

/** Reserves memory for the pairs of all merges; returns false if memory runs out. */
export function reservePairs(model: EncodingModel): bool {
  rankBits = 32 - clz(model.mergeCount);
  halves = reserveTable(8 * <usize>model.mergeCount);
  mergedIds = model.mergedIds;
  firstMerged = model.mergeCount > 0 ? load<i32>(mergedIds) : -1;
  firstTied = model.firstTied;
  if (firstTied !== 0) isExact = true;
  slotBits = 4;
  while ((<u64>1) << slotBits < 2 * <u64>model.mergeCount) slotBits++;
  slots = reserveTable((<usize>4) << slotBits);
  filter = reserveTable((<usize>4) << (slotBits - filterShift));
  return halves !== 0 && slots !== 0 && filter !== 0;
}

/** Sets the rank of a merge's pair; returns whether the pair is new. */
export function addPair(model: EncodingModel, rank: u32): bool {
  const left = load<u32>(model.lefts + (rank << 2));
  const right = load<u32>(model.rights + (rank << 2));
  if (load<i32>(mergedIds + (rank << 2)) !== firstMerged + <i32>rank) firstMerged = -1;
  const both = bothOf(left, right);
  const hash = hashOf(left, right);
  const filterWord = filter + ((hash >> (32 - slotBits + filterShift)) << 2);
  store<u32>(filterWord, load<u32>(filterWord) | (1 << (hash & 31)));
  const last: u32 = (1 << slotBits) - 1;
  let pos = hash >> (32 - slotBits);
  let slot = load<u32>(slots + (pos << 2));
  while (slot !== 0) {
    const known = (slot & ((1 << rankBits) - 1)) - 1;
    if (load<u64>(halves + (known << 3)) === both) break;
    pos = (pos + 1) & last;
    slot = load<u32>(slots + (pos << 2));
  }
  store<u32>(slots + (pos << 2), (hash << rankBits) | (rank + 1));
  store<u64>(halves + (rank << 3), both);
  if (slot !== 0) isExact = true;
  return slot === 0;
}

/** Returns the id of the token that a merge makes. */
export function mergedBy(merge: i32): i32 {
  return firstMerged >= 0 ? firstMerged + merge : load<i32>(mergedIds + (merge << 2));
}

/** Returns the index of the merge that joins a pair whose rank is known: the rank itself, unless merges are tied. */
export function mergeOf(rank: i32, left: i32, right: i32): i32 {
  return firstTied === 0 ? rank : findMerge(hashOf(left, right), bothOf(left, right), true);
}

/** Returns the rank of the pair, or `noRank`. */
export function findPair(left: i32, right: i32): i32 {
  const hash = hashOf(left, right);
  return mayBePair(hash) === 0 ? noRank : findRank(hash, bothOf(left, right), true);
}

/** Returns a guess of the pair's rank: the true rank or a lower one. For ids that do not merge it may be any rank. */
export function guessPair(left: i32, right: i32): i32 {
  const hash = hashOf(left, right);
  return mayBePair(hash) === 0 ? noRank : findRank(hash, bothOf(left, right), isExact);
}

/** Whether a guessed rank is the pair's true rank. If merges are tied, no rank is guessed, so the result is true. */
export function isRankOf(rank: i32, left: i32, right: i32): bool {
  return firstTied !== 0 || load<u64>(halves + (rank << 3)) === bothOf(left, right);
}

/**
 * Writes to `ranks` a guess for each pair of neighbours among `count` ids, at most 64. First lists the pairs that pass
 * the filter, without branches, and then looks these up.
 */
export function guessPairs(ids: usize, count: u32, ranks: usize): void {
  // The memory of `middleKeys` (regions.ts) is free while words are merged.
  const candidates = middleKeysStart;
  let listed = candidates;
  let left = load<u32>(ids);
  for (let i: u32 = 1; i < count; i++) {
    const right = load<u32>(ids + (i << 2));
    const hash = hashOf(left, right);
    store<i32>(ranks + (i << 2) - 4, noRank);
    store<u32>(listed, hash);
    store<u32>(listed, i - 1, 4);
    listed += mayBePair(hash) << 3;
    left = right;
  }
  for (let at = candidates; at < listed; at += 8) {
    const i = load<u32>(at, 4) << 2;
    const both = isExact ? load<u64>(ids + i) : 0;
    store<i32>(ranks + i, findRank(load<u32>(at), both, isExact));
  }
}

/** Returns 1 if the pair passes the filter, else 0. */
function mayBePair(hash: u32): u32 {
  return (load<u32>(filter + ((hash >> (32 - slotBits + filterShift)) << 2)) >> (hash & 31)) & 1;
}

function findRank(hash: u32, both: u64, checks: bool): i32 {
  const merge = findMerge(hash, both, checks);
  return firstTied === 0 || merge === noRank ? merge : load<i32>(firstTied + (merge << 2));
}

function findMerge(hash: u32, both: u64, checks: bool): i32 {
  const tag = hash << rankBits;
  const last: u32 = (1 << slotBits) - 1;
  const home = hash >> (32 - slotBits);
  let pos = home;
  let slot = load<u32>(slots + (pos << 2));
  while (slot !== 0) {
    if ((slot ^ tag) >> rankBits === 0) {
      const rank = (slot ^ tag) - 1;
      if (!checks || load<u64>(halves + (rank << 3)) === both)
        return <i32>rank < rankLimit ? <i32>rank : noRank;
    }
    pos = (pos + 1) & last;
    // Only a damaged image has no free slot.
    if (pos === home) unreachable();
    slot = load<u32>(slots + (pos << 2));
  }
  return noRank;
}

function hashOf(left: u32, right: u32): u32 {
  return (left * multiplier0 + right) * multiplier1;
}

function bothOf(left: u32, right: u32): u64 {
  return <u64>left | ((<u64>right) << 32);
}
