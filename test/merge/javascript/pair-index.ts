import { UserError } from "../../../src/errors.ts";
import { type MergeProgress, spend } from "../../../src/merge/work-budget.ts";
import { type EngineState, mayMerge } from "./engine-state.ts";
import type { Layout } from "./layout.ts";
import { resetArena } from "./occurrences.ts";
import { addPair, clearPairs, createPairs, findPair, noPair, type Pairs } from "./pairs.ts";
import { push } from "./queue.ts";

/** Above it a Float64 no longer counts one by one. */
const countMax = 2 ** 53;
const byteRange = 256;
const noStart = -1;

/** The first index: pairs of bytes, counted in a dense table of 256 x 256, then their lists. */
export function* indexBytePairs(state: EngineState): Generator<MergeProgress, void> {
  const { layout, occurrences, budget } = state;
  const weights = new Float64Array(byteRange * byteRange);
  const lengths = new Int32Array(byteRange * byteRange);
  const cursor = { pos: 1, step: 0 };
  while (cursor.pos < layout.cellCount) {
    const until = Math.min(cursor.pos + budget.sliceWork, layout.cellCount);
    const work = until - cursor.pos;
    countBytePairs(layout, cursor, until, weights, lengths);
    budget.progress = { phase: "index", mergeCount: 0, shareDone: (0.5 * until) / layout.cellCount };
    if (spend(budget, work)) yield budget.progress;
  }

  const starts = new Int32Array(byteRange * byteRange).fill(noStart);
  const entryCount = addBytePairs(state, weights, lengths, starts);
  resetArena(occurrences, entryCount, state.tuning.arenaSlack);
  for (let pos = 1; pos < layout.cellCount; ) {
    const until = Math.min(pos + budget.sliceWork, layout.cellCount);
    writeBytePairs(layout, pos, until, starts, occurrences.entries);
    budget.progress = { phase: "index", mergeCount: 0, shareDone: 0.5 + (0.5 * until) / layout.cellCount };
    if (spend(budget, until - pos)) yield budget.progress;
    pos = until;
  }
  occurrences.used = entryCount;
}

/** Records for the pairs that pass the threshold, and where their lists begin; the length of all lists is returned. */
function addBytePairs(
  state: EngineState,
  weights: Float64Array,
  lengths: Int32Array,
  starts: Int32Array,
): number {
  const { threshold, pairs, queue, tokens, longTokens } = state;
  let entryCount = 0;
  for (let key = 0; key < starts.length; key++) {
    const count = weights[key]!;
    if (count < threshold) continue;
    if (count >= countMax) throwCountTooLarge();
    if (!mayMerge(state, key >> 8, key & 255)) continue;
    starts[key] = entryCount;
    const p = addPair(pairs, key >> 8, key & 255, count, entryCount, lengths[key]!);
    push(queue, pairs, tokens, longTokens, count, p);
    entryCount += lengths[key]!;
  }
  return entryCount;
}

function throwCountTooLarge(): never {
  throw new UserError("a pair occurs 2^53 times or more: more than can be counted exactly", {
    hint: "divide all word counts by the same number, or train from a part of the input",
  });
}

/** Where a walk over the cells stands; `step` is the weight step of `pos` or one before it. */
type Cursor = { pos: number; step: number };

function countBytePairs(
  layout: Layout,
  cursor: Cursor,
  until: number,
  weights: Float64Array,
  lengths: Int32Array,
): void {
  const { cells, boundary, weightEnds, weights: stepWeights } = layout;
  let { pos, step } = cursor;
  let weightEnd = weightEnds[step]!;
  let weight = stepWeights[step]!;
  let left = cells[pos - 1]!;
  for (; pos < until; pos++) {
    const right = cells[pos]!;
    if (left !== boundary && right !== boundary) {
      const key = (left << 8) | right;
      weights[key]! += weight;
      lengths[key]!++;
    } else if (pos >= weightEnd) {
      weightEnd = weightEnds[++step]!;
      weight = stepWeights[step]!;
    }
    left = right;
  }
  cursor.pos = pos;
  cursor.step = step;
}

function writeBytePairs(
  layout: Layout,
  from: number,
  until: number,
  starts: Int32Array,
  entries: Int32Array,
): void {
  const { cells, boundary } = layout;
  let left = cells[from - 1]!;
  for (let pos = from; pos < until; pos++) {
    const right = cells[pos]!;
    if (left !== boundary && right !== boundary) {
      const key = (left << 8) | right;
      if (starts[key] !== noStart) entries[starts[key]!++] = pos - 1;
    }
    left = right;
  }
}

/**
 * The index anew, for the text as it stands, with a lower threshold: needed when the threshold proved too high (count-threshold.ts).
 * Counts every pair, then keeps those at or above the new threshold.
 */
export function* indexAnew(state: EngineState, thresholdBefore: number): Generator<MergeProgress, void> {
  const { layout, pairs, tokens, longTokens, queue, occurrences, budget } = state;
  const all = createPairs(pairs.count);
  const cursor = { pos: 1, step: 0 };
  while (cursor.pos < layout.cellCount) {
    const until = Math.min(cursor.pos + budget.sliceWork, layout.cellCount);
    const work = until - cursor.pos;
    countPairs(layout, cursor, until, tokens.lengths, all);
    if (spend(budget, work)) yield budget.progress;
  }
  state.threshold = lowerThreshold(
    all,
    thresholdBefore,
    state.limits.countMin,
    state.limits.mergeCountMax - state.learned.entryCount,
  );

  clearPairs(pairs);
  queue.size = 0;
  let entryCount = 0;
  for (let p = 0; p < all.count; p++) {
    const left = all.lefts[p]!;
    const right = all.rights[p]!;
    const count = all.counts[p]!;
    if (count < state.threshold || !mayMerge(state, left, right)) continue;
    addPair(pairs, left, right, count, entryCount, 0);
    entryCount += all.listLengths[p]!;
    if (spend(budget, 4)) yield budget.progress;
  }
  resetArena(occurrences, entryCount);
  occurrences.used = entryCount;
  for (let pos = 1; pos < layout.cellCount; ) {
    const from = pos;
    pos = writePairs(
      layout,
      pos,
      Math.min(pos + budget.sliceWork, layout.cellCount),
      tokens.lengths,
      pairs,
      occurrences.entries,
    );
    if (spend(budget, pos - from)) yield budget.progress;
  }
  for (let p = 0; p < pairs.count; p++) {
    push(queue, pairs, tokens, longTokens, pairs.counts[p]!, p);
    if (spend(budget, 8)) yield budget.progress;
  }
}

/**
 * A threshold that lets about four times as many pairs in as merges are wanted, by powers of two, and at most a quarter of
 * the threshold before: so it comes down in few steps, whatever the counts are like.
 */
function lowerThreshold(
  all: Pairs,
  thresholdBefore: number,
  thresholdFloor: number,
  mergesWanted: number,
): number {
  const pairsWanted = 4 * mergesWanted + 64;
  const tally = new Float64Array(64);
  for (let p = 0; p < all.count; p++) tally[Math.floor(Math.log2(all.counts[p]!))]!++;
  let power = 63;
  for (let pairCount = 0; power > 0 && pairCount + tally[power]! < pairsWanted; power--)
    pairCount += tally[power]!;
  return Math.max(thresholdFloor, Math.min(2 ** power, Math.floor(thresholdBefore / 4)));
}

function countPairs(
  layout: Layout,
  cursor: Cursor,
  until: number,
  tokenLengths: Int32Array,
  all: Pairs,
): void {
  const { cells, boundary, weightEnds, weights } = layout;
  let { pos, step } = cursor;
  while (pos < until) {
    const left = cells[pos]!;
    if (left === boundary) {
      pos++;
      continue;
    }
    while (pos >= weightEnds[step]!) step++;
    const next = pos + tokenLengths[left]!;
    const right = cells[next]!;
    if (right !== boundary) {
      const p = findPair(all, left, right);
      if (p === noPair) addPair(all, left, right, weights[step]!, 0, 1);
      else {
        all.counts[p]! += weights[step]!;
        all.listLengths[p]!++;
      }
    }
    pos = next;
  }
  cursor.pos = pos;
  cursor.step = step;
}

function writePairs(
  layout: Layout,
  pos: number,
  until: number,
  tokenLengths: Int32Array,
  pairs: Pairs,
  entries: Int32Array,
): number {
  const { cells, boundary } = layout;
  while (pos < until) {
    const left = cells[pos]!;
    if (left === boundary) {
      pos++;
      continue;
    }
    const next = pos + tokenLengths[left]!;
    const right = cells[next]!;
    if (right !== boundary) {
      const p = findPair(pairs, left, right);
      if (p !== noPair) entries[pairs.listStarts[p]! + pairs.listLengths[p]!++] = pos;
    }
    pos = next;
  }
  return pos;
}
