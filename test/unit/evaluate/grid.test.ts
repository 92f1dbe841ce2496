import { describe, expect, test } from "bun:test";
import { type Grid, gridLines, shortAxis, shortenName } from "../../../src/evaluate/grid.ts";
import { colourStyles, formatLines, type Line, plainStyles } from "../../../src/terminal/styling.ts";
import { shownWidth } from "../../../src/terminal/summary-rows.ts";

const axis = (noun: string, names: readonly string[], sum?: string) => ({
  noun,
  names,
  ...(sum && { sum }),
});
const numbersOf = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));

/** Returns a table. By default, the value of subject s on item i is `s.i`. The last subject is the best. */
function gridOf(
  subjects: readonly string[],
  items: readonly string[],
  cell = (s: number, i: number) => `${s}.${i}`,
): Grid {
  return {
    subjects: axis("tokenizers", subjects),
    items: axis("texts", items),
    cells: items.map((_, i) => subjects.map((_, s) => cell(s, i))),
    bests: items.map(() => new Set([subjects.length - 1])),
  };
}

const shownIn = (columns: number, grid: Grid) => formatLines(gridLines(grid, columns)).split("\n");

describe("a table in a terminal", () => {
  test("has subjects as rows, aligned numbers, and a mark after the best", () => {
    expect(
      shownIn(
        80,
        gridOf(["a", "bcd"], ["en", "a text"], (s, i) => "1234".slice(s + i)),
      ),
    ).toEqual(["       en  a text", "a    1234     234", "bcd   234*     34*"]);
  });

  test("the mark is bold with its value, where there is colour", () => {
    const lines: Line[] = gridLines(gridOf(["a", "b"], ["en"]), 80);
    expect(formatLines(lines, colourStyles).split("\n")[2]).toBe("b  \x1b[1m1.0*\x1b[0m");
    expect(formatLines(lines, plainStyles).split("\n")[2]).toBe("b  1.0*");
  });

  test("items become rows if they do not fit above the columns", () => {
    const items = numbersOf(9, (i) => `a text with a name, ${i}`);
    const lines = shownIn(80, gridOf(["a", "b"], items));
    expect(lines[0]).toBe(`${" ".repeat(25)}a    b`);
    expect(lines[9]).toBe("a text with a name, 8  0.8  1.8*");
    expect(lines.length).toBe(10);
  });

  test("a table that just fits keeps its names, one column less shortens them", () => {
    const grid = gridOf(["a-tokenizer", "another-one"], ["a-long-text-name", "another-text-name"]);
    const width = 11 + 2 + 16 + 2 + 17 + 1;
    // If the items were rows, the table would take 17 + 2 + 11 + 2 + 11 + 1 columns.
    expect(shownIn(width, grid)[0]).toBe(`${" ".repeat(13)}a-long-text-name  another-text-name`);
    expect(shownIn(width - 1, grid)[0]).toBe(`${" ".repeat(19)}a-tokenizer  another-one`);
    expect(shownIn(44, grid)[0]).toBe(`${" ".repeat(19)}a-tokenizer  another-one`);
    const short = shownIn(43, grid);
    expect(short.join("\n")).toContain("…");
    expect(Math.max(...short.map(shownWidth))).toBeLessThanOrEqual(43);
  });

  test("names shortened to eight columns are preferred to numbers, and numbers to shorter names", () => {
    const items = numbersOf(12, (i) => `text-${i}`);
    const lines = shownIn(
      80,
      gridOf(
        numbersOf(7, (i) => `${i}-long-name-${i}`),
        items,
      ),
    );
    expect(lines[0]!.trim().split(/ +/)).toEqual(numbersOf(7, (i) => `${i}-lo…e-${i}`));
    expect(
      shownIn(
        73,
        gridOf(
          numbersOf(7, (i) => `${i}-long-name-${i}`),
          items,
        ),
      )[0],
    ).toStartWith("tokenizers: 1 = ");
  });

  test("numbers with a legend replace many subjects", () => {
    const subjects = numbersOf(8, (i) => `tokenizer-${i}`);
    const lines = shownIn(
      80,
      gridOf(
        subjects,
        numbersOf(12, (i) => `text-${i}`),
      ),
    );
    expect(lines[0]).toStartWith("tokenizers: 1 = tokenizer-0, 2 = tokenizer-1,");
    expect(lines[1]).toEndWith("8 = tokenizer-7");
    expect(lines[2]!.trim().split(/ +/)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
    expect(lines[3]).toMatch(/^text-0 +0\.0 .* 7\.0\*$/);
  });

  test("where nothing fits, a table has all subjects and some of the items", () => {
    const subjects = numbersOf(30, (i) => `tokenizer-${i}`);
    const items = numbersOf(12, (i) => `text number ${i}`);
    const tables = shownIn(80, gridOf(subjects, items)).join("\n").split("\n\n");
    expect(tables.length).toBe(3);
    for (const table of tables) {
      const rows = table.split("\n");
      expect(rows.length).toBe(31);
      expect(rows.slice(1).map((row) => row.split(" ")[0]!)).toEqual(subjects);
    }
    const heads = tables.flatMap((table) => table.split("\n")[0]!.trim().split(/ {2,}/));
    expect(heads.length).toBe(12);
    expect(new Set(heads).size).toBe(12);
  });

  test("every line fits, and every value is there, with any names and any terminal", () => {
    for (const columns of [40, 60, 80, 120])
      for (const subjectCount of [1, 2, 4, 8, 30])
        for (const itemCount of [1, 3, 12])
          for (const length of [1, 9, 25, 70]) {
            const nameOf = (kind: string) => (i: number) => `${kind}${"-name".repeat(length / 5)}-${i}`;
            const grid = gridOf(
              numbersOf(subjectCount, nameOf("tokenizer")),
              numbersOf(itemCount, nameOf("text")),
              (s, i) => `${s}.${String(i).padStart(3, "0")}`,
            );
            const lines = shownIn(columns, grid);
            const table = lines.filter((line) => !line.includes(" = "));
            expect(Math.max(...table.map(shownWidth))).toBeLessThanOrEqual(columns);
            for (const cell of grid.cells.flat()) {
              const at = lines.flatMap((line) => line.split(/[ *]+/)).filter((word) => word === cell);
              expect(at.length).toBe(1);
            }
            expect(lines.join("").split("*").length - 1).toBe(itemCount);
          }
  });

  test("names of wide characters are above their columns", () => {
    const lines = shownIn(80, gridOf(["分词器", "b"], ["中文维基", "en"]));
    expect(lines).toEqual(["        中文维基   en", "分词器       0.0  0.1", "b            1.0* 1.1*"]);
    expect(lines.map(shownWidth)).toEqual([21, 21, 22]);
  });

  test("names hold no line end and no code of the terminal", () => {
    const lines = shownIn(80, gridOf(["a\nb", "\x1b[31mred"], ["t\tx"]));
    expect(lines).toEqual(["             t\\x09x", "a\\x0ab          0.0", "\\x1b[31mred     1.0*"]);
  });
});

describe("names that are too long", () => {
  test("lose their middle, by columns and whole characters", () => {
    expect(shortenName("tokenizer", 9)).toBe("tokenizer");
    expect(shortenName("tokenizer", 8)).toBe("toke…zer");
    expect(shortenName("tokenizer", 2)).toBe("t…");
    expect(shortenName("中文维基百科", 12)).toBe("中文维基百科");
    expect(shortenName("中文维基百科", 11)).toBe("中文…基百科");
    expect(shortenName("e\u0301".repeat(5), 4)).toBe(`${"e\u0301".repeat(2)}…e\u0301`);
  });

  test("lose the part that they share if they would look alike, and become numbers if that is not enough", () => {
    const alike = ["wiki-language-1-held-out", "wiki-language-2-held-out", "wiki-language-10-held-out"];
    expect(shortAxis(axis("texts", alike), 12).names).toEqual(["…1…", "…2…", "…10…"]);
    // A name that shares nothing with the others is unchanged.
    expect(shortAxis(axis("texts", [...alike, "en"]), 12).names).toEqual(["…1…", "…2…", "…10…", "en"]);
    const far = ["p1p", "p2p", "q1q"].map((own) => `aaaa${own.replaceAll(/[pq]/g, (c) => c.repeat(9))}zzz`);
    const { names, legend } = shortAxis(axis("texts", far, "(all)"), 8);
    expect(names).toEqual(["1", "2", "3"]);
    expect(legend).toEqual([`texts: 1 = ${far[0]}`, `2 = ${far[1]}`, `3 = ${far[2]}`]);
    expect(shortAxis(axis("texts", ["same", "same"]), 8).names).toEqual(["same", "same"]);
  });
});
