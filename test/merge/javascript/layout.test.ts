import { expect, test } from "bun:test";
import { UserError } from "../../../src/errors.ts";
import { checkCellCount } from "../../../src/merge/merge-options.ts";
import { createWorkBudget } from "../../../src/merge/work-budget.ts";
import { wordTableOf } from "../../../src/words/word-table.ts";
import { countCells } from "./cell-count.ts";
import { layOutWords, stepOf } from "./layout.ts";

const boundary = 300;

function layOut(entries: [string, number][], sliceWork: number) {
  const words = wordTableOf(entries);
  const laying = layOutWords(words, countCells(words), boundary, false, createWorkBudget(sliceWork));
  let step = laying.next();
  while (!step.done) step = laying.next();
  return step.value;
}

test("words stand by falling count between boundaries, words of one byte are left out, as the table says", () => {
  const layout = layOut([["abc", 1], ["x", 9], ["bc", 2]], 1 << 18); // biome-ignore format: one thought
  expect([...layout.cells]).toEqual([boundary, 98, 99, boundary, 97, 98, 99, boundary]);
  expect([...layout.weightEnds.slice(0, layout.stepCount)]).toEqual([4, 2 ** 31 - 1]);
  expect([...layout.weights.slice(0, layout.stepCount)]).toEqual([2, 1]);
});

test("the layout is the same wherever it pauses, inside a word too", () => {
  const entries: [string, number][] = [["abcdefgh", 3], ["ij", 70_000], ["klmno", 3], ["pq", 2 ** 40]]; // biome-ignore format: one thought
  const whole = layOut(entries, 1 << 18);
  for (const sliceWork of [1, 2, 3, 5, 8]) expect(layOut(entries, sliceWork)).toEqual(whole);
});

test("the step of a position is found from any step before it", () => {
  const weightEnds = Int32Array.of(4, 9, 10, 30, 2 ** 31 - 1);
  for (let pos = 0; pos < 40; pos++) {
    const expected = weightEnds.findIndex((end) => end > pos);
    for (let from = 0; from <= expected; from++) expect(stepOf(weightEnds, 5, from, pos)).toBe(expected);
  }
});

test("more cells than positions can name is an error with a remedy, not a wrap", () => {
  checkCellCount(2 ** 31 - 2);
  expect(() => checkCellCount(2 ** 31 - 1)).toThrow(UserError);
  try {
    checkCellCount(2 ** 32);
  } catch (error) {
    expect((error as UserError).hint).toContain("--pattern");
  }
});
