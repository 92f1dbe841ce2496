import { endsStart, reserveTable } from "../regions";
import { mergeScanned, mergeSymbols, noRoom, reserveSymbols } from "./merge-word";
import { EncodingModel, tokenLengths } from "./model-layout";
import { findPair, limitRanks, noRank } from "./pair-ranks";
import { beginIds, idsEnd } from "./word-cache";

/**
 * Late merges: superwords consist of words, and are learned after them. From the first rank on at which a merge crosses the end of a
 * word into a space, all merges are *late*: pretokens, which are lines here, are cut into words and encoded by the other merges,
 * with words from the cache; then the late merges are made in the result.
 *
 * Why that is exact: ranks only rise (`isMonotone`), so a late merge makes no pair that is not late. Merging the lowest rank
 * first therefore makes all other merges before the first late one.
 *
 * Most neighbours never become one token. The parts that a token has when the late merges begin, its *leaves*, follow from
 * the merges. A late merge crosses a position only if the leaves on both sides of it are the last leaf of its left half and the
 * first leaf of its right half: a *seam*. So a text is cut wherever two leaves are no seam.
 *
 *   ARRAY      TYPE   LENGTH         MEANING
 *   seams      u32    2^seamBits/32  a bit for the hash of each seam. Collisions cause fewer cuts, and change no id
 *   firstLeaf  u32    idLimit        used while seams are found
 *   lastLeaf   u32    idLimit
 */
let seams: usize = 0;
let seamBits: u32 = 0;
let lengths: usize = 0;
let lateRank: i32 = 0;
let mergedIds: usize = 0;
/** Segments of at most this many ids are merged by the ranks that are at `ranks` when their end is found. */
const rankedMax: u32 = isSmallScale ? 3 : 32;
let ranks: usize = 0;
let ranksEnd: usize = 0;
/** Bits for each seam. */
const bitsPerSeam: u32 = isSmallScale ? 1 : 16;

export function hasLateMerges(): bool {
  return seams !== 0;
}

/** Sets up the seams; returns false if there is no room. */
export function useLateMerges(model: EncodingModel): bool {
  if (model.lateRank === model.mergeCount) return true;
  lateRank = <i32>model.lateRank;
  mergedIds = model.mergedIds;
  seamBits = isSmallScale ? 5 : 10;
  while ((<u64>1) << seamBits < <u64>bitsPerSeam * (model.mergeCount - model.lateRank)) seamBits++;
  lengths = tokenLengths(model);
  ranks = reserveTable(4 * rankedMax);
  ranksEnd = ranks + 4 * (rankedMax - 1);
  const firstLeaf = reserveTable(4 * <usize>model.idLimit);
  const lastLeaf = reserveTable(4 * <usize>model.idLimit);
  seams = reserveTable((<usize>1) << (seamBits - 3));
  if (lengths === 0 || ranks === 0 || firstLeaf === 0 || lastLeaf === 0 || seams === 0) return false;
  for (let id: u32 = 0; id < model.idLimit; id++) {
    store<u32>(firstLeaf + (id << 2), id);
    store<u32>(lastLeaf + (id << 2), id);
  }
  for (let rank: u32 = model.lateRank; rank < model.mergeCount; rank++) {
    const left = load<u32>(model.lefts + (rank << 2));
    const right = load<u32>(model.rights + (rank << 2));
    const merged = load<u32>(model.mergedIds + (rank << 2));
    const seam = seamOf(load<u32>(lastLeaf + (left << 2)), load<u32>(firstLeaf + (right << 2)));
    const word = seams + ((seam >> 5) << 2);
    store<u32>(word, load<u32>(word) | (1 << (seam & 31)));
    store<u32>(firstLeaf + (merged << 2), load<u32>(firstLeaf + (left << 2)));
    store<u32>(lastLeaf + (merged << 2), load<u32>(lastLeaf + (right << 2)));
  }
  limitRanks(lateRank);
  return true;
}

function seamOf(left: u32, right: u32): u32 {
  return ((left * 0x9e3779b1 + right) * 0x85ebca77) >> (32 - seamBits);
}

function isSeam(left: u32, right: u32): bool {
  const seam = seamOf(left, right);
  return ((load<u32>(seams + ((seam >> 5) << 2)) >> (seam & 31)) & 1) !== 0;
}

/**
 * Makes the late merges in the ids from `firstId` on: those of the pretokens of `ends`, by all other merges. The memory from
 * `room` on is free. Returns false if there is no room.
 */
export function mergeLate(firstId: usize, endCount: u32, room: usize, isNarrow: bool): bool {
  return isNarrow ? mergeIds<u16>(firstId, endCount, room) : mergeIds<u32>(firstId, endCount, room);
}

function mergeIds<T>(firstId: usize, endCount: u32, room: usize): bool {
  const stop = idsEnd;
  const sizes = lengths;
  let out = firstId;
  let id = firstId;
  let next: u32 = 1;
  let textPos = load<u32>(endsStart);
  let textEnd = load<u32>(endsStart, 4);
  limitRanks(noRank);
  while (id < stop) {
    // A segment: ids with a seam between any two of them.
    const start = id;
    let left = <u32>load<T>(id);
    textPos += load<u32>(sizes + (left << 2));
    id += sizeof<T>();
    let best: i32 = noRank;
    let rank = ranks;
    while (textPos < textEnd) {
      const right = <u32>load<T>(id);
      if (!isSeam(left, right)) break;
      // Only the ranks that `mergeRanked` uses are stored; those after them do not matter.
      if (rank < ranksEnd) {
        const found = findPair(left, right);
        store<i32>(rank, found);
        rank += 4;
        best = min(best, found);
      }
      textPos += load<u32>(sizes + (right << 2));
      id += sizeof<T>();
      left = right;
    }
    if (textPos === textEnd && ++next < endCount) textEnd = load<u32>(endsStart + (next << 2));
    if (id - start === sizeof<T>()) {
      store<T>(out, <T>left);
      out += sizeof<T>();
      continue;
    }
    const count = mergeSegment<T>(start, id, out, best, room);
    if (count === noRoom) {
      limitRanks(lateRank);
      return false;
    }
    out += <usize>count * sizeof<T>();
  }
  limitRanks(lateRank);
  beginIds(out);
  return true;
}

/**
 * Merges the ids of a segment, two or more, and writes them to `out`, which is not after it. Returns their number, or `noRoom`.
 * `best` is the lowest of the ranks at `ranks`.
 */
function mergeSegment<T>(start: usize, end: usize, out: usize, best: i32, room: usize): u32 {
  const count = <u32>((end - start) / sizeof<T>());
  const isRanked = count <= rankedMax;
  if (isRanked && best === noRank) {
    for (let i: usize = 0; i < count; i++) store<T>(out + i * sizeof<T>(), load<T>(start + i * sizeof<T>()));
    return count;
  }
  if (count === 2) {
    store<T>(out, <T>load<i32>(mergedIds + ((<usize>best) << 2)));
    return 1;
  }
  const symbols = reserveSymbols(count, room);
  if (symbols === 0) return noRoom;
  for (let i: usize = 0; i < count; i++)
    store<i32>(symbols + (i << 2), <i32>load<T>(start + i * sizeof<T>()));
  const mergedCount = isRanked ? mergeScanned(symbols, count, ranks) : mergeSymbols(symbols, count);
  if (mergedCount === noRoom) return noRoom;
  for (let i: usize = 0; i < mergedCount; i++)
    store<T>(out + i * sizeof<T>(), <T>load<i32>(symbols + (i << 2)));
  return mergedCount;
}

/** Merges `count` ids of 32 bits in place by all merges; returns the number of ids left, or `noRoom`. */
export function mergeAllRanks(ids: usize, count: u32): u32 {
  limitRanks(noRank);
  const leftCount = mergeSymbols(ids, count);
  limitRanks(lateRank);
  return leftCount;
}
