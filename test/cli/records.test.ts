import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { bpe, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";
import { randomNumbers } from "../random.ts";
import { rowsOf } from "../rows.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();

const special = "<|end|>";
const random = randomNumbers(11);
const texts = Array.from({ length: 400 }, (_, i) => {
  const text = madeText(i + 1, random(600));
  return random(5) === 0 ? `${text}${special}'s ${text}` : random(9) === 0 ? "" : text;
});
const jsonl = texts.map((text, i) => `${JSON.stringify({ id: i, text, body: "other" })}\r\n`).join("");
put(home, "texts.txt", texts.join(special));
put(home, "texts.jsonl", jsonl);
put(home, "texts.jsonl.gz", gzipSync(jsonl));
put(
  home,
  "texts.parquet",
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: "id", data: texts.map((_, i) => i), type: "INT32" },
        { name: "text", data: texts, type: "STRING" },
      ],
      rowGroupSize: 90,
      pageSize: 2000,
    }),
  ),
);

const run = (...args: string[]) => bpe(args, { cwd: home });
function done(...args: string[]): string {
  const { code, stdout, stderr } = run(...args, "-q");
  expect([args, code, stderr]).toEqual([args, 0, ""]);
  return stdout;
}
const trainArgs = ["-n", "400", "-s", special, "-p", "o200k"];
done("train", "texts.txt", ...trainArgs, "-o", "expected");
const recordFiles = ["texts.jsonl", "texts.jsonl.gz", "texts.parquet"];
const readRecord = (name: string) => JSON.parse(readFileSync(join(home, name, "training.json"), "utf8"));

describe("records give the results of their texts with a special token between them", () => {
  test("training, with any number of workers", () => {
    for (const file of recordFiles) {
      for (const workers of file === "texts.jsonl" ? ["1", "2", "7"] : ["2"]) {
        done("train", file, ...trainArgs, "-o", "trained", "-w", workers);
        expect(tokenizerFiles(join(home, "trained"))).toEqual(tokenizerFiles(join(home, "expected")));
        const [input] = readRecord("trained").inputs;
        expect(input).toMatchObject({
          path: file,
          documents: readRecord("expected").inputs[0].documents,
          invalidBytes: 0,
          format: file.includes("jsonl") ? "jsonl" : "parquet",
          textField: "text",
        });
      }
    }
  }, 600_000);

  test("counting, also as ranges of a plan", () => {
    const expected = done("count", "texts.txt", "-s", special);
    for (const file of recordFiles) expect(done("count", file, "-s", special, "-w", "2")).toBe(expected);
    for (const file of ["texts.jsonl", "texts.parquet"]) {
      const plan = done("plan", file, "-s", special, "--range-size", "64000");
      const lines = plan.trim().split("\n");
      put(home, "plan.jsonl", lines.toReversed().join("\n"));
      expect(done("count", "--ranges", "plan.jsonl", "-s", special)).toBe(expected);
    }
  });

  test("encoding: a record is a text of its own, with a line and an appended token of its own", () => {
    const tokenizer = ["--tokenizer", "expected"];
    const idsOf = (text: string) => {
      put(home, "one.txt", text === "" ? "x" : text);
      return text === "" ? "" : done("encode", "one.txt", ...tokenizer).trimEnd();
    };
    const few = texts.slice(0, 6);
    put(home, "few.jsonl", few.map((text) => `${JSON.stringify({ text })}\n`).join(""));
    const lines = few.map(idsOf);
    expect(done("encode", "few.jsonl", ...tokenizer)).toBe(lines.map((line) => `${line}\n`).join(""));
    const id = done("encode", "one.txt", ...tokenizer, "--append-token", special)
      .trim()
      .split(" ")
      .at(-1);
    expect(done("encode", "few.jsonl", ...tokenizer, "--append-token", special)).toBe(
      lines.map((line) => `${line} ${id}\n`.trimStart()).join(""),
    );

    const whole = done("encode", "texts.jsonl", ...tokenizer, "--append-token", special);
    expect(whole.split("\n").length).toBe(texts.length + 1);
    expect(done("encode", "texts.parquet", ...tokenizer, "--append-token", special)).toBe(whole);
    const expected = Uint16Array.from(whole.trim().split(/\s+/).map(Number));
    for (const file of recordFiles) {
      for (const workers of file === "texts.jsonl" ? ["1", "2"] : ["2"]) {
        const args = [...tokenizer, "-w", workers, "--append-token", special];
        done("encode", file, ...args, "-o", "ids.bin");
        expect(readFileSync(join(home, "ids.bin")).equals(Buffer.from(expected.buffer))).toBe(true);
      }
    }
  }, 600_000);
});

describe("--text-field and --input-format", () => {
  test("name another field, and read files of any name", () => {
    const bodies = texts.slice(0, 50);
    put(home, "bodies.json", bodies.map((body) => `${JSON.stringify({ body, text: 5 })}\n`).join(""));
    put(home, "bodies.txt", bodies.join(special));
    const field = ["--input-format", "jsonl", "--text-field", "body"];
    const counted = done("count", "bodies.json", ...field, "-s", special);
    expect(counted).toBe(done("count", "bodies.txt", "-s", special));
    expect(done("count", "texts.jsonl", "--input-format", "text")).toContain("body");
  });

  test("an empty corpus is an error, even if only reading reveals it", () => {
    put(home, "blank.jsonl", "\n \r\n");
    put(home, "empty.jsonl", '{"text":""}\n');
    for (const file of ["blank.jsonl", "empty.jsonl"]) {
      const { code, stderr } = run("train", file, "-n", "300", "-o", "empty");
      expect([code, stderr]).toEqual([
        1,
        `bpe: error: the corpus is empty: "${file}" has no record with text in it\nhint: name at least one file that contains text\n`,
      ]);
    }
  });

  test("are errors if they match nothing", () => {
    const cases = rowsOf(`
      texts.txt --text-field body | 2 | --text-field "body" does not apply: all inputs are plain text
      texts.jsonl --text-field title | 1 | line 1 of "texts.jsonl": no field "title"
      texts.jsonl --text-field id | 1 | line 1 of "texts.jsonl": the field "id" is not a string
      texts.parquet --text-field title | 1 | "texts.parquet" has no column "title"
      texts.parquet --text-field id | 1 | column "id" contains values of the type INT32, not text
      texts.txt --input-format jsonl | 1 | line 1 of "texts.txt": not valid JSON
      texts.txt --input-format parquet | 1 | "texts.txt" is not a Parquet file
      texts.txt --input-format json | 1 | record 1 of "texts.txt" is not a JSON object
      - --input-format parquet | 2 | Parquet cannot be read from standard input
      /dev/null --input-format parquet | 1 | Parquet cannot be read from "/dev/null", which is not a regular file
      texts.txt --include *.txt | 2 | --include selects files in directories
      tree --include *.csv | 1 | no file in "tree" matches --include *.csv
    `);
    for (const [args, code, error] of cases) {
      const finished = run("count", ...args!.split(" "));
      expect(finished.stderr).toStartWith(`bpe: error: `);
      expect(finished.stderr).toContain(error!);
      expect([args, finished.code, finished.stdout]).toEqual([args, Number(code), ""]);
    }
  });
});

describe("directories", () => {
  mkdirSync(join(home, "tree", "sub", ".hidden"), { recursive: true });
  put(home, "tree/b.txt", "b words here");
  put(home, "tree/a.jsonl", '{"text":"a record"}\n');
  put(home, "tree/sub/c.md", "c more words");
  put(home, "tree/sub/.hidden/d.txt", "d is hidden");

  test("are the files below them, each read in its own format", () => {
    done("train", "tree", "-n", "260", "-o", "of-tree");
    const paths = readRecord("of-tree").inputs.map((input: { path: string }) => input.path);
    expect(paths).toEqual(["tree/a.jsonl", "tree/b.txt", "tree/sub/c.md"]);
    put(home, "all.txt", "a record<|>b words here<|>c more words");
    done("train", "all.txt", "-n", "261", "-s", "<|>", "-o", "of-all");
    expect(mergesOf(join(home, "of-tree"))).toEqual(mergesOf(join(home, "of-all")));
  });

  test("that contain the result are an error as soon as there is a result", () => {
    mkdirSync(join(home, "mixed"));
    put(home, "mixed/a.txt", "some words");
    done("train", "mixed", "-n", "257", "-o", "mixed/tokenizer");
    const { code, stderr } = run("train", "mixed", "-n", "257", "-o", "mixed/tokenizer");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /error: "mixed\/tokenizer\/.*" is in --output "mixed\/tokenizer", which this run writes\n/,
    );
    done("train", "mixed", "--include", "a.*", "-n", "257", "-o", "mixed/tokenizer");
  });
});

test("a megabyte of noise in any format ends in an error or a right result", () => {
  const noise = Uint8Array.from({ length: 1e6 }, () => random(256));
  const isParquet = noise.slice();
  isParquet.set(Buffer.from("PAR1"));
  isParquet.set(Buffer.from("PAR1"), noise.length - 4);
  for (const [name, content] of [
    ["noise.jsonl", noise],
    ["noise.parquet", noise],
    ["PAR1.parquet", isParquet],
  ] as const) {
    put(home, name, content);
    for (const workers of ["1", "2"]) {
      const args = ["-n", "300", "-o", "noise", "--binary", "text"];
      const { code, stderr } = run("train", name, ...args, "-w", workers);
      expect([name, code]).toEqual([name, 1]);
      expect(stderr.split("\n")[0]).toMatch(/^bpe: error: (line 1 of )?"\w+\.\w+"/);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  }
  put(home, "noise.txt", noise);
  const noisy = ["train", "noise.txt", "-n", "300", "-o", "noise"];
  expect(run(...noisy).stderr).toContain('"noise.txt" is not text');
  expect(run(...noisy, "--binary", "text").code).toBe(0);
});
