import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { bpe, put, scratch, tokenizerFiles } from "../binary.ts";
import type { NaiveWords } from "../unit/merge/naive.ts";
import { naiveParity } from "../unit/merge/naive-parity.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const inGreek = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCodePoint(0x3b1 + ((letter.charCodeAt(0) - 97) % 24)));
const texts = { "en.txt": madeText(1, 300), "el.txt": inGreek(madeText(2, 300)), "fr.txt": madeText(3, 200) };
for (const [name, text] of Object.entries(texts)) put(home, name, text);
const languages = ["--language", "en=en.txt", "el=el.txt", "fr=fr.txt"];

const run = (...args: string[]) => bpe(["train", "-q", ...args], { cwd: home });
const train = (output: string, ...args: string[]) =>
  expect(run(...languages, "-o", output, ...args)).toEqual({ code: 0, stdout: "", stderr: "" });
const recordOf = (output: string) => JSON.parse(readFileSync(join(home, output, "training.json"), "utf8"));
const filesOf = (output: string) => tokenizerFiles(join(home, output));

/** The words of each text: the parts between spaces and line ends, and each space and line end. */
const words: NaiveWords[] = Object.values(texts).map((text) => {
  const counts = new Map<string, number>();
  for (const [word] of Buffer.from(text)
    .toString("latin1")
    .matchAll(/[^ \n]+|[ \n]/g))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
});

test.each([
  ["ratio", ["--language-ratio", "1,2,0.5"], { ratio: [1, 2, 0.5] }],
  ["window", ["--language-window", "10:1.2"], { window: { size: 10, alpha: 1.2 } }],
  ["global", ["--global-merges", "30"], { globalMerges: 30 }],
] as const)("%s: merges are those of the naive twin, and the record keeps it", (name, options, parity) => {
  train(name, ...options, "-n", "330", "-p", "[^ \\n]+|[ \\n]", "--compat", "huggingface", "-w", "1");
  const whole = { ratio: null, window: null, globalMerges: 0, ...parity };
  expect(recordOf(name).options.parity).toEqual(whole);
  const merges = readFileSync(join(home, name, "merges.txt"), "utf8")
    .trim()
    .split("\n")
    .slice(1);
  const learned = merges.map((line) =>
    line.split(" ").map((half) => Buffer.from(byteCharacters.decode(half)!).toString("latin1")),
  );
  const expected = naiveParity(words, null, whole, "huggingface", { mergeCount: 330 - 256 });
  expect(learned).toEqual(expected.map(({ left, right }) => [left, right]));
});

test("threads, other sizes of the same run and a repeat from its record change nothing", () => {
  const options = ["--language-window", "10:1.5", "--global-merges", "20", "--compat", "huggingface"];
  // Under HF's rule, a merge that spells a special token adds no id. A merge may spell "qu".
  const special = ["-s", "<|end|>", "-s", "qu"];
  train("one", ...options, ...special, "-n", "320", "-w", "1");
  train("many", ...options, ...special, "-n", "320", "-w", "3");
  train("sizes", ...options, ...special, "-n", "360,320", "-w", "2");
  expect(filesOf("many")).toEqual(filesOf("one"));
  expect(filesOf("sizes/320")).toEqual(filesOf("one"));
  const again = recordOf("one").arguments.map((value: string) => (value === "one" ? "again" : value));
  expect(bpe(again, { cwd: home }).code).toBe(0);
  expect(filesOf("again")).toEqual(filesOf("one"));
});

test("--if-changed trains again if the ratios changed, and only then", () => {
  train("nightly", "-n", "300", "--language-ratio", "1,2,3", "--if-changed", "--cache", "cache");
  const first = recordOf("nightly").startedAt;
  train("nightly", "-n", "300", "--language-ratio", "1,2,3", "--if-changed", "--cache", "cache");
  expect(recordOf("nightly").startedAt).toBe(first);
  train("nightly", "-n", "300", "--language-ratio", "1,2,4", "--if-changed", "--cache", "cache");
  expect(recordOf("nightly").options.parity.ratio).toEqual([1, 2, 4]);
});

test.each([
  [["--language-ratio", "1,2"], "2 ratios for 3 languages"],
  [["--language-ratio", "1,2,x"], '--language-ratio 1,2,x contains "x", which is not a decimal number'],
  [
    ["--language-ratio", "1,2,0"],
    "--language-ratio contains 0, but each ratio must be a number from 0.001 to 1,000",
  ],
  [
    ["--language-ratio", "1,2,1001"],
    "--language-ratio contains 1001, but each ratio must be a number from 0.001 to 1,000",
  ],
  [["--language-window", "100"], "--language-window 100 does not have the form N:FACTOR"],
  [["--language-window", "0:2"], "--language-window 0:2: the number of merges must be a whole number"],
  [["--language-window", "1.5:2"], "--language-window 1.5:2: the number of merges must be a whole number"],
  [["--language-window", "10:0"], "--language-window 10:0: the number of merges must be a whole number"],
  [["--global-merges", "x"], '--global-merges is "x", but must be a whole number'],
])("refuses %j", (args, message) => {
  const { code, stderr } = run(...languages, "-n", "300", "-o", "refused", ...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("each language has one ratio, however many files name it", () => {
  mkdirSync(join(home, "parts"));
  const [start, rest] = [texts["en.txt"].slice(0, 700), texts["en.txt"].slice(700)];
  put(home, "parts/1.txt", start.slice(0, 300));
  put(home, "parts/2.txt", start.slice(300));
  put(home, "rest.txt", rest);
  const others = ["--language", "el=el.txt", "fr=fr.txt"];
  const ratio = ["-n", "300", "-w", "1", "--language-ratio"];
  const ways = [
    ["--language", "en=parts", "rest.txt", ...others],
    ["--language", "en=parts/*.txt", "rest.txt", ...others],
    ["--language", "en=rest.txt", ...others, "--language", "en=parts"],
  ];
  for (const [i, way] of ways.entries()) {
    expect(run(...way, "-o", `parts-${i}`, ...ratio, "1,2,3")).toMatchObject({ code: 0, stderr: "" });
    expect(filesOf(`parts-${i}`)).toEqual(filesOf("parts-0"));
    for (const [wrong, count] of [
      ["1", "1 ratio"],
      ["1,2", "2 ratios"],
      ["1,2,3,4,5", "5 ratios"],
    ] as const) {
      const { code, stderr } = run(...way, "-o", "refused", ...ratio, wrong);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${count} for 3 languages`)]);
    }
  }
});
