import { expect, test } from "bun:test";
import {
  type Axis,
  barChart,
  decadesAxis,
  dotPlot,
  histograms,
  linearAxis,
  lineChart,
  percent,
  placeOn,
  shortNumber,
  sizesAxis,
  tickNames,
} from "../../src/report/charts.ts";

const holds = (axis: Axis, values: readonly number[]) =>
  values.every((value) => placeOn(axis, value) >= -1e-9 && placeOn(axis, value) <= 1 + 1e-9);

test("every axis holds its values, and begins and ends at its first and last place", () => {
  for (let seed = 1; seed < 200; seed++) {
    const values = Array.from(
      { length: 5 },
      (_, i) => ((seed * 7919 * (i + 3)) % 10_007) / 10 ** (seed % 5) + 1e-3,
    );
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const axes = [linearAxis("", values), decadesAxis("", values), sizesAxis("", 1e5 * low, 1e5 * high)];
    for (const axis of axes) {
      expect(holds(axis, axis === axes[2] ? values.map((value) => 1e5 * value) : values)).toBe(true);
      expect(placeOn(axis, axis.first)).toBe(0);
      expect(placeOn(axis, axis.last)).toBeCloseTo(1, 9);
      expect(axis.ticks.length).toBeWithin(1, 8);
      expect(holds(axis, axis.ticks)).toBe(true);
    }
  }
});

test("marks are round numbers", () => {
  expect(linearAxis("", [1, 4.2]).ticks).toEqual([1, 2, 3, 4, 5]);
  expect(linearAxis("", [0, 5]).ticks).toEqual([0, 1, 2, 3, 4, 5]);
  expect(linearAxis("", [0.12, 0.14]).ticks).toEqual([0.12, 0.125, 0.13, 0.135, 0.14]);
  expect(decadesAxis("", [3, 40_000]).ticks).toEqual([1, 10, 100, 1000, 10_000, 100_000]);
  expect(decadesAxis("", [1, 1e9]).ticks).toEqual([1, 100, 1e4, 1e6, 1e8]);
  expect(sizesAxis("", 257, 64_000).ticks).toEqual([1000, 4000, 16_000, 64_000]);
  // Whatever size was chosen, the marks are sizes that people choose.
  expect(sizesAxis("", 256, 32_768).ticks.map((value) => shortNumber(value))).toEqual([
    "500",
    "2k",
    "8k",
    "32k",
  ]);
  expect(sizesAxis("", 256, 266).ticks).toEqual([256, 258, 260, 262, 264, 266]);
  expect(sizesAxis("", 256, 258).ticks).toEqual([256, 257, 258]);
  expect(sizesAxis("", 261, 277).ticks).toEqual([265, 270, 275]);
});

test("one value has an axis, too", () => {
  expect(holds(linearAxis("", [3]), [3])).toBe(true);
  expect(holds(decadesAxis("", [100]), [100])).toBe(true);
  expect(placeOn(sizesAxis("", 256, 256), 256)).toBe(0);
});

test("numbers on marks are short", () => {
  expect(
    [0, 1, 0.125, 999, 1000, 1500, 32_000, 999_999, 1e6, 2.5e9].map((value) => shortNumber(value)),
  ).toEqual(["0", "1", "0.125", "999", "1k", "1.5k", "32k", "1M", "1M", "2.5G"]);
  expect([0, 0.004, 0.0994, 0.5, 1].map(percent)).toEqual(["0 %", "0.4 %", "9.9 %", "50 %", "100 %"]);
});

test("marks have as many digits as tell them apart", () => {
  expect(tickNames(linearAxis("", [4.193, 4.196]))).toEqual(["4.193", "4.194", "4.195", "4.196"]);
  expect(tickNames(linearAxis("", [1000, 1004]))).toEqual(["1k", "1.001k", "1.002k", "1.003k", "1.004k"]);
});

test("dots that would lie over each other stand above and below the line", () => {
  const axis = linearAxis("", [0, 100]);
  const heightsOf = (...values: (number | null)[]) => {
    const dots = values.map((x) => (x === null ? null : { x, y: 0, label: "" }));
    return [
      ...dotPlot(axis, [{ name: "t", dots }]).text.matchAll(/<circle class="dot (c\d)".*?cy="(\d+)%"/g),
    ].map(([, colour, up]) => `${colour} ${up}`);
  };
  expect(heightsOf(50, 10)).toEqual(["c1 50", "c0 50"]);
  expect(heightsOf(50, null, 50)).toEqual(["c0 28", "c2 72"]);
  expect(heightsOf(10, 50, 51, 52, 90, 91)).toEqual(["c0 50", "c1 28", "c2 72", "c3 28", "c4 28", "c5 72"]);
});

test("bars are as long as their values, and the longest fills its cell", () => {
  const groups = [1, 4, 3].map((value) => ({ name: "abc", values: [value], texts: ["x"] }));
  const { text } = barChart({ title: "t", kind: "k", series: ["s"], groups });
  expect([...text.matchAll(/<rect width="([\d.]+)%"/g)].map(([, width]) => Number(width))).toEqual([
    25, 100, 75,
  ]);
});

test("an upright line has its name above it if it is far enough from the next one, and the last one always", () => {
  const axis = { title: "", scale: "linear", first: 0, last: 100, ticks: [] } as const;
  const lines = [{ name: "n", colour: 0, points: [{ x: 1, y: 1, label: "<a>" }] }];
  const marks = [10, 60, 75, 90].map((x) => ({ x, name: `at ${x}` }));
  const { text } = lineChart({ title: "t", x: axis, y: axis, lines, marks });
  expect([...text.matchAll(/<text class="value"[^>]*>([^<]*)</g)].map(([, name]) => name)).toEqual([
    ...["at 10", "at 60", "at 90"],
  ]);
  expect(text.match(/class="mark"/g)).toHaveLength(4);
  expect(text).toContain('data-tip="&lt;a&gt;"');
});

test("small pictures have one scale, and of several tokenizers the outline of their mean", () => {
  const panel = (name: string, ...shares: number[]) => ({ name, note: "n", shares, colour: 0 });
  const two = histograms("bytes", ["1", "2"], [panel("p", 1, 0), panel("q", 0.5, 0.5)]).text;
  expect([...two.matchAll(/height="([\d.]+)%" data-tip=/g)].map(([, height]) => Number(height))).toEqual([
    100, 0, 50, 50,
  ]);
  expect(two.match(/d="M0 250H500V750H1000"/g)).toHaveLength(2);
  const low = histograms("bytes", ["1", "2"], [panel("p", 0.5, 0.5), panel("q", 0.25, 0.5)]).text;
  expect(low).toContain('d="M0 250H500V0H1000"');
  expect(histograms("bytes", ["1", "2"], [panel("p", 1, 0)]).text).not.toContain("line mean");
});
