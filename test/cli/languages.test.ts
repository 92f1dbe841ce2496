import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch, tokenizerFiles } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const run = (...args: string[]) => bpe(args, { cwd: home });
mkdirSync(join(home, "hi"));
const inScript = (first: number, text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCodePoint(first + letter.charCodeAt(0) - 97));
const texts: Record<string, string> = {
  "en-1.txt": madeText(1, 400),
  "en-2.txt": madeText(2, 300),
  "hi/a.txt": inScript(0x905, madeText(3, 300)),
  "hi/b.txt": inScript(0x905, madeText(4, 200)),
  "ja.jsonl": `${JSON.stringify({ text: inScript(0x3041, madeText(5, 300)) })}\n`.repeat(2),
  "en.dev": madeText(6, 100),
  "hi.dev": inScript(0x905, madeText(7, 90)),
  "ja.dev": inScript(0x3041, madeText(8, 80)),
};
for (const [name, text] of Object.entries(texts)) {
  put(home, name, text);
  utimesSync(join(home, name), 1e9, 1e9);
}
const english = ["--language", "en=en-1.txt", "en-2.txt"];
const languages = [...english, "--language", "hi=hi", "ja=ja.jsonl"];
const dev = ["--language-dev", "en=en.dev", "hi=hi.dev", "--language-dev", "ja=ja.dev"];

const train = (output: string, ...args: string[]) => run("train", "-n", "400", "-o", output, "-q", ...args);
const done = { code: 0, stdout: "", stderr: "" };
const recordOf = (output: string) => JSON.parse(readFileSync(join(home, output, "training.json"), "utf8"));
const filesOf = (output: string) => tokenizerFiles(join(home, output));

describe("bpe train --language", () => {
  test("warns of languages that are compared by texts if one is much longer", () => {
    const uneven = (...args: string[]) =>
      run("train", "-n", "300", "-o", "uneven", ...args).stderr.match(
        /warning: .* may get most of the merges.*/,
      )?.[0];
    const longer = ["--language", "en=en-1.txt", "en-2.txt", "--language", "ja=ja.dev"];
    expect(uneven(...longer)).toMatch(
      /"en" has .* of text, but "ja" only .*--language-ratio, or --language-dev/,
    );
    expect(uneven(...longer, "--language-ratio", "1,2")).toBeUndefined();
    expect(uneven("--language", "en=en.dev", "ja=ja.dev")).toBeUndefined();
    expect(uneven(...longer, "--language-dev", "en=en.dev", "ja=ja.dev")).toBeUndefined();
    expect(uneven(...longer, "--language-dev", "en=en.dev", "ja=en-1.txt")).toMatch(
      /"ja" has .* of dev text/,
    );
  });

  test("counts each language like a separate run on its files, in record and summary", () => {
    const { code, stderr } = run(
      "train",
      ...languages,
      ...dev,
      "-n",
      "400",
      "-o",
      "plain",
      "--report",
      "page.html",
      "--summary=full",
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining("languages   en        2,277 tokens, ")]);
    expect(readFileSync(join(home, "page.html"), "utf8")).toContain("language hi");
    const record = recordOf("plain");
    const files = [["en-1.txt", "en-2.txt"], ["hi"], ["ja.jsonl"]];
    run("train", ...files.flat(), "-n", "400", "-o", "together");
    for (const [k, name] of ["en", "hi", "ja"].entries()) {
      const count = (...paths: string[]) => {
        const { stderr } = run("count", ...paths, "-o", `${name}.tsv`, "--progress", "json");
        const { wordCount, distinctWordCount, sizeBytes } = JSON.parse(stderr.trim().split("\n").at(-1)!);
        return { textBytes: sizeBytes, wordCount, distinctWordCount };
      };
      const tokensOf = (...paths: string[]) => {
        const args = ["--csv", "-q", "--text", ...paths.map((path) => `all=${path}`)];
        const [head, ...rows] = run("eval", "plain", "together", ...args).stdout.split("\n");
        const [row, other] = ["plain,", "together,"].map((name) => rows.find((one) => one.startsWith(name)));
        const columnOf = (line: string, name: string) =>
          Number(line.split(",")[head!.split(",").indexOf(name)]);
        const plainTokenCount = columnOf(other!, "tokens");
        return { byteCount: columnOf(row!, "bytes"), tokenCount: columnOf(row!, "tokens"), plainTokenCount };
      };
      for (const [i, isDev, paths] of [
        [k, false, files[k]!],
        [k + 3, true, [`${name}.dev`]],
      ] as const) {
        const expected = { language: name, isDev, ...count(...paths), ...tokensOf(...paths) };
        expect(record.languages[i]).toEqual(expected);
      }
    }
    expect(
      record.inputs.map(({ path, language, isDev }: Record<string, string>) => [path, language, isDev]),
    ).toEqual([
      ["en-1.txt", "en", false],
      ["en-2.txt", "en", false],
      ["hi/a.txt", "hi", false],
      ["hi/b.txt", "hi", false],
      ["ja.jsonl", "ja", false],
      ["en.dev", "en", true],
      ["hi.dev", "hi", true],
      ["ja.dev", "ja", true],
    ]);
  });

  test("ends with a table of the languages", () => {
    const { stderr } = run("train", ...languages, "-n", "400", "-o", "table");
    const rows = recordOf("table").languages.map((one: Record<string, number>) => {
      const tokens = one.tokenCount!.toLocaleString("en-US").padStart(5);
      const plain = `${one.plainTokenCount!.toLocaleString("en-US")}, ${(one.byteCount! / one.plainTokenCount!).toFixed(3)}`;
      return `${one.language}  ${tokens} tokens, ${(one.byteCount! / one.tokenCount!).toFixed(3)} bytes per token (plain training: ${plain})\n`;
    });
    expect(stderr).toContain(`\nlanguages   ${rows.join(" ".repeat(12))}vocabulary  400`);
  });

  test("gives the same with any number of threads, in little memory, and under any names of its files", () => {
    for (const args of [
      ["-w", "1"],
      ["-w", "2"],
      ["-w", "7"],
      ["-w", "1", "--memory-limit", "120MB"],
    ]) {
      expect(train("again", ...languages, ...dev, ...args)).toEqual(done);
      expect(filesOf("again")).toEqual(filesOf("plain"));
    }
    const shell = (line: string) => Bun.spawnSync(["sh", "-c", line], { cwd: home }).stderr.toString();
    const others =
      "--language hi='hi/*.txt' --language ja=ja.jsonl --language-dev en=en.dev hi=hi.dev ja=ja.dev";
    const piped = `${binary} train --language en=en-1.txt --language=en=- ${others} -n 400 -o again -q < en-2.txt`;
    expect(shell(piped)).toBe("");
    expect(filesOf("again")).toEqual(filesOf("plain"));
  });

  test("learns otherwise without dev text, and of other languages", () => {
    expect(train("without", ...languages)).toEqual(done);
    expect(train("one", "--language", "all=en-1.txt", "en-2.txt", "hi", "ja.jsonl")).toEqual(done);
    const all = ["plain", "without", "one"].map((name) => JSON.stringify(filesOf(name)));
    expect(new Set(all).size).toBe(3);
  });

  test("weighs inputs as if they were named that many times", () => {
    expect(train("weighted", ...languages, ...dev, "--weight", "hi/a.txt:2", "--weight", "en.dev:3")).toEqual(
      done,
    );
    const often = ["--language", "hi=hi/a.txt", "--language-dev", "en=en.dev", "en.dev"];
    expect(train("often", ...languages, ...dev, ...often)).toEqual(done);
    expect(filesOf("weighted")).toEqual(filesOf("often"));
  });

  test("with a cache gives the same, and --if-changed notices changed languages", () => {
    const nightly = (...args: string[]) => {
      const cached = ["--cache", "cache", "--if-changed", "--progress", "json"];
      const { stderr } = run("train", "-n", "400", "-o", "night", ...cached, ...args);
      const { changed } = JSON.parse(stderr.trim().split("\n").at(-1)!);
      expect(train("day", ...args)).toEqual(done);
      expect(filesOf("night")).toEqual(filesOf("day"));
      const texts = (output: string) => [recordOf(output).inputs, recordOf(output).languages];
      expect(texts("night")).toEqual(texts("day"));
      return changed;
    };
    expect(nightly(...languages, ...dev)).toBe(true);
    expect(nightly(...languages, ...dev)).toBe(false);
    expect(nightly("en-1.txt", "en-2.txt", "hi", "ja.jsonl")).toBe(true);
    expect(nightly(...languages, ...dev)).toBe(true);
    expect(nightly(...languages, ...dev, "--weight", "hi:0.5")).toBe(true);
    // These are the files of `languages` in the same order, but one is listed for another language.
    expect(nightly("--language", "en=en-1.txt", "--language", "hi=en-2.txt", "hi", "ja=ja.jsonl")).toBe(true);
    expect(nightly(...languages)).toBe(true);
    put(home, "hi/b.txt", inScript(0x905, madeText(9, 210)));
    expect(nightly(...languages)).toBe(true);
    expect(nightly(...languages)).toBe(false);
  });

  test("keeps the sum of a language in the cache, also together with one that is read as a stream", () => {
    const piped = `cat en-1.txt | ${binary} train --language en=- --language hi=hi --cache sums -n 300 -o sums-out -q`;
    expect(Bun.spawnSync(["sh", "-c", piped], { cwd: home }).exitCode).toBe(0);
    expect(readdirSync(join(home, "sums")).filter((name) => name.endsWith(".sum"))).toHaveLength(1);
  });

  test("warns of a file in two languages", () => {
    const told = run(
      "train",
      ...english,
      "--language",
      "hi=./en-2.txt",
      "hi",
      "-n",
      "300",
      "-o",
      "twice",
    ).stderr;
    expect(told).toContain('"./en-2.txt" is listed for language "en" and again for language "hi"');
    const own = run("train", ...english, "--language-dev", "en=en-1.txt", "-n", "300", "-o", "twice").stderr;
    expect(own).toContain(
      '"en-1.txt" is listed for language "en" and again for the dev text of language "en"',
    );
  });

  test("refuses inputs without a language, before anything is written", () => {
    const refused = (...args: string[]) => {
      const { code, stderr } = train("refused", ...args);
      expect(code).toBeGreaterThan(0);
      return stderr;
    };
    put(home, "empty.txt", "");
    put(home, "x=y.txt", madeText(1, 50));
    const noLanguage =
      'bpe: error: --language "en-1.txt" names no language\nhint: write NAME=FILE, e.g. --language en=en-1.txt\n';
    expect(refused("--language", "en-1.txt")).toBe(noLanguage);
    expect(refused("--language", "x=y.txt")).toContain('"x=y.txt" names no language');
    expect(train("equals", "--language", "en=x=y.txt")).toEqual(done);
    expect(refused("--language", "=en-1.txt")).toContain("has no name");
    expect(refused("--language", "en=")).toContain("has no path");
    expect(refused("hi/a.txt", ...english)).toContain('"hi/a.txt" belongs to no language');
    expect(refused(...english, "--language-dev", "hi=hi.dev")).toContain(
      '--language-dev names the language "hi", but --language does not',
    );
    expect(refused(...languages, "--language-dev", "en=en.dev")).toContain('missing for the language "hi"');
    expect(refused("--language", "en=none.txt")).toContain("none.txt");
    expect(refused(...english, "--language", "hi=empty.txt")).toContain('language "hi" has no words');
    expect(refused(...languages, "--weight", "hi:0")).toContain('language "hi" has no words');
    expect(refused("--language", "en=-", "--language", "hi=-")).toContain(
      "standard input (-) is named more than once",
    );
    expect(run("inspect", "refused").code).toBe(1);
  });
});
