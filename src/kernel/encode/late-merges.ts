import { reserveTable } from "../regions";
import { findLate, findRareLate, indexLatePairs, keyAt, keyOf, noLateRank } from "./late-pairs";
import { mergeSymbols, noRoom, reserveSymbols } from "./merge-word";
import { EncodingModel } from "./model-layout";
import { limitRanks, mergedBy, noRank } from "./pair-ranks";
import { findSeams, markJoints } from "./seams";
import { beginIds, idsEnd } from "./word-cache";

/**
 * Late merges: superwords consist of words, and are learned after them. The first merge that crosses the end of a word
 * into a space, and all merges of higher rank, are *late*. In a model with late merges, pretokens are lines. The words
 * of a line are encoded by the other merges, with the word cache; then the late merges are made in the ids of the line.
 *
 * Why the ids are those of merging whole lines: a merge creates only pairs of higher rank (`isMonotone` of the model),
 * so a late merge creates only late pairs. Merging the lowest rank first therefore makes a late merge only after all
 * other merges. A model has late merges only if making them last certainly changes no id (`mayHaveLate` in
 * build-model.ts). It has none, for example, if a merge may create a pair of lower rank, because a file lists merges in
 * another order; if merges are tied; or if an id can be made in two ways.
 *
 * Most neighbours never become one token. A late merge can join two neighbours only if they are a *seam*; the first of
 * them is then a *joint* (seams.ts). So the ids are cut into *segments* after each id that is no joint, and each
 * segment is merged alone.
 */
let hasLate: bool = false;
let lateRank: i32 = 0;
let isNarrow: bool = false;

export function hasLateMerges(): bool {
  return hasLate;
}

/** Sets up the late merges of a model. Returns false if memory runs out. */
export function useLateMerges(model: EncodingModel): bool {
  hasLate = model.lateRank < model.mergeCount;
  if (!hasLate) return true;
  lateRank = <i32>model.lateRank;
  isNarrow = model.isNarrow !== 0;
  limitRanks(lateRank);
  const isIndexed = isNarrow
    ? findSeams<u16>(model) && indexLatePairs<u16>(model)
    : findSeams<u32>(model) && indexLatePairs<u32>(model);
  return isIndexed && reserveChunk();
}

/**
 * The ids are merged in chunks of about `chunkIdsMax` ids, so that these arrays have a fixed size, whatever the length
 * of a pretoken:
 *
 *   ARRAY     TYPE   LENGTH               MEANING
 *   lineEnds  u16    groupBytesMax        the number of ids before the end of each pretoken but the last
 *   joints    u64    chunkIdsMax/64 + 1   a bit for each id, set for joints (seams.ts)
 *   kept      u64    chunkIdsMax/64 + 1   a bit for each id that remains
 *   pairs     u32    chunkIdsMax/2 + 2    the indices of segments of two ids
 *   triples   u32    chunkIdsMax/3 + 2    the indices of segments of three ids
 *   fours     u32    chunkIdsMax/4 + 2    the indices of segments of four ids
 *   longer    u32[2] chunkIdsMax/5 + 2    the index and the length of each longer segment
 *   ranks     u32    chunkIdsMax          the ranks of the pairs of `longer` segments
 *   packing   u8     256 * 16             for each of the 256 subsets of eight ids, the shuffle that moves the ids of
 *                                         the subset to the front
 */
let lineEnds: usize = 0;
let lineEndsEnd: usize = 0;
let joints: usize = 0;
let kept: usize = 0;
let pairs: usize = 0;
let pairsEnd: usize = 0;
let triples: usize = 0;
let triplesEnd: usize = 0;
let fours: usize = 0;
let foursEnd: usize = 0;
let longer: usize = 0;
let longerEnd: usize = 0;
let ranks: usize = 0;
let packing: usize = 0;
const chunkIdsMax: u32 = isSmallScale ? 72 : 1 << 10;
const chunkWords: u32 = chunkIdsMax / 64 + 1;

/** `mergeFew` merges segments of five to this many ids; merge-word.ts merges longer ones. */
const fewIdsMax: u32 = isSmallScale ? 6 : 16;

/**
 * The late merges of a group of pretokens are made together. The pretokens of a group have at most this many bytes in
 * all, unless the group is a single pretoken.
 */
export const groupBytesMax: u32 = isSmallScale ? 32 : 1 << 15;

function reserveChunk(): bool {
  lineEnds = reserveTable(2 * groupBytesMax);
  joints = reserveTable(8 * chunkWords);
  kept = reserveTable(8 * chunkWords);
  pairs = reserveTable(4 * (chunkIdsMax / 2 + 2));
  triples = reserveTable(4 * (chunkIdsMax / 3 + 2));
  fours = reserveTable(4 * (chunkIdsMax / 4 + 2));
  longer = reserveTable(8 * (chunkIdsMax / 5 + 2));
  ranks = reserveTable(4 * chunkIdsMax);
  packing = reserveTable(256 * 16);
  if (packing === 0) return false;
  for (let set: u32 = 0; set < 256; set++) {
    let to = packing + (set << 4);
    for (let id: u32 = 0; id < 8; id++) {
      store<u8>(to, <u8>(2 * id));
      store<u8>(to, <u8>(2 * id + 1), 1);
      to += ((set >> id) & 1) << 1;
    }
  }
  return true;
}

/** The address of the first id of the current group of pretokens. */
let firstId: usize = 0;

/** Begins a group of pretokens, whose late merges are made together. */
export function beginGroup(): void {
  firstId = idsEnd;
  lineEndsEnd = lineEnds;
}

/** Notes that a pretoken of the group ends after the last id, and another one follows. */
export function endPretoken(): void {
  store<u16>(lineEndsEnd, <u16>((idsEnd - firstId) >> (isNarrow ? 1 : 2)));
  lineEndsEnd += 2;
}

/**
 * Makes the late merges in the ids of the group, in which all other merges have been made. The memory from `room` on is
 * free. Returns false if memory runs out.
 */
export function mergeLate(room: usize): bool {
  if (firstId === idsEnd) return true;
  limitRanks(noRank);
  const out = isNarrow ? mergeIds<u16>(idsEnd - 2, room) : mergeIds<u32>(idsEnd - 4, room);
  limitRanks(lateRank);
  if (out !== 0) beginIds(out);
  return out !== 0;
}

/**
 * Merges the ids from `firstId` to the one at `last`, in place. Returns the end of the result, or 0 if memory runs out.
 */
function mergeIds<T>(last: usize, room: usize): usize {
  const size = sizeof<T>();
  let first = firstId;
  let out = first;
  while (first <= last) {
    const count = min(<u32>((last - first) / size), chunkIdsMax);
    markChunk<T>(first, count);
    // A segment that may continue after the chunk is left to the next chunk.
    const isLast = first + <usize>count * size === last;
    const idCount = isLast ? count + 1 : lastEnd(count);
    if (idCount === 0) {
      const segmentLast = findSegmentEnd<T>(first + <usize>count * size, last);
      const leftCount = mergeMany<T>(first, <u32>((segmentLast - first) / size) + 1, out, room);
      if (leftCount === noRoom) return 0;
      out += <usize>leftCount * size;
      first = segmentLast + size;
      continue;
    }
    out = mergeChunk<T>(first, idCount, out, room);
    if (out === 0) return 0;
    first += <usize>idCount * size;
  }
  return out;
}

/**
 * Marks the joints (seams.ts) among `count` ids from `first` on. The last id of a pretoken is not marked, because no
 * merge may join it with the next id.
 */
function markChunk<T>(first: usize, count: u32): void {
  markJoints<T>(first, count, joints);
  const before = <u32>((first - firstId) / sizeof<T>());
  let end = lineEnds;
  while (end < lineEndsEnd && load<u16>(end) <= before) end += 2;
  for (; end < lineEndsEnd && load<u16>(end) <= before + count; end += 2) {
    const joint = load<u16>(end) - before - 1;
    const word = joints + ((<usize>joint >> 6) << 3);
    store<u64>(word, load<u64>(word) & ~((<u64>1) << (joint & 63)));
  }
}

/**
 * Finds the last of `count` ids that is no joint, where a segment ends. Returns its index + 1, or 0 if all ids are
 * joints.
 */
function lastEnd(count: u32): u32 {
  for (let base = <i32>((count - 1) & ~63); base >= 0; base -= 64) {
    let ends = ~load<u64>(joints + (base >> 3));
    if (count - base < 64) ends &= ((<u64>1) << (count - base)) - 1;
    if (ends !== 0) return base + 64 - <u32>clz(ends);
  }
  return 0;
}

/** Returns the address of the first id from `id` on that is no joint. */
function findSegmentEnd<T>(id: usize, last: usize): usize {
  while (id < last) {
    const count = min(<u32>((last - id) / sizeof<T>()), chunkIdsMax);
    markChunk<T>(id, count);
    for (let base: u32 = 0; base < count; base += 64) {
      const end = base + <u32>ctz(~load<u64>(joints + (base >> 3)));
      if (end < min(base + 64, count)) return id + <usize>end * sizeof<T>();
    }
    id += <usize>count * sizeof<T>();
  }
  return last;
}

/**
 * Merges the segments of the `count` ids at `first`, of which the last is no joint (seams.ts). Writes the result to
 * `out`, which is at or before `first`. Returns the end of the result, or 0 if memory runs out.
 *
 * Segments of two, three and four ids have a loop for each length, so that the processor has few branches that it
 * cannot predict.
 */
function mergeChunk<T>(first: usize, count: u32, out: usize, room: usize): usize {
  listSegments(count);
  for (let at = pairs; at < pairsEnd; at += 4) {
    const index = load<u32>(at);
    const id = first + <usize>index * sizeof<T>();
    const rank = findLate(keyAt<T>(id));
    if (rank !== noLateRank) store<T>(id, <T>mergedBy(rank));
    else keepAfter(index, 2);
  }
  for (let at = triples; at < triplesEnd; at += 4) {
    const index = load<u32>(at);
    keepAfter(index, mergeThree<T>(first + <usize>index * sizeof<T>()));
  }
  for (let at = fours; at < foursEnd; at += 4) {
    const index = load<u32>(at);
    keepAfter(index, mergeFour<T>(first + <usize>index * sizeof<T>()));
  }
  // All ranks are looked up first, so that cache misses overlap.
  for (let at = longer; at < longerEnd; at += 8) {
    const last = load<u32>(at) + load<u32>(at, 4) - 1;
    for (let i = load<u32>(at); i < last; i++)
      store<u32>(ranks + (i << 2), findLate(keyAt<T>(first + <usize>i * sizeof<T>())));
  }
  for (let at = longer; at < longerEnd; at += 8) {
    const index = load<u32>(at);
    const length = load<u32>(at, 4);
    const id = first + <usize>index * sizeof<T>();
    const leftCount =
      length > fewIdsMax
        ? mergeMany<T>(id, length, id, room)
        : mergeFew<T>(id, length, ranks + ((<usize>index) << 2));
    if (leftCount === noRoom) return 0;
    for (let i: u32 = 1; i < leftCount; i += 32) keepAfter(index + i - 1, min(33, leftCount - i + 1));
  }
  for (let base: u32 = 0; base < count; base += 64) {
    out = pack<T>(
      first + <usize>base * sizeof<T>(),
      min(64, count - base),
      load<u64>(kept + (base >> 3)),
      out,
    );
  }
  return out;
}

/**
 * Lists the segments that have two or more ids, among the `count` ids of the chunk. Marks the first id of every segment
 * as kept.
 */
function listSegments(count: u32): void {
  pairsEnd = pairs;
  triplesEnd = triples;
  foursEnd = fours;
  longerEnd = longer;
  let before: u64 = 0;
  let done: u32 = 0;
  for (let base: u32 = 0; base < count; base += 64) {
    const word = load<u64>(joints + (base >> 3));
    store<u64>(kept + (base >> 3), ~((word << 1) | (before >> 63)));
    before = word;
    let rest = word;
    if (done > base) rest = done - base >= 64 ? 0 : rest & ((<u64>-1) << (done - base));
    if (count - base < 64) rest &= ((<u64>1) << (count - base)) - 1;
    while (rest !== 0) {
      const start = base + <u32>ctz(rest);
      let length = 1 + <u32>ctz(~(rest >> start));
      rest &= rest + (rest & -rest);
      if (start + length > base + 64) {
        // The last id of these 64 is a joint, so the segment continues in the next 64 ids.
        while (isJoint(start + length - 1)) length++;
        done = start + length;
      }
      store<u32>(pairsEnd, start);
      store<u32>(triplesEnd, start);
      store<u32>(foursEnd, start);
      store<u32>(longerEnd, start);
      store<u32>(longerEnd, length, 4);
      pairsEnd += usize(length === 2) << 2;
      triplesEnd += usize(length === 3) << 2;
      foursEnd += usize(length === 4) << 2;
      longerEnd += usize(length > 4) << 3;
    }
  }
}

function isJoint(index: u32): bool {
  return ((load<u64>(joints + ((<usize>index >> 6) << 3)) >> (index & 63)) & 1) !== 0;
}

/** Marks `count` ids as kept, at most 33, from the one at `index` on. The first of these is marked already. */
function keepAfter(index: u32, count: u32): void {
  const bits = ((<u64>1) << (count - 1)) - 1;
  const bit = (index + 1) & 63;
  const word = kept + ((<usize>((index + 1) >> 6)) << 3);
  store<u64>(word, load<u64>(word) | (bits << bit));
  if (bit + count > 65) store<u64>(word, load<u64>(word, 8) | (bits >> (64 - bit)), 8);
}

/**
 * Copies to `out`, which is at or before `id`, those of the `count` ids at `id` whose bits are set in `left`. Returns
 * the end of the result. Writes nothing after the last id that is read.
 */
function pack<T>(id: usize, count: u32, left: u64, out: usize): usize {
  if (ASC_FEATURE_SIMD) {
    if (sizeof<T>() === 2) {
      const shuffles = packing;
      for (; count >= 8; count -= 8) {
        const set = <usize>(left & 255);
        v128.store(out, i8x16.swizzle(v128.load(id), v128.load(shuffles + (set << 4))));
        out += (<usize>popcnt(<u64>set)) << 1;
        left >>= 8;
        id += 16;
      }
    }
  }
  for (; count > 0; count--) {
    store<T>(out, load<T>(id));
    out += <usize>(left & 1) * sizeof<T>();
    left >>= 1;
    id += sizeof<T>();
  }
  return out;
}

/** Merges three ids in place. Returns the number of ids left. */
function mergeThree<T>(id: usize): u32 {
  const rank = findLate(keyAt<T>(id));
  const nextRank = findLate(keyAt<T>(id + sizeof<T>()));
  return joinThree<T>(
    id,
    <u32>load<T>(id),
    <u32>load<T>(id, sizeof<T>()),
    <u32>load<T>(id, 2 * sizeof<T>()),
    rank,
    nextRank,
  );
}

/** Merges three ids, given the ranks of both pairs. Writes the resulting ids at address `id`; returns their number. */
function joinThree<T>(id: usize, left: u32, middle: u32, right: u32, rank: u32, nextRank: u32): u32 {
  const lower = min(rank, nextRank);
  if (lower === noLateRank) {
    store<T>(id, <T>left);
    store<T>(id, <T>middle, sizeof<T>());
    store<T>(id, <T>right, 2 * sizeof<T>());
    return 3;
  }
  const merged = mergedBy(lower);
  const isRight = nextRank < rank;
  return joinTwo<T>(id, select(left, merged, isRight), select(merged, right, isRight));
}

/** Merges four ids in place. Returns the number of ids left. */
function mergeFour<T>(id: usize): u32 {
  const size = sizeof<T>();
  const rank0 = findLate(keyAt<T>(id));
  const rank1 = findLate(keyAt<T>(id + size));
  const rank2 = findLate(keyAt<T>(id + 2 * size));
  const lower = min(min(rank0, rank1), rank2);
  if (lower === noLateRank) return 4;
  const merged = mergedBy(lower);
  const isFirst = lower === rank0;
  const isLast = rank2 < min(rank0, rank1);
  const left = select(merged, <u32>load<T>(id), isFirst);
  const middle = select(<u32>load<T>(id, 2 * size), select(<u32>load<T>(id, size), merged, isLast), isFirst);
  const right = select(merged, <u32>load<T>(id, 3 * size), isLast);
  const rank = findRareLate(keyOf<T>(left, middle));
  const nextRank = findRareLate(keyOf<T>(middle, right));
  return joinThree<T>(id, left, middle, right, select(rank0, rank, isLast), select(rank2, nextRank, isFirst));
}

/**
 * Merges two ids if a late merge joins them. Writes the resulting one or two ids at address `id`; returns their number.
 */
function joinTwo<T>(id: usize, left: u32, right: u32): u32 {
  const rank = findRareLate(keyOf<T>(left, right));
  const isMerged = rank !== noLateRank;
  store<T>(id, <T>select(mergedBy(select(rank, 0, isMerged)), left, isMerged));
  store<T>(id, <T>right, sizeof<T>());
  return 2 - u32(isMerged);
}

/**
 * Merges up to `fewIdsMax` ids in place. `pairRanks` has the rank of each pair; all ranks are compared for each merge.
 * Returns the number of ids left.
 */
function mergeFew<T>(start: usize, count: u32, pairRanks: usize): u32 {
  const size = sizeof<T>();
  while (true) {
    let best = noLateRank;
    let at: u32 = 0;
    for (let i: u32 = 0; i + 1 < count; i++) {
      const rank = load<u32>(pairRanks + (i << 2));
      const isLower = rank < best;
      best = select(rank, best, isLower);
      at = select(i, at, isLower);
    }
    if (best === noLateRank) return count;
    const id = start + <usize>at * size;
    const rank = pairRanks + (at << 2);
    const merged = mergedBy(best);
    store<T>(id, <T>merged);
    count--;
    for (let i = at + 1, to: usize = 1; i < count; i++, to++) {
      store<T>(id + to * size, load<T>(id + to * size, size));
      store<u32>(rank + (to << 2), load<u32>(rank + (to << 2), 4));
    }
    if (at > 0) store<u32>(rank - 4, findRareLate(keyOf<T>(<u32>load<T>(id - size), merged)));
    if (at + 1 < count) store<u32>(rank, findRareLate(keyOf<T>(merged, <u32>load<T>(id, size))));
  }
}

/**
 * Merges the segment of `count` ids at `start`, and writes the result to `out`, which is at or before `start`. Returns
 * the number of ids left, or `noRoom` if memory runs out.
 */
function mergeMany<T>(start: usize, count: u32, out: usize, room: usize): u32 {
  const symbols = reserveSymbols(count, room);
  if (symbols === 0) return noRoom;
  for (let i: usize = 0; i < count; i++)
    store<i32>(symbols + (i << 2), <i32>load<T>(start + i * sizeof<T>()));
  const leftCount = mergeSymbols(symbols, count);
  if (leftCount === noRoom) return noRoom;
  for (let i: usize = 0; i < leftCount; i++)
    store<T>(out + i * sizeof<T>(), <T>load<i32>(symbols + (i << 2)));
  return leftCount;
}

/**
 * Merges `count` ids of 32 bits in place, by the late merges and all others. Returns the number of ids left, or
 * `noRoom` if memory runs out.
 */
export function mergeAllRanks(ids: usize, count: u32): u32 {
  limitRanks(noRank);
  const leftCount = mergeSymbols(ids, count);
  limitRanks(lateRank);
  return leftCount;
}
