import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const home = scratch();
const tokenizer = writeTokenizer("gpt2");
const special = "<|endoftext|>";
const run = (args: readonly string[], given = tokenizer) =>
  bpe(["tokens", "--tokenizer", given, ...args], { cwd: home });

type Found = {
  files: { path: string; tokens: number; bytes: number; records: number | null }[];
  directories: { path: string; firstFile: number; files: number; tokens: number }[];
  total: { files: number; tokens: number; bytes: number; records: number | null; invalidBytes: number };
  skipped: { path: string }[];
};
const counted = (...args: string[]): Found => {
  const { code, stdout, stderr } = run(["--json", "-q", ...args]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
};
/** Returns how many ids `bpe encode` prints in total. */
const encoded = (...args: string[]) => {
  const { code, stdout } = bpe(["encode", "--tokenizer", tokenizer, "-q", ...args], { cwd: home });
  expect(code).toBe(0);
  return stdout.match(/\d+/g)?.length ?? 0;
};

mkdirSync(join(home, "texts/more"), { recursive: true });
const text = `${madeText(1, 900)}${special}${madeText(2, 900)}`;
put(home, "texts/a.txt", text);
put(home, "texts/more/b.txt.gz", gzipSync(text));
put(home, "texts/more/c.txt.zst", zstdCompressSync(Buffer.from(text)));
put(home, "texts/records.jsonl", [text, "", "the low"].map((t) => `${JSON.stringify({ t })}\n`).join(""));
put(home, "texts/z.zip", "PK\x03\x04 is an archive");
put(home, "empty.txt", "");
put(home, "small.txt", Buffer.from("the low\xff", "latin1"));
put(home, "-w", "the low");
put(home, "two\nlines.txt", "the low");

describe("bpe tokens", () => {
  test("prints a line for each file, for each directory that is named, and the total", () => {
    const { code, stdout, stderr } = run(["small.txt", "texts", "empty.txt", "--text-field", "t"]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^ *tokens {2,}bytes {2}bytes\/token {2}records {2}file$/);
    const rows = lines.slice(1).map((line) => line.trim().split(/ +/));
    expect(rows.map((row) => row.at(-1)!)).toEqual([
      "small.txt",
      "texts/a.txt",
      "texts/more/b.txt.gz",
      "texts/more/c.txt.zst",
      "texts/records.jsonl",
      "texts/",
      "empty.txt",
      "total",
    ]);
    const [small, a, b, c, records, sum, empty, total] = rows.map((row) => row.slice(0, -1));
    expect(a).toEqual(b!);
    expect(a).toEqual(c!);
    expect(a!.slice(0, 2)).toEqual([String(encoded("texts/a.txt")), String(Buffer.byteLength(text))]);
    expect(a![2]).toBe((Number(a![1]) / Number(a![0])).toFixed(3));
    expect([records![3], sum![3], total![3], a![3]]).toEqual(["3", "3", "3", "-"]);
    expect(empty).toEqual(["0", "0", "-", "-"]);
    for (const column of [0, 1]) {
      const inTexts = [a, b, c, records].reduce((added, row) => added + Number(row![column]), 0);
      expect(Number(sum![column])).toBe(inTexts);
      expect(Number(total![column])).toBe(inTexts + Number(small![column]));
    }
    expect(stderr).toContain('1 byte is not valid UTF-8, the first in "small.txt"');
    expect(stderr).toMatch(/^counted [\d,]+ tokens of 6 files and /m);
    expect(stderr).toContain('skipped 1 file: "texts/z.zip" is a zip archive');
  });

  test("a single file, or a single directory, has no total; a glob of several files has", () => {
    const names = (...args: string[]) =>
      run([...args, "-q"])
        .stdout.trimEnd()
        .split("\n")
        .map((line) => line.split(" ").at(-1)!);
    expect(names("small.txt")).toEqual(["file", "small.txt"]);
    expect(names("texts/more/").slice(-2)).toEqual(["texts/more/c.txt.zst", "texts/more/"]);
    expect(names("texts/more/*")).toEqual(["file", "texts/more/b.txt.gz", "texts/more/c.txt.zst", "total"]);
    expect(names("texts/more", "texts/more").slice(-2)).toEqual(["texts/more/", "total"]);
  });

  test("--json has the same numbers, and the skipped files", () => {
    const found = counted("small.txt", "texts", "texts", "--text-field", "t");
    const one = counted("texts/a.txt").total.tokens;
    expect(found.files).toHaveLength(9);
    expect(found.files[1]).toMatchObject({ path: "texts/a.txt", tokens: one, records: null });
    expect(found.directories.map(({ path, firstFile, files }) => [path, firstFile, files])).toEqual([
      ["texts", 1, 4],
      ["texts", 5, 4],
    ]);
    const sum = found.files.slice(1, 5).reduce((added, { tokens }) => added + tokens, 0);
    expect(found.directories.map(({ tokens }) => tokens)).toEqual([sum, sum]);
    expect(found.total).toMatchObject({
      files: 9,
      tokens: 2 * sum + found.files[0]!.tokens,
      invalidBytes: 1,
    });
    expect(found.skipped.map(({ path }) => path)).toEqual(["texts/z.zip", "texts/z.zip"]);
  });

  test("counts the ids of encode, with each option that changes them, and with any number of threads", () => {
    const cases = [
      ["texts/a.txt", "small.txt"],
      ["texts/a.txt", "--special-tokens-as-text"],
      ["texts", "--include", "*.jsonl", "--text-field", "t"],
      ["texts/records.jsonl", "--input-format", "text"],
      ["texts/z.zip", "--binary", "text"],
      ["two\nlines.txt", "--", "-w"],
    ];
    for (const args of cases) {
      const expected = encoded(...args);
      expect(expected).toBeGreaterThan(0);
      for (const workers of ["1", "3"]) expect(counted("-w", workers, ...args).total.tokens).toBe(expected);
    }
    expect(encoded("texts/a.txt")).not.toBe(encoded(...cases[1]!));
    const ranks = join(tokenizer, "tokenizer.tiktoken");
    const given = ["texts/a.txt", "-p", "gpt2", "-s", `${special}=1000`];
    expect(run([...given, "-q"], ranks).stdout).toBe(run(["texts/a.txt", "-q"]).stdout);
  });

  test("reads standard input and pipes, named or not", () => {
    const sh = (script: string) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(["bash", "-c", script, "bash", binary, tokenizer], {
        cwd: home,
        env: environment,
      });
      expect([exitCode, stderr.toString()]).toEqual([0, ""]);
      return stdout.toString().trimEnd().split("\n").at(-1)!.trim().split(/ +/);
    };
    const expected = counted("texts/a.txt").total.tokens;
    const [program, flags] = ['"$1" tokens', '--tokenizer "$2" -q'];
    expect(sh(`cat texts/a.txt | ${program} ${flags}`)).toEqual([
      String(expected),
      expect.any(String),
      expect.any(String),
      "-",
    ]);
    expect(sh(`${program} - ${flags} < texts/more/b.txt.gz`)[0]).toBe(String(expected));
    expect(sh(`${program} <(cat texts/a.txt) texts/a.txt ${flags} -w 2`)[0]).toBe(String(2 * expected));
    expect(sh(`cat texts/records.jsonl | ${program} --text-field t ${flags}`)[3]).toBe("3");
    expect(sh(`: | ${program} ${flags}`)).toEqual(["0", "0", "-", "-"]);
  });

  test("files without any text have no tokens", () => {
    put(home, "none.jsonl", "");
    const { files, total } = counted("empty.txt", "none.jsonl");
    expect(files.map(({ tokens, records }) => [tokens, records])).toEqual([
      [0, null],
      [0, 0],
    ]);
    expect(total).toMatchObject({ files: 2, tokens: 0, bytes: 0, records: 0, bytesPerToken: null });
  });

  test("a name with a line end stays on its line", () => {
    const { stdout } = run(["two\nlines.txt", "-q"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toEndWith("two\\x0alines.txt\n");
  });

  test("writes to stdout only, and nothing if a file is not text, or is missing", () => {
    const before = readdirSync(home);
    put(home, "cut.txt.gz", gzipSync(text).subarray(0, 200));
    for (const [args, code, message] of [
      [["texts/a.txt", "none.txt"], 1, "no such file"],
      [["texts/a.txt", "texts/z.zip"], 1, "zip archive"],
      [["texts/a.txt", "cut.txt.gz"], 1, "cut.txt.gz"],
      [["texts/a.txt", "--text-field", "t"], 2, "all inputs are plain text"],
      [["texts/a.txt", "--input-format", "ids"], 2, "--input-format ids was removed"],
      [["texts/a.txt", "-o", "x"], 2, "unknown option -o"],
      [
        ["texts/a.txt", "--special-token", "x"],
        2,
        'tokenizer.json" has its own special tokens, so others cannot be given',
      ],
    ] as const) {
      const found = run([...args]);
      expect(found.stderr).toContain(message);
      expect([found.code, found.stdout]).toEqual([code, ""]);
    }
    expect(readdirSync(home).filter((name) => name !== "cut.txt.gz")).toEqual(before);
  });

  test("a file that changes meanwhile gives no numbers, and Ctrl-C ends a run that waits", async () => {
    for (const ending of ["changed", "interrupted"] as const) {
      put(home, "changes.txt", "the low");
      const args = ["tokens", "changes.txt", "-", "--tokenizer", tokenizer, "--progress", "json"];
      const [stdin, stdout, stderr] = ["pipe", "pipe", "pipe"] as const;
      const ran = Bun.spawn([binary, ...args], { cwd: home, env: environment, stdin, stdout, stderr });
      ran.stdin.write("the low ".repeat(100_000));
      ran.stdin.flush();
      let shown = "";
      let isUnderWay = false;
      for await (const chunk of ran.stderr) {
        shown += Buffer.from(chunk).toString();
        if (isUnderWay || !shown.includes('"stage":"encoding"')) continue;
        isUnderWay = true;
        if (ending === "changed") put(home, "changes.txt", "the lot");
        if (ending === "changed") ran.stdin.end();
        else ran.kill("SIGINT");
      }
      expect(await ran.exited).toBe(ending === "changed" ? 1 : 130);
      expect(await new Response(ran.stdout).text()).toBe("");
      const { success, error } = JSON.parse(shown.trim().split("\n").at(-1)!);
      expect(success).toBe(false);
      expect(error).toMatch(
        ending === "changed" ? /"changes.txt" was \w+ while it was read/ : /^interrupted$/,
      );
    }
  });
});

test("the help of count and of tokens says in the first line which of the two to use", () => {
  const firstOf = (command: string) => bpe(["help", command]).stdout.split("\n\n")[1]!;
  expect(firstOf("count")).toMatch(/^Counts the distinct words of a corpus.*bpe tokens/s);
  expect(firstOf("tokens")).toMatch(/^Counts tokens.*bpe count/s);
});
