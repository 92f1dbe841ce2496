import { expect, test } from "bun:test";
import { barChart, lineChart } from "../../src/playground/html-charts.ts";

test("bars are as long as their values, and the longest fills its cell", () => {
  const groups = [1, 4, 3].map((value) => ({ name: "abc", values: [value], texts: ["x"] }));
  const { text } = barChart({ title: "t", kind: "k", series: ["s"], groups });
  expect([...text.matchAll(/<rect width="([\d.]+)%"/g)].map(([, width]) => Number(width))).toEqual([
    25, 100, 75,
  ]);
});

test("a line goes through its points, whose names are escaped", () => {
  const axis = { title: "", scale: "linear", first: 0, last: 100, ticks: [] } as const;
  const points = [
    { x: 0, y: 0, label: "<a>" },
    { x: 50, y: 100, label: "b" },
  ];
  const { text } = lineChart({ title: "t", x: axis, y: axis, lines: [{ name: "n", colour: 0, points }] });
  expect(text).toContain('d="M0 1000L500 0"');
  expect(text).toContain('cx="50%" cy="0%"');
  expect(text).toContain('data-tip="&lt;a&gt;"');
});
