import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { drawScale } from "../../bench/scale/chart.ts";
import { bounds, casesOf, costOf, largestCorpus, mergeCostOf } from "../../bench/scale/cost.ts";
import { continuationError, extrapolate, growthOf, type Point } from "../../bench/scale/heaps.ts";
import { withScale } from "../../bench/scale/pages.ts";
import type { ScaleRecord } from "../../bench/scale/record.ts";

const pointsOf = (factor: number, exponent: number): Point[] =>
  [1e6, 2e6, 4e6, 8e6].map((sizeBytes) => ({ sizeBytes, distinctWordCount: factor * sizeBytes ** exponent }));

const record: ScaleRecord = {
  date: "2026-01-01",
  commit: "0",
  bun: "1",
  cpu: "some",
  cores: 2,
  memoryBytes: 24e9,
  load: "0",
  pattern: "o200k",
  growth: [
    { name: "plain", points: pointsOf(10, 0.5) },
    { name: "rich", points: pointsOf(1, 0.8) },
    { name: "all", points: pointsOf(3, 0.65) },
  ],
  counting: ["plain", "rich", "all"].map((name) => ({
    name,
    sizeBytes: 8e6,
    cpuSeconds: 0.1,
    cpuSecondsAll: [0.1],
    distinctWordCount: 1e4,
    wordBytes: 9e4,
    compactBytes: 7e4,
    tsvBytes: 1.5e5,
  })),
  planning: { rangeCount: 1000, cpuSeconds: 0.1 },
  addingUp: {
    fileCount: 4,
    readWordCount: 1e6,
    distinctWordCount: 5e5,
    cpuSeconds: 0.2,
  },
  merging: [
    { distinctWordCount: 1e6, wordBytes: 9e6, cpuSeconds: 1, peakBytes: 1e8 },
    { distinctWordCount: 2e6, wordBytes: 18e6, cpuSeconds: 1.5, peakBytes: 2e8 },
  ],
  leavingOut: [
    {
      sliceCount: 4,
      sliceBytes: 2e6,
      minCount: 2,
      sentWordCount: 1000,
      distinctWordCount: 500,
      leftOutShare: 0.01,
      mergeCount: 100,
      sameMergesFirst: 50,
      sharedMerges: 90,
    },
  ],
  sampling: [{ share: 0.5, mergeCount: 100, sharedMerges: 95 }],
};

test("the exponent of a text that follows the law is found, and continued to any size", () => {
  const growth = growthOf(pointsOf(7, 0.6));
  expect(growth.exponent).toBeCloseTo(0.6, 10);
  expect(growth.exponentLow).toBeCloseTo(0.6, 10);
  expect(growth.exponentHigh).toBeCloseTo(0.6, 10);
  expect(growth.fitError).toBeCloseTo(0, 10);
  expect(extrapolate(growth, growth.exponent, 1e12) / (7 * 1e12 ** 0.6)).toBeCloseTo(1, 8);
  expect(continuationError(pointsOf(7, 0.6))).toBeCloseTo(0, 10);
});

test("a text that departs from the law has a smallest and a largest exponent, and the fit reports its error", () => {
  const bent: Point[] = [100, 160, 230, 300].map((distinctWordCount, i) => ({
    sizeBytes: 1e6 * 2 ** i,
    distinctWordCount,
  }));
  const growth = growthOf(bent);
  expect(growth.exponentLow).toBeCloseTo(Math.log2(300 / 230), 10);
  expect(growth.exponentHigh).toBeCloseTo(Math.log2(1.6), 10);
  expect(growth.fitError).toBeGreaterThan(0.01);
  expect(continuationError(bent)).toBeGreaterThan(0.3);
});

test("a cost is that of the case's corpus, slice by slice", () => {
  const [low, middle, high] = casesOf(record);
  expect([low!.name, middle!.name, high!.name]).toEqual(["plain", "all", "rich"]);
  const cost = costOf(record, low!, 1e12, 1e9);
  expect(cost.sliceCount).toBe(1000);
  expect(cost.countSeconds).toBeCloseTo(12_500, 6);
  expect(cost.sentWordCount / (1000 * 10 * 1e9 ** 0.5)).toBeCloseTo(1, 8);
  expect(cost.distinctWordCount / (10 * 1e12 ** 0.5)).toBeCloseTo(1, 8);
});

test("the largest corpus is limited by cells or by memory", () => {
  const middle = casesOf(record)[1]!;
  const anyMemory = largestCorpus(record, middle, Number.POSITIVE_INFINITY);
  const cells = (words: number) => mergeCostOf(record, middle, words).cells;
  expect(cells(anyMemory.distinctWordCount) / bounds.cells).toBeCloseTo(1, 6);
  const little = largestCorpus(record, middle, 1e9);
  expect(mergeCostOf(record, middle, little.distinctWordCount).peakBytes / 1e9).toBeCloseTo(1, 6);
});

const root = `${import.meta.dir}/../..`;
const kept: ScaleRecord = JSON.parse(readFileSync(`${root}/bench/record/scale.json`, "utf8"));

test("the chart's frame holds every point and line, and its width every legend", () => {
  for (const each of [kept, record]) {
    const chart = drawScale(each);
    const grid = [...chart.matchAll(/class="grid" d="M([\d.]+) ([\d.]+)([vh])/g)];
    const edges = (axis: string, group: number) => {
      const places = grid.filter((line) => line[3] === axis).map((line) => Number(line[group]));
      return { first: Math.min(...places), last: Math.max(...places) };
    };
    const frame = { x: edges("v", 1), y: edges("h", 2) };
    const dots = [...chart.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)].map((dot) => [dot[1], dot[2]]);
    const lines = [...chart.matchAll(/d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"/g)];
    const points = [...dots, ...lines.flatMap(([, ...xy]) => [xy.slice(0, 2), xy.slice(2)])];
    expect(points.length).toBe(each.growth.flatMap((growth) => growth.points).length + 6);
    for (const [x, y] of points) {
      expect(Number(x)).toBeWithin(frame.x.first, frame.x.last + 0.1);
      expect(Number(y)).toBeWithin(frame.y.first, frame.y.last + 0.1);
    }
    const width = Number(/viewBox="0 0 ([\d.]+)/.exec(chart)![1]);
    const legends = [...chart.matchAll(/translate\(([\d.]+) .*?<text x="(\d+)">([^<]*)/g)];
    expect(legends.length).toBe(each.growth.length + 3);
    for (const [, left, inset, text] of legends) {
      expect(Number(left) + Number(inset) + 6.5 * text!.length).toBeLessThan(width);
    }
  }
});

test("docs/many-machines.md and its chart have the numbers of their record", () => {
  const page = readFileSync(`${root}/docs/many-machines.md`, "utf8");
  expect(withScale(page, kept)).toBe(page);
  expect(withScale(page, record)).not.toBe(page);
  expect(readFileSync(`${root}/docs/scale.svg`, "utf8")).toBe(drawScale(kept));
});

test("a page without the section is an error", () => {
  expect(() => withScale("# Many machines\n", kept)).toThrow("What terabytes cost");
});
