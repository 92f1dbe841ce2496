import { expect, test } from "bun:test";
import { differingPassages, type SampleToken } from "../../../src/evaluation/passages.ts";

const tokensOf = (...texts: string[]): SampleToken[] =>
  texts.map((text, id) => ({ id, bytes: new Uint8Array(Buffer.from(text)) }));
/** Returns one token for each character of the text. */
const lettersOf = (text: string) => tokensOf(...text);
const bytesOf = (tokens: readonly SampleToken[]) => Buffer.concat(tokens.map(({ bytes }) => bytes));

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
});

test("passages with letters that were not shown before come first; lines of one character and repetitions come last", () => {
  const rules = "| ---- ---- ---- ---- |\n".repeat(12);
  const again = "glucose ".repeat(30);
  const fresh = Array.from(
    { length: 60 },
    (_, i) => `abcdef${String.fromCharCode(97 + (i % 26), 97 + (i >> 1))} `,
  ).join("");
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

test("passages end after a sentence or line if its end is near", () => {
  for (const end of [". ", "? ", "!\n", "\n"]) {
    const sentence = `A dozen words make a sentence that is cut in two ways${end}`;
    const words = Array.from({ length: 40 }, () => sentence.match(/ ?\S+|\s/g)!).flat();
    const passages = differingPassages([tokensOf(...words), lettersOf(words.join(""))]);
    expect(passages.length).toBe(3);
    for (const { bytes } of passages)
      expect(Buffer.from(bytes).toString().trim()).toMatch(/^A dozen .* ways[.?!]?$/s);
  }
});
