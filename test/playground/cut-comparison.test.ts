import { expect, test } from "bun:test";
import { scriptOf } from "../../src/playground/cut-comparison.ts";
import { tokenCountOf } from "../../src/playground/joined-text.ts";
import { PlaygroundJob } from "../../src/playground/playground-job.ts";
import { refusalOf } from "../thrown.ts";

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
    refusal: expect.stringContaining('is "plain text", but must be a token in base64'),
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

test("messages name the fields of the page, and offer what the page can do", async () => {
  const refusal = async (changed: object, files: File[] = [], of = text) => {
    const corpus = { text: files.length === 0 ? of : "", files };
    const training = new PlaygroundJob(() => {}).train({ corpus, settings: { ...settings, ...changed } });
    const { message, hint } = await refusalOf(training);
    return hint === undefined ? message : `${message}. ${hint}`;
  };
  expect(await refusal({ vocabSize: 20 })).toStartWith(
    "size of the vocabulary is 20, but must be at least 256",
  );
  expect(await refusal({ vocabSize: 0 })).toBe(
    "the size of the vocabulary must be a whole number, at least 256",
  );
  expect(await refusal({}, [], "")).toBe("there is no text. enter a text, or choose files");
  const file = (content: string, name: string) => [new File([Buffer.from(content, "latin1")], name)];
  const plain = "choose files of plain text";
  expect(await refusal({}, file('{"text":"a"}\n', "a.jsonl"))).toBe(
    `"a.jsonl" contains records (jsonl), but in a browser, bpe reads only plain text. ${plain}`,
  );
  expect(await refusal({}, file("\x89PNG\r\n\x1a\n\0", "a.png"))).toBe(
    '"a.png" is a PNG image, not text. give text instead',
  );
  expect(await refusal({}, file("bpecount\0", "a.counts"))).toBe(
    '"a.counts" is a file of word counts, not text. give the text that was counted',
  );
  const job = await trained(text, 300);
  const compared = (content: string, name: string) =>
    job.compare({ file: new Blob([content]), name, pattern: "gpt2", text: Buffer.from(text) });
  const choose = "choose a tokenizer.json or a rank file (.tiktoken)";
  expect(await compared("", "none")).toEqual({ refusal: `"none" is empty. ${choose}` });
  expect(await compared("{}", "vocab.json")).toEqual({
    refusal: `"vocab.json": the model is missing. correct the file, or copy it again`,
  });
});

test("the script of a text is that of most of its letters", () => {
  expect([scriptOf("abc дг"), scriptOf("12 !"), scriptOf("数据 a")]).toEqual(["Latin", "no letters", "Han"]);
});
