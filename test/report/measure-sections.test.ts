import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import { costliestSection, measureSection } from "../../src/report/measure-sections.ts";
import type { MeasureTable } from "../../src/report/report-data.ts";

const cellOf = (value: number | null) => ({ value, shown: value === null ? "-" : value.toFixed(1) });
const tableOf = (...groups: (readonly (number | null)[])[][]): MeasureTable => ({
  title: "Texts",
  measures: [
    { name: "cost", better: "lower", formula: "f(1)" },
    { name: "gain", better: "higher", formula: "f(2)" },
    { name: "size", better: null, formula: "f(3)" },
  ],
  groups: groups.map((rows, i) => ({ name: `text ${i}`, cells: rows.map((row) => row.map(cellOf)) })),
});
const page = (names: readonly string[], table: MeasureTable) =>
  sectionHtml(measureSection(names, [table])!).text;
/** Each row as its name and its values; the best ones have a star. */
const rowsOf = (text: string) =>
  [...text.matchAll(/<tr><th scope="row">(?:<i[^>]*><\/i>)?([^<]*)<\/th>(.*?)<\/tr>/g)].map(
    ([, name, cells]) =>
      `${name}: ${[...cells!.matchAll(/<td[^>]*>(<b>)?([\d.–]+)/g)].map(([, best, value]) => value + (best ? "*" : "")).join(" ")}`,
  );

test("without a script each group is sorted by the first measure of which more is better", () => {
  const text = page(
    ["p", "q", "r"],
    tableOf(
      [
        [1, 2, 5],
        [3, 4, 5],
        [2, 3, 5],
      ],
      [
        [1, 9, 5],
        [3, 4, 5],
        [2, 3, 5],
      ],
    ),
  );
  expect(rowsOf(text)).toEqual([
    "q: 3.0 4.0* 5.0",
    "r: 2.0 3.0 5.0",
    "p: 1.0* 2.0 5.0",
    "p: 1.0* 9.0* 5.0",
    "q: 3.0 4.0 5.0",
    "r: 2.0 3.0 5.0",
  ]);
  expect(
    [...text.matchAll(/<th scope="col"([^>]*)>/g)].map(([, rest]) => rest!.includes("aria-sort")),
  ).toEqual([false, false, true, false]);
  expect(text).toContain('aria-sort="descending">gain\u00a0<span class="sign">↑</span></th>');
  expect(text).toContain("<dt>cost</dt><dd>f(1)</dd>");
});

test("ties share the best place, and all equal values have none; bars are shares of the largest of the group", () => {
  const text = page(
    ["p", "q", "r"],
    tableOf([
      [1, 8, 2],
      [1, 4, 2],
      [2, 8, 2],
    ]),
  );
  expect(rowsOf(text)).toEqual(["p: 1.0* 8.0* 2.0", "r: 2.0 8.0* 2.0", "q: 1.0* 4.0 2.0"]);
  expect([...text.matchAll(/<rect width="([\d.]+)%"/g)].map(([, width]) => Number(width))).toEqual([
    50, 100, 100, 100, 100, 100, 50, 50, 100,
  ]);
  expect(text.match(/<b>1\.0<\/b><span class="unseen"> best<\/span>/g)).toHaveLength(2);
});

test("what has no value is a dash without a bar", () => {
  const text = page(
    ["p", "q"],
    tableOf([
      [1, null, 2],
      [2, null, 2],
    ]),
  );
  expect(rowsOf(text)).toEqual(["p: 1.0* – 2.0", "q: 2.0 – 2.0"]);
  expect(text.match(/<td data-v="">–<\/td>/g)).toHaveLength(2);
  expect(measureSection(["p"], [])).toBeNull();
});

test("a measure is drawn as dots with names and sizes, and the measures behind the first ones wait for a click", () => {
  const cells = [
    [1, 2, 5],
    [3, null, 5],
    [2, 3, 5],
  ];
  const table = { ...tableOf(cells, cells), shownCount: 2, drawn: 1 };
  const [dots, shown, rest] = sectionHtml(
    measureSection(["p", "q", "r"], [table], [300, 32_000, 5])!,
  ).text.split(/<table|<summary>All other/);
  expect([...dots!.matchAll(/<\/i>([^<]*)<\/li>/g)].map(([, name]) => name)).toEqual([
    ...["p, 300 tokens", "q, 32,000 tokens", "r, 5 tokens"],
  ]);
  expect([...dots!.matchAll(/<circle class="dot (c\d)" cx="([\d.]+)%"/g)].map(([, c, x]) => c! + x)).toEqual([
    ...["c0" + "66.7", "c2" + "100", "c0" + "66.7", "c2" + "100"],
  ]);
  expect(dots).toContain('data-tip="r: 3.0"');
  const headsOf = (text: string) => [...text.matchAll(/data-tip="(f\(\d\))"/g)].map(([, formula]) => formula);
  expect(headsOf(shown!)).toEqual(["f(1)", "f(2)"]);
  expect(headsOf(rest!)).toEqual([]);
  const whole = sectionHtml(measureSection(["p", "q", "r"], [table])!).text;
  expect(headsOf(whole)).toEqual(["f(1)", "f(2)", "f(3)"]);
  expect(measureSection(["p"], [table])!.content.text).not.toContain("<circle");
});

test("of one tokenizer the texts are compared, and none of them is the best", () => {
  const text = page(["p"], tableOf([[1, 4, 2]], [[4, 2, 2]]));
  expect(rowsOf(text)).toEqual(["text 0: 1.0 4.0 2.0", "text 1: 4.0 2.0 2.0"]);
  expect([...text.matchAll(/<rect width="([\d.]+)%"/g)].map(([, width]) => Number(width))).toEqual([
    25, 100, 100, 100, 50, 100,
  ]);
  expect(text).not.toContain("aria-sort");
  expect(text).not.toContain("<b>");
  // One row has nothing to be compared with.
  expect(page(["p"], tableOf([[1, 4, 2]]))).not.toContain("<rect");
});

test("names of texts, tokenizers and measures are escaped", () => {
  const table = {
    ...tableOf([
      [1, 2, 3],
      [1, 2, 3],
    ]),
    title: '"><b>',
  };
  const text = page(["<i>", "q"], { ...table, groups: [{ ...table.groups[0]!, name: "<u>" }] });
  expect(text).toContain("&lt;i&gt;</th>");
  expect(text).toContain("&lt;u&gt;</th>");
  expect(text).toContain('aria-label="&quot;&gt;&lt;b&gt;"');
});

test("costliest words have their counts and pieces, with signs for spaces", () => {
  const word = (pieces: string[], isCut = false) => ({ count: 1200, tokens: 2, pieces, isCut });
  const texts = [
    { text: "x", words: [[word([" ab", "<c>"])], [word(["a", "b"], true)]] },
    { text: "y", words: [[], []] },
  ];
  const { text } = sectionHtml(costliestSection(["p", "q"], texts)!);
  expect(text).toContain('1,200 ×</span> <span class="pieces" dir="auto"><i>␣ab</i><i>&lt;c&gt;</i></span>');
  expect(text).toContain("<i>a</i><i>b</i>…</span>");
  expect(text.match(/<summary>/g)).toHaveLength(1);
  expect(costliestSection(["p"], [{ text: "x", words: [[]] }])).toBeNull();
});
