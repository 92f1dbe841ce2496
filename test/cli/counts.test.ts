import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch, tokenizerFiles, wordLines } from "../binary.ts";
import { naiveWords } from "../naive.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();

const special = "<|end|>";
const first = put(home, "first.txt", [1, 2, 3].map((seed) => madeText(seed, 300)).join(special));
const second = put(home, "second.txt", madeText(4, 500));
const at = (name: string) => join(home, name);
const run = (...args: string[]) => bpe([...args, "-s", special, "-q"], { cwd: home });
/** Returns the first line of counts in text form, which contains the special token and the given options. */
const head = (...options: string[]) => `${run("count", first, ...options).stdout.split("\n")[0]}\n`;
const train = (output: string, ...args: string[]) => run("train", ...args, "-n", "500", "-o", output);

describe("bpe count", () => {
  test("lists the words by descending count, and ties by their bytes", () => {
    const { code, stdout } = run("count", first);
    expect(code).toBe(0);
    const lines = wordLines(stdout).map((line) => line.split("\t"));
    const expected = naiveWords(readFileSync(first, "utf8"), [special]);
    expect(lines.map(([, count]) => Number(count))).toEqual([...expected.values()].sort((a, b) => b - a));
    expect(lines.length).toBe(expected.size);
    expect(lines.find(([word]) => word === "Ġthe")?.[1] ?? "0").toBe(String(expected.get(" the") ?? 0));
  });

  test("--min-count leaves out rarer words, in every form, and says how many", () => {
    const lines = wordLines(run("count", first).stdout);
    const common = lines.filter((line) => Number(line.split("\t")[1]) >= 3);
    const rare = lines.filter((line) => !common.includes(line));
    const leftOut = {
      wordCount: rare.length,
      pretokenCount: rare.reduce((sum, line) => sum + Number(line.split("\t")[1]), 0),
    };
    for (const place of [[], ["-o", "common.tsv"], ["--save-counts", "common.counts"]]) {
      const args = ["count", first, "-s", special, "--min-count", "3", ...place, "--progress", "json"];
      const { stdout, stderr } = bpe(args, { cwd: home });
      const path = place.at(-1);
      expect(wordLines(path ? run("count", "--counts", path).stdout : stdout)).toEqual(common);
      expect(JSON.parse(stderr.trim().split("\n").at(-1)!)).toMatchObject({
        distinctWordCount: common.length,
        leftOut,
      });
    }
  });

  test("--save-counts /dev/stdout writes into a pipe, and its totals exclude the words left out", () => {
    const script = `"$0" count "$1" -s "${special}" --min-count 3 -q --save-counts /dev/stdout | cat > piped.counts`;
    expect(Bun.spawnSync(["bash", "-c", script, binary, first], { cwd: home }).exitCode).toBe(0);
    const expected = run("count", first, "--min-count", "3").stdout;
    expect(run("count", "--counts", "piped.counts").stdout).toBe(expected);
    expect(readdirSync(home).filter((name) => name.startsWith("pipe:"))).toEqual([]);
  });

  test("a closed stdout ends it silently", () => {
    const path = put(home, "many.txt", Array.from({ length: 40_000 }, (_, i) => `word${i}`).join(" "));
    const script = `"$0" count "$1" --progress none -q | head -c 1 > /dev/null; exit "\${PIPESTATUS[0]}"`;
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script, binary, path]);
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  });
});

describe("--counts and --save-counts", () => {
  expect(train("whole", first, second).code).toBe(0);
  const whole = tokenizerFiles(at("whole"));

  for (const ending of ["tsv", "counts"]) {
    test(`a .${ending} file replaces its corpus, alone or with another`, () => {
      expect(train("a", first, "--save-counts", `first.${ending}`).code).toBe(0);
      expect(train("b", second, "--save-counts", `second.${ending}`).code).toBe(0);
      expect(train("c", "--counts", `first.${ending}`, "--counts", `second.${ending}`).code).toBe(0);
      expect(train("d", second, "--counts", `first.${ending}`).code).toBe(0);
      expect(tokenizerFiles(at("c"))).toEqual(whole);
      expect(tokenizerFiles(at("d"))).toEqual(whole);
    });
  }

  test("the summary describes many files in one line", () => {
    for (const part of ["1", "2", "3", "4"]) {
      const source = put(home, `text-${part}`, madeText(Number(part), 50));
      expect(run("count", source, "--save-counts", `glob-${part}.counts`).code).toBe(0);
    }
    const args = ["train", "--counts", "glob-*.counts", "-n", "300", "-s", special, "-o", "globbed"];
    const { stderr } = bpe(args, { cwd: home });
    expect(stderr).toContain("counts      glob-1.counts … glob-4.counts (4 files)\n");
  });

  test("two files with the same counts are added, with a warning", () => {
    writeFileSync(at("again.counts"), readFileSync(at("first.counts")));
    const warnings = (...counts: string[]) =>
      bpe(["train", ...counts.flatMap((path) => ["--counts", path]), "-n", "500", "-s", special, "-o", "x"], {
        cwd: home,
      }).stderr.match(/warning: .*/g);
    expect(warnings("first.counts", "again.counts")).toEqual([
      'warning: "first.counts" and "again.counts" contain the same word counts: both are added; leave one out if it is a copy',
    ]);
    // A file that is named twice is counted twice on purpose.
    expect(warnings("first.counts", "first.counts")).toBeNull();
  });

  test("counts without words are nothing to train on", () => {
    put(home, "empty.tsv", head());
    const { code, stderr } = train("x", "--counts", "empty.tsv");
    expect([code, stderr.split("\n")[0]]).toEqual([
      1,
      "bpe: error: there is nothing to train on: the word counts contain no words",
    ]);
    expect(run("count", "--counts", "empty.tsv")).toEqual({ code: 0, stdout: head(), stderr: "" });
  });

  test("duplicate words of a .tsv add up", () => {
    put(home, "twice.tsv", `${head()}ab\t2\ncd\t3\nab\t2\n`);
    expect(bpe(["train", "--counts", "twice.tsv", "-n", "258", "-o", "t", "-q"], { cwd: home }).code).toBe(0);
    expect(tokenizerFiles(at("t"))["merges.txt"]).toBe("#version: 0.2\na b\n");
  });
});

describe("counts files record the settings that they were made with", () => {
  const unaided = (...args: string[]) => bpe([...args, "-q"], { cwd: home });
  const special2 = "a\ttab,\na line and #bpe-counts";
  const made = ["-s", special2, "-s", special, "-p", "o200k", "--compat", "huggingface"];

  test("so options need not be repeated", () => {
    expect(unaided("train", first, second, ...made, "-n", "500", "-o", "said").code).toBe(0);
    for (const ending of ["tsv", "counts"]) {
      const parts = [first, second].map((path, i) => {
        const counts = `said-${i}.${ending}`;
        expect(unaided("count", path, ...made, "-o", counts)).toEqual({ code: 0, stdout: "", stderr: "" });
        return ["--counts", counts];
      });
      expect(unaided("train", ...parts.flat(), "-n", "500", "-o", "unsaid")).toMatchObject({ stderr: "" });
      expect(unaided("train", second, ...parts[0]!, "-n", "500", "-o", "second").code).toBe(0);
      for (const output of ["unsaid", "second"]) {
        expect(tokenizerFiles(at(output))).toEqual(tokenizerFiles(at("said")));
        expect(JSON.parse(readFileSync(at(`${output}/training.json`), "utf8")).options).toMatchObject({
          pattern: { name: "o200k" },
          specialTokens: [special2, special],
          compat: "huggingface",
        });
      }
      const added = unaided("count", ...parts.flat()).stdout;
      expect(added).toBe(unaided("count", first, second, ...made).stdout);
    }
  });

  test("including a regular expression", () => {
    const pattern = ["-p", "\\S+|\\s+"];
    expect(run("count", first, ...pattern, "-o", "regex.tsv").code).toBe(0);
    expect(unaided("count", second, "--counts", "regex.tsv").stdout).toBe(
      run("count", first, second, ...pattern).stdout,
    );
    expect(unaided("count", "--counts", "regex.tsv", "-p", "o200k").stderr).toStartWith(
      'bpe: error: "regex.tsv" was made with the pattern "\\\\S+|\\\\s+", but this run has o200k\n',
    );
  });

  test("a .tsv file without this header is accepted only if pattern and special tokens are given", () => {
    const [line] = head().split("\n");
    put(home, "bare.tsv", "ab\t2\ncd\t3\n");
    const train = (...args: string[]) =>
      unaided("train", "--counts", "bare.tsv", "-n", "258", "-o", "b", ...args);
    for (const given of [[], ["-p", "gpt2"], ["-s", special], ["--counts", "first.counts"]]) {
      const { code, stderr } = train(...given);
      expect([code, stderr.split("\n")[0]]).toEqual([
        1,
        'bpe: error: "bare.tsv" does not state the options with which its words were counted',
      ]);
    }
    expect(train("-s", special, "-p", "gpt2").code).toBe(0);
    put(home, "bare.tsv", `${line}\nab\t2\ncd\t3\n`);
    expect(train().code).toBe(0);
    expect(tokenizerFiles(at("b"))["merges.txt"]).toBe("#version: 0.2\nc d\n");
  });

  test("files with different settings are refused, with the setting and the file names", () => {
    const lines = {
      "p50k.tsv": head("-p", "p50k"),
      "o200k.tsv": head("-p", "o200k"),
      "token.tsv": head("-s", "<|a|>"),
      "lines.tsv": head("--compat", "huggingface"),
      "ab.tsv": head("-s", "<|a|>", "-s", "<|b|>"),
      "ba.tsv": head("-s", "<|b|>", "-s", "<|a|>"),
    };
    for (const [name, line] of Object.entries(lines)) put(home, name, `${line}ab\t2\n`);
    const differ = (...names: string[]) => {
      const { code, stderr } = unaided("count", ...names.flatMap((name) => ["--counts", name]));
      expect(code).toBe(1);
      return stderr.split("\n")[0]!.slice("bpe: error: ".length);
    };
    expect(differ("o200k.tsv", "p50k.tsv")).toBe(
      '"p50k.tsv" was made with the pattern r50k/p50k, but "o200k.tsv" has o200k',
    );
    expect(differ("first.counts", "token.tsv")).toBe(
      '"token.tsv" was made with the special tokens ["<|a|>","<|end|>"], but "first.counts" has ["<|end|>"]',
    );
    expect(differ("first.tsv", "lines.tsv")).toBe(
      '"lines.tsv" was counted line by line (as with --compat huggingface), but "first.tsv" was counted in whole texts',
    );
    expect(differ("ab.tsv", "ba.tsv")).toBe(
      '"ba.tsv" has the special tokens in another order than the first file of word counts',
    );
    const ordered = ["-s", "<|b|>", "-s", special, "-s", "<|a|>"];
    expect(unaided("count", "--counts", "ab.tsv", "--counts", "ba.tsv", ...ordered).code).toBe(0);
  });

  test("a wrong header is an error in the data, not a usage error", () => {
    put(home, "many.tsv", `${head("-s", "<|a|>", "-s", "<|b|>")}ab\t2\n`);
    expect(unaided("train", "--counts", "many.tsv", "-n", "258", "-o", "x")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("but must be at least 259 (256 bytes and 3 special tokens)"),
    });
    put(home, "many.tsv", head().replace(/"patterns":\[.*\],"spec/, '"patterns":["("],"spec'));
    expect(unaided("count", "--counts", "many.tsv")).toMatchObject({ code: 1 });
  });

  test("the file of --output is text or compact by its name, as that of --save-counts", () => {
    const saved = ["s.tsv", "s.counts"].map((name) => {
      expect(run("count", first, "--save-counts", name)).toEqual({ code: 0, stdout: "", stderr: "" });
      return readFileSync(at(name));
    });
    const named = ["o.tsv", "o.tsv.bin"].map((name) => {
      expect(run("count", first, "-o", name)).toEqual({ code: 0, stdout: "", stderr: "" });
      return readFileSync(at(name));
    });
    expect(named).toEqual(saved);
    expect(run("count", first, "-o", "both.tsv", "--save-counts", "both.counts").stdout).toBe("");
    expect([readFileSync(at("both.tsv")), readFileSync(at("both.counts"))]).toEqual(saved);
    expect(run("count", first).stdout).toBe(saved[0]!.toString());
  });

  test("three hundred .tsv files are read one at a time", () => {
    const line = head();
    for (let n = 0; n < 300; n++) put(home, `one-${n}.tsv`, `${line}w${n % 7}\t1\n`);
    const script = `ulimit -n 64; exec "$0" count --counts 'one-*.tsv' -q`;
    const { exitCode, stdout } = Bun.spawnSync(["bash", "-c", script, binary], { cwd: home });
    expect([exitCode, wordLines(stdout.toString()).length]).toEqual([0, 7]);
  });
});

describe("bpe count --counts", () => {
  const count = (...args: string[]) => run("count", ...args);
  const save = (path: string, ...args: string[]) => {
    expect(count(...args, "--save-counts", path)).toEqual({ code: 0, stdout: "", stderr: "" });
    return readFileSync(at(path));
  };

  test("adds files up, also together with text, into either form", () => {
    const text = count(first, second, first).stdout;
    const whole = save("whole.counts", first, second, first);
    save("sum-1.counts", first);
    save("sum-2.counts", second);
    save("sum-2.tsv", second);
    const one = ["--counts", "sum-1.counts"];
    for (const args of [
      [...one, "--counts", "sum-[12].counts"],
      [...one, ...one, "--counts", "sum-2.tsv"],
      [...one, first, second, "-w", "2"],
      [first, ...one, "--counts", "sum-2.tsv"],
    ]) {
      expect(count(...args).stdout).toBe(text);
      expect(save("again.counts", ...args).equals(whole)).toBe(true);
      expect(save("again.tsv", ...args).toString()).toBe(text);
    }
    expect(count(...one, "--save-counts", "both.counts", "-o", "-").stdout).toBe(count(first).stdout);
  });

  test("reads and writes pipes", () => {
    save("piped-1.counts", first);
    const whole = save("piped.counts", first, second);
    const script = `"$0" count --counts <(cat piped-1.counts) "$1" -s "$2" -q --save-counts >(cat > through.counts); wait $!`;
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script, binary, second, special], {
      cwd: home,
    });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    expect(readFileSync(at("through.counts")).equals(whole)).toBe(true);
  });

  test("refuses a glob without match, foreign files, and files damaged after their header", () => {
    for (const [name, message] of [
      ["no-*.counts", '--counts "no-*.counts": no such file, and no file matches it as a glob'],
      [first, "is not a file of word counts"],
    ] as const) {
      expect(count("--counts", name)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    }
    const damaged = save("damaged.counts", first);
    damaged[damaged.length - 100]! ^= 4;
    writeFileSync(at("damaged.counts"), damaged);
    const { code, stderr } = count("--counts", "damaged.counts", "--save-counts", "x.counts");
    expect([code, stderr.split("\n")[0]]).toEqual([
      1,
      'bpe: error: "damaged.counts" is damaged: its checksums do not match its contents',
    ]);
    expect(existsSync(at("x.counts"))).toBe(false);
  });
});
