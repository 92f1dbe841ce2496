import { expect, test } from "bun:test";
import { barChart, lineChart } from "../../src/playground/html-charts.ts";

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
