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

test("the ids are those of bpe encode, and the JSON is as its schema says", () => {
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

test("a text that is long is refused before any work, and a text may be anything", () => {
  expect(run("explain", "nowhere", "x".repeat(10_001))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the text has 10,001 bytes; explain takes at most 10,000"),
  });
  expect(run("explain", "low", "x".repeat(10_000)).code).toBe(0);
  for (const text of ["-", "low", "corpus.txt", "*"])
    expect(JSON.parse(run("explain", "low", "--json", "--", text).stdout).text).toBe(text);
});

test("a text without quotes is answered with the command that has them", () => {
  expect(run("explain", "low", "lower", "low")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "hint: a text of several words has quotes: bpe explain low 'lower low'\n",
    ),
  });
});
