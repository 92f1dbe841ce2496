import { expect, test } from "bun:test";
import { scriptOf } from "../../src/playground/cut-comparison.ts";
import { tokenCountOf } from "../../src/playground/joined-text.ts";
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

test("a tokenizer.json, and ranks, are compared with the trained tokenizer, by script", async () => {
  const job = await trained(text, 300);
  const other = await trained("tower tower tower", 260);
  const bytes = Buffer.from(text);
  const countOf = (of: PlaygroundJob, part: string) => tokenCountOf(of.cut(Buffer.from(part)), 1e6);
  for (const name of ["tokenizer.json", "tokenizer.tiktoken"]) {
    const request = { file: blobOf(other, name), name, pattern: "gpt2", text: bytes };
    const answer = await job.compare(request);
    if ("refusal" in answer) throw new Error(answer.refusal);
    const [english, hindi] = [["The low tower, the tower.\n\n", "the end"], ["सभी मनुष्यों को\n"]].map(
      (parts) => ({
        byteCount: Buffer.byteLength(parts.join("")),
        tokenCounts: [job, other].map((of) => parts.reduce((sum, part) => sum + countOf(of, part), 0)),
      }),
    );
    expect(answer.scripts as unknown).toEqual([
      { script: "Devanagari", ...hindi },
      { script: "Latin", ...english },
    ]);
    expect(english!.tokenCounts[0]).toBeLessThan(english!.tokenCounts[1]!);
    const [{ content, cuts }] = answer.excerpts as [(typeof answer.excerpts)[0]];
    expect(text).toContain(content);
    for (const cut of cuts) expect(cut!.lengths.reduce((a, b) => a + b)).toBe(Buffer.byteLength(content));
  }
});

test("files other than tokenizers are refused with a message", async () => {
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

test("the script of a text is that of most of its letters", () => {
  expect([scriptOf("abc дг"), scriptOf("12 !"), scriptOf("数据 a")]).toEqual(["Latin", "no letters", "Han"]);
});
