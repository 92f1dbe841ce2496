import { describe, expect, test } from "bun:test";
import { readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { bpe, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const run = (...args: string[]) => bpe(args, { cwd: home });
const files = ["en-1.txt", "en-2.txt", "hi.txt"];
for (const [i, name] of files.entries()) put(home, name, madeText(i + 1, 300 + 100 * i));
put(home, "records.jsonl", `${JSON.stringify({ text: madeText(9, 200) })}\n`.repeat(3));

const train = (output: string, ...args: string[]) => run("train", "-n", "420", "-o", output, "-q", ...args);
const done = { code: 0, stdout: "", stderr: "" };
const recordOf = (output: string) => JSON.parse(readFileSync(join(home, output, "training.json"), "utf8"));

describe("bpe train --weight", () => {
  test("with integers is as if the files were named that many times", () => {
    const all = [...files, "records.jsonl"];
    expect(train("twice", ...all, "hi.txt", "hi.txt", "records.jsonl", "-w", "1")).toEqual(done);
    for (const workers of ["1", "2", "7"]) {
      const weights = ["--weight", "hi=hi.txt:3", "--weight", "*.jsonl:2"];
      expect(train("weighted", ...all, ...weights, "-w", workers)).toEqual(done);
      expect(tokenizerFiles(join(home, "weighted"))).toEqual(tokenizerFiles(join(home, "twice")));
    }
    const { options, inputs } = recordOf("weighted");
    expect(options.weights).toEqual([
      { name: "hi", glob: "hi.txt", weight: 3 },
      { name: null, glob: "*.jsonl", weight: 2 },
    ]);
    expect(inputs.map((input: { weight: number }) => input.weight)).toEqual([1, 1, 3, 2]);
    expect(recordOf("twice")).not.toHaveProperty("options.weights");
    expect(recordOf("twice").inputs[0]).not.toHaveProperty("weight");
  });

  test("weighs standard input, files of word counts, and the corpus of an extension", () => {
    const counted = [...files.slice(1), ...files.slice(1)];
    expect(train("plain", ...counted, files[0]!)).toEqual(done);
    const shell = (line: string) => Bun.spawnSync(["sh", "-c", line], { cwd: home }).stderr.toString();
    const bin = join(import.meta.dir, "../../dist/bpe");
    expect(
      shell(
        `cat hi.txt | ${bin} train - en-1.txt en-2.txt --weight=-:2 --weight en-2.txt:2 -n 420 -o piped -q`,
      ),
    ).toBe("");
    expect(tokenizerFiles(join(home, "piped"))).toEqual(tokenizerFiles(join(home, "plain")));
    expect(run("count", "en-2.txt", "-o", "en-2.counts", "-q")).toEqual(done);
    expect(run("count", "hi.txt", "-o", "hi.tsv", "-q")).toEqual(done);
    const counts = ["--counts", "en-2.counts", "--counts", "hi.tsv"];
    expect(train("counts", "en-1.txt", ...counts, "--weight", "*.counts:2", "--weight", "hi.tsv:2")).toEqual(
      done,
    );
    expect(tokenizerFiles(join(home, "counts"))).toEqual(tokenizerFiles(join(home, "plain")));
    expect(recordOf("counts").counts.map((file: { weight: number }) => file.weight)).toEqual([2, 2]);
    const extend = ["--extend", "plain", "-n", "+30"];
    expect(
      run("train", "hi.txt", "en-1.txt", ...extend, "--weight", "hi.txt:2", "-o", "longer", "-q"),
    ).toEqual(done);
    expect(run("train", "hi.txt", "en-1.txt", "hi.txt", ...extend, "-o", "again", "-q")).toEqual(done);
    expect(tokenizerFiles(join(home, "longer"))).toEqual(tokenizerFiles(join(home, "again")));
    expect(recordOf("longer").options.weights).toHaveLength(1);
  });

  test("with a cache gives the same, and --if-changed notices changed weights", () => {
    for (const name of files) utimesSync(join(home, name), 1e9, 1e9);
    const weights = (hi: string) => ["--weight", `hi.txt:${hi}`, "--weight", "en-2.txt:0.5"];
    const nightly = (...args: string[]) => {
      const cached = ["--cache", "cache", "--if-changed", "--progress", "json"];
      const { stderr } = run("train", "-n", "420", "-o", "night", ...cached, ...args);
      const { changed } = JSON.parse(stderr.trim().split("\n").at(-1)!);
      expect(train("day", ...args)).toEqual(done);
      expect(tokenizerFiles(join(home, "night"))).toEqual(tokenizerFiles(join(home, "day")));
      return changed;
    };
    expect(nightly(...files, ...weights("2.5"))).toBe(true);
    expect(nightly(...files, ...weights("2.5"))).toBe(false);
    expect(nightly(...files, ...weights("2.25"))).toBe(true);
    expect(nightly(...files)).toBe(true);
    expect(nightly(...files, ...weights("2.25"))).toBe(true);
    put(home, "hi.txt", madeText(20, 350));
    expect(nightly(...files, ...weights("2.25"))).toBe(true);
    expect(nightly(...files, ...weights("2.25"))).toBe(false);
    // The cache has a sum of the words for the inputs of each weight, and one for the whole corpus. None replaces
    // another.
    expect(nightly(...files.slice(1), ...weights("7"))).toBe(true);
    expect(nightly(...files)).toBe(true);
  });

  test("works in little memory", () => {
    put(home, "large.txt", madeText(30, 60_000));
    const args = ["large.txt", "en-1.txt", "--weight", "en-1.txt:2.5"];
    expect(train("much", ...args)).toEqual(done);
    expect(train("little", ...args, "--memory-limit", "130MB", "-w", "1")).toEqual(done);
    expect(mergesOf(join(home, "little"))).toEqual(mergesOf(join(home, "much")));
  });

  test("is in the summary, the report and the card", () => {
    const args = [
      "--weight",
      "Hindi=hi.txt:0.5",
      "--report",
      "page.html",
      "--model-card",
      "--summary",
      "full",
    ];
    const { stderr } = run("train", ...files, "-n", "300", "-o", "told", ...args);
    expect(stderr).toContain("weights     Hindi 0.5\n");
    const page = readFileSync(join(home, "page.html"), "utf8");
    const { record } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)![1]!);
    expect(
      record.inputs.map(({ path, weight }: { path: string; weight: number }) => [path, weight]),
    ).toContainEqual(["hi.txt", 0.5]);
    expect(readFileSync(join(home, "told", "README.md"), "utf8")).toContain("by the weights of its inputs");
  });

  test("refuses invalid weights, before anything is written", () => {
    const problem = (...args: string[]) => {
      const { code, stderr } = train("refused", ...files, ...args);
      return [code, stderr.split("\n")[0]];
    };
    const noWeight = (typed: string) => [2, `bpe: error: --weight "${typed}" does not end with a weight`];
    for (const typed of ["", ":", "x", "x:", "x:-1", "x:nan", "x:1e400", "x:+1", "x: 1", "C:\\x", "x:.5"]) {
      expect(problem("--weight", typed)).toEqual(noWeight(typed));
    }
    expect(problem("--weight", "x:0.0000001")[1]).toContain('"x:0.0000001" has a weight with more than six');
    expect(problem("--weight", ":1")).toEqual([2, "bpe: error: --weight: the weight 1 has no input"]);
    expect(problem("--weight", "=hi.txt:1")[1]).toContain('"=hi.txt:1" has no name');
    expect(problem("--weight", "hi.txt:1000001")[1]).toContain(
      'the weight of "hi.txt" is 1000001, but must be',
    );
    expect(problem("--weight", "fr.txt:2")).toEqual([
      2,
      'bpe: error: the weight "fr.txt:2" has no effect: no input matches "fr.txt"',
    ]);
    expect(train("refused", ...files, "--weight", "a=b.txt:2").stderr).toContain("./a=b.txt");
    expect(problem("--weight", "*:0")[1]).toContain("every input has the weight 0");
    expect(problem("--weight", "*:0.000001")).toEqual([
      1,
      "bpe: error: the weights leave nothing to train on: every word's count is rounded to 0",
    ]);
    expect(run("inspect", "refused").code).toBe(1);
  });
});
