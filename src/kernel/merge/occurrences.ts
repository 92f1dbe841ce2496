import { cells, entries, entryCapacityMax, isWide, Pair } from "./merge-regions";
import { lengthOf } from "./merge-tokens";
import { pairAt, pairCount } from "./pair-table";

/**
 * Occurrences: the positions of each pair, in one arena. A pair's list is a contiguous part of the arena with ascending
 * positions. It is written when the pair is created or indexed. After that, until the pair is merged, entries are only
 * moved or removed.
 *
 *   REGION   ELEMENT  ELEMENTS          MEANING
 *   entries  u32      entryCapacityMax  position of the first cell of the left token; entries [1, used) are in use,
 *                                       and `used` stays at or below `entryCapacity`
 *
 * An entry with position p in the list of (x, y) is alive if cells[p] === x and cells[p + length of x] === y. Entries
 * are not removed when they die: a merge that replaces a token overwrites its first cell, which makes the entry dead.
 *
 * `entryCapacity` limits the memory that is in use. Before the limit is exceeded, a *compaction* drops lists and, if
 * necessary, cleans others. If that does not free enough, the limit rises, up to `entryCapacityMax`.
 */
export let used: u32 = 1;
export let entryCapacity: u32 = 0;

/** After growing, the capacity is this multiple of the sum of the entries in use and the entries needed. */
const growthFactor: f64 = isSmallScale ? 1.01 : 1.25;
/**
 * If a compaction leaves less than this share of the arena free beyond the entries needed, the arena grows. Otherwise
 * the next compaction would follow too soon.
 */
const freeShareMin: f64 = 0.1;

export function entryAddress(index: u32): usize {
  return entries + ((<usize>index) << 2);
}

/**
 * Empties the arena and sizes it for `entryCount` entries, times `slack` if the region allows. The capacity never
 * shrinks. Returns false if the entries do not fit.
 */
export function startArena(entryCount: f64, slack: f64): bool {
  if (entryCount + 1 > <f64>entryCapacityMax) return false;
  used = 1;
  entryCapacity = max(entryCapacity, <u32>min(ceil(entryCount * slack) + 1, <f64>entryCapacityMax));
  return true;
}

/** Allocates a list of `length` entries after all others. Returns its start. */
export function takeEntries(length: u32): u32 {
  const start = used;
  used += length;
  assert(used <= entryCapacity, "the arena has room for a list");
  return start;
}

export function hasRoomForEntries(count: u32): bool {
  return <u64>used + count <= entryCapacity;
}

/**
 * The state of a compaction: the next entry to move is entry `done` of the list of pair `next`, and it moves to `to`.
 */
let next: u32 = 0;
let done: u32 = 0;
let to: u32 = 0;
let listStart: u32 = 0;
/** The pair that is being merged, whose list may be moved, but is neither dropped nor cleaned. */
let pinned: u32 = 0;
/**
 * A list is cleaned if its pair's `count` has fallen below this share of `listCount`, the count when the list was
 * written or last cleaned. 0: no list is cleaned.
 */
let cleanBelow: f64 = 0;

/** The number of entries of lists that will be read again. */
let livingCount: u32 = 0;

/**
 * Begins to free space for `need` more entries: drops the lists of pairs whose count is below the threshold.
 * `compactSome` then moves the remaining lists together, in the order of their records, which is also their order in
 * the arena. If dropping lists does not free enough, `compactSome` also removes the dead entries from lists whose pair
 * lost more than `cleanShare` of its count.
 */
export function startCompaction(need: u32, pinnedPair: u32, threshold: u64, cleanShare: f64): void {
  pinned = pinnedPair;
  dropLists(threshold);
  cleanBelow = <u64>livingCount + need + 1 > entryCapacity ? 1 - cleanShare : 0;
  next = 0;
  done = 0;
  to = 1;
}

/**
 * Drops the lists of all pairs below the threshold except `pinned`, because these lists will not be read again. Adds up
 * the lengths of the other lists in `livingCount`.
 */
function dropLists(threshold: u64): void {
  livingCount = 0;
  for (let p: u32 = 0; p < pairCount; p++) {
    const pair = pairAt(p);
    if (pair.listLength === 0) continue;
    if (p !== pinned && pair.count < threshold) {
      pair.listLength = 0;
      pair.count = 0;
    } else livingCount += pair.listLength;
  }
}

/**
 * Continues a compaction until about `work` entries of lists to clean are read, or eight times as many entries of other
 * lists are moved. Returns false when all lists are at their final positions.
 */
export function compactSome(work: u32): bool {
  let workLeft = <i32>work;
  for (; next < pairCount; next++) {
    const pair = pairAt(next);
    const length = pair.listLength;
    if (length === 0) continue;
    if (workLeft <= 0) return true;
    if (done === 0) listStart = to;
    const cleans = next !== pinned && <f64>pair.count < cleanBelow * <f64>pair.listCount;
    const from = pair.listStart + done;
    const count = min(length - done, cleans ? <u32>workLeft : (<u32>workLeft) << 3);
    to = cleans ? clean(pair, from, from + count, to) : slide(from, from + count, to);
    workLeft -= cleans ? count : (count >> 3) + 1;
    done += count;
    if (done < length) return true;
    pair.listStart = listStart;
    pair.listLength = to - listStart;
    if (cleans) pair.listCount = pair.count;
    done = 0;
  }
  return false;
}

/**
 * Ends a compaction. If little space is free, the arena grows. Returns whether `need` entries fit; if not, the arena
 * has its maximum size, and only cleaning all lists may help.
 */
export function endCompaction(need: u32): bool {
  used = to;
  const wanted = <f64>to + <f64>need;
  if (wanted > <f64>entryCapacity * (1 - freeShareMin)) {
    entryCapacity = <u32>min(<f64>entryCapacityMax, ceil<f64>(wanted * growthFactor));
  }
  return hasRoomForEntries(need);
}

function slide(from: u32, end: u32, target: u32): u32 {
  if (from !== target) memory.copy(entryAddress(target), entryAddress(from), (<usize>(end - from)) << 2);
  return target + (end - from);
}

function clean(pair: Pair, from: u32, end: u32, target: u32): u32 {
  return isWide ? cleanRun<u32>(pair, from, end, target) : cleanRun<u16>(pair, from, end, target);
}

function cleanRun<T>(pair: Pair, from: u32, end: u32, target: u32): u32 {
  const left = pair.left;
  const right = pair.right;
  const leftBytes = <usize>lengthOf(left) * sizeof<T>();
  for (let k = from; k < end; k++) {
    const pos = load<u32>(entryAddress(k));
    const cell = cells + <usize>pos * sizeof<T>();
    if (<u32>load<T>(cell) !== left || <u32>load<T>(cell + leftBytes) !== right) continue;
    store<u32>(entryAddress(target), pos);
    target++;
  }
  return target;
}
