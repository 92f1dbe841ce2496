import { expect, test } from "bun:test";
import type { SampleToken } from "../../src/evaluation/passages.ts";
import { sectionHtml } from "../../src/report/html.ts";
import { sampleSection } from "../../src/report/text-sections.ts";

const tokensOf = (...texts: string[]): SampleToken[] =>
  texts.map((text, id) => ({ id, bytes: new Uint8Array(Buffer.from(text)) }));
/** Each character of the text is a token. */
const lettersOf = (text: string) => tokensOf(...text);

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
