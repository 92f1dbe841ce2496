import { reserveTable } from "../regions";
import { canScan, mergeScanned, mergeSymbols, noRoom, reserveSymbols } from "./merge-word";
import { EncodingModel } from "./model-layout";
import { findPair, indexLatePairs, limitRanks, mergedBy, noRank, rankPairs, swapPairs } from "./pair-ranks";
import { endAfter, findSeams, lengthOf, listJoints } from "./seams";
import { beginIds, idsEnd } from "./word-cache";

/**
 * Late merges: superwords consist of words, and are learned after them. The first merge that crosses the end of a word
 * into a space, and all merges of higher rank, are *late*. Pretokens, which are lines here, are cut into words, and
 * encoded by the other merges with the word cache; then the late merges are made in the result.
 *
 * Why that is exact: a merge creates only pairs of higher rank (`isMonotone`), so a late merge creates only late pairs.
 * Merging the lowest rank first therefore makes all other merges before the first late one. If a merge may create a
 * pair of lower rank (a file that lists merges in another order), if merges are tied, or if an id can be made in two
 * ways, no merge is late (build-model.ts), and whole pretokens are merged.
 *
 * Most neighbours never become one token. The ids are cut into *segments* wherever there is no seam (seams.ts), and
 * each segment is merged alone. Nearly all segments have one, two or three ids.
 */
let hasLate: bool = false;
let lateRank: i32 = 0;

export function hasLateMerges(): bool {
  return hasLate;
}

/** Sets up the late merges of a model. Returns false if memory runs out. */
export function useLateMerges(model: EncodingModel): bool {
  hasLate = model.lateRank < model.mergeCount;
  if (!hasLate) return true;
  lateRank = <i32>model.lateRank;
  limitRanks(lateRank);
  return findSeams(model) && indexLatePairs(model) && reserveChunk();
}

/**
 * The ids are merged a chunk at a time, so that these arrays have a fixed size, whatever the length of a pretoken:
 *
 *   ARRAY    TYPE      LENGTH            MEANING
 *   isEnd    u8        groupBytesMax     seams.ts; all zeros between two calls
 *   joints   u32,u32   chunkIdsMax + 2   seams.ts
 *   ranks    i32       chunkIdsMax       the rank of each joint and the next id
 */
let isEnd: usize = 0;
let joints: usize = 0;
let ranks: usize = 0;
const chunkIdsMax: usize = isSmallScale ? 6 : 1 << 10;

/** The maximum size in bytes of all pretokens of one call of `mergeLate`, unless there is only one. A power of two. */
export const groupBytesMax: u32 = isSmallScale ? 32 : 1 << 15;

function reserveChunk(): bool {
  isEnd = reserveTable(groupBytesMax);
  joints = reserveTable(8 * (chunkIdsMax + 2));
  ranks = reserveTable(4 * chunkIdsMax);
  return isEnd !== 0 && joints !== 0 && ranks !== 0;
}

/**
 * Makes the late merges in the ids from `firstId` on: those of the pretokens between the `endCount` ends at `ends`,
 * after all other merges. The memory from `room` on is free. Returns false if memory runs out.
 */
export function mergeLate(firstId: usize, ends: usize, endCount: u32, room: usize, isNarrow: bool): bool {
  if (firstId === idsEnd) return true;
  limitRanks(noRank);
  swapPairs();
  markEnds(ends, endCount, 1);
  const positionMask = endCount === 2 ? 0 : groupBytesMax - 1;
  const out = isNarrow
    ? mergeIds<u16>(firstId, idsEnd - 2, positionMask, room)
    : mergeIds<u32>(firstId, idsEnd - 4, positionMask, room);
  markEnds(ends, endCount, 0);
  swapPairs();
  limitRanks(lateRank);
  if (out !== 0) beginIds(out);
  return out !== 0;
}

/** Writes `mark` to `isEnd` where one of the pretokens ends and the next one begins. */
function markEnds(ends: usize, endCount: u32, mark: u8): void {
  const textStart = isEnd - load<u32>(ends);
  for (let i: u32 = 1; i + 1 < endCount; i++) store<u8>(textStart + load<u32>(ends + (i << 2)), mark);
}

/** Merges the ids from `first` to the one at `last`. Returns the end of the result, or 0 if memory runs out. */
function mergeIds<T>(first: usize, last: usize, positionMask: u32, room: usize): usize {
  const size = sizeof<T>();
  let out = first;
  let end = lengthOf(<u32>load<T>(first));
  while (first < last) {
    let stop = min(last, first + chunkIdsMax * size);
    let listEnd = listJoints<T>(first, stop, end, positionMask, isEnd, joints);
    end = endAfter;
    if (stop < last) {
      // A segment that may continue after the chunk is left to the next one.
      for (; listEnd > joints && load<u32>(listEnd - 8) === <u32>(stop - size); listEnd -= 8) {
        end -= lengthOf(<u32>load<T>(stop));
        stop -= size;
      }
      if (stop === first) {
        const segmentLast = findSegmentEnd<T>(first, last, end, positionMask);
        const leftCount = mergeMany<T>(first, <u32>((segmentLast - first) / size) + 1, out, 0, room);
        if (leftCount === noRoom) return 0;
        out += <usize>leftCount * size;
        first = segmentLast + size;
        end = endAfter;
        continue;
      }
    }
    rankPairs<T>(joints, listEnd, ranks);
    out = mergeSegments<T>(first, stop, listEnd, out, room);
    if (out === 0) return 0;
    const hasLast = listEnd > joints && load<u32>(listEnd - 8) === <u32>(stop - size);
    first = hasLast ? stop + size : stop;
  }
  if (first === last) {
    store<T>(out, load<T>(last));
    out += size;
  }
  return out;
}

/**
 * Returns the address of the last id of the segment that begins at `first`, for segments of any length. Sets `endAfter`
 * to where the id after it ends.
 */
function findSegmentEnd<T>(first: usize, last: usize, end: u32, positionMask: u32): usize {
  let id = first;
  while (id < last && listJoints<T>(id, id + sizeof<T>(), end, positionMask, isEnd, joints) !== joints) {
    id += sizeof<T>();
    end = endAfter;
  }
  return id;
}

/**
 * Merges the segments of the ids in [first, stop), and of the id at `stop` if it is in the last segment. `joints` ends
 * at `listEnd`. Writes the result to `out`, which is not after `first`. Returns its end, or 0 if memory runs out.
 */
function mergeSegments<T>(first: usize, stop: usize, listEnd: usize, out: usize, room: usize): usize {
  const size = sizeof<T>();
  store<u64>(listEnd, 0);
  store<u64>(listEnd, 0, 8);
  let id = first;
  let rank = ranks;
  for (let joint = joints; joint < listEnd; ) {
    const start = <usize>load<u32>(joint);
    out = moveIds(id, start, out);
    let count: usize = 2;
    if (load<u32>(joint, 8) !== <u32>(start + size)) {
      out = joinTwo<T>(out, <i32>load<T>(start), <i32>load<T>(start, size), load<i32>(rank));
    } else if (load<u32>(joint, 16) !== <u32>(start + 2 * size)) {
      count = 3;
      out = mergeThree<T>(start, out, load<i32>(rank), load<i32>(rank, 4));
    } else {
      for (count = 4; load<u32>(joint + 8 * (count - 1)) === <u32>(start + (count - 1) * size); ) count++;
      const leftCount = mergeMany<T>(start, <u32>count, out, rank, room);
      if (leftCount === noRoom) return 0;
      out += <usize>leftCount * size;
    }
    joint += 8 * (count - 1);
    rank += 4 * (count - 1);
    id = start + count * size;
  }
  return id < stop ? moveIds(id, stop, out) : out;
}

/** The number of bytes of ids that are moved at a time. */
const movedBytes: usize = 16;

/**
 * Moves the ids in [id, stop) to `out`, which is not after `id`. Returns the end of the result. May also overwrite
 * bytes between that and `stop`.
 */
function moveIds(id: usize, stop: usize, out: usize): usize {
  const outEnd = out + (stop - id);
  if (out === id) return outEnd;
  if (id - out >= movedBytes) {
    for (; id < stop; id += movedBytes, out += movedBytes) {
      store<u64>(out, load<u64>(id));
      store<u64>(out, load<u64>(id, 8), 8);
    }
  } else for (; id < stop; id += 2, out += 2) store<u16>(out, load<u16>(id));
  return outEnd;
}

/**
 * Merges the three ids at `start`. `rank` is the rank of the first two, `nextRank` that of the last two. Returns the
 * end of what was written.
 */
function mergeThree<T>(start: usize, out: usize, rank: i32, nextRank: i32): usize {
  const left = <i32>load<T>(start);
  const middle = <i32>load<T>(start, sizeof<T>());
  const right = <i32>load<T>(start, 2 * sizeof<T>());
  if (nextRank < rank) {
    const merged = mergedBy(nextRank);
    return joinTwo<T>(out, left, merged, findPair(left, merged));
  }
  if (rank !== noRank) {
    const merged = mergedBy(rank);
    return joinTwo<T>(out, merged, right, findPair(merged, right));
  }
  store<T>(out, <T>left);
  store<T>(out, <T>middle, sizeof<T>());
  store<T>(out, <T>right, 2 * sizeof<T>());
  return out + 3 * sizeof<T>();
}

/** Writes two ids, or the id that they merge to if `rank` is not `noRank`. Returns the end of what was written. */
function joinTwo<T>(out: usize, left: i32, right: i32, rank: i32): usize {
  store<T>(out, <T>(rank === noRank ? left : mergedBy(rank)));
  store<T>(out, <T>right, sizeof<T>());
  return out + (rank === noRank ? 2 * sizeof<T>() : sizeof<T>());
}

/**
 * Merges the segment of `count` ids at `start`, and writes the result to `out`, which is not after `start`.
 * `knownRanks` has the ranks of its pairs, unless it is 0. Returns the number of ids left, or `noRoom` if memory runs
 * out.
 */
function mergeMany<T>(start: usize, count: u32, out: usize, knownRanks: usize, room: usize): u32 {
  const symbols = reserveSymbols(count, room);
  if (symbols === 0) return noRoom;
  for (let i: usize = 0; i < count; i++)
    store<i32>(symbols + (i << 2), <i32>load<T>(start + i * sizeof<T>()));
  const leftCount =
    knownRanks !== 0 && canScan(count)
      ? mergeScanned(symbols, count, knownRanks)
      : mergeSymbols(symbols, count);
  if (leftCount === noRoom) return noRoom;
  for (let i: usize = 0; i < leftCount; i++)
    store<T>(out + i * sizeof<T>(), <T>load<i32>(symbols + (i << 2)));
  return leftCount;
}

/**
 * Merges `count` ids of 32 bits in place by all merges. Returns the number of ids left, or `noRoom` if memory runs out.
 */
export function mergeAllRanks(ids: usize, count: u32): u32 {
  limitRanks(noRank);
  const leftCount = mergeSymbols(ids, count);
  limitRanks(lateRank);
  return leftCount;
}
