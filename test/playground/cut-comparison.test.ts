import { expect, test } from "bun:test";
import { comparedParts, scriptOf, sumsByScript } from "../../src/playground/cut-comparison.ts";
import { PlaygroundJob } from "../../src/playground/playground-job.ts";

const text = "The low tower, the tower.\n\nसभी मनुष्यों को\nthe end";
const settings = { vocabSize: 300, pattern: "gpt2", specialTokens: [], compat: "cs336" as const };
const trained = async (of: string, vocabSize: number) => {
  const job = new PlaygroundJob(() => {});
  await job.train({ corpus: { text: of, files: [] }, settings: { ...settings, vocabSize } });
  return job;
};
const blobOf = (job: PlaygroundJob, name: string) =>
  new Blob([new Map(job.files()).get(name)! as Uint8Array<ArrayBuffer>]);

test("a tokenizer.json, and ranks, are compared with what was trained, by paragraph and writing", async () => {
  const job = await trained(text, 300);
  const other = await trained("tower tower tower", 260);
  const bytes = Buffer.from(text);
  for (const name of ["tokenizer.json", "tokenizer.tiktoken"]) {
    const request = { file: blobOf(other, name), name, pattern: "gpt2", text: bytes };
    const answer = await job.compare(request);
    if ("refusal" in answer) throw new Error(answer.refusal);
    const parts = comparedParts(bytes, answer.left, answer.right);
    expect(parts.map(({ name, script }) => [name, script])).toEqual([
      ["The low tower, the tower.", "Latin"],
      ["सभी मनुष्यों को", "Devanagari"],
      ["the end", "Latin"],
    ]);
    const sum = (side: 0 | 1) => parts.reduce((all, part) => all + part.tokenCounts[side], 0);
    expect([sum(0), sum(1)]).toEqual([answer.left.length, answer.right.length]);
    expect(sum(0)).toBeLessThan(sum(1));
    const byScript = sumsByScript(parts);
    expect(byScript.map(({ name }) => name)).toEqual(["Devanagari", "Latin"]);
    expect(byScript[1]!.tokenCounts[0]).toBe(parts[0]!.tokenCounts[0] + parts[2]!.tokenCounts[0]);
  }
});

test("what is not a tokenizer is refused in words", async () => {
  const job = await trained(text, 300);
  const told = async (content: string) =>
    job.compare({ file: new Blob([content]), name: "a.txt", pattern: "gpt2", text: Buffer.from(text) });
  expect(await told("plain text")).toEqual({
    refusal: expect.stringContaining("line 1 is not a token in base64"),
  });
  expect(await told("{}")).toEqual({ refusal: expect.any(String) });
  const lowercase = {
    ...JSON.parse(await blobOf(job, "tokenizer.json").text()),
    normalizer: { type: "NFKC" },
  };
  const changed = { file: new Blob([JSON.stringify(lowercase)]), name: "a", pattern: "gpt2" };
  expect(await job.compare({ ...changed, text: Buffer.from("ﬁ") })).toEqual({
    refusal: expect.stringContaining("changes the text"),
  });
});

test("the writing of a text is that of most of its letters", () => {
  expect([scriptOf("abc дг"), scriptOf("12 !"), scriptOf("数据 a")]).toEqual(["Latin", "no letters", "Han"]);
});
