import { expect, test } from "bun:test";
import { trainTokenizer } from "../../src/library/train-in-browser.ts";
import { bytesOf, search } from "../../src/pages/unpacked.ts";
import { byteCount } from "../../src/playground/joined-text.ts";
import { numberOf, tokenOf, vocabularyOfLearned } from "../../src/playground/learned.ts";
import { PlaygroundJob } from "../../src/playground/playground-job.ts";

const story = "the other weather, there they thought of the low tower; <|x|>lower than the newest. ".repeat(
  30,
);
const settings = { vocabSize: 330, pattern: "gpt2", specialTokens: ["<|x|>"], compat: "cs336" as const };
const corpus = { text: story, files: [] };
const started = async () => {
  const job = new PlaygroundJob(() => {});
  const answer = await job.train({ corpus, settings });
  return { job, ...answer, vocabulary: vocabularyOfLearned(answer.learned) };
};
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("tokens have the bytes, ids and counts of the files", async () => {
  const { job, learned, vocabulary } = await started();
  const trained = await trainTokenizer({ ...settings, texts: [story] });
  const { tokenBytes, mergeCount } = trained.trained.vocabulary;
  for (let number = 0; number < byteCount + mergeCount; number++) {
    const token = tokenOf(learned, vocabulary, number);
    expect(bytesOf(token)).toEqual(tokenBytes.copy(number));
    expect(bytesOf(token)).toEqual(trained.tokenBytes(token.id));
    expect([token.created, token.end]).toEqual([learned.createdCounts[number]!, learned.endCounts[number]!]);
    expect(numberOf(token)).toBe(number);
    if (number >= byteCount) expect(token.tokensLeft).toBe(learned.tokensAfter[number - byteCount + 1]!);
  }
  const special = tokenOf(learned, vocabulary, -1);
  expect(special).toMatchObject({ text: "<|x|>", id: trained.specialTokens.get("<|x|>")!, created: null });
  const files = trained.files();
  for (const [name, bytes] of job.files())
    expect([name, Buffer.compare(bytes, files.get(name)!)]).toEqual([name, 0]);
  expect(job.files()).toHaveLength(files.size);
});

test("a search finds the token itself, then with a space, then tokens that begin with it, then others; and ids", async () => {
  const { vocabulary } = await started();
  const found = search(vocabulary, "the").map(({ text }) => text);
  expect(found.slice(0, 2)).toEqual(["the", " the"]);
  const classOf = (token: string) =>
    token === "the" ? 0 : token === " the" ? 1 : token.startsWith("the") ? 2 : 3;
  expect(found.map(classOf)).toEqual(found.map(classOf).sort());
  expect(search(vocabulary, "#280").map(({ id }) => id)).toEqual([280]);
  expect(search(vocabulary, "#99999")).toEqual([]);
});

test("the words of a token are those that contained it at some step, the most frequent first", async () => {
  const { job, learned, vocabulary } = await started();
  const the = numberOf(search(vocabulary, " the")[0]!);
  const { shown, wordCount, occurrences } = job.wordsWith({ token: the, most: 3 });
  expect(text(shown[0]!.bytes)).toBe(" the");
  expect(shown.map(({ count }) => count)).toEqual(shown.map(({ count }) => count).sort((a, b) => b - a));
  expect(occurrences).toBe(learned.createdCounts[the]!);
  expect(wordCount).toBeGreaterThanOrEqual(shown.length);
  const byte = "o".charCodeAt(0);
  for (const { bytes } of job.wordsWith({ token: byte, most: 99 }).shown) expect(text(bytes)).toContain("o");
});

test("the next pair to merge comes first, before others that are as frequent", async () => {
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
