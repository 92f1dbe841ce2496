import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as planFile from "../../src/corpus/plan-file.ts";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

// These tests run many short processes, on machines that may do other work.
setDefaultTimeout(600_000);
const home = scratch();

const special = "<|end|>";
put(home, "first.txt", [1, 2, 3, 4, 5, 6].map((seed) => madeText(seed, 5000)).join(special));
put(home, "second.txt", madeText(7, 20_000));
const run = (...args: string[]) => bpe([...args, "-s", special, "-q"], { cwd: home });
const plan = (...args: string[]) => {
  const { code, stdout, stderr } = run("plan", "--range-size", "65536", ...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trim().split("\n");
};
const countLines = (lines: readonly string[], ...args: string[]) => {
  put(home, "plan.jsonl", `${lines.join("\n")}\n`);
  return run("count", "--ranges", "plan.jsonl", ...args);
};

test("ranges of two plans, shuffled and from stdin, count to the whole with any number of workers", () => {
  const lines = [...plan("first.txt"), ...plan("second.txt")];
  expect(lines.length).toBeGreaterThan(3);
  const { stdout: whole } = run("count", "first.txt", "second.txt");
  const shuffled = lines.toSorted((a, b) => (Bun.hash(a) < Bun.hash(b) ? -1 : 1));
  expect(countLines(shuffled).stdout).toBe(whole);
  for (const workers of ["1", "2"]) {
    const args = ["count", "--ranges", "-", "-s", special, "-q", "-w", workers];
    const stdin = Buffer.from(shuffled.join("\n"));
    const { stdout, exitCode } = Bun.spawnSync([binary, ...args], { cwd: home, env: environment, stdin });
    expect([exitCode, stdout.toString()]).toEqual([0, whole]);
  }
});

test("a normalized corpus is planned, counted and encoded in parts as by one machine", () => {
  // Characters that normal forms or lowercasing change.
  const marks = [
    "e\u0301",
    "\u0344",
    "a\u0323\u0302",
    "\u1112\u1161\u11ab",
    "\ufb01",
    "\u212b",
    "\u0130",
    "Σ",
  ];
  const words = Array.from({ length: 60_000 }, (_, i) =>
    i % 40 === 0 ? "some plain words between" : marks[(i * i + (i >> 3)) % marks.length]! + (i % 97),
  );
  put(home, "marks.txt", [words.slice(0, 50_000).join(" "), words.slice(50_000).join("\n")].join(special));
  for (const form of ["NFC", "NFD", "NFKC,lowercase"]) {
    const lines = plan("marks.txt", "--normalize", form);
    expect([form, lines.length > 2]).toEqual([form, true]);
    const { stdout: whole } = run("count", "marks.txt", "--normalize", form, "-w", "1");
    for (const workers of ["1", "2"])
      expect(countLines(lines.toReversed(), "--normalize", form, "-w", workers).stdout).toBe(whole);

    const tokenizer = `tokenizer-${form}`;
    const training = ["-n", "300", "--normalize", form, "--format", "huggingface", "-w", "1"];
    expect(run("train", "marks.txt", ...training, "-o", tokenizer).code).toBe(0);
    const forEncoding = ["plan", "marks.txt", "--range-size", "65536", "--tokenizer", tokenizer, "-q"];
    expect(bpe(forEncoding, { cwd: home }).stdout.trim().split("\n")).toEqual(lines);
    const halves = [lines.slice(0, 2), lines.slice(2)].map((half, i) => {
      put(home, `half${i}.jsonl`, half.join("\n"));
      const output = ["-o", `${tokenizer}-${i}`, "--ids-format", "part", "-w", `${i + 1}`, "-q"];
      const args = ["encode", "--ranges", `half${i}.jsonl`, "--tokenizer", tokenizer, ...output];
      expect(bpe(args, { cwd: home }).stderr).toBe("");
      return `${tokenizer}-${i}.json`;
    });
    put(home, "whole.jsonl", lines.join("\n"));
    const joined = ["ids", "join", ...halves, "--plan", "whole.jsonl", "-o", `${tokenizer}.npy`, "-q"];
    expect(bpe(joined, { cwd: home }).stderr).toBe("");
    bpe(["encode", "marks.txt", "--tokenizer", tokenizer, "-o", "one.npy", "-w", "1", "-q"], { cwd: home });
    expect(readFileSync(join(home, `${tokenizer}.npy`)).equals(readFileSync(join(home, "one.npy")))).toBe(
      true,
    );
  }
});

test("the summary names inputs that are one range, of any size", () => {
  put(home, "packed.txt.gz", Bun.gzipSync(readFileSync(join(home, "second.txt"))));
  const planned = (...files: string[]) => bpe(["plan", ...files, "-o", "packed.jsonl"], { cwd: home }).stderr;
  expect(planned("first.txt", "packed.txt.gz")).toContain(
    "get one range each: 1 file, such as packed.txt.gz\n",
  );
  expect(planned("first.txt")).not.toContain("one range each");
});

test("-o writes the same as stdout gets", () => {
  const args = ["first.txt", "second.txt"];
  const lines = plan(...args);
  const { stderr } = bpe(["plan", ...args, "-s", special, "--range-size", "64Ki", "-o", "out.jsonl"], {
    cwd: home,
  });
  expect(stderr).toContain(`planned ${lines.length} ranges of `);
  expect(readFileSync(join(home, "out.jsonl"), "utf8").trim().split("\n")).toEqual(lines);
});

describe("ranges that do not fit are refused with their line", () => {
  const lines = plan("first.txt");
  const [one, two] = lines as [string, string];
  const refused = (given: readonly string[], message: string, ...args: string[]) => {
    const { code, stdout, stderr } = countLines(given, ...args);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([1, ""]);
  };
  const edited = (change: object) => JSON.stringify({ ...JSON.parse(one), ...change });
  const forge = (line: string, change: object) => {
    const { digest, ...fields } = { ...(JSON.parse(line) as planFile.Line), ...change };
    return JSON.stringify({ ...fields, digest: planFile.digestLine(fields) });
  };

  test("different options", () => {
    for (const [message, ...options] of [
      ["the plan was made with a different pattern", "-p", "gpt4"],
      ["this run splits text at line ends (--compat huggingface)", "--compat", "huggingface"],
      ["the plan was made with different special tokens", "-s", "<|pad|>"],
      ["the plan was made without --normalize NFC", "--normalize", "NFC"],
    ] as const) {
      refused([one], `line 1 of "plan.jsonl": ${message}`, ...options);
    }
  });

  test("lines that bpe plan did not write", () => {
    refused([one, '{"path": '], 'line 2 of "plan.jsonl": the line is not JSON');
    refused([one, "7"], 'line 2 of "plan.jsonl": ');
    refused([one, "null"], 'line 2 of "plan.jsonl": it is null, not an object');
    refused([one, "[]"], 'line 2 of "plan.jsonl": it is [], not an object');
    refused([one, "{}"], 'line 2 of "plan.jsonl": it has no "path"');
    refused([edited({ start: "0" })], 'line 1 of "plan.jsonl": its "start" is "0", not a whole number');
    refused([edited({ end: 5 })], 'line 1 of "plan.jsonl": the line was edited after bpe plan wrote it');
    refused([edited({ end: 1e12 })], "is not within the file, which has");
    refused([edited({ start: -1 })], 'its "start" is -1, not a whole number from 0 to');
    refused([edited({ end: 0.5 })], 'its "end" is 0.5, not a whole number');
    refused(["", ""], '"plan.jsonl" contains no ranges');
  });

  test("lines with the right digest of absurd values", () => {
    const forged = (change: object) => forge(one, change);
    refused(
      [forged({ modifiedMs: 1e300 })],
      'line 1 of "plan.jsonl": its "modifiedMs" is 1e+300, not a time',
    );
    refused([forged({ path: "a\0b" })], 'line 1 of "plan.jsonl": its "path" is "a\\u0000b", not a path');
    refused(
      [forged({ path: "x".repeat(10_000) })],
      `line 1 of "plan.jsonl": its "path" is "${"x".repeat(99)}…, not a path`,
    );
    refused([forged({ inputFormat: "csv" })], 'its "inputFormat" is "csv", none of text, jsonl');
    refused([forged({ textField: 7 })], 'its "textField" is 7, not text');
    const inside =
      'line 1 of "plan.jsonl": the line says that its range begins or ends within a document, which is impossible at that place of "';
    refused([forged({ startsInside: true })], inside);
    refused([forged({ end: JSON.parse(one).sizeBytes, endsInside: true })], inside);
    refused([forged({ inputFormat: "jsonl", textField: "text" })], "line 1 of ");
    const elsewhere =
      'line 1 of "plan.jsonl": the range begins or ends where bpe plan would not split the file';
    refused([forged({ end: JSON.parse(one).end - 1, endsInside: false })], elsewhere);
    refused([forged({ start: 1 })], elsewhere);
    const text = readFileSync(join(home, "first.txt"));
    const [token, after] = [text.indexOf(special, 1), text.indexOf(special, 1) + special.length];
    expect(countLines([forged({ end: token, endsInside: false })]).code).toBe(0);
    refused([forged({ end: after, endsInside: false })], elsewhere);
  });

  test("lines of JSON that are not cut at line ends", () => {
    const path = put(home, "cut.jsonl", '{"text":"one"}\n{"text":"two"}\n');
    const [whole] = plan("cut.jsonl");
    const forged = (change: object) => forge(whole!, change);
    const middle = readFileSync(path).indexOf("\n") + 1;
    expect(countLines([forged({ end: middle }), forged({ start: middle })]).code).toBe(0);
    for (const end of [middle - 1, middle + 1]) {
      refused(
        [forged({ end })],
        'line 1 of "plan.jsonl": the range begins or ends where bpe plan would not split the file',
      );
      refused(
        [forged({ start: end })],
        'line 1 of "plan.jsonl": the range begins or ends where bpe plan would not split the file',
      );
    }
    refused(
      [forged({ end: middle, endsInside: true })],
      'line 1 of "plan.jsonl": the line says that its range begins or ends within a document',
    );
  });

  test("overlapping ranges, under any path", () => {
    refused([one, two, one], 'lines 1 and 3 of "plan.jsonl" both contain bytes 0 to');
    symlinkSync(join(home, "first.txt"), join(home, "link.txt"));
    const [linked] = plan("link.txt");
    refused([two, linked!, one], 'lines 2 and 3 of "plan.jsonl" both contain');
  });

  test("a text field other than the plan's, which is the default", () => {
    const records = Array.from({ length: 9 }, (_, i) => ({ text: `a text ${i}`, body: madeText(i, 30) }));
    const jsonl = records.map((record) => JSON.stringify(record)).join("\n");
    put(home, "both.jsonl", jsonl);
    const lineOf = (...args: string[]) => plan("both.jsonl", ...args)[0]!;
    const [body, text] = [lineOf("--text-field", "body"), lineOf()];
    const counts = (...args: string[]) => run("count", "both.jsonl", ...args).stdout;
    expect(countLines([body]).stdout).toBe(counts("--text-field", "body"));
    expect(countLines([body, one], "--text-field", "body").code).toBe(0);
    expect(countLines([text]).stdout).toBe(counts());
    expect(counts()).not.toBe(counts("--text-field", "body"));
    const message =
      'line 1 of "plan.jsonl": the plan was made with the text field "body", but --text-field is "text"';
    refused([body], message, "--text-field", "text");
    refused(
      [text, body],
      'line 2 of "plan.jsonl": this line says that the text of "both.jsonl" is in the field "body", but an earlier line says "text"',
    );
    const { textField, ...fields } = JSON.parse(body) as planFile.Line;
    expect(textField).toBe("body");
    refused([JSON.stringify(fields)], 'line 1 of "plan.jsonl": the line was edited after bpe plan wrote it');
  });

  test("files that are missing or were changed", () => {
    const path = put(home, "changing.txt", madeText(9, 100));
    const [line] = plan("changing.txt") as [string];
    const { mtime, mtimeMs, size } = statSync(path);
    expect(countLines([line]).code).toBe(0);
    // The modification time of a copy may have been truncated to the second. That does not count as a change.
    utimesSync(path, mtime, Math.floor(mtimeMs / 1000));
    expect(countLines([line]).code).toBe(0);
    utimesSync(path, mtime, Math.floor(mtimeMs / 1000) + 1);
    refused([one, line], 'line 2 of "plan.jsonl": "changing.txt" was changed after the plan was made');
    writeFileSync(path, "short");
    refused([one, line], `line 2 of "plan.jsonl": "changing.txt" has 5 bytes, but the plan says ${size}`);
    rmSync(path);
    refused([one, line], 'line 2 of "plan.jsonl": "changing.txt": no such file');
  });

  test("a compressed file is one range", () => {
    put(home, "packed.gz", Bun.gzipSync(readFileSync(join(home, "first.txt"))));
    put(home, "packed.zst", Bun.zstdCompressSync(readFileSync(join(home, "second.txt"))));
    const packed = plan("packed.gz", "packed.zst");
    expect(packed.length).toBe(2);
    expect(countLines(packed).stdout).toBe(run("count", "first.txt", "second.txt").stdout);
    expect(countLines([packed[1]!, ...lines], "-w", "2").stdout).toBe(
      run("count", "first.txt", "second.txt").stdout,
    );
  });

  test("a plan that would replace its file is refused, and so are counts", () => {
    const mine = put(home, "mine.txt", "mine");
    for (const args of [
      ["plan", mine, "-o", mine],
      ["count", mine, "-o", "./mine.txt"],
      ["count", mine, "--save-counts", mine],
    ]) {
      const { code, stderr } = run(...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(", which this run reads")]);
      expect(readFileSync(mine, "utf8")).toBe("mine");
    }
  });

  test("standard input that is not named cannot be planned either", () => {
    const message = "standard input cannot be in a plan: runs that read the plan";
    const piped = Bun.spawnSync([binary, "plan"], {
      cwd: home,
      env: environment,
      stdin: Buffer.from("text"),
    });
    expect([piped.exitCode, piped.stderr.toString()]).toEqual([2, expect.stringContaining(message)]);
  });

  test("a plan of one file twice is refused", () => {
    const { code, stderr } = run("plan", "first.txt", "./first.txt");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('"first.txt" and "./first.txt" are one file'),
    ]);
  });
});

// Inputs for the tests that encode ranges.

put(home, "one.txt", [1, 2, 3].map((seed) => madeText(seed, 5000)).join(special));
put(home, "empty.txt", "");
put(home, "two.txt", madeText(7, 10_000));
put(home, "packed.gz", Bun.gzipSync(madeText(8, 2000)));
put(home, "empty.gz", Bun.gzipSync(""));
const records = [20, 21, 22, 23].map((seed) => JSON.stringify({ text: madeText(seed, 4000) }));
put(home, "records.jsonl", records.join("\n"));
const files = ["one.txt", "empty.txt", "records.jsonl", "empty.gz", "packed.gz", "two.txt"];
const runPlain = (...args: string[]) => bpe([...args, "-q"], { cwd: home });
const done = (...args: string[]) => {
  const { code, stdout, stderr } = runPlain(...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};
done("train", ...files, "-n", "700", "-p", "o200k", "-s", special, "-o", "tokenizer");

const planAll = (...args: string[]) =>
  done("plan", ...files, "--range-size", "64Ki", ...args)
    .trim()
    .split("\n");
const read = (name: string) => readFileSync(join(home, name));

/**
 * Encodes `sliceLines` lines of the plan at a time, each time into a new file. Returns the names of the files in order.
 */
function encodeParts(
  lines: readonly string[],
  sliceLines: number,
  ending: string,
  ...args: string[]
): string[] {
  const names: string[] = [];
  for (let from = 0; from < lines.length; from += sliceLines) {
    const name = `part-${String(from).padStart(4, "0")}.${ending}`;
    writeFileSync(join(home, "slice.jsonl"), lines.slice(from, from + sliceLines).join("\n"));
    done("encode", "--ranges", "slice.jsonl", "-o", name, ...args);
    names.push(name);
  }
  return names;
}

test("parts, joined in order, are the ids of the whole", () => {
  const lines = planAll("--tokenizer", "tokenizer");
  expect(lines.length).toBeGreaterThan(6);
  const whole = (...args: string[]) => {
    done("encode", ...files, "-o", "whole.bin", ...args);
    return read("whole.bin");
  };
  const joined = (names: string[], headBytes = 0) =>
    Buffer.concat(names.map((name) => read(name).subarray(headBytes)));

  const plain = ["--tokenizer", "tokenizer"];
  const expected = whole(...plain);
  expect(joined(encodeParts(lines, 3, "bin", ...plain, "-w", "2")).equals(expected)).toBe(true);
  expect(joined(encodeParts(lines, 4, "npy", ...plain), 128).equals(expected)).toBe(true);
  // Encodes each range into its own file. If a range ends an input or a record, the token is appended to its ids.
  const appending = [...plain, "--append-token", special];
  expect(joined(encodeParts(lines, 1, "bin", ...appending)).equals(whole(...appending))).toBe(true);
});

test("the lines of the parts can also be joined without -o", () => {
  const lines = planAll("--tokenizer", "tokenizer");
  const parts = lines.map((line) => {
    put(home, "slice.jsonl", line);
    return done("encode", "--ranges", "slice.jsonl", "--tokenizer", "tokenizer");
  });
  const whole = done("encode", ...files, "--tokenizer", "tokenizer");
  const joined = parts.reduce(
    (text, part) => text + (text === "" || text.endsWith("\n") || part === "\n" ? "" : " ") + part,
  );
  expect(joined === whole).toBe(true);
});

test("the plan by which the words of a tokenizer were counted is also the plan for encoding", () => {
  expect(planAll("-p", "o200k", "-s", special)).toEqual(planAll("--tokenizer", "tokenizer"));
  put(home, "other.jsonl", planAll("-s", special)[0]!);
  const { code, stderr } = runPlain("encode", "--ranges", "other.jsonl", "--tokenizer", "tokenizer");
  expect(stderr).toContain('line 1 of "other.jsonl": the plan was made with a different pattern');
  expect(code).toBe(1);
  const asText = planAll("--tokenizer", "tokenizer", "--special-tokens-as-text");
  put(home, "as-text.jsonl", asText.join("\n"));
  const args = ["--tokenizer", "tokenizer", "--special-tokens-as-text"];
  expect(done("encode", "--ranges", "as-text.jsonl", ...args)).toBe(done("encode", ...files, ...args));
  expect(runPlain("encode", "--ranges", "as-text.jsonl", "--tokenizer", "tokenizer").stderr).toContain(
    "the plan was made with different special tokens",
  );
});

test("a tokenizer whose texts cannot be cut gets whole texts, and records in parts", () => {
  const json = JSON.parse(read("tokenizer/tokenizer.json").toString());
  const [token, ...more] = json.added_tokens;
  put(home, "strips.json", JSON.stringify({ ...json, added_tokens: [{ ...token, lstrip: true }, ...more] }));
  const lines = planAll("--tokenizer", "strips.json");
  const rangesOf = (file: string) => lines.filter((line) => JSON.parse(line).path === file).length;
  for (const file of files) {
    if (file === "records.jsonl") expect(rangesOf(file)).toBeGreaterThan(1);
    else expect(rangesOf(file)).toBe(1);
  }
  done("encode", ...files, "-o", "whole.bin", "--tokenizer", "strips.json");
  const parts = encodeParts(lines, 1, "bin", "--tokenizer", "strips.json");
  expect(Buffer.concat(parts.map(read)).equals(read("whole.bin"))).toBe(true);
  done("encode", ...files, "-o", "two.bin", "--tokenizer", "strips.json", "-w", "2");
  expect(read("two.bin").equals(read("whole.bin"))).toBe(true);
  put(home, "cut.jsonl", planAll("--tokenizer", "tokenizer")[0]!);
  const { code, stderr } = runPlain("encode", "--ranges", "cut.jsonl", "--tokenizer", "strips.json");
  expect(stderr).toContain('line 1 of "cut.jsonl": the range is a part of a text');
  expect(code).toBe(1);
});
