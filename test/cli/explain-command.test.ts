import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch } from "../binary.ts";
import { onTerminal } from "../pseudo-terminal.ts";
import { misfits, type Schema } from "./json-schema.ts";

const home = scratch();
const corpus = put(home, "corpus.txt", "low lower lowest newest widest Größe\n".repeat(9));
const run = (...args: string[]) => bpe(args, { cwd: home });
for (const name of ["low", "bare"])
  expect(run("train", corpus, "-n", "280", "-s", "<|end|>", "-o", name, "-q", "-w", "1").code).toBe(0);
rmSync(join(home, "bare/tokens.tsv"));
const text = " lowest<|end|>ß";

const explained = `
16 bytes, 3 parts, 4 tokens; pattern gpt2
Each line is a merge: its rank, its count in training, its halves, the pieces.

" lowest" -> 275 " lowest"
   0  27 times  "w" + "e"       ␣·l·o·we·s·t
   1  27 times  "s" + "t"       ␣·l·o·we·st
   2  27 times  "l" + "o"       ␣·lo·we·st
   3  18 times  "we" + "st"     ␣·lo·west
   4  18 times  " " + "lo"      ␣lo·west
  19   9 times  " lo" + "west"  ␣lowest

"<|end|>" is an added token -> 279 "<|end|>"

"ß" -> 195 "\\xc3", 159 "\\x9f"

ids 275 279 195 159
`.slice(1);

test("each part has its merges in the order in which they are made, with ranks, counts of training and pieces", async () => {
  expect(run("explain", "low", text)).toEqual({ code: 0, stdout: explained, stderr: "" });
  const bare = explained.replaceAll(/ +\d+ times/g, "").replace(" its count in training,", "");
  expect(run("explain", "bare", text).stdout).toBe(bare);
  const long = ["explain", "low", "lowest".repeat(9)];
  const widthsOf = (output: string) =>
    output.split("\n").flatMap((line) => (line.includes(" times ") ? [line.length] : []));
  expect(Math.max(...widthsOf(run(...long).stdout))).toBe(80);
  const wide = await onTerminal([binary, "explain", join(home, "low"), long[2]!], { columns: 100 });
  expect(Math.max(...widthsOf(wide))).toBe(100);
  expect(run("explain", "low", text, "--special-tokens-as-text").stdout).toContain('"<|" -> ');
  expect(run("explain", "low", "").stdout).toEndWith("\n\nids \n");
});

test("the ids are those of bpe encode, and the JSON matches its schema", () => {
  const schema: Schema = JSON.parse(
    readFileSync(join(import.meta.dir, "../../docs/explanation.schema.json"), "utf8"),
  );
  for (const [name, text] of [
    ["low", " lowest<|end|>ß"],
    ["bare", "The newest\nlow"],
  ] as const) {
    const found = JSON.parse(run("explain", name, text, "--json").stdout);
    expect(misfits(schema, found, schema)).toEqual([]);
    for (const field of Object.keys(found))
      expect(misfits(schema, { ...found, [field]: undefined, more: 1 }, schema)).not.toEqual([]);
    const encoded = bpe(["encode", put(home, "text.txt", text), "--tokenizer", name, "-q"], { cwd: home });
    expect(`${found.ids.join(" ")}\n`).toBe(encoded.stdout);
    expect(
      found.parts.flatMap(({ tokens }: { tokens: { id: number }[] }) => tokens.map(({ id }) => id)),
    ).toEqual(found.ids);
    expect(
      found.parts[0].merges.every(
        ({ count }: { count: number | null }) => (count === null) === (name === "bare"),
      ),
    ).toBe(true);
  }
});

test("a long text is refused before any work, and a short text may be anything", () => {
  expect(run("explain", "nowhere", "x".repeat(10_001))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the text has 10,001 bytes, but bpe explain takes at most 10,000"),
  });
  expect(run("explain", "low", "x".repeat(10_000)).code).toBe(0);
  for (const text of ["-", "low", "corpus.txt", "*"])
    expect(JSON.parse(run("explain", "low", "--json", "--", text).stdout).text).toBe(text);
});

test("a text without quotes is answered with the command that has them", () => {
  expect(run("explain", "low", "lower", "low")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("hint: quote a text of several words: bpe explain low 'lower low'\n"),
  });
});

test("an added token that shares an id with a learned one is named by its text, as in HF", () => {
  // In HF's files "é" is the byte e9, and "Ġthe" is " the".
  const shared = put(home, "shared.txt", "the é the é thé the\nthe the");
  const specials = ["é", "Ġthe"].flatMap((text) => ["-s", text]);
  const training = ["-n", "262", "--compat", "huggingface", "--special-tokens-as-text", "-w", "1", "-q"];
  expect(run("train", shared, ...training, ...specials, "-o", "shared").code).toBe(0);
  const { vocab } = JSON.parse(readFileSync(join(home, "shared/tokenizer.json"), "utf8")).model;
  expect([vocab.é, vocab.Ġthe]).toEqual([0, 1]);

  const { stdout } = run("explain", "shared", "the éĠthe 香 the", "--json");
  const { parts, ids } = JSON.parse(stdout);
  const added = parts.filter(({ kind }: { kind: string }) => kind === "added");
  expect(added.map(({ text, tokens }: { text: string; tokens: object[] }) => [text, tokens])).toEqual([
    ["é", [{ id: 0, token: "é" }]],
    ["Ġthe", [{ id: 1, token: "Ġthe" }]],
  ]);
  // In the parts that merges make, the ids 0 and 1 are the byte e9 and the learned token " the".
  const merged = parts.filter(({ kind }: { kind: string }) => kind === "merged");
  expect(merged.flatMap(({ tokens }: { tokens: object[] }) => tokens)).toEqual(
    expect.arrayContaining([
      { id: 0, token: "\\xe9" },
      { id: 1, token: " the" },
    ]),
  );
  expect(ids.filter((id: number) => id < 2)).toEqual([0, 1, 0, 1]);
  expect(run("explain", "shared", "é").stdout).toContain('"é" is an added token -> 0 "é"\n');

  const inspected = JSON.parse(run("inspect", "shared", "--json").stdout);
  expect(inspected.specialTokens).toMatchObject([
    { id: 0, content: "é" },
    { id: 1, content: "Ġthe" },
  ]);
  expect(run("train", shared, ...training, "-s", "<x>", "-s", "é", "-o", "other").code).toBe(0);
  const { tokens } = JSON.parse(run("diff", "shared", "other", "--json").stdout);
  expect(tokens.moved).toContainEqual({ token: "é", idA: 0, idB: 1, isSpecial: true });
});

test("--only-pieces prints the pieces of a text of any length, and changes nothing else", () => {
  const piecesOf = (text: string) => JSON.parse(run("explain", "low", "--only-pieces", "--", text).stdout);
  expect(piecesOf(" lowest<|end|>ß")).toEqual([" lowest", "<|end|>", "ß"]);
  const ofStdin = (stdin: Buffer) => bpe(["explain", "low", "-", "--only-pieces"], { cwd: home, stdin });
  expect(JSON.parse(ofStdin(Buffer.from("low\n\0 low<|end|>你 \x85")).stdout)).toEqual([
    "low",
    "\n",
    "\0",
    " low",
    "<|end|>",
    "你",
    " \x85",
  ]);
  expect(ofStdin(Buffer.from(""))).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  expect(JSON.parse(ofStdin(Buffer.from(" low".repeat(100_000))).stdout)).toHaveLength(100_000);
  expect(ofStdin(Buffer.from([0x61, 0xff]))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("not UTF-8"),
  });
});
