import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { commands } from "../../src/main/all-commands.ts";
import { binary, bpe, environment, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";
import { randomNumbers } from "../random.ts";
import { isThorough, turns } from "../rounds.ts";
import { writeFooterBomb, writeTinyRows } from "../stress/bombs.ts";
import { hostileInputs, limitedCommands, runLimited, wrongOf } from "../stress/memory.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

/** Declares a slow test, which runs only if the tests are thorough. */
const nightly = test.skipIf(!isThorough);

const home = scratch();
const at = (name: string) => join(home, name);

/** Returns words of random letters, most of them distinct. */
function manyWords(seed: number, sizeBytes: number): string {
  const random = randomNumbers(seed);
  const bytes = new Uint8Array(sizeBytes);
  for (let pos = 0; pos < sizeBytes; pos++) bytes[pos] = random(8) === 0 ? 32 : 97 + random(26);
  return Buffer.from(bytes).toString("latin1");
}

const many = put(home, "many.txt", manyWords(1, 5_000_000) + madeText(2, 1000));
const small = put(home, "small.txt", madeText(3, 2000));
const leastOf = (stderr: string) => /--memory-limit (\d+MB)/.exec(stderr)?.[1];

/** Runs with a separate directory for temporary files, and expects it to be empty at the end. */
function run(args: readonly string[]) {
  const temporary = at("temporary");
  mkdirSync(temporary, { recursive: true });
  const { exitCode, stdout, stderr } = Bun.spawnSync([binary, ...args, "-q"], {
    cwd: home,
    env: { TMPDIR: temporary },
  });
  expect(readdirSync(temporary)).toEqual([]);
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("inputs without an end", () => {
  run(["train", small, "-n", "300", "-o", "learned"]);
  test.each([
    ["--counts", ["train", "--counts", "/dev/zero", "-n", "300", "-o", "x"], "is a device"],
    ["--text", ["eval", at("learned"), "--text", "/dev/zero"], "is a device"],
    ["--ranges", ["count", "--ranges", "/dev/zero"], "is not a regular file"],
  ])("as %s is refused, and nothing is left of it", (_, args, message) => {
    const { code, stderr } = run(args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toStartWith("bpe: error: ");
    expect(stderr).not.toContain("internal error");
  });
});

describe("--memory-limit", () => {
  test.each([
    "eval",
    "diff",
  ])("of %s has room for its tokenizers, threads and words, or is refused before it is passed", async (command) => {
    expect(run(["train", small, "-n", "290", "-o", "other", "-w", "1"]).code).toBe(0);
    const measure = (limit: number) => {
      const args = [command, at("learned"), at("other"), "--text", many, "-w", "1"];
      return runLimited(binary, [...args, "--memory-limit", `${limit}MB`], home);
    };
    const refused = await measure(130);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/needs a.* \d+ MB of memory/)]);
    expect(wrongOf(refused, 130e6)).toBeUndefined();
    const measured = await measure(200);
    expect([measured.code, wrongOf(measured, 200e6)]).toEqual([0, undefined]);
  });

  test("is a size; anything else is wrong use", () => {
    for (const text of ["much", "12 elephants", "-5", "0"]) {
      const { code, stderr } = run(["train", small, "-n", "300", "-o", "x", `--memory-limit=${text}`]);
      expect(code).toBe(2);
      expect(stderr).toStartWith("bpe: error: --memory-limit is ");
    }
  });

  test("that is too small for the program is an error with the least that works, which works", () => {
    for (const workers of ["1", "2"]) {
      const args = ["train", small, "-n", "300", "-o", `small-${workers}`, "-w", workers];
      const { code, stderr } = run([...args, "--memory-limit", "20MB"]);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^bpe: error: counting.* needs at least \d+ MB of memory; the limit is 20 MB\nhint: /,
      );
      for (const [limit, shown] of [
        ["1KB", "1 kB"],
        ["1999999", "1.9 MB"],
      ] as const)
        expect(run([...args, "--memory-limit", limit]).stderr).toContain(
          `of memory; the limit is ${shown}\n`,
        );
      expect(run([...args, "--memory-limit", leastOf(stderr)!]).code).toBe(0);
    }
  });

  nightly("64 workers train where two do, however few cores there are", () => {
    const texts = join(home, "texts");
    mkdirSync(texts);
    // The files are compressed, so the size of their text is unknown, and memory is planned for any size.
    for (let k = 0; k < 200; k++) put(texts, `${k}.gz`, gzipSync(madeText(k, 300)));
    for (const workers of ["2", "64"]) {
      const args = ["train", texts, "-n", "300", "-o", `workers-${workers}`, "--memory-limit", "4GB"];
      expect(run([...args, "-w", workers])).toMatchObject({ code: 0, stderr: "" });
    }
    expect(tokenizerFiles(at("workers-64"))).toEqual(tokenizerFiles(at("workers-2")));
  });

  test("of encode limits the threads and long lines; input that does not fit is refused with the number", () => {
    expect(run(["train", small, "-n", "300", "-o", "encoder"]).code).toBe(0);
    const encode = (...args: string[]) => run(["encode", small, "--tokenizer", "encoder", ...args]);
    const { stdout } = encode();
    expect(encode("--memory-limit", "100MB")).toEqual({ code: 0, stdout, stderr: "" });
    const { code, stderr } = encode("--memory-limit", "100MB", "-w", "8");
    expect([code, stderr]).toEqual([1, expect.stringContaining("encoding with 8 workers needs about 2")]);
    const line = put(home, "one-line.jsonl", `{"text":"${"a".repeat(40_000_000)}"}\n`);
    const long = run(["encode", line, "--tokenizer", "encoder", "--memory-limit", "90MB", "-o", "x.bin"]);
    expect([long.code, long.stderr]).toEqual([
      1,
      expect.stringMatching(/the limit is [\d.]+ MB\nhint: raise --memory-limit/),
    ]);
  });

  test("changes nothing in the result, whatever was moved to disk", () => {
    const args = ["train", many, "-n", "400"];
    expect(run([...args, "-o", "plenty", "-w", "1"]).code).toBe(0);
    for (const workers of turns(["2", "1"], 0)) {
      const out = `tight-${workers}`;
      const least = leastOf(run([...args, "-o", out, "-w", workers, "--memory-limit", "20MB"]).stderr)!;
      const { code, stderr } = run([...args, "-o", out, "-w", workers, "--memory-limit", least]);
      // The limit suffices for counting. If merging needs more, the error says how much.
      if (code === 1) {
        expect(stderr).toMatch(/training needs about \d+ MB of memory; the limit is/);
        const more = `${/needs about (\d+) MB/.exec(stderr)![1]}MB`;
        expect(run([...args, "-o", out, "-w", workers, "--memory-limit", more]).code).toBe(0);
      }
      expect(tokenizerFiles(at(out))).toEqual(tokenizerFiles(at("plenty")));
    }
  }, 600_000);

  test("holds for counts, too", () => {
    expect(run(["count", many, "-w", "1", "--save-counts", "plenty.counts"]).code).toBe(0);
    const args = ["count", many, "-w", "2", "--save-counts", "tight.counts"];
    const least = leastOf(run([...args, "--memory-limit", "20MB"]).stderr)!;
    expect(run([...args, "--memory-limit", least])).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(at("tight.counts")).equals(readFileSync(at("plenty.counts")))).toBe(true);
  }, 600_000);

  test("without a directory to spill to is an error that names the directory", () => {
    const args = ["count", many, "-w", "1", "--save-counts", "x.counts", "-q"];
    const least = leastOf(bpe([...args, "--memory-limit", "20MB"], { cwd: home }).stderr)!;
    const { exitCode, stderr } = Bun.spawnSync([binary, ...args, "--memory-limit", least], {
      cwd: home,
      env: { TMPDIR: at("nowhere") },
    });
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toContain(
      `no directory for temporary files can be made in "${at("nowhere")}": no such directory`,
    );
    expect(run(["count", small, "-w", "1", "--save-counts", "x.counts"]).code).toBe(0);
  });

  test("and a full disk is an error, and nothing is left", () => {
    const args = `count ${many} -w 1 --save-counts x.counts -q --memory-limit`;
    const least = leastOf(run([...args.split(" "), "20MB"]).stderr)!;
    const temporary = at("temporary");
    const { exitCode, stderr } = Bun.spawnSync(
      ["bash", "-c", `ulimit -f 1000; exec ${binary} ${args} ${least}`],
      {
        cwd: home,
        env: { TMPDIR: temporary },
      },
    );
    expect(stderr.toString()).toMatch(
      /^bpe: error: words cannot be written to ".*temporary\/\.bpe-.*": the file would be larger/,
    );
    expect(exitCode).toBe(1);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

test("an allocation that the system refuses is an error, and no result is incomplete", () => {
  const out = at("rationed");
  // Limits of the address space in kB. Below some 400 MB, the runtime itself does not start.
  for (const limit of [450_000, 500_000, 600_000]) {
    const command = `ulimit -v ${limit}; exec ${binary} train ${many} -n 300 -w 2 -q -o ${out}`;
    const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", command], { cwd: home, env: environment });
    if (existsSync(out)) expect(mergesOf(out).length).toBe(44);
    // If an allocation of the runtime itself is refused, the runtime aborts, which `bpe` cannot prevent.
    if (exitCode === null) continue;
    if (exitCode !== 0) {
      expect(exitCode).toBe(1);
      expect(stderr.toString()).toMatch(/^bpe: error: (out of memory|not enough memory for)/);
    }
    expect(readdirSync(home).filter((name) => name.includes("rationed.bpe"))).toEqual([]);
  }
}, 600_000);

describe("a text that is too long for the memory", () => {
  const repeats = 2_400_000;
  const long = "some words ".repeat(repeats);
  put(home, "line.jsonl", `{"text":"a"}\n{"text":"${long}"}\n`);
  put(home, "line.json.gz", gzipSync(`[{"text":"a"},\n{"text":"${long}"}]`));
  const columnData = [
    { name: "text", data: ["a", long], type: "STRING" as const, encoding: "PLAIN" as const },
  ];
  const compressors = { ZSTD: zstdCompressSync };
  const options = {
    columnData: columnData.map((column) => ({ ...column, codec: "ZSTD" as const })),
    compressors,
  };
  put(home, "page.parquet", new Uint8Array(parquetWriteBuffer({ ...options, pageSize: 1 << 30 })));
  const cases = [
    ["line.jsonl", 'line 2 of "line.jsonl" needs about'],
    ["line.json.gz", 'record 2 of "line.json.gz" needs about'],
    ["page.parquet", 'the page of row 1 of "page.parquet" needs about'],
  ] as const;

  nightly("may be one word of plain text, or what a Parquet file says about itself", () => {
    put(home, "word.txt", `two words ${"a".repeat(25_000_000)}`);
    put(home, "word.txt.gz", gzipSync(readFileSync(at("word.txt"))));
    writeFooterBomb(at("footer.parquet"), 300_000);
    const limits = ["-w", "1", "--memory-limit", "130MB"];
    const wordMessage = "the text from byte 9 on without an end of a word needs about";
    for (const [name, message] of [
      ["word.txt", `"word.txt": ${wordMessage}`],
      ["word.txt.gz", `"word.txt.gz": ${wordMessage}`],
      ["footer.parquet", 'the metadata of "footer.parquet" needs about'],
    ] as const) {
      const { code, stderr } = run(["count", name, ...limits]);
      expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(message)]);
    }
    const counted = run(["count", "word.txt", "-w", "1", "--memory-limit", "300MB"]);
    expect([counted.code, counted.stderr, counted.stdout.length]).toMatchObject([0, "", expect.any(Number)]);
    expect(counted.stdout.length).toBeGreaterThan(25_000_000);
    expect(run(["count", "footer.parquet", "-w", "1", "--memory-limit", "700MB"]).stderr).toContain(
      'has no column "text"',
    );
  });

  nightly("is read by another thread than the words before it, which go to disk if they must", () => {
    const inputs = [many, "page.parquet", small, "line.jsonl"];
    const counted = (name: string, ...args: string[]) => {
      const { code, stderr } = run(["count", ...inputs, ...args, "-o", name]);
      expect([args, code, stderr]).toEqual([args, 0, ""]);
      return readFileSync(at(name), "utf8");
    };
    const plenty = counted("plenty.tsv", "-w", "2", "--memory-limit", "2GB");
    expect(counted("tight.tsv", "-w", "1", "--memory-limit", "230MB") === plenty).toBe(true);
  });

  test("is an error that names it before it is read; with more memory it is read", () => {
    const limits = [
      ["1", "120MB"],
      ["2", "199MB"],
    ] as const;
    for (const [turn, [name, message]] of cases.entries()) {
      for (const [workers, limit] of turns(limits, turn)) {
        const { code, stderr } = run(["count", name, "-w", workers, "--memory-limit", limit]);
        expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(message)]);
      }
      const counted = run(["count", name, "-w", "1", "--memory-limit", "400MB"]);
      expect(counted).toMatchObject({ code: 0, stderr: "" });
      expect(counted.stdout).toEndWith(
        `\n\u0120words\t${repeats}\n\u0120some\t${repeats - 1}\n\u0120\t1\na\t1\nsome\t1\n`,
      );
    }
  });
});

describe("inputs made to fill the memory are done within 1.2 times the limit, or refused with the memory they need", () => {
  const limitMegabytes = 130;
  const few = "some words, some other words\n".repeat(20);
  const normal = ["--normalize", "NFC,NFD,NFKC,NFKD,lowercase"];
  put(home, "few.txt", few);
  const trained = (name: string, args: readonly string[]) => {
    expect(run(["train", "few.txt", "-n", "280", "-w", "1", "-o", name, ...args]).code).toBe(0);
  };

  test("every command with --memory-limit that reads text is among them", () => {
    const limited = commands.filter(({ reads, options }) => {
      const has = (name: string) => options.some((option) => option.name === name);
      return has("memory-limit") && (reads === "corpus" || has("text"));
    });
    expect(Object.keys(limitedCommands)).toEqual(limited.map(({ name }) => name));
  });

  test.each([
    ["decomposing.txt", ["count", "encode", "eval"]],
    ["word.txt", ["tokens", "eval"]],
  ] as const)("%s by %p", async (name, commands) => {
    trained("normal", name === "decomposing.txt" ? normal : []);
    hostileInputs.find((input) => input.name === name)!.write(at(name), limitMegabytes);
    for (const command of turns<(typeof commands)[number]>(commands, 1)) {
      const args = limitedCommands[command]!(name, "normal", name === "decomposing.txt" ? normal : []);
      const limit = ["--memory-limit", `${limitMegabytes}MB`, "-w", "1"];
      const ended = await runLimited(binary, [...args, ...limit], home);
      expect([command, wrongOf(ended, limitMegabytes * 1e6)]).toEqual([command, undefined]);
      const refused = expect.stringMatching(
        /^bpe: error: ("|the longest word of a text needs about|counting needs at least)/,
      );
      expect([command, ended.code, ended.stderr]).toEqual([command, 1, refused]);
    }
  });

  test("millions of rows leave no garbage, including in a worker", async () => {
    writeTinyRows(at("rows.parquet"), "a", 6_000_000, 30);
    const args = ["count", "rows.parquet", "-o", "counts.tsv", "--memory-limit", "200MB", "-w", "2"];
    const ended = await runLimited(binary, args, home);
    expect([ended.code, wrongOf(ended, 200e6)]).toEqual([0, undefined]);
  });

  test("many combining marks in a record take the same memory as in a text", () => {
    trained("composing", ["--normalize", "NFC,NFD"]);
    const marks = "\u0344".repeat(1_500_000);
    put(home, "marks.jsonl", `{"text":"a"}\n${JSON.stringify({ text: `a${marks} b` })}\n`);
    const encode = (limit: string) =>
      run(["tokens", "marks.jsonl", "--tokenizer", "composing", "-w", "1", "--memory-limit", limit]);
    const { code, stderr } = encode("130MB");
    expect([code, stderr]).toEqual([1, expect.stringContaining('"marks.jsonl": the text from byte ')]);
    expect(encode("250MB")).toMatchObject({ code: 0, stderr: "" });
  });

  test("a word that fits in memory gets the same ids as ever", () => {
    trained("plain", []);
    put(home, "long-word.txt", "someword".repeat(40_000));
    const encode = (limit: string) =>
      run(["encode", "long-word.txt", "--tokenizer", "plain", "-w", "1", "--memory-limit", limit]);
    const tight = encode("150MB");
    expect(tight).toMatchObject({ code: 0, stderr: "" });
    expect(tight.stdout === encode("2GB").stdout).toBe(true);
  });
});
