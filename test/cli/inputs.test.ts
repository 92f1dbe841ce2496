import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { binary, bpe, put, scratch, wordLines } from "../binary.ts";
import { turns } from "../rounds.ts";
import { heads } from "../unit/corpus/heads.ts";

const home = scratch();

const run = (...args: string[]) => bpe(args, { cwd: home });
const shell = (line: string) => {
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", line, binary], { cwd: home, env: {} });
  return [exitCode, stderr.toString()] as const;
};
const readJson = (name: string) => JSON.parse(readFileSync(join(home, name), "utf8"));
function done(...args: string[]): string {
  const { code, stdout, stderr } = run(...args, "-q");
  expect([args, code, stderr]).toEqual([args, 0, ""]);
  return stdout;
}

put(home, "corpus.txt", "some words, and some more words");
done("train", "corpus.txt", "-n", "260", "-o", "tokenizer");
const commands = [
  ["train", "-n", "300", "-o", "result"],
  ["count"],
  ["encode", "--tokenizer", "tokenizer"],
  ["plan"],
] as const;

describe("files that are not text", () => {
  const archive = Buffer.from(`PK\x03\x04\x14\0${"\0\x01".repeat(20_000)}`, "latin1");
  put(home, "a.zip", archive);
  put(home, "a.zip.gz", gzipSync(archive));
  put(home, "a.zip.zst", zstdCompressSync(archive));

  test("is an error that names its kind, in every command, compressed or not", () => {
    for (const [command, ...args] of commands) {
      const into = command === "plan" ? "> text.txt" : "| bpe … -";
      for (const name of ["a.zip", "a.zip.gz", "a.zip.zst"]) {
        const { code, stdout, stderr } = run(command, name, ...args, "-q");
        const hint =
          name === "a.zip"
            ? `extract its text: \`unzip -p a.zip ${into}\`; to read the file itself as text, use --binary text`
            : "unpack it first, and name the unpacked file";
        expect([code, stdout, stderr]).toEqual([
          1,
          "",
          `bpe: error: "${name}" is a zip archive, not text\nhint: ${hint}\n`,
        ]);
      }
    }
  });

  test("is the same error in a stream", () => {
    let turn = 0;
    for (const [command, ...args] of commands.slice(0, 3)) {
      for (const name of ["a.zip", "a.zip.gz", "a.zip.zst"]) {
        for (const workers of turns(["1", "2"], turn++)) {
          const line = `cat ${name} | "$0" ${[command, "-", ...args].join(" ")} -q -w ${workers}`;
          expect(shell(line)).toEqual([1, expect.stringContaining("error: standard input is a zip archive")]);
        }
      }
    }
    for (const command of ["eval tokenizer", "diff tokenizer again=tokenizer"]) {
      const line = `cat a.zip.gz | "$0" ${command} --text - -q -w 1`;
      expect(shell(line)).toEqual([1, expect.stringContaining("error: standard input is a zip archive")]);
    }
    // Pipes are copied to numbered files. The path of the second copy is a prefix of that of the eleventh, but the
    // error must name the eleventh pipe.
    const pipes = [..."abcdefghijk"].map((name) => `pipe-${name}`);
    const fill = pipes.map(
      (pipe) => `mkfifo ${pipe}; cat ${pipe === "pipe-k" ? "a.zip.gz" : "a.txt"} > ${pipe} &`,
    );
    const texts = pipes.map((pipe) => `--text ${pipe}`).join(" ");
    put(home, "a.txt", "text");
    expect(shell(`${fill.join(" ")} "$0" eval tokenizer ${texts} -q -w 1`)).toEqual([
      1,
      expect.stringContaining('error: "pipe-k" is a zip archive'),
    ]);
    put(home, "some.parquet", "PAR1\x15\0\x15PAR1");
    expect(shell(`"$0" count - < some.parquet`)).toEqual([
      1,
      expect.stringContaining("standard input is Parquet"),
    ]);
    expect(shell(`"$0" count - < a.zip`)[1]).toContain("standard input is a zip archive");
  });

  test("is read if the user insists", () => {
    for (const [command, ...args] of commands) done(command, "a.zip", ...args, "--binary", "text");
    expect(shell(`cat a.zip | "$0" count - -q --binary text`)).toEqual([0, ""]);
  });

  test("is skipped in a directory, said in the summary and listed in the record and the log", () => {
    mkdirSync(join(home, "mixed"));
    for (const [i, [, head]] of heads.entries()) {
      if (head.startsWith("PAR1")) continue;
      put(home, `mixed/${100 + i}`, Buffer.from(`${head}${"\0".repeat(99)}`, "latin1"));
    }
    put(home, "mixed/text", "some words");
    const count = heads.length - 1;
    const { code, stderr } = run("train", "mixed", "-n", "258", "-o", "of-mixed", "--log-file", "log");
    expect(code).toBe(0);
    expect(stderr).toContain(`skipped     ${count} files: "mixed/100" is a zip archive, not text; `);
    const { inputs, skipped } = readJson("of-mixed/training.json");
    expect(inputs.map(({ path }: { path: string }) => path)).toEqual(["mixed/text"]);
    expect(skipped.length).toBe(count);
    expect(skipped[0]).toEqual({ path: "mixed/100", reason: "a zip archive, not text" });
    const log = readFileSync(join(home, "log"), "utf8").split("\n");
    expect(log.filter((line) => line.includes('skipped "mixed/')).length).toBe(count);
    for (const [command, ...args] of commands.slice(1)) {
      const finished = run(command, "mixed", ...args);
      expect(finished.stderr).toContain(`\nskipped ${count} files: "mixed/100" is a zip archive`);
      expect(run(command, "mixed", ...args, "--progress", "json").stderr).toContain(
        '{"event":"skipped","path":"mixed/100","reason":"a zip archive, not text"}\n',
      );
    }
  });

  test("executables are not text, including those of this machine", () => {
    const { code, stderr } = run("train", binary, "-n", "300", "-o", "result");
    expect([code, stderr]).toEqual([1, expect.stringContaining("is an ELF executable or library, not text")]);
  });
});

describe("records are recognized by content", () => {
  const records = ["one text", "it's\nanother", "", "日本 text"].map((text, id) => ({ id, text }));
  const lines = records.map((record) => JSON.stringify(record)).join("\n");
  put(home, "as-named.jsonl", lines);
  const expected = done("count", "as-named.jsonl");
  const files: [name: string, content: string | Uint8Array, format: string][] = [
    ["c4-train.00000-of-01024.json.gz", gzipSync(lines), "jsonl"],
    ["lines.json", `${lines}\n`, "jsonl"],
    ["lines.json.zst", zstdCompressSync(lines), "jsonl"],
    ["lines.ndjson.zst", zstdCompressSync(lines), "jsonl"],
    ["lines.jsonl.gz", gzipSync(lines), "jsonl"],
    ["0a1b2c3d", lines, "jsonl"],
    ["array.json", JSON.stringify(records), "json"],
    ["pretty.json", JSON.stringify(records, null, 2), "json"],
    ["array.json.gz", gzipSync(`\ufeff${JSON.stringify(records, null, "\t")}\n`), "json"],
    ["several.json", records.map((record) => JSON.stringify(record, null, 1)).join("\n"), "json"],
  ];
  for (const [name, content] of files) put(home, name, content);

  test("in every container", () => {
    const named = done("encode", "as-named.jsonl", "--tokenizer", "tokenizer");
    for (const [turn, [name, , format]] of files.entries()) {
      for (const workers of turns(["1", "3"], turn))
        expect(done("count", name, "-w", workers)).toBe(expected);
      const { stderr } = run("train", name, "-n", "260", "-o", "of-records");
      const [input] = readJson("of-records/training.json").inputs;
      const isNamed = /\.(ndjson|jsonl)\./.test(name);
      expect(input).toMatchObject({ documents: 3, format, formatFrom: isNamed ? "name" : "content" });
      const how = format === "json" ? "JSON records" : "lines of JSON";
      if (!isNamed) expect(stderr).toContain(`read as     ${how} by content: "${name}"\n`);
      expect(done("encode", name, "--tokenizer", "tokenizer")).toBe(named);
      put(home, "plan", done("plan", name));
      expect(done("count", "--ranges", "plan")).toBe(expected);
    }
  });

  test("a document of JSON is text, and the summary says so", () => {
    put(home, "document.json", JSON.stringify({ version: 1, data: records }, null, 2));
    const { stderr } = run("count", "document.json");
    expect(stderr).toContain('\nread as text, having no records: "document.json"\n');
    expect(done("count", "document.json")).toContain("version\t1\n");
    // In a file not named as JSON, a single object does not count as records.
    put(home, "request.txt", '{"text":"one"}\n');
    expect(done("count", "request.txt")).toContain("text\t1\n");
  });

  test("an option overrules", () => {
    expect(done("count", "lines.json", "--input-format", "text")).toContain('{"\t');
    expect(done("count", "array.json", "--input-format", "text")).toContain('[{"\t1\n');
    const { code, stderr } = run("count", "array.json", "--text-field", "body");
    expect([code, stderr]).toEqual([1, expect.stringContaining('record 1 of "array.json": no field "body"')]);
    const strict = run("count", "array.json", "--input-format", "jsonl");
    expect(strict.stderr).toContain('line 1 of "array.json": not a JSON object');
  });

  test("a stream of records is recognized by its content, like a file; of several streams the first", () => {
    const bash = (line: string) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(["bash", "-c", line, binary], { cwd: home });
      return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
    };
    for (const [turn, [name, , format]] of files.entries()) {
      const lines = [`cat ${name} | "$0" count -`];
      if (!/\.(gz|zst)$/.test(name)) lines.push(`gzip -c ${name} | "$0" count - -w 2`);
      for (const line of turns(lines, turn)) {
        const kind = format === "json" ? "JSON records" : "lines of JSON";
        const note = expect.stringContaining(`read as ${kind} by content: "-"`);
        expect(bash(line)).toEqual({ code: 0, stdout: expected, stderr: note });
      }
    }
    // These records are longer than `headBytesMax`. If a head begins like JSON, more of the stream is inspected.
    const long = JSON.stringify({ id: "x".repeat(300_000), text: "a b" });
    put(home, "long", `${long}\n${long}\n`);
    const words = bash('cat long | "$0" count - -q --text-field text');
    expect(wordLines(words.stdout)).toEqual(["Ġb\t2", "a\t2"]);
    expect(bash(`echo 'some text' | "$0" count - --text-field text`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("does not apply: all inputs are plain text"),
    });
    const second = bash('"$0" count <(echo text) <(cat lines.json)');
    expect(second.stderr).toContain(
      "seems to contain JSON records, but bpe detects the format of the first pipe only",
    );
    expect(second.stderr).toContain("hint: if all inputs have such records, use --input-format jsonl; ");
    expect(second.code).toBe(1);
    expect(bash('"$0" count <(echo text) <(cat lines.json) --text-field text')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no input has fields (bpe detects the format of the first pipe only)"),
    });
    // The writer fills one pipe after the other, so it cannot fill the second before the first is read.
    const inTurn = (content: string) =>
      `mkfifo one two; (${content} > one; ${content} > two) & "$0" count one two -q`;
    expect(bash(`${inTurn("echo a")}; rm one two`).stdout).toContain("a\t2\n");
    for (const [name, , format] of files) {
      expect(shell(`cat ${name} | "$0" count - -q --input-format ${format}`)).toEqual([0, ""]);
    }
    expect(shell(`cat lines.json | "$0" count - -q --input-format text`)).toEqual([0, ""]);
  });

  test("files that describe a data set are not part of it", () => {
    mkdirSync(join(home, "set/data"), { recursive: true });
    put(home, "set/data/train.jsonl", lines);
    put(home, "set/README.md", "# Readme");
    put(home, "set/LICENSE", "license");
    put(home, "set/.gitattributes", "hidden");
    put(home, "set/dataset_infos.json", '{"default": {"description": "infos"}}');
    const { stdout, stderr } = run("count", "set");
    expect(stdout).toBe(expected);
    expect(stderr).toContain('skipped 3 files: "set/LICENSE" is metadata of the data files');
    const included = done("count", "set", "--include", "*.jsonl", "--include", "README*");
    expect(included).toContain("Readme\t1\n");
    rmSync(join(home, "set/data"), { recursive: true });
    expect(done("count", "set")).toContain("license\t1\n");
  });
});

describe("links", () => {
  test("in a directory are followed, and each file is counted once", () => {
    for (const name of ["blobs", "refs", "snapshots/f00d"])
      mkdirSync(join(home, "hub", name), { recursive: true });
    put(home, "hub/blobs/0a1b", '{"text":"from the hub"}\n');
    put(home, "hub/refs/main", "f00d");
    symlinkSync("../../blobs/0a1b", join(home, "hub/snapshots/f00d/train.jsonl"));
    symlinkSync("..", join(home, "hub/snapshots/f00d/loop"));
    for (const place of ["hub", "hub/snapshots/f00d", "hub/snapshots/f00d/*.jsonl"]) {
      expect([place, done("count", place)]).toEqual([
        place,
        expect.stringMatching(/\nĠhub\t1\nĠthe\t1\nfrom\t1\n$/),
      ]);
    }
  });

  test("that a glob matches are followed", () => {
    mkdirSync(join(home, "linked"));
    symlinkSync("../corpus.txt", join(home, "linked/link.txt"));
    expect(done("count", "linked/*.txt")).toBe(done("count", "corpus.txt"));
    symlinkSync("link.txt", join(home, "linked/again.txt"));
    const { stdout, stderr } = run("count", "linked/*.txt");
    expect(stdout).toBe(done("count", "corpus.txt"));
    expect(stderr).toContain('skipped 1 file: "linked/link.txt" is the same file as "linked/again.txt"');
    symlinkSync("nowhere", join(home, "linked/lost.txt"));
    expect(run("count", "linked/*.txt").stderr).toContain('"linked/lost.txt" is a broken link');
  });
});
