import { expect, test } from "bun:test";
import { trainTokenizer } from "../../src/pipeline/train-in-browser.ts";
import { byteCount } from "../../src/playground/joined-text.ts";
import { absorbersOf, bytesOfToken, findTokens, idOfToken } from "../../src/playground/learned.ts";
import { PlaygroundJob } from "../../src/playground/playground-job.ts";
import { copyTokenBytes } from "../../src/vocabulary/vocabulary.ts";

const story = "the other weather, there they thought of the low tower; <|x|>lower than the newest. ".repeat(
  30,
);
const settings = { vocabSize: 330, pattern: "gpt2", specialTokens: ["<|x|>"], compat: "cs336" as const };
const corpus = { text: story, files: [] };
const started = async () => {
  const job = new PlaygroundJob(() => {});
  return { job, ...(await job.train({ corpus, settings })) };
};
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("tokens have the bytes and ids of the files", async () => {
  const { job, learned } = await started();
  const trained = await trainTokenizer({ ...settings, texts: [story] });
  const { vocabulary } = trained.trained;
  for (let token = 0; token < byteCount + vocabulary.mergeCount; token++) {
    expect(bytesOfToken(learned, token)).toEqual(copyTokenBytes(vocabulary.tokenBytes, token));
    expect(bytesOfToken(learned, token)).toEqual(trained.tokenBytes(idOfToken(learned, token)));
  }
  expect(text(bytesOfToken(learned, -1))).toBe("<|x|>");
  expect(idOfToken(learned, -1)).toBe(trained.specialTokens.get("<|x|>")!);
  expect(bytesOfToken(learned, 260, 1)).toHaveLength(1);
  const files = trained.files();
  for (const [name, bytes] of job.files())
    expect([name, Buffer.compare(bytes, files.get(name)!)]).toEqual([name, 0]);
  expect(job.files()).toHaveLength(files.size);
});

test("what absorbed a token took it away: its occurrences at the end are those that no longer token has", async () => {
  const { learned } = await started();
  const { createdCounts, endCounts } = learned;
  let absorbedCount = 0;
  for (let token = 0; token < learned.ids.length; token++) {
    const taken = absorbersOf(learned, token).map(({ token: by, count }) => {
      const [left, right] = [learned.left[by - byteCount], learned.right[by - byteCount]];
      return count * (Number(left === token) + Number(right === token));
    });
    const sum = taken.reduce((a, b) => a + b, 0);
    expect(endCounts[token]).toBe(createdCounts[token]! - sum);
    absorbedCount += Number(sum > 0);
  }
  expect(absorbedCount).toBeGreaterThan(20);
});

test("a search finds the token itself, then with a space, then what begins with it, then the rest; and ids", async () => {
  const { learned } = await started();
  const found = findTokens(learned, "the", 10).map((token) => text(bytesOfToken(learned, token)));
  expect(found.slice(0, 2)).toEqual(["the", " the"]);
  const classOf = (token: string) =>
    token === "the" ? 0 : token === " the" ? 1 : token.startsWith("the") ? 2 : 3;
  expect(found.map(classOf)).toEqual(found.map(classOf).sort());
  expect(findTokens(learned, "", 10)).toEqual([]);
  expect(findTokens(learned, "#280", 10).map((token) => idOfToken(learned, token))).toEqual([280]);
  expect(findTokens(learned, "#99999", 10)).toEqual([]);
});

test("the words of a token are those in which it stood at some step, the most frequent first", async () => {
  const { job, learned } = await started();
  const [the] = findTokens(learned, " the", 1) as [number];
  const { shown, wordCount, occurrences } = job.wordsWith({ token: the, most: 3 });
  expect(text(shown[0]!.bytes)).toBe(" the");
  expect(shown.map(({ count }) => count)).toEqual(shown.map(({ count }) => count).sort((a, b) => b - a));
  expect(occurrences).toBe(learned.createdCounts[the]!);
  expect(wordCount).toBeGreaterThanOrEqual(shown.length);
  const byte = "o".charCodeAt(0);
  for (const { bytes } of job.wordsWith({ token: byte, most: 99 }).shown) expect(text(bytes)).toContain("o");
});

test("the pair that is merged next comes first, before others that stand as often", async () => {
  const { job, learned } = await started();
  let tiedSteps = 0;
  for (let merges = 0; merges < learned.left.length; merges++) {
    const { top, tiedCount } = job.pairs({ merges, most: 500 });
    expect([top[0]!.left, top[0]!.right]).toEqual([learned.left[merges]!, learned.right[merges]!]);
    expect(top[0]!.count).toBe(learned.pairCounts[merges]!);
    expect(top.filter(({ count }) => count === top[0]!.count)).toHaveLength(tiedCount);
    expect(Math.max(...top.map(({ count }) => count))).toBe(top[0]!.count);
    tiedSteps += Number(tiedCount > 1);
  }
  expect(tiedSteps).toBeGreaterThan(3);
});
