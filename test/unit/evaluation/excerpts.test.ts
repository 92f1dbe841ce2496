import { expect, test } from "bun:test";
import * as excerpts from "../../../src/evaluation/excerpts.ts";
import type { SampleToken } from "../../../src/evaluation/passages.ts";

const tokensOf = (...texts: (string | Uint8Array)[]): SampleToken[] =>
  texts.map((text, id) => ({ id, bytes: new Uint8Array(Buffer.from(text as string)) }));

test("for one tokenizer, an excerpt is the beginning, with ids and lengths", () => {
  expect(excerpts.select([{ name: "x", cuts: [tokensOf("na", "ï", "ve")] }])).toEqual([
    { text: "x", content: "naïve", cuts: [{ ids: [0, 1, 2], lengths: [2, 2, 2] }] },
  ]);
  expect(excerpts.select([])).toEqual([]);
});

test("for several tokenizers, passages that are cut differently have the cuts of all that preserve the text", () => {
  const cuts = [tokensOf("the", " low"), tokensOf("THE", " LOW"), tokensOf("th", "e", " low")];
  expect(excerpts.select([{ name: "x", cuts }])).toEqual([
    {
      text: "x",
      content: "the low",
      cuts: [{ ids: [0, 1], lengths: [3, 4] }, null, { ids: [0, 1, 2], lengths: [2, 1, 4] }],
    },
  ]);
  // A text has no excerpt if both tokenizers cut it alike, or if only one of them preserves it.
  expect(excerpts.select([{ name: "x", cuts: [tokensOf("a b"), tokensOf("a b")] }])).toEqual([]);
  expect(excerpts.select([{ name: "x", cuts: [tokensOf("a"), tokensOf("A")] }])).toEqual([]);
});

test("a passage that is not UTF-8 is left out", () => {
  const bad = Uint8Array.of(0x61, 0xff);
  expect(excerpts.select([{ name: "x", cuts: [tokensOf(bad)] }])).toEqual([]);
});
