import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import type { SampleToken } from "../../src/report/report-data.ts";
import {
  bytesOf,
  differingPassages,
  sampleSection,
  spansOf,
  textComparisonSection,
} from "../../src/report/text-sections.ts";

const tokensOf = (...texts: string[]): SampleToken[] =>
  texts.map((text, id) => ({ id, bytes: new Uint8Array(Buffer.from(text)) }));
/** Each character of the text is a token. */
const lettersOf = (text: string) => tokensOf(...text);

test("spans end where tokens of both end", () => {
  const shown = (left: number[], right: number[]) =>
    spansOf(left, right).map(
      ({ startByte, endByte, left, right }) => `${startByte}-${endByte} ${left.join("-")} ${right.join("-")}`,
    );
  // ab|c|d|ef and a|b|c|def
  expect(shown([2, 1, 1, 2], [1, 1, 1, 3])).toEqual(["0-2 0-1 0-2", "2-3 1-2 2-3", "3-6 2-4 3-4"]);
  expect(shown([2, 2], [1, 3])).toEqual(["0-4 0-2 0-2"]);
  expect(shown([3, 1], [3, 1])).toEqual(["0-3 0-1 0-1", "3-4 1-2 1-2"]);
  expect(shown([], [])).toEqual([]);
});

test("random cuts of a text have spans that are its bytes, each the shortest", () => {
  for (let seed = 1; seed < 200; seed++) {
    let state = seed;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const cut = () => {
      const lengths: number[] = [];
      for (let left = 40; left > 0; left -= lengths.at(-1)!) lengths.push(Math.min(left, 1 + random(5)));
      return lengths;
    };
    const [left, right] = [cut(), cut()];
    const borders = (lengths: readonly number[]) => {
      let end = 0;
      return new Set(lengths.map((length) => (end += length)));
    };
    const shared = [...borders(left)].filter((end) => borders(right).has(end));
    expect(spansOf(left, right).map(({ endByte }) => endByte)).toEqual(shared);
  }
});

test("text that is cut alike is plain, and of the rest both cuts stand above each other", () => {
  const left = tokensOf("The", " low", " tow", "er", ".\n", "Its");
  const right = tokensOf("The", " lo", "w", " tow", "er", ".", "\n", "Its");
  const passage = { bytes: bytesOf(left), cuts: [left, right] };
  const tokenizers = ["p", "q"].map((name, index) => ({ index, name }));
  const compared = {
    tokenizers,
    texts: [{ name: "x", passages: [passage] }],
    pair: [0, 1] as const,
    textCount: 1,
    unlike: [],
  };
  const { text } = sectionHtml(textComparisonSection(compared)!);
  const body = /<p class="text" dir="auto" tabindex="0">(.*?)<\/p>/s.exec(text)![1]!;
  expect(body.replaceAll(/ data-(id|n)="\d+"/g, "")).toBe(
    'The<span class="x"><span class="above"><i>␣low</i></span><span class="below"><i>␣lo</i><i>w</i></span></span>' +
      ' tower<span class="x"><span class="above"><i>.↵</i></span><span class="below"><i>.</i><i>↵</i></span></span><br>Its',
  );
  expect(text).toContain("6 tokens above, 8 below");
  expect(text).toContain('<div class="passage"><p');
  // What the first two cut alike is hidden until others are chosen.
  const alike = { bytes: bytesOf(left), cuts: [left, left, right] };
  const hidden = textComparisonSection({ ...compared, texts: [{ name: "x", passages: [alike] }] })!;
  expect(sectionHtml(hidden).text).toContain('<div class="passage" hidden><p');
  // The first texts of several, and any two of the tokenizers.
  expect(sectionHtml(hidden).text).toContain("(16 KB) of each text that");
  const of = { name: "x", passages: [alike] };
  const other = textComparisonSection({
    ...compared,
    pair: [0, 2],
    tokenizers: [...tokenizers, { index: 2, name: "r" }],
    texts: [of],
    textCount: 2,
  })!;
  const shown = sectionHtml(other).text;
  expect(shown).toContain("(16 KB) of the first 1 text that");
  expect(shown).toContain("below: <b>r</b>");
  expect(shown).toContain('<option value="2" data-colour="2" selected>r</option>');
  expect(shown).toContain("6 tokens above, 8 below");
  // With two tokenizers there is nothing to choose.
  expect(text).not.toContain("<select");
  expect(text).not.toContain("<script");
});

test("line feeds of plain text end lines, and its text is escaped", () => {
  const left = tokensOf("<b>", "\n", "\t", "x", "yz");
  const right = tokensOf("<b>", "\n", "\t", "xy", "z");
  const tokenizers = ["p", "q", "</script>"].map((name, index) => ({ index, name }));
  const passages = [{ bytes: bytesOf(left), cuts: [left, right, right] }];
  const { text } = sectionHtml(
    textComparisonSection({
      tokenizers,
      texts: [{ name: "x", passages }],
      pair: [0, 1] as const,
      textCount: 1,
      unlike: ["<u>"],
    })!,
  );
  expect(text).toContain('dir="auto" tabindex="0">&lt;b&gt;↵<br>⇥<span class="x">');
  expect(text).toContain("&lt;u&gt;.");
  expect(text.match(/<option/g)).toHaveLength(6);
  const packed = JSON.parse(/id="passages">(.*?)<\/script>/s.exec(text)![1]!);
  expect(packed).toEqual([
    [
      [
        "<b>\n\txyz",
        [
          [3, 1, 1, 1, 2],
          [3, 1, 1, 2, 1],
          [3, 1, 1, 2, 1],
        ],
        [
          [0, 1, 2, 3, 4],
          [0, 1, 2, 3, 4],
          [0, 1, 2, 3, 4],
        ],
      ],
    ],
  ]);
});

test("the passages that differ most come first, whole words of all tokenizers", () => {
  const quiet = "all of this is cut alike here ".repeat(10);
  const loud = Array.from(
    { length: 40 },
    (_, i) => `glu${String.fromCharCode(97 + (i % 26), 97 + (i >> 1))}se `,
  ).join("");
  const words = (text: string) => text.match(/\S+ ?/g)!;
  const left = tokensOf(...words(quiet), ...words(loud), ...words(quiet));
  const right = tokensOf(...words(quiet), ...loud.match(/.{4}/g)!, ...words(quiet));
  const passages = differingPassages([left, right]);
  expect(passages.length).toBeGreaterThan(0);
  const shares = passages.map(({ bytes, cuts: [a, b] }) => (b!.length - a!.length) / bytes.length);
  expect(shares).toEqual([...shares].sort((a, b) => b - a));
  expect(shares[0]).toBeGreaterThan(0.08);
  for (const { bytes, cuts } of passages) {
    for (const cut of cuts) expect(bytesOf(cut).equals(bytes)).toBe(true);
    expect(bytes.length).toBeWithin(40, 500);
  }
  expect(differingPassages([left, left])).toEqual([]);
  expect(
    textComparisonSection({
      tokenizers: [],
      texts: [{ name: "x", passages: [] }],
      pair: [0, 1] as const,
      textCount: 1,
      unlike: [],
    }),
  ).toBeNull();
});

test("what has letters and was not shown before comes first; rules and repetitions come last", () => {
  const rules = "| ---- ---- ---- ---- |\n".repeat(12);
  const again = "glucose ".repeat(30);
  const fresh = Array.from({ length: 26 }, (_, i) => `abcdef${String.fromCharCode(97 + i)} `).join("");
  const chunks = (text: string, size: number) => text.match(new RegExp(`\\S{1,${size}} ?\\n?`, "g"))!;
  const text = [rules, again, again, fresh, rules];
  const passages = differingPassages(
    [2, 9].map((size) => tokensOf(...text.flatMap((part) => chunks(part, size)))),
  );
  const kinds = passages.map(({ bytes }) => /abcdef|glucose|--/.exec(Buffer.from(bytes).toString())?.[0]);
  expect(kinds).toEqual(["abcdef", "abcdef", "glucose"]);
});

test("a text without spaces is cut between characters", () => {
  const text = "我们学习语言".repeat(60);
  const bytes = [...Buffer.from(text)].map((byte, id) => ({ id, bytes: Uint8Array.of(byte) }));
  const passages = differingPassages([bytes, lettersOf(text)]);
  expect(passages.length).toBe(3);
  for (const { bytes } of passages) expect(Buffer.from(bytes).toString()).not.toContain("\ufffd");
  for (const { cuts } of passages) expect(cuts[0]!.length).toBeWithin(72, 100);
});

test("line feeds and tabs of a sample are arrows, and only the last line feed of some ends the line", () => {
  const section = sampleSection([{ name: "x", cuts: [tokensOf("a\n", "\n", "\tb", "\\x0a", "\n")] }])!;
  const { text } = sectionHtml(section);
  expect(
    [...text.matchAll(/<i[^>]*>([^<]*)<\/i>(<br>)?/g)].map(([, shown, end]) => shown + (end ?? "")),
  ).toEqual(["a↵", "↵<br>", "⇥b", "\\x0a", "↵<br>"]);
  expect(sampleSection([])).toBeNull();
  const many = sectionHtml(sampleSection([{ name: "x", cuts: [lettersOf("a".repeat(500))] }])!).text;
  expect(many.match(/<i data-id/g)).toHaveLength(400);
  expect(many).toContain("500 tokens, 1.00 bytes per token");
  expect(many).toContain("</i> …</p>");
});
