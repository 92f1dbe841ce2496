import { expect, test } from "bun:test";
import {
  differing,
  matrixSection,
  sampleSection,
  sideBySideSection,
} from "../../src/report/comparison-sections.ts";
import { sectionHtml } from "../../src/report/html.ts";

const tokensOf = (...texts: string[]) =>
  texts.map((text, id) => ({ id, bytes: new Uint8Array(Buffer.from(text)) }));

test("tokens differ where the other tokenizer has none with the same bytes at the same place", () => {
  const [a, b] = [tokensOf("ab", "c", "d", "ef"), tokensOf("a", "b", "c", "def")];
  expect(differing(a, b)).toEqual([true, false, true, true]);
  expect(differing(b, a)).toEqual([true, true, false, true]);
  expect(differing(a, a)).toEqual([false, false, false, false]);
  // The same tokens at other places are others.
  expect(differing(tokensOf("a", "aa"), tokensOf("aa", "a"))).toEqual([true, true]);
  // Nothing is marked where the two show different texts.
  expect(differing(tokensOf("ab"), tokensOf("a", "c"))).toEqual([false]);
});

test("line feeds and tabs of a sample are arrows, and only the last line feed of some ends the line", () => {
  const section = sampleSection(["t"], [{ name: "x", cuts: [tokensOf("a\n", "\n", "\tb", "\\x0a", "\n")] }])!;
  const { text } = sectionHtml(section);
  expect([...text.matchAll(/<i[^>]*>([^<]*)<\/i>/g)].map(([, shown]) => shown)).toEqual([
    "a↵",
    "↵\n",
    "⇥b",
    "\\x0a",
    "↵\n",
  ]);
  expect(sampleSection(["t"], [])).toBeNull();
});

test("the third tokenizer of a sample is hidden until it is chosen", () => {
  const cuts = [tokensOf("ab"), tokensOf("a", "b"), tokensOf("ab")];
  const { text } = sectionHtml(sampleSection(["p", "q", "r"], [{ name: "x", cuts }])!);
  expect(
    [...text.matchAll(/data-tokenizer="(\d)" data-text="\w+"( hidden)?/g)].map(([, i, hidden]) => i + hidden),
  ).toEqual(["0undefined", "1undefined", "2 hidden"]);
});

test("tables side by side have a column for each tokenizer, and the best values in bold", () => {
  const rows = [{ name: "<b>term", cells: ["1", "2"], bests: new Set([0]) }];
  const section = sideBySideSection(["p", "q"], [{ title: "terms", rows }])!;
  const { text } = sectionHtml(section);
  expect(text).toContain('<th scope="col">p</th><th scope="col">q</th>');
  expect(text).toContain('<th scope="row">&lt;b&gt;term</th><td><b>1</b></td><td>2</td>');
  expect(sideBySideSection(["p"], [])).toBe(null);
});

test("the best of each text is bold, by the measure's own order, and ties share it", () => {
  const matrix = matrixSection({
    tokenizers: ["p", "q"],
    texts: ["x", "y", "z"],
    measures: [
      {
        name: "high",
        note: "",
        best: "high",
        values: [
          [1, 2, null],
          [3, 2, 4],
        ],
      },
      {
        name: "low",
        note: "",
        best: "low",
        values: [
          [1, 2, 5],
          [3, 2, 4],
        ],
      },
    ],
  });
  const cells = [...sectionHtml(matrix).text.matchAll(/heat-cell( h\d)?">(<b>)?([\d.–]+)/g)].map(
    ([, step, bold, value]) => `${value}${step ?? ""}${bold ? " best" : ""}`,
  );
  expect(cells).toEqual([
    ..."1.000 h0|2.000 h4 best|–|3.000 h6 best|2.000 h4 best|4.000 h7".split("|"),
    ..."1.000 h7 best|2.000 h4 best|5.000 h0|3.000 h2|2.000 h4 best|4.000 h1 best".split("|"),
  ]);
});
