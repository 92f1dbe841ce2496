import { UserError } from "../../../src/errors.ts";
import { type MergeProgress, spend, type WorkBudget } from "../../../src/merge/work-budget.ts";
import type { EngineState } from "./engine-state.ts";
import type { Layout } from "./layout.ts";
import type { Pairs } from "./pairs.ts";
import type { Tokens } from "./tokens.ts";

/**
 * Occurrences: where each pair stands. One arena; a pair's list is a run of ascending positions in it, written once
 * when the pair is born.
 *
 *   ARRAY     TYPE         LENGTH     MEANING
 *   entries   Int32Array   capacity   position of the first cell of the left token; the first `used` entries are in use
 *
 * Entry i of (x, y) is alive if cells[i] == x and cells[i + length of x] == y. Nothing is ever cleared: a merge that
 * takes a token away overwrites its first cell, and the entry is dead by that.
 */
export type Occurrences = { entries: Int32Array; used: number };

/** Of what is in use after a growth: growing is copying, and is to happen seldom. */
const growthFactor = 1.25;
/** With less than this share free after a compaction the next one would come too soon. */
const freeShareMin = 0.1;

/** No array may be larger than 2^32 bytes, the runtime's limit. */
export const entryCountMax = 2 ** 30;

/** As many entries as are wished, or as an array can have; throws where that is not even what is needed. */
export function capacityFor(neededCount: number, wishedCount: number): number {
  if (neededCount <= entryCountMax) return Math.min(Math.ceil(wishedCount), entryCountMax);
  const [needed, most] = [neededCount, entryCountMax].map((count) => count.toLocaleString("en-US"));
  throw new UserError(
    `pairs stand at ${needed} positions of the distinct words; ${most} are the most that can be merged`,
    {
      hint: "train on a part of the corpus, or leave rare words out of its counts (bpe count --min-count)",
    },
  );
}

export function createOccurrences(): Occurrences {
  return { entries: new Int32Array(0), used: 0 };
}

/**
 * Makes room for `need` more entries: drops the lists of pairs that are gone or below the threshold, and slides the others
 * down in the order of their records, which is the order they stand in. If that will not do, lists that lost more
 * than `cleanShare` of their count are cleaned of dead entries on the way, and then the arena grows.
 * The list of `pinned` is in work and stays as it is.
 */
export function* makeRoom(state: EngineState, need: number, pinned: number): Generator<MergeProgress, void> {
  const { occurrences, threshold, layout, tokens, pairs, budget } = state;
  const { cleanShare } = state.tuning;
  if (occurrences.used + need <= occurrences.entries.length) return;
  const livingCount = dropLists(pairs, pinned, threshold);
  const isTight = livingCount + need > occurrences.entries.length;
  let to = 0;
  for (let p = 0; p < pairs.count; p++) {
    const length = pairs.listLengths[p]!;
    if (length === 0) continue;
    const listStart = to;
    const clean = isTight && p !== pinned && pairs.counts[p]! < (1 - cleanShare) * pairs.listCounts[p]!;
    for (let done = 0; done < length; done += budget.sliceWork) {
      const from = pairs.listStarts[p]! + done;
      const end = from + Math.min(budget.sliceWork, length - done);
      to = clean
        ? cleanRun(occurrences.entries, from, end, to, layout, tokens, pairs.lefts[p]!, pairs.rights[p]!)
        : slideRun(occurrences.entries, from, end, to);
      if (spend(budget, clean ? end - from : (end - from) >> 3)) yield budget.progress;
    }
    pairs.listStarts[p] = listStart;
    pairs.listLengths[p] = to - listStart;
    if (clean) pairs.listCounts[p] = pairs.counts[p]!;
  }
  occurrences.used = to;
  if (to + need > occurrences.entries.length * (1 - freeShareMin)) {
    const capacity = capacityFor(to + need, (to + need) * growthFactor);
    if (capacity > occurrences.entries.length) yield* growArena(occurrences, capacity, budget);
  }
}

function* growArena(
  occurrences: Occurrences,
  capacity: number,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const { entries, used } = occurrences;
  const longer = new Int32Array(capacity);
  for (let from = 0; from < used; from += budget.sliceWork) {
    const to = Math.min(from + budget.sliceWork, used);
    longer.set(entries.subarray(from, to), from);
    if (spend(budget, (to - from) >> 2)) yield budget.progress;
  }
  occurrences.entries = longer;
}

/** Forgets the lists that nobody will read again; the entries that are left are returned. */
function dropLists(pairs: Pairs, pinned: number, threshold: number): number {
  const { count, counts, listLengths } = pairs;
  let livingCount = 0;
  for (let p = 0; p < count; p++) {
    if (listLengths[p] === 0) continue;
    if (p !== pinned && counts[p]! < threshold) {
      listLengths[p] = 0;
      counts[p] = 0;
    } else livingCount += listLengths[p]!;
  }
  return livingCount;
}

function slideRun(entries: Int32Array, from: number, end: number, to: number): number {
  if (from !== to) entries.copyWithin(to, from, end);
  return to + (end - from);
}

function cleanRun(
  entries: Int32Array,
  from: number,
  end: number,
  to: number,
  layout: Layout,
  tokens: Tokens,
  left: number,
  right: number,
): number {
  const { cells } = layout;
  const leftLength = tokens.lengths[left]!;
  for (let k = from; k < end; k++) {
    const pos = entries[k]!;
    if (cells[pos] === left && cells[pos + leftLength] === right) entries[to++] = pos;
  }
  return to;
}

/** An arena for the lists of an index, with nothing in it. */
export function resetArena(occurrences: Occurrences, neededCount: number, slack = 1): void {
  const capacity = capacityFor(neededCount, neededCount * slack);
  if (occurrences.entries.length < capacity) occurrences.entries = new Int32Array(capacity);
  occurrences.used = 0;
}
