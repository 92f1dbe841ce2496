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

/** After the sketches: gives every memory the sums of all (src/kernel/merge/pair-sketch.ts). */
export function joinSketches(memories: readonly MergeMemory[]): void {
  if (memories.length === 1) return;
  const sketches = memories.map(
    ({ exports, memory }) =>
      new Uint32Array(memory.buffer, exports.sketchAddress() >>> 0, exports.sketchCellCount()),
  );
  const [first, ...others] = sketches as [Uint32Array, ...Uint32Array[]];
  for (const other of others) {
    for (let cell = 0; cell < first.length; cell++) {
      first[cell] = Math.min(first[cell]! + other[cell]!, sketchCellMax);
    }
  }
  for (const other of others) other.set(first);
}

const sketchCellMax = 2 ** 32 - 1;

/** After the walk over the lists of the pair that is merged: tells every memory what its neighbours weigh in all. */
export type JoinNeighbours = () => void;

export function neighbourJoiner(memories: readonly MergeMemory[]): JoinNeighbours {
  if (memories.length === 1) return () => {};
  const { tokenCapacity } = memories[0]!.plan;
  const exchanges = memories.map(exchangeOf);
  const totals = new Float64Array(tokenCapacity + 1);
  const tokens = new Uint32Array(tokenCapacity + 1);
  const joinSide = (areRight: boolean) => {
    let tokenCount = 0;
    const counts = memories.map(({ exports }) => exports.giveNeighbours(areRight));
    for (const [k, { floats, numbers }] of exchanges.entries()) {
      const count = counts[k]!;
      for (let index = 0; index < count; index++) {
        const token = numbers[4 * index + 2]!;
        const weight = floats[2 * index]!;
        if (weight > 0 && totals[token] === 0) tokens[tokenCount++] = token;
        totals[token]! += weight;
      }
    }
    // The first memory takes all of them, each other one those that it gave.
    const all = exchanges[0]!.numbers;
    for (let index = 0; index < tokenCount; index++) all[4 * index + 2] = tokens[index]!;
    counts[0] = tokenCount;
    for (const [k, { exports }] of memories.entries()) {
      const { floats, numbers } = exchanges[k]!;
      const count = counts[k]!;
      for (let index = 0; index < count; index++) floats[2 * index] = totals[numbers[4 * index + 2]!]!;
      exports.takeNeighbours(areRight, count);
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
  const [first, ...others] = memories as [MergeMemory, ...MergeMemory[]];
  let hasRoom = true;
  for (const other of others) {
    yield* tellPairs(other, budget, (records, count) => {
      exchangeOf(first).numbers.set(records);
      hasRoom &&= first.exports.addPairs(count) === 1;
    });
  }
  return hasRoom;
}

/** Makes the other memories keep the pairs of the first, with its counts and its threshold. */
export function* keepSamePairs(
  memories: readonly MergeMemory[],
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const [first, ...others] = memories as [MergeMemory, ...MergeMemory[]];
  if (others.length === 0) return;
  const threshold = first.exports.thresholdNow();
  for (const { exports } of others) exports.adoptThreshold(threshold);
  yield* tellPairs(first, budget, (records, count) => {
    for (const other of others) {
      exchangeOf(other).numbers.set(records);
      other.exports.keepToldPairs(count);
    }
  });
  for (const { exports } of others) exports.startKeepingTold();
}

/** Before lists are dropped: gives the pairs of a memory the counts that they have in the first. */
export function* refreshCounts(
  first: MergeMemory,
  memory: MergeMemory,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const answers = exchangeOf(first).numbers;
  yield* tellPairs(memory, budget, (records, count, start) => {
    answers.set(records);
    first.exports.answerCounts(count);
    records.set(answers.subarray(0, records.length));
    memory.exports.takeCounts(start, count);
  });
}

/** Calls `take` with the records of a memory, as many at a time as the exchange and a slice hold. */
function* tellPairs(
  from: MergeMemory,
  budget: WorkBudget,
  take: (records: Uint32Array, count: number, start: number) => void,
): Generator<MergeProgress, void> {
  const given = exchangeOf(from).numbers;
  for (let start = 0; ; ) {
    const count = from.exports.givePairs(start, budget.sliceWork);
    if (count === 0) return;
    take(given.subarray(0, 4 * count), count, start);
    start += count;
    if (spend(budget, count)) yield budget.progress;
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
