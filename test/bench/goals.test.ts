import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { BenchTexts } from "../../bench/bench-texts.ts";
import { type Goal, goals, goalsTable, outcomesOf, unmeasured } from "../../bench/goals.ts";
import { type Row, speedTable } from "../../bench/speed-table.ts";
import { worksIn } from "../../bench/works.ts";
import { put, scratch } from "../binary.ts";

const rows: Row[] = [
  {
    work: "train: english, 9 MB",
    costs: [
      { name: "bpe", seconds: 0.25, processorSeconds: 0.5, megabytes: 90 },
      { name: "bpe, before", seconds: 0.5, processorSeconds: 0.5, megabytes: 91 },
      { name: "gigabpe", seconds: 1, processorSeconds: 0.25, megabytes: 80 },
    ],
  },
  {
    work: "superwords",
    costs: [
      { name: "bpe", seconds: 3, megabytes: 7 },
      { name: "bpe, plain", seconds: 2 },
    ],
  },
  { work: "the executable", costs: [{ name: "bpe", megabytes: 118.5 }], isOnlyRecorded: true },
];

const isReached = (goal: Goal) =>
  outcomesOf(rows, [goal]).map((outcome) => [outcome.value, outcome.isReached]);

test("a goal is about a cost, or a quotient; it is reached at its limit", () => {
  const english = { row: "train: english", other: "gigabpe" };
  expect(isReached({ ...english, measure: "seconds", least: 4 })).toEqual([[4, true]]);
  expect(isReached({ ...english, measure: "seconds", least: 4.01 })).toEqual([[4, false]]);
  expect(isReached({ ...english, measure: "processorSeconds", least: 1 })).toEqual([[0.5, false]]);
  expect(isReached({ row: "superwords", measure: "seconds", other: "bpe, plain", most: 1.5 })).toEqual([
    [1.5, true],
  ]);
  expect(isReached({ row: "superwords", measure: "seconds", other: "bpe, plain", most: 1.4 })).toEqual([
    [1.5, false],
  ]);
  expect(isReached({ row: "the executable", measure: "megabytes", most: 118 })).toEqual([[118.5, false]]);
});

test("a goal without its numbers is not measured, rather than reached or missed", () => {
  const absent: Goal[] = [
    { row: "train: web", measure: "seconds", other: "gigabpe", least: 2 },
    { row: "superwords", measure: "processorSeconds", other: "bpe, plain", most: 5 },
    { row: "superwords", measure: "seconds", other: "gigabpe", least: 1 },
  ];
  expect(absent.flatMap(isReached)).toEqual([]);
  expect(unmeasured(rows, absent)).toEqual(absent);
});

test("the table of goals has every row, and says what is missed; rows that are only recorded are on no page", () => {
  expect(goalsTable(rows).split("\n").slice(2)).toEqual([
    "| train: english, 9 MB | 0.5, 0.5, 91 | 0.25, 0.5, 90 | gigabpe 1, 0.25, 80 | gigabpe 3.2 times | gigabpe 4 times | at least 4 | reached |",
    "| superwords | – | 3, –, 7 | – | – | – | – |  |",
    "| the executable | – | –, –, 119 | – | 132 MB | 119 MB | at most 118 | MISSED |",
  ]);
  expect(speedTable(rows)).not.toContain("executable");
});

test("every goal has a row that is measured, all but one of them by --quick", () => {
  const home = scratch();
  const corpora = join(home, "corpora");
  mkdirSync(corpora);
  for (const name of ["code", "crlf", "english", "multilingual", "web"])
    put(corpora, `${name}.txt`, "a line\n");
  const setting = { home, texts: new BenchTexts(home, corpora), rounds: 1, before: undefined, isQuick: true };
  const works = worksIn(setting);
  const names = (goal: Goal, isQuick: boolean) =>
    works.filter((work) => work.name.startsWith(goal.row) && (work.isQuick || !isQuick));
  expect(goals.filter((goal) => names(goal, false).length === 0)).toEqual([]);
  expect(goals.filter((goal) => names(goal, true).length === 0).map(({ row }) => row)).toEqual([
    "train: 1 GB",
  ]);
  expect(new Set(works.map(({ name }) => name)).size).toBe(works.length);
});

test("without a directory, the text is the declaration of human rights, and --quick trains on it", () => {
  const home = scratch();
  const texts = new BenchTexts(home, undefined);
  const works = worksIn({ home, texts, rounds: 1, before: undefined, isQuick: true });
  const quick = works.filter(({ isQuick }) => isQuick).map(({ name }) => name);
  expect(quick).toContain("train: 130 KB of declarations");
  expect(quick.filter((name) => name.startsWith("train: declarations"))).toHaveLength(1);
  expect(quick).toContain("train with superwords: declarations");
});
