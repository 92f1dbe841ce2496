import { countBytePairs, writeBytePairs } from "./byte-pairs";
import { countPairs, sketchPairs, writePairs } from "./index-pairs";
import { isWide, Job, job, Merge, merge, Part, partStride, parts } from "./merge-regions";
import { mergeOccurrences, writeStaged } from "./neighbours";
import { layOutWords, setStepCount, stepCount } from "./word-layout";

/**
 * Distributes work over threads. The work is cut into parts (`Part` in merge-regions.ts). The main thread opens all
 * parts but the first, which it does itself. Helpers take open parts. Then the main thread takes those that are still
 * open, so it never waits for a helper that has not begun.
 *
 * A part's state changes from `open` to `taken` by an atomic exchange, then possibly to `awaited`, and finally to
 * `done`. A thread that takes a part sees everything that was written before the part was opened. The main thread, once
 * it finds the part done, sees everything that the helper wrote.
 */

/**
 * The number of checks before a waiting thread sleeps. A thread that never sleeps would take a core from the compiler
 * and other programs.
 */
const spinCount: u32 = isSmallScale ? 2 : 20_000;
/** A helper that slept this long returns to its event loop, where it can be terminated. */
const sleepNs: i64 = 20_000_000;
/**
 * A helper also returns after this many entries of lists (occurrences.ts) or cells (word-layout.ts), which take some
 * tens of milliseconds.
 */
const shareMax: u64 = isSmallScale ? 16 : 1 << 20;

export function partAt(index: u32): Part {
  return changetype<Part>(parts + <usize>index * partStride);
}

/** Sets up a part, [start, end) of the work. */
export function startPart(index: u32, start: u32, end: u32): void {
  const part = partAt(index);
  part.start = start;
  part.end = end;
  part.next = start;
  part.step = 0;
  part.stagedCount = 0;
  part.writtenCount = 0;
  part.leftSeenCount = 0;
  part.rightSeenCount = 0;
  part.voidWeight = 0;
}

export enum Work {
  mergeOccurrences,
  writeStaged,
  countBytePairs,
  writeBytePairs,
  sketchPairs,
  countPairs,
  writePairs,
  layOutWords,
}

enum State {
  done,
  open,
  taken,
  /** Taken by a helper, and the main thread sleeps until the part is done. */
  awaited,
}

function theJob(): Job {
  return changetype<Job>(job);
}

function turnAddress(): usize {
  return job + offsetof<Job>("turn");
}

function sleepersAddress(): usize {
  return job + offsetof<Job>("sleepers");
}

function isOverAddress(): usize {
  return job + offsetof<Job>("isOver");
}

function helpedAddress(): usize {
  return job + offsetof<Job>("helped");
}

function stateAddress(part: Part): usize {
  return changetype<usize>(part) + offsetof<Part>("state");
}

/**
 * Does work of a kind on the next `share` entries or cells of each of the first `partCount` parts. Returns true while
 * any part has work left.
 */
export function workTogether(kind: u32, partCount: u32, share: u32): bool {
  const job = theJob();
  job.kind = kind;
  job.share = share;
  if (partCount > 1) openParts(partCount);
  doPart(0);
  for (let k: u32 = 1; k < partCount; k++) if (takePart(k)) doPart(k);
  let hasMore = partAt(0).hasMore;
  for (let k: u32 = 1; k < partCount; k++) {
    const part = partAt(k);
    waitForPart(stateAddress(part));
    hasMore |= part.hasMore;
  }
  // If a helper has failed, it left a part unfinished. That cannot be repaired, so this traps.
  if (job.hasFailed !== 0) unreachable();
  return hasMore !== 0;
}

function openParts(partCount: u32): void {
  const job = theJob();
  job.partCount = partCount;
  job.stepCount = stepCount;
  for (let k: u32 = 1; k < partCount; k++) atomic.store<u32>(stateAddress(partAt(k)), State.open);
  atomic.add<i32>(turnAddress(), 1);
  if (atomic.load<u32>(sleepersAddress()) > 0) atomic.notify(turnAddress(), <i32>partCount);
}

/** Takes a part if it is open. Returns whether it was. */
function takePart(index: u32): bool {
  return atomic.cmpxchg<u32>(stateAddress(partAt(index)), State.open, State.taken) === State.open;
}

function doPart(index: u32): void {
  const part = partAt(index);
  part.hasMore = u32(isWide ? doWork<u32>(part, index) : doWork<u16>(part, index));
  endPart(stateAddress(part));
}

function endPart(state: usize): void {
  if (atomic.xchg<u32>(state, State.done) === State.awaited) atomic.notify(state, 1);
}

function waitForPart(state: usize): void {
  for (let spin: u32 = 0; spin < spinCount; spin++) if (atomic.load<u32>(state) === State.done) return;
  if (atomic.cmpxchg<u32>(state, State.taken, State.awaited) === State.done) return;
  while (atomic.load<u32>(state) !== State.done) atomic.wait<i32>(state, State.awaited);
}

function doWork<T>(part: Part, index: u32): bool {
  const job = theJob();
  const currentMerge = changetype<Merge>(merge);
  switch (job.kind) {
    case Work.mergeOccurrences:
      return mergeOccurrences<T>(currentMerge, part, index, job.share);
    case Work.writeStaged:
      return writeStaged<T>(currentMerge, part, index, job.share);
    case Work.countBytePairs:
      return countBytePairs(part, index, job.share);
    case Work.writeBytePairs:
      return writeBytePairs(part, index, job.share);
    case Work.sketchPairs:
      return sketchPairs<T>(part, index, job.share);
    case Work.countPairs:
      return countPairs<T>(part, index, job.share);
    case Work.writePairs:
      return writePairs<T>(part, index, job.share);
    default:
      return layOutWords<T>(part, index, job.share, false);
  }
}

/**
 * Runs in a helper: works on open parts until there has been no work for a while, or `shareMax` is reached. Returns
 * false when merging is over; otherwise the helper must call it again from its event loop.
 */
export function helpMerging(): bool {
  const job = theJob();
  for (let shareDone: u64 = 0; shareDone < shareMax; ) {
    if (atomic.load<u32>(isOverAddress()) !== 0) return false;
    const turn = atomic.load<i32>(turnAddress());
    let hasWorked = false;
    // `partCount` may change during this loop, so a part is read only after it was taken.
    for (let k: u32 = 1; k < job.partCount; k++) {
      if (!takePart(k)) continue;
      setStepCount(job.stepCount);
      shareDone += job.share;
      doPart(k);
      atomic.add<u32>(helpedAddress(), 1);
      hasWorked = true;
    }
    if (!hasWorked && !waitForTurn(turn)) return true;
  }
  return true;
}

/** Waits until `turn` of the job changes. Returns false if that takes longer than `sleepNs`. */
function waitForTurn(turn: i32): bool {
  for (let spin: u32 = 0; spin < spinCount; spin++) if (atomic.load<i32>(turnAddress()) !== turn) return true;
  atomic.add<u32>(sleepersAddress(), 1);
  const result = atomic.wait<i32>(turnAddress(), turn, sleepNs);
  atomic.sub<u32>(sleepersAddress(), 1);
  return result !== AtomicWaitResult.TIMED_OUT;
}

/** Returns the number of times that helpers worked on a part. */
export function helpedCount(): u32 {
  return atomic.load<u32>(helpedAddress());
}

/** Reports that a helper failed, so that the main thread traps instead of waiting for it. */
export function failHelp(): void {
  const job = theJob();
  job.hasFailed = 1;
  for (let k: u32 = 1; k < job.partCount; k++) endPart(stateAddress(partAt(k)));
}

/** Makes all helpers end. */
export function endHelp(): void {
  atomic.store<u32>(isOverAddress(), 1);
  atomic.add<i32>(turnAddress(), 1);
  atomic.notify(turnAddress(), -1);
}
