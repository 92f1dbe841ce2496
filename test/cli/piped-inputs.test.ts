import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
  binary,
  bpe,
  environment,
  put,
  scratch,
  tokenizerFiles,
  untilItCatches,
  wordLines,
} from "../binary.ts";
import { randomNumbers } from "../random.ts";
import { turns } from "../rounds.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

// These tests start dozens of processes, which takes long on a busy machine.
setDefaultTimeout(600_000);

const home = scratch();

const text = Array.from({ length: 200 }, (_, n) => madeText(n, 800)).join("<|end|>\n");
const specialToken = "<|end|>";
const settings = ["-n", "600", "-s", specialToken, "-q"];
const corpus = put(home, "corpus.txt", text);
const gzip = put(home, "corpus.gz", gzipSync(text));
const zstd = put(home, "corpus.zst", zstdCompressSync(text));

/** Runs the binary with these bytes, or this open file, on its standard input. */
function piped(args: readonly string[], stdin: Uint8Array | number) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([binary, ...args], {
    env: environment,
    cwd: home,
    stdin,
  });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Runs a shell command in which $0 is the binary. */
function shell(line: string) {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", line, binary], {
    cwd: home,
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  return { code: status, stdout, stderr };
}

const inOrder = (records: { path: string; sizeBytes: number; documents: number }[]) =>
  records.map(({ path, sizeBytes, documents }) => [path, sizeBytes, documents]);

describe("streams and compressed files", () => {
  test("give the files of the plain text, with any number of workers", () => {
    expect(bpe(["train", corpus, ...settings, "-o", join(home, "plain")]).code).toBe(0);
    const expected = tokenizerFiles(join(home, "plain"));
    for (const [turn, workers] of ["1", "7", "2"].entries()) {
      const output = join(home, `out-${workers}`);
      const train = (input: string) => ["train", input, ...settings, "-w", workers, "-o", output];
      const line = (input: string) => train(input).join(" ").replace(specialToken, `'${specialToken}'`);
      const ways = [
        () => bpe(train(gzip)),
        () => bpe(train(zstd)),
        () => piped(train("-"), Buffer.from(text)),
        () => piped(train("-"), gzipSync(text)),
        () => piped(train("-"), openSync(zstd, "r")),
        () => shell(`cat corpus.txt | "$0" ${line("-")}`),
        () => shell(`cat corpus.txt | "$0" ${line("/dev/stdin")}`),
        () => shell(`"$0" ${line("<(cat corpus.gz)")}`),
        () => shell(`mkfifo pipe; cat corpus.txt > pipe & "$0" ${line("pipe")}; rm pipe`),
      ];
      for (const run of workers === "2" ? ways : turns(ways.slice(0, 3), turn)) {
        expect(run()).toEqual({ code: 0, stdout: "", stderr: "" });
        expect(tokenizerFiles(output)).toEqual(expected);
      }
    }
  });

  test("are counted, encoded and decoded as files are, in their order", () => {
    const tokenizer = ["--tokenizer", "plain", "-q"];
    const counts = bpe(["count", corpus, gzip, zstd, "-q"]).stdout;
    const again = shell('cat corpus.txt | "$0" count corpus.gz - <(cat corpus.zst) -q');
    expect(again).toEqual({ code: 0, stdout: counts, stderr: "" });

    const ids = bpe(["encode", corpus, ...tokenizer], { cwd: home }).stdout;
    for (const workers of ["1", "2"]) {
      const line = `cat corpus.txt | "$0" encode corpus.zst - corpus.gz ${tokenizer.join(" ")} -w ${workers}`;
      expect(shell(line).stdout === ids.repeat(3)).toBe(true);
    }
    expect(piped(["decode", "-", ...tokenizer], Buffer.from(ids)).stdout === text).toBe(true);
    expect(piped(["decode", "-", ...tokenizer], gzipSync(ids)).stdout === text).toBe(true);
  });

  test("are in the record with their sizes: a file's own, for a stream the bytes received", () => {
    const args = ["train", "corpus.gz", "-", ...settings, "-o", "recorded"];
    expect(piped(args, Buffer.from(text)).code).toBe(0);
    const record = JSON.parse(readFileSync(join(home, "recorded", "training.json"), "utf8"));
    expect(inOrder(record.inputs)).toEqual([
      ["corpus.gz", gzipSync(text).length, 200],
      ["-", Buffer.byteLength(text), 200],
    ]);
  });

  test("lines of JSON can be streams", () => {
    const lines = text.split("<|end|>").map((part) => JSON.stringify({ text: part }));
    const expected = bpe(["count", put(home, "records.jsonl", lines.join("\n")), "-q"]).stdout;
    put(home, "records.jsonl.zst", zstdCompressSync(lines.join("\n")));
    for (const workers of ["1", "2"]) {
      const packed = bpe(["count", "records.jsonl.zst", "-q", "-w", workers], { cwd: home });
      expect(packed).toEqual({ code: 0, stdout: expected, stderr: "" });
      const args = ["count", "-", "--input-format", "jsonl", "-q", "-w", workers];
      const stream = piped(args, Buffer.from(lines.with(150, "[]").join("\n")));
      expect([stream.code, stream.stderr]).toEqual([
        1,
        expect.stringContaining("line 151 of standard input: not a JSON"),
      ]);
    }
  });
});

describe("errors of a stream", () => {
  const cases: [string, string, string][] = [
    ["nothing packed in it", `gzip < /dev/null | "$0" count -`, "standard input is empty"],
    ["a directory", `"$0" count - < .`, "standard input cannot be read: it is a directory"],
    [
      "cut short",
      `head -c 3000 corpus.gz | "$0" count -`,
      "standard input ends in the middle of its gzip data",
    ],
    [
      "a file cut short",
      `head -c 3000 corpus.zst > cut; "$0" count cut`,
      '"cut" ends in the middle of its zstd',
    ],
    [
      "garbage at the end",
      `cat corpus.gz corpus.txt | "$0" count - -w 2`,
      "standard input has damaged gzip data",
    ],
    ["UTF-16", `iconv -t UTF-16 corpus.txt | "$0" count - -w 2`, "standard input is UTF-16, not UTF-8"],
  ];
  for (const [what, line, error] of cases) {
    test(what, () => {
      const { code, stdout, stderr } = shell(line);
      expect(stderr).toContain(`bpe: error: `);
      expect(stderr).toContain(error);
      expect(stderr).not.toContain("    at ");
      expect([code, stdout]).toEqual([1, ""]);
    });
  }
});

test("random bytes, whatever format they pretend to have, are counted, or refused with a message", () => {
  const random = randomNumbers(7);
  const noise = Buffer.from(Array.from({ length: 1e6 }, () => random(256)));
  const magics = [
    "",
    "1f8b08",
    "1f8b0800000000000003",
    "28b52ffd",
    "28b52ffd20ff",
    "502a4d1804000000",
    "5e2a4d18ffff0f00",
  ];
  for (const magic of magics) {
    const bytes = Buffer.concat([Buffer.from(magic, "hex"), noise]);
    const path = put(home, "noise", bytes);
    for (const { code, stderr } of [
      bpe(["count", path, "-w", "1", "-q"]),
      bpe(["count", path, "-w", "2", "-q"]),
      piped(["count", "-", "-q", "-w", "2"], bytes),
      piped(["decode", "-", "--tokenizer", "plain", "-q"], bytes),
    ]) {
      expect([0, 1]).toContain(code!);
      if (code === 1) expect(stderr).toMatch(/^bpe: error: [^\n]*\n(hint: [^\n]*\n)?$/);
    }
  }
});

test("hundreds of files are not all open at the same time", () => {
  const many = join(home, "many");
  mkdirSync(many);
  for (let n = 0; n < 150; n++) {
    put(many, `${n}.txt`, `word word${n}`);
    put(many, `${n}.gz`, gzipSync(`word word${n}`));
  }
  for (const workers of ["1", "2"]) {
    const { code, stdout } = shell(`ulimit -n 64; "$0" count many -q -w ${workers} | sed -n 2,3p`);
    expect([code, stdout]).toEqual([0, "Ġword\t300\nword\t300\n"]);
  }
});

test("if no file is named, piped or redirected data is read; otherwise that is an error", () => {
  const tokenizer = ["--tokenizer", join(home, "plain")];
  const bytes = Buffer.from(text.slice(0, 20_000));
  put(home, "short.txt", bytes);
  for (const args of [["count"], ["encode", ...tokenizer]]) {
    const wanted = bpe([...args, "short.txt", "-q"], { cwd: home }).stdout;
    expect(piped([...args, "-q"], bytes).stdout).toBe(wanted);
    expect(shell(`"$0" ${args.join(" ")} -q < short.txt`).stdout).toBe(wanted);
  }
  expect(piped(["decode", ...tokenizer, "-q"], Buffer.from("97 98")).stdout).toBe("ab");
  expect(piped(["train", "-n", "300", "-o", join(home, "from-pipe"), "-q"], bytes).code).toBe(0);
  rmSync(join(home, "from-pipe"), { recursive: true });
  for (const redirected of ["< /dev/null", "<&-"]) {
    const { code, stdout } = shell(`"$0" count ${redirected} 2>&1`);
    expect([code, stdout]).toEqual([2, expect.stringContaining("bpe: error: <file>... is missing")]);
  }
  // With an option such as --counts, no file need be named, and piped data is not read.
  bpe(["count", "short.txt", "-q", "-o", "known.counts"], { cwd: home });
  expect(shell(`echo other | "$0" count --counts known.counts -q`).stdout).toBe(
    bpe(["count", "--counts", "known.counts", "-q"], { cwd: home }).stdout,
  );
  rmSync(join(home, "known.counts"));
});

describe("a silent pipe", () => {
  test("is waited for, and a signal ends the waiting", async () => {
    const before = readdirSync(home).sort();
    const fifo = join(home, "silent");
    spawnSync("mkfifo", [fifo]);
    const cases = [
      ["train", "-", "-n", "300", "-o", join(home, "never"), "-w", "1"],
      ["train", "-", "-n", "300", "-o", join(home, "never"), "-w", "2"],
      ["count", fifo],
      ["encode", "-", "--tokenizer", join(home, "plain")],
      ["decode", "-", "--tokenizer", join(home, "plain")],
    ];
    for (const args of cases) {
      const run = Bun.spawn([binary, ...args], {
        stdin: "pipe",
        stdout: "ignore",
        stderr: "ignore",
        env: environment,
      });
      if (args[1] === "-") run.stdin.write(args[0] === "decode" ? "1 2" : "some text");
      if (args[1] === "-") run.stdin.flush();
      await untilItCatches(run, "SIGINT");
      await Bun.sleep(100);
      expect(run.exitCode).toBe(null);
      run.kill("SIGINT");
      expect(await run.exited).toBe(130);
    }
    rmSync(fifo);
    expect(readdirSync(home).sort()).toEqual(before);
  });

  test("is read even if others made it non-blocking", () => {
    const script = `import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(r, False)
run = subprocess.Popen([sys.argv[1], "count", "-", "-q"], stdin=r, stdout=subprocess.PIPE)
time.sleep(0.2); os.write(w, b"a a "); time.sleep(0.2); os.write(w, b"a"); os.close(w); os.close(r)
sys.stdout.write(run.stdout.read().decode())`;
    const { status, stdout, error } = spawnSync("python3", ["-c", script, binary], { encoding: "utf8" });
    if (error !== undefined) return; // no Python here
    expect([status, wordLines(stdout)]).toEqual([0, ["Ġa\t2", "a\t1"]]);
  });
});

test("progress of a stream has no total; for a compressed file the total is its size on disk", () => {
  const events = (args: string[], stdin: Uint8Array) => {
    const { stderr } = piped(["count", ...args, "--progress", "json"], stdin);
    const parsed = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return parsed.filter(({ event }) => event === "progress");
  };
  const [stream] = events(["-", "-w", "1"], Buffer.from(text));
  expect([stream.total, stream.share, stream.secondsLeft]).toEqual([null, null, null]);
  expect(stream.done).toBeGreaterThanOrEqual(0);
  const packed = events([gzip, "-w", "1"], Buffer.from(""));
  expect(packed[0].total).toBe(gzipSync(text).length);
  expect(packed.at(-1).share).toBeLessThanOrEqual(1);
  expect(packed.at(-1).share).toBeGreaterThanOrEqual(0);
});
