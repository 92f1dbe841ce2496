import { endsStart, reserveTo } from "../regions";
import { mergeSymbols, noRoom, reserveSymbols } from "./merge-word";
import { EncodingModel } from "./model-layout";
import { findPair, indexLatePairs, limitRanks, mergedBy, noRank, swapPairs } from "./pair-ranks";
import { findSeams, markSeams } from "./seams";
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
  return findSeams(model) && indexLatePairs(model);
}

/**
 * Makes the late merges in the ids from `firstId` on, which encode the pretokens of `ends` by all other merges. The
 * memory from `room` on is free. Returns false if memory runs out.
 */
export function mergeLate(firstId: usize, endCount: u32, room: usize, isNarrow: bool): bool {
  limitRanks(noRank);
  swapPairs();
  const isDone = isNarrow ? mergeIds<u16>(firstId, endCount, room) : mergeIds<u32>(firstId, endCount, room);
  swapPairs();
  limitRanks(lateRank);
  return isDone;
}

/** The number of bytes of ids that are copied at a time, if each is a segment of its own. */
const copiedBytes: usize = 16;
const lowBits: u64 = 0x0101010101010101;

function mergeIds<T>(firstId: usize, endCount: u32, room: usize): bool {
  const stop = idsEnd;
  if (firstId === stop) return true;
  const textBytes = load<u32>(endsStart + ((endCount - 1) << 2)) - load<u32>(endsStart);
  let mark = room + textBytes + 1;
  const free = <u64>mark + (stop - firstId) / sizeof<T>() + 8;
  if (!reserveTo(free)) return false;
  memory.fill(room, 0, textBytes + 1);
  markSeams<T>(firstId, stop, endCount, room, mark);
  let out = firstId;
  let id = firstId;
  while (id < stop) {
    // Copies the ids before the next segment of two or more, up to `copiedBytes` of them.
    const most = min(stop - id, copiedBytes) / sizeof<T>();
    const single = min(<usize>ctz(load<u64>(mark)) >> 3, most);
    copyIds<T>(id, out, single);
    id += single * sizeof<T>();
    out += single * sizeof<T>();
    mark += single;
    if (load<u8>(mark) === 0) continue;
    let count: usize = 1;
    let run: usize;
    do {
      run = <usize>ctz(~load<u64>(mark) & lowBits) >> 3;
      count += run;
      mark += run;
    } while (run === 8);
    mark++;
    if (count === 2) out = mergeTwo<T>(id, out);
    else if (count === 3) out = mergeThree<T>(id, out);
    else {
      const leftCount = mergeMany<T>(id, <u32>count, out, <usize>free);
      if (leftCount === noRoom) return false;
      out += <usize>leftCount * sizeof<T>();
    }
    id += count * sizeof<T>();
  }
  beginIds(out);
  return true;
}

/**
 * Copies `count` ids from `id` to `out`, which is not after `id`. May also overwrite bytes between the copies and the
 * following ids, up to `copiedBytes` from `out`.
 */
function copyIds<T>(id: usize, out: usize, count: usize): void {
  if (id - out >= copiedBytes) {
    store<u64>(out, load<u64>(id));
    store<u64>(out, load<u64>(id, 8), 8);
    return;
  }
  for (let i: usize = 0; i < count; i++) store<T>(out + i * sizeof<T>(), load<T>(id + i * sizeof<T>()));
}

/**
 * Merges the segment of two ids at `start`, and writes the result to `out`, which is not after `start`. Returns the end
 * of the result.
 */
function mergeTwo<T>(start: usize, out: usize): usize {
  return joinTwo<T>(out, <i32>load<T>(start), <i32>load<T>(start, sizeof<T>()));
}

/** Does the same for a segment of three ids. */
function mergeThree<T>(start: usize, out: usize): usize {
  const left = <i32>load<T>(start);
  const middle = <i32>load<T>(start, sizeof<T>());
  const right = <i32>load<T>(start, 2 * sizeof<T>());
  const rank = findPair(left, middle);
  const nextRank = findPair(middle, right);
  if (nextRank < rank) return joinTwo<T>(out, left, mergedBy(nextRank));
  if (rank !== noRank) return joinTwo<T>(out, mergedBy(rank), right);
  store<T>(out, <T>left);
  store<T>(out, <T>middle, sizeof<T>());
  store<T>(out, <T>right, 2 * sizeof<T>());
  return out + 3 * sizeof<T>();
}

/** Writes two ids, or the id into which they merge. Returns the end of what was written. */
function joinTwo<T>(out: usize, left: i32, right: i32): usize {
  const rank = findPair(left, right);
  store<T>(out, <T>(rank === noRank ? left : mergedBy(rank)));
  store<T>(out, <T>right, sizeof<T>());
  return out + (rank === noRank ? 2 * sizeof<T>() : sizeof<T>());
}

/**
 * Merges the segment of `count` ids at `start`, and writes the result to `out`, which is not after `start`. Returns the
 * number of ids left, or `noRoom` if memory runs out.
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
 * Merges `count` ids of 32 bits in place by all merges. Returns the number of ids left, or `noRoom` if memory runs out.
 */
export function mergeAllRanks(ids: usize, count: u32): u32 {
  limitRanks(noRank);
  const leftCount = mergeSymbols(ids, count);
  limitRanks(lateRank);
  return leftCount;
}
