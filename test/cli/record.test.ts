import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch, tokenizerFiles } from "../binary.ts";
import { randomNumbers } from "../random.ts";

const home = scratch();

const words = [
  "low",
  "lower",
  "newest",
  "widest",
  "naïve",
  "数据",
  "\t\tif",
  "x = 42;",
  "ﬁ",
  "it's",
  "\r\n",
  " ",
];
const random = randomNumbers(1);
const made = (wordCount: number) =>
  Array.from({ length: wordCount }, () => words[random(words.length)]! + "aeiou"[random(5)]).join(" ");
put(home, "a.txt", `${made(3000)}<|end|>${made(2000)}`);
put(home, "b.txt", made(2000));
put(home, "c.txt", made(1000));

const texts = ["a.txt", "./b.txt"];
const repeats: [string, string[]][] = [
  ["all defaults", texts],
  [
    "a pattern of one's own",
    [...texts, "-p", "\\p{L}+|\\s+|[^\\p{L}\\s]+", "-s", "<|end|>", "-s=--it's\n--"],
  ],
  ["several splits, counts and files", [...texts, "-p", "deepseek-v3", "--counts", "kept.counts"]],
];

test("the record has the command line, and the checksums of word counts", () => {
  for (const [name, args] of repeats) {
    const common = args.includes("deepseek-v3") ? ["-p", "deepseek-v3"] : [];
    const save = ["train", "c.txt", "-n", "260", "-o", "other", "--save-counts", "kept.counts", "-q"];
    expect(bpe([...save, ...common], { cwd: home }).code).toBe(0);
    const beforeMs = Date.now();
    const run = ["train", ...args, "-n", "420", "-o", "tokenizer", "-q"];
    expect([name, bpe(run, { cwd: home })]).toMatchObject([name, { code: 0, stderr: "" }]);
    const wanted = tokenizerFiles(join(home, "tokenizer"));
    const record = JSON.parse(readFileSync(join(home, "tokenizer", "training.json"), "utf8"));

    expect(record.arguments).toEqual(run);
    expect(record.workingDirectory).toBe(home);
    expect(Date.parse(record.startedAt)).toBeWithin(beforeMs - 1000, Date.now() + 1);
    for (const { path, sizeBytes, sha256 } of record.counts) {
      const bytes = readFileSync(join(record.workingDirectory, path));
      expect(sizeBytes).toBe(bytes.length);
      expect(sha256).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
    }
    rmSync(join(home, "tokenizer"), { recursive: true });
    expect(bpe(record.arguments, { cwd: record.workingDirectory }).code).toBe(0);
    expect(tokenizerFiles(join(home, "tokenizer"))).toEqual(wanted);
  }
  expect(readdirSync(home).sort()).toEqual(["a.txt", "b.txt", "c.txt", "kept.counts", "other", "tokenizer"]);
});

test("--keep leaves the replaced tokenizers next to the new one, and removes older ones", () => {
  const output = join(home, "nightly");
  const train = (...args: string[]) =>
    bpe(["train", "a.txt", "-n", "300", "-o", output, ...args], { cwd: home });
  const files = (name: string) => tokenizerFiles(join(home, name));
  for (let night = 0; night < 4; night++) expect(train("--keep", "2").code).toBe(0);
  const kept = readdirSync(home).filter((name) => name.startsWith("nightly."));
  expect(kept.length).toBe(2);
  for (const name of kept) {
    expect(name).toMatch(/^nightly\.20\d{6}T\d{6}Z(-\d)?$/);
    expect(files(name)).toEqual(files("nightly"));
  }
  const { startedAt } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
  const told = train("--keep", "1", "--progress", "json");
  const { kept: path } = JSON.parse(told.stderr.trim().split("\n").at(-1)!);
  expect(path.startsWith(`${output}.${startedAt.replaceAll(/[-:]|\.\d+/g, "")}`)).toBe(true);
  expect(train("--keep", "all")).toMatchObject({ code: 2, stderr: expect.stringContaining("--keep") });
});
