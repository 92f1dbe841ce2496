import { expect, test } from "bun:test";
import { colourStyles, formatLines, withFigure } from "../../../src/terminal/styling.ts";
import { namesWithin, rowLines } from "../../../src/terminal/summary-rows.ts";

test("texts are aligned, and an empty row is left out", () => {
  const rows = [
    ["corpus", "1 file"],
    ["nothing", ""],
    ["none", []],
    ["kept", ["a", "b c"]],
  ] as const;
  expect(rowLines(rows)).toEqual(["corpus      1 file", "kept        a b c"]);
  expect(rowLines(rows, null, 8)).toEqual(["corpus  1 file", "kept    a b c"]);
});

test("without a terminal, a row is one line of any length", () => {
  expect(rowLines([["row", "word ".repeat(100).trim()]])).toHaveLength(1);
});

test("a text wraps below itself at the terminal's width, and the items of a list stay whole", () => {
  const text = "one two three four five six seven";
  expect(rowLines([["row", text]], 40, 8)).toEqual(["row     one two three four five six", "        seven"]);
  // The text has 33 columns, after 8 of the name, so it fits into 41 columns but not into 40.
  expect(rowLines([["row", text]], 41, 8)).toEqual(["row     one two three four five six seven"]);
  const list = (second: string) => rowLines([["row", ['" one two"', second, '" five six"']]], 32, 8);
  expect(list('" three four"')).toEqual(['row     " one two" " three four"', '        " five six"']);
  expect(list('" three fours"')).toEqual([
    'row     " one two"',
    '        " three fours"',
    '        " five six"',
  ]);
});

test("text between commas stays whole if possible", () => {
  const text = "7 s: counting 3 s (9 MB/s), merging 4 s (8/s); in all";
  expect(rowLines([["time", text]], 40, 8)).toEqual([
    "time    7 s: counting 3 s (9 MB/s),",
    "        merging 4 s (8/s); in all",
  ]);
  expect(rowLines([["time", text]], 32, 8)).toEqual([
    "time    7 s: counting 3 s (9",
    "        MB/s),",
    "        merging 4 s (8/s);",
    "        in all",
  ]);
});

test("a word longer than the line is not split, and a text without enough columns is below its name", () => {
  const path = "/a/directory/with/a/name/that/is/long";
  expect(rowLines([["kept", `in ${path} now`]], 32, 8)).toEqual([
    "kept    in",
    `        ${path}`,
    "        now",
  ]);
  const rows = [
    ["row", "one two three four five six"],
    ["", "seven"],
  ] as const;
  expect(rowLines(rows, 31, 8)).toEqual(["row", "  one two three four five six", "  seven"]);
  expect(rowLines(rows, 15, 8)).toEqual(["row", "  one two three", "  four five six", "  seven"]);
});

test("wide characters take two columns, and escaped ones the columns of their escapes", () => {
  expect(rowLines([["row", "語語語語語 語語語語語 語語"]], 32, 8)).toEqual([
    "row     語語語語語 語語語語語",
    "        語語",
  ]);
  expect(rowLines([["row", "1234567 \n2345 12345 7"]], 32, 8)).toEqual(["row     1234567 \\x0a2345 12345 7"]);
  expect(rowLines([["row", "1234567 \n2345 12345 78"]], 32, 8)).toEqual([
    "row     1234567 \\x0a2345 12345",
    "        78",
  ]);
});

test("as many names as fit are listed, always the first, and the number of others", () => {
  const names = ["one", "two", "three", "four"];
  expect([21, 20, 15, 14, 5].map((width) => namesWithin(names, width))).toEqual([
    "one, two, three, four",
    "one, two and 2 more",
    "one and 3 more",
    "one and 3 more",
    "one and 3 more",
  ]);
  expect(namesWithin(["one", "two", "語語"], 14)).toBe("one, two, 語語");
  expect(namesWithin(["one", "two", "語語"], 13)).toBe("one and 2 more");
  expect(namesWithin([], 5)).toBe("");
  expect(namesWithin(["a name that is long"], 5)).toBe("a name that is long");
});

test("the main number is highlighted if styles are on, and nothing else changes", () => {
  const lines = ["corpus 4.096 MB", "vocabulary; 4.096 bytes per token, 4.096 bytes per token"];
  const shown = withFigure(lines, "4.096 bytes per token");
  expect(formatLines(shown)).toBe(lines.join("\n"));
  expect(formatLines(shown, colourStyles)).toBe(
    "corpus 4.096 MB\nvocabulary; \x1b[1m4.096 bytes per token\x1b[0m, 4.096 bytes per token",
  );
  for (const figure of [undefined, "4.097"]) expect(withFigure(lines, figure)).toEqual(lines);
});
