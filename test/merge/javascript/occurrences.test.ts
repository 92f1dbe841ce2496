import { expect, test } from "bun:test";
import { createWorkBudget } from "../../../src/merge/work-budget.ts";
import type { EngineState } from "./engine-state.ts";
import { capacityFor, entryCountMax, makeRoom } from "./occurrences.ts";

const [a, b, merged, boundary] = [97, 98, 300, 999];

/** EngineState of pairs (a, b), each with a list of its own, over cells in which "ab" stands at 1, 4, 7, ...; every second one is merged. */
function roomsOf(
  lists: { positions: number[]; count: number; countAtBirth: number }[],
  capacity: number,
): EngineState {
  const cells = new Int32Array(100).fill(boundary);
  for (let pos = 1; pos + 1 < cells.length; pos += 3) {
    const isMerged = pos % 2 === 0;
    cells[pos] = isMerged ? merged : a;
    cells[pos + 1] = isMerged ? merged : b;
  }
  const entries = new Int32Array(capacity);
  const listStarts: number[] = [];
  let used = 0;
  for (const { positions } of lists) {
    listStarts.push(used);
    entries.set(positions, used);
    used += positions.length;
  }
  return {
    layout: { cells },
    tokens: { lengths: new Int32Array(1000).fill(1) },
    pairs: {
      count: lists.length,
      counts: Float64Array.from(lists, ({ count }) => count),
      listStarts: Int32Array.from(listStarts),
      listLengths: Int32Array.from(lists, ({ positions }) => positions.length),
      listCounts: Float64Array.from(lists, ({ countAtBirth }) => countAtBirth),
      lefts: Int32Array.from(lists, () => a),
      rights: Int32Array.from(lists, () => b),
    },
    occurrences: { entries, used },
    budget: createWorkBudget(2),
    tuning: { cleanShare: 0.5 },
    threshold: 5,
  } as unknown as EngineState;
}

/** The lists as they are, in the order of their pairs. */
const listsOf = ({ pairs, occurrences }: EngineState) =>
  Array.from({ length: pairs.count }, (_, p) => {
    const start = pairs.listStarts[p]!;
    return [...occurrences.entries.subarray(start, start + pairs.listLengths[p]!)];
  });

function make(state: EngineState, need: number, pinned: number): EngineState {
  for (const _ of makeRoom(state, need, pinned));
  return state;
}

const dead = [4, 10, 16];
const mixed = [1, 4, 7, 10, 13];
const living = [1, 7, 13];

test("the list in work stays as it is, whatever its pair has lost and wherever it moves", () => {
  const lists = [
    { positions: dead, count: 1, countAtBirth: 100 },
    { positions: mixed, count: 10, countAtBirth: 100 },
    { positions: dead, count: 10, countAtBirth: 100 },
    { positions: mixed, count: 60, countAtBirth: 100 },
  ];
  const pinnedLast = make(roomsOf(lists, 16), 8, 2);
  // Below the threshold and dropped; cleaned; in work; has lost too little to be cleaned.
  expect(listsOf(pinnedLast)).toEqual([[], living, dead, mixed]);
  expect(pinnedLast.occurrences.used).toBe(11);
  const pinnedFirst = make(roomsOf(lists, 16), 8, 0);
  expect(listsOf(pinnedFirst)).toEqual([dead, living, [], mixed]);
  expect([...pinnedFirst.pairs.listCounts]).toEqual(
    [100, 10, 10, 60].map((c, p) => (p === 0 || p === 3 ? 100 : c)),
  );
});

test("nothing is cleaned where dropping is enough, and nothing is done where there is room", () => {
  const lists = [
    { positions: dead, count: 1, countAtBirth: 100 },
    { positions: mixed, count: 10, countAtBirth: 100 },
  ];
  expect(listsOf(make(roomsOf(lists, 9), 4, -1))).toEqual([[], mixed]);
  expect(listsOf(make(roomsOf(lists, 12), 4, -1))).toEqual([dead, mixed]);
});

test("the arena grows where there is no room for what is to come, and a bit more", () => {
  const lists = [{ positions: living, count: 60, countAtBirth: 100 }];
  const grown = make(roomsOf(lists, 4), 7, 0);
  expect(listsOf(grown)).toEqual([living]);
  expect(grown.occurrences.entries.length).toBe(Math.ceil(10 * 1.25));
});

test("an arena has the room that is wished, but no more than an array can have", () => {
  expect(capacityFor(10, 12.5)).toBe(13);
  expect(capacityFor(entryCountMax - 1, 1.5 * entryCountMax)).toBe(entryCountMax);
  expect(capacityFor(entryCountMax, entryCountMax)).toBe(entryCountMax);
  expect(() => capacityFor(entryCountMax + 1, entryCountMax + 1)).toThrow(
    "pairs stand at 1,073,741,825 positions of the distinct words; 1,073,741,824 are the most that can be merged",
  );
});
