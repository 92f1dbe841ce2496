import { expect, test } from "bun:test";
import { RunMerger } from "../../src/tokenizer/run-merger.ts";
import { Random } from "../pattern/naive.ts";

type Supermerge = { left: number; right: number; merged: number };

/** The pair of lowest rank, everywhere, from the left; then again. */
function naiveMerge(ids: readonly number[], supermerges: readonly Supermerge[]): number[] {
  let run = [...ids];
  for (let rank = 0; rank < supermerges.length; ) {
    const { left, right, merged } = supermerges[rank]!;
    const next: number[] = [];
    for (let i = 0; i < run.length; i++) {
      const isPair = run[i] === left && run[i + 1] === right;
      next.push(isPair ? merged : run[i]!);
      if (isPair) i++;
    }
    rank = next.length < run.length ? 0 : rank + 1;
    run = next;
  }
  return run;
}

test("runs of any length are joined as the naive twin joins them, also where supermerges make one token twice", () => {
  const seed = 20261122;
  const random = new Random(seed);
  for (let trial = 0; trial < 3000; trial++) {
    const startCount = 1 + random.below(4);
    const supermerges: Supermerge[] = [];
    const tokenCount = () => startCount + supermerges.length;
    for (let k = random.below(12); k > 0; k--) {
      const [left, right] = [random.below(tokenCount()), random.below(tokenCount())];
      // Now and then a token that is there: no smaller one than its halves.
      const made = random.below(4) === 0 ? Math.max(left, right) + 1 : tokenCount();
      supermerges.push({ left, right, merged: Math.min(made, tokenCount()) });
    }
    const length = random.below(random.pick([6, 24, 30, 90]));
    const ids = Array.from({ length }, () => random.below(startCount + random.below(2)));
    const columns = (field: keyof Supermerge) => Int32Array.from(supermerges, (merge) => merge[field]);
    const merger = new RunMerger({
      left: columns("left"),
      right: columns("right"),
      merged: columns("merged"),
    });
    const run = Int32Array.from([...ids, 77, 78]);
    const count = merger.merge(run, length);
    const found = [...run.subarray(0, count)];
    expect({ seed, trial, ids, supermerges, found }).toEqual({
      ...{ seed, trial, ids, supermerges },
      found: naiveMerge(ids, supermerges),
    });
    expect([...run.subarray(length)]).toEqual([77, 78]);
  }
});

test("a run of a million tokens is joined in a few passes' time", () => {
  const length = 1 << 20;
  const halvings = Array.from({ length: 20 }, (_, k) => k);
  const merger = new RunMerger({
    left: Int32Array.from(halvings),
    right: Int32Array.from(halvings),
    merged: Int32Array.from(halvings, (k) => k + 1),
  });
  const run = new Int32Array(length);
  expect(merger.merge(run, length)).toBe(1);
  expect(run[0]).toBe(20);
});

test("it takes the halves of supermerges, and no other token", () => {
  const merger = new RunMerger({
    left: Int32Array.of(3),
    right: Int32Array.of(5),
    merged: Int32Array.of(9),
  });
  expect([3, 5, 9, 4].map((id) => merger.takes(id))).toEqual([true, true, false, false]);
});
