import type { MergeMemory } from "./merge-memories.ts";
import { type MergeProgress, spend, type WorkBudget } from "./work-budget.ts";

/**
 * Adds up what the memories of an engine tell each other (src/kernel/merge/memory-exchange.ts): each gives what its
 * words have, and takes the sum of all. With one memory there is nothing to do.
 */

const bytePairCount = 1 << 16;

/** After the bytes were counted: gives every memory the weights of all. Numbers of occurrences stay its own. */
export function joinBytePairs(memories: readonly MergeMemory[]): void {
  if (memories.length === 1) return;
  const totals = new Float64Array(bytePairCount);
  const tables = memories.flatMap(({ exports, memory, plan }) =>
    Array.from({ length: plan.threadCount }, (_, part) => ({
      isFirst: part === 0,
      // The first eight bytes of sixteen are the weight.
      floats: new Float64Array(
        memory.buffer,
        (exports.bytePairs.value >>> 0) + 16 * bytePairCount * part,
        2 * bytePairCount,
      ),
    })),
  );
  for (const { floats } of tables) {
    for (let key = 0; key < bytePairCount; key++) totals[key]! += floats[2 * key]!;
  }
  for (const { floats, isFirst } of tables) {
    for (let key = 0; key < bytePairCount; key++) floats[2 * key] = isFirst ? totals[key]! : 0;
  }
}

/** After the walk over the lists of the pair that is merged: gives every memory the neighbours of all. */
export type JoinNeighbours = () => void;

export function neighbourJoiner(memories: readonly MergeMemory[]): JoinNeighbours {
  if (memories.length === 1) return () => {};
  const { tokenCapacity } = memories[0]!.plan;
  const exchanges = memories.map(exchangeOf);
  const totals = new Float64Array(tokenCapacity + 1);
  const tokens = new Uint32Array(tokenCapacity + 1);
  const joinSide = (areRight: boolean) => {
    let tokenCount = 0;
    for (const [k, { exports }] of memories.entries()) {
      const { floats, numbers } = exchanges[k]!;
      const count = exports.giveNeighbours(areRight);
      for (let index = 0; index < count; index++) {
        const token = numbers[4 * index + 2]!;
        const weight = floats[2 * index]!;
        if (weight > 0 && totals[token] === 0) tokens[tokenCount++] = token;
        totals[token]! += weight;
      }
    }
    for (const [k, { exports }] of memories.entries()) {
      const { floats, numbers } = exchanges[k]!;
      for (let index = 0; index < tokenCount; index++) {
        const token = tokens[index]!;
        numbers[4 * index + 2] = token;
        floats[2 * index] = totals[token]!;
      }
      exports.takeNeighbours(areRight, tokenCount);
    }
    for (let index = 0; index < tokenCount; index++) totals[tokens[index]!] = 0;
  };
  return () => {
    joinSide(false);
    joinSide(true);
    let voidWeight = 0;
    for (const { exports } of memories) voidWeight += exports.giveVoidWeight();
    for (const { exports } of memories) exports.takeVoidWeight(voidWeight);
  };
}

/** While the text is indexed anew: gives the first memory the counts of all. False if it has no room for them. */
export function* joinPairs(
  memories: readonly MergeMemory[],
  budget: WorkBudget,
): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories;
  for (const other of others) {
    const isDone = yield* tellPairs(other, [first!], ({ exports }, count) => exports.addPairs(count), budget);
    if (!isDone) return false;
  }
  return true;
}

/** Makes the other memories keep the pairs of the first, with its counts. False if one has no room for them. */
export function* keepSamePairs(
  memories: readonly MergeMemory[],
  budget: WorkBudget,
): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories;
  const threshold = first!.exports.thresholdNow();
  for (const { exports } of others) exports.adoptThreshold(threshold);
  if (!(yield* tellPairs(first!, others, ({ exports }, count) => exports.keepToldPairs(count), budget)))
    return false;
  for (const { exports } of others) exports.startKeepingTold();
  return true;
}

/** Carries the records of a memory to others, as many at a time as the exchange holds. False if one has no room. */
function* tellPairs(
  from: MergeMemory,
  others: readonly MergeMemory[],
  take: (to: MergeMemory, count: number) => boolean,
  budget: WorkBudget,
): Generator<MergeProgress, boolean> {
  if (others.length === 0) return true;
  const given = exchangeOf(from).numbers;
  for (let start = 0; ; ) {
    const count = from.exports.givePairs(start, budget.sliceWork);
    if (count === 0) return true;
    for (const other of others) {
      exchangeOf(other).numbers.set(given.subarray(0, 4 * count));
      if (!take(other, count)) return false;
      if (spend(budget, count)) yield budget.progress;
    }
    start += count;
  }
}

/** The exchange as Float64, two a record, and as Uint32, four a record: the weight, then two tokens. */
function exchangeOf({ exports, memory, plan }: MergeMemory) {
  const address = exports.exchangedRecords.value >>> 0;
  const recordCount = plan.tokenCapacity + 1;
  return {
    floats: new Float64Array(memory.buffer, address, 2 * recordCount),
    numbers: new Uint32Array(memory.buffer, address, 4 * recordCount),
  };
}
