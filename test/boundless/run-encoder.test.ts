import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { trainTokenizer } from "../../src/pipeline/train-tokenizer.ts";
import { scratch } from "../binary.ts";

const directory = scratch();
const corpus = join(directory, "corpus.txt");
writeFileSync(corpus, "of the king, of the king; of the queen.\n".repeat(20));
const tokenizer = await trainTokenizer({
  files: corpus,
  vocabSize: 300,
  superwords: "boundless",
  workers: 1,
});
const tokensOf = (text: string) =>
  Array.from(tokenizer.encode(text), (id) => Buffer.from(tokenizer.tokenBytes(id)).toString("latin1"));

test("a pretoken too long to be kept comes behind the run before it, each time", () => {
  const long = `${" of the king"}${"x".repeat(300)}`;
  const [first, ...rest] = tokensOf(long);
  expect(first).toBe(" of the");
  expect(rest.join("")).toBe(` king${"x".repeat(300)}`);
  expect(tokensOf(long + long)).toEqual([first!, ...rest, first!, ...rest]);
});

test("more distinct pretokens than are kept are encoded as before", () => {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  const words = Array.from({ length: 280_000 }, (_, k) => {
    let word = "";
    for (let rest = k; rest > 0; rest = Math.floor(rest / 26)) word += letters[rest % 26];
    return ` ${word}`;
  });
  const text = `of the king${words.join("")}${words.slice(0, 1000).join("")} of the king`;
  const ids = tokenizer.encode(text);
  expect(Buffer.from(tokenizer.decode(ids)).toString() === text).toBe(true);
  expect([...ids.slice(-tokensOf(" of the king").length)]).toEqual([...tokenizer.encode(" of the king")]);
});
