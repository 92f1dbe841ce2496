// `bpe verify`: confirms trainings, and finds changes.
import { beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32, gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { trainingOptions } from "../../src/options/training-table.ts";
import { binary, bpe, environment, put, scratch, untilItCatches } from "../binary.ts";
import { makePipe } from "../other-user.ts";
import { misfits, type Schema } from "./json-schema.ts";

const root = join(import.meta.dir, "../..");
const home = scratch();
const inHome = { cwd: home };
// biome-ignore lint/suspicious/noExplicitAny: the content of files, which tests change
type Json = any;

const english = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").slice(0, 9000);
const parts: { text: string }[] = JSON.parse(readFileSync(join(root, "docs/probe-1.json"), "utf8")).parts;
const scripts = parts.map(({ text }) => text).join("\n");

beforeAll(() => {
  put(home, "a.txt", `${english}<|endoftext|>${scripts}`);
  put(home, "b.txt", english.toUpperCase());
  put(home, "packed.txt.gz", gzipSync(english));
  put(home, "packed.txt.zst", zstdCompressSync(scripts));
  const records = english.split("\n\n").map((text) => JSON.stringify({ id: 1, body: text }));
  put(home, "lines.jsonl", `${records.join("\n")}\n`);
  const column = { name: "text", data: english.split("\n\n"), type: "STRING" as const };
  put(home, "rows.parquet", new Uint8Array(parquetWriteBuffer({ columnData: [column] })));
  put(home, "list.json", `[${records.join(",\n ")}]`);
  put(home, "odd [1]*.txt", scripts);
  put(home, "specials.txt", "<|endoftext|>\n<|one|>\n<|two|>\n");
  put(home, "seeds.txt", " tests\nkernel\n");
  put(home, "binary.bin", Buffer.concat([Buffer.from("PAR1\0\0\0"), Buffer.from(english)]));
  put(home, "template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  mkdirSync(join(home, "corpus"));
  put(join(home, "corpus"), "one.txt", english);
  put(join(home, "corpus"), "two.txt", scripts);
  put(join(home, "corpus"), "three.jsonl", `{"text": ${JSON.stringify(english)}}\n`);
  run("count", "a.txt", "-s", "<|endoftext|>", "-o", "words.counts");
  run("count", "b.txt", "-s", "<|endoftext|>", "-s", "<|x|>", "-o", "base.counts");
  run("count", "b.txt", "-o", "words.tsv", "-p", "cl100k");
  for (const [name, ...options] of [
    ["base", "-s", "<|endoftext|>", "-s", "<|x|>", "--pad-to", "16"],
    ["bare", "--format", "gpt2", "-s", "<|endoftext|>"],
    ["ranks", "--format", "tiktoken", "-p", "cl100k"],
    ["hf", "--compat", "huggingface", "--normalize", "NFC", "-s", "<s>", "--add-bos"],
  ] as const)
    run("train", "a.txt", "-n", "400", ...options, "-o", name);
});

/** Runs a command that has to succeed. */
function run(...args: readonly string[]): string {
  const { code, stdout, stderr } = bpe([...args, "-q"], inHome);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
}

function verify(
  directory: string,
  ...options: string[]
): { code: number | null; json: Json; messages: string[]; stderr: string } {
  const { code, stdout, stderr } = bpe(["verify", directory, "--json", ...options], inHome);
  const json = stdout === "" ? null : JSON.parse(stdout);
  return { code, json, stderr, messages: json?.differences.map(({ message }: Json) => message) ?? [] };
}

let count = 0;
/** Trains with these arguments into a new directory, and returns its name. */
function trained(...args: readonly string[]): string {
  const directory = `out-${count++}`;
  run("train", ...args, "-w", "1", "-o", directory);
  return directory;
}

const end = ["-s", "<|endoftext|>"];
const sized = ["-n", "500"];
const trainings: Record<string, readonly string[]> = {
  plain: ["a.txt", ...sized],
  "the same file twice": ["a.txt", "a.txt", ...sized],
  "special tokens": ["a.txt", "b.txt", ...sized, ...end, "-s", "<|pad|>"],
  "special tokens of a file": ["a.txt", ...sized, "--special-tokens", "specials.txt"],
  "special tokens first": ["a.txt", ...sized, ...end, "--special-tokens-first"],
  Parquet: ["rows.parquet", ...sized],
  "a directory": ["corpus", ...sized],
  "a directory with --include": ["corpus", ...sized, "--include", "*.txt"],
  "a glob": ["c*/t*.txt", ...sized],
  compressed: ["packed.txt.gz", "packed.txt.zst", ...sized],
  records: ["lines.jsonl", "list.json", ...sized, "--text-field", "body"],
  "records as text": ["lines.jsonl", ...sized, "--input-format", "text"],
  binary: ["binary.bin", ...sized, "--binary", "text"],
  "an odd name": ["odd [1]*.txt", ...sized],
  "a named pattern": ["a.txt", ...sized, "-p", "deepseek-v3"],
  "an expression": ["a.txt", ...sized, "-p", "\\p{L}+|\\s+|[^\\p{L}\\s]+"],
  "no pattern": ["lines.jsonl", ...sized, "-p", "none", "--text-field", "body"],
  normalized: ["a.txt", ...sized, "--normalize", "NFKC,lowercase"],
  huggingface: ["a.txt", ...sized, "--compat", "huggingface", ...end],
  "huggingface with an expression": ["a.txt", ...sized, "--compat", "huggingface", "-p", "\\w+|\\W"],
  "whole texts": [
    "lines.jsonl",
    ...sized,
    "--compat",
    "huggingface",
    "--whole-texts",
    "--text-field",
    "body",
  ],
  "special tokens as text": [
    "a.txt",
    ...sized,
    "--compat",
    "huggingface",
    "--special-tokens-as-text",
    ...end,
  ],
  rustbpe: ["a.txt", ...sized, "--compat", "rustbpe", "-p", "gpt4"],
  limits: ["a.txt", ...sized, "--min-frequency", "3", "--max-token-length", "5"],
  "whole characters": ["a.txt", ...sized, "--whole-characters"],
  "early stop": ["b.txt", "-n", "60k"],
  "seed tokens": ["a.txt", ...sized, "--seed-token", " tests", "--seed-token", "kernel"],
  "seed tokens of a file": ["a.txt", ...sized, "--seed-tokens", "seeds.txt"],
  superwords: ["a.txt", ...sized, "--superwords-from", "400"],
  "superwords with a pattern": [
    "a.txt",
    ...sized,
    "--superwords-from",
    "400",
    "--superword-pattern",
    "\\d| +",
  ],
  "several sizes": ["a.txt", "-n", "300,400,500", ...end],
  padded: ["a.txt", ...sized, "--pad-to", "64", ...end],
  roles: [
    "a.txt",
    ...sized,
    "-s",
    "<s>",
    "-s",
    "</s>",
    "-s",
    "<p>",
    "--bos",
    "<s>",
    "--pad",
    "<p>",
    "--add-bos",
  ],
  "an unknown token": ["a.txt", ...sized, "-s", "<u>", "--unk", "<u>"],
  "no roles": ["a.txt", ...sized, ...end, "--eos", "", "--bos", ""],
  "a model": [
    "a.txt",
    ...sized,
    "--chat-template",
    "chatml",
    "--model-max-length",
    "99",
    "--class",
    "QwenTokenizer",
  ],
  "a template": ["a.txt", ...sized, ...end, "--chat-template", "template.jinja"],
  "a format": ["a.txt", ...sized, "--format", "huggingface"],
  formats: ["a.txt", ...sized, "--format", "gpt2,tiktoken"],
  tekken: ["a.txt", ...sized, "--format", "tekken", "--special-tokens-first", ...end],
  "tekken and GGUF": ["a.txt", ...sized, "--format", "tekken,gguf", "--special-tokens-first", ...end],
  "tekken after ranks": ["a.txt", ...sized, "--format", "tiktoken,tekken", "--special-tokens-first", ...end],
  "ranks alone": ["a.txt", ...sized, "--format", "tiktoken", ...end],
  "an image": ["a.txt", ...sized, "--format", "image"],
  "images of sizes": ["a.txt", "-n", "300,400", "--format", "image,gpt2"],
  "no ledger": ["a.txt", ...sized, "--no-ledger"],
  "a ledger": ["a.txt", ...sized, "--format", "gpt2", "--ledger"],
  "a model card": ["a.txt", ...sized, ...end, "--model-card"],
  "a cache": ["a.txt", "b.txt", ...sized, "--cache", "cache"],
  "a cache, again": ["a.txt", "b.txt", ...sized, "--cache", "cache", "--keep", "1"],
  "a limited cache": ["a.txt", ...sized, "--cache", "cache", "--cache-limit", "1MB"],
  "saved counts": ["a.txt", ...sized, "--save-counts", "saved.counts"],
  counts: ["--counts", "words.counts", ...sized],
  "counts with text": ["b.txt", "--counts", "words.counts", ...sized],
  "counts as text": ["--counts", "words.tsv", ...sized],
  weights: ["a.txt", "b.txt", "odd [1]*.txt", ...sized, "--weight", "b.txt:2.5", "--weight", "n=odd*:0"],
  "weights of counts": ["b.txt", "--counts", "words.counts", ...sized, "--weight", "words.counts:3"],
  languages: ["--language", "en=a.txt", "b.txt", "--language", "xx=packed.txt.zst", ...sized],
  "languages with dev text": [
    ...["--language", "en=a.txt", "--language", "xx=packed.txt.zst", ...sized],
    ...["--language-dev", "en=b.txt", "--language-dev", "xx=corpus/two.txt"],
  ],
  parity: [
    ...["--language", "en=a.txt", "--language", "xx=packed.txt.zst", ...sized, "--language-ratio", "1,2"],
    ...["--global-merges", "50", "--language-window", "10:1.5"],
  ],
  like: ["b.txt", ...sized, "--like", "hf"],
  "like a published tokenizer": ["b.txt", ...sized, "--like", "gpt-4.1"],
  "like, with options": [
    "b.txt",
    ...sized,
    "--like",
    "base",
    "-s",
    "<|new|>",
    "--compat",
    "cs336",
    "--eos",
    "<|x|>",
  ],
  "like with a model": ["b.txt", ...sized, "--like", "base", "--add-bos", "--bos", "<|x|>"],
  extend: ["b.txt", "-n", "+50", "--extend", "base"],
  "extend to sizes": ["b.txt", "-n", "+50,+60", "--extend", "base", "-s", "<|new|>"],
  "extend GPT-2's files": ["b.txt", "-n", "+50", "--extend", "bare"],
  "extend one of GPT-2's files": ["b.txt", "-n", "+50", "--extend", "bare/vocab.json", "--pad-to", "8"],
  "extend a rank file": ["b.txt", "-n", "+50", "--extend", "ranks/tokenizer.tiktoken"],
  "extend HF's rule": ["b.txt", "-n", "+50", "--extend", "hf", "--compat", "huggingface"],
  "extend by rule": [
    "b.txt",
    "-n",
    "+50",
    "--extend",
    "base",
    "--compat",
    "extension",
    "--min-frequency",
    "2",
  ],
  "extend, text with tokens": ["a.txt", "-n", "+50", "--extend", "base", "--special-tokens-as-text"],
  "extend by seeds": ["b.txt", "-n", "+50", "--extend", "base", "--seed-token", " ZEBRA"],
  "extend by tokens alone": ["--extend", "base", "-s", "<|new|>", "--seed-token", "zebra"],
  rename: ["--extend", "base", "--rename", "<|x|>=<|tool|>"],
  "rename and learn": [
    "a.txt",
    "-n",
    "+20",
    "--extend",
    "base",
    "--rename",
    "<|x|>=<|tool|>",
    "-s",
    "<|tool|>",
  ],
  "extend by counts": ["-n", "+50", "--extend", "base", "--counts", "base.counts"],
};

/** Options that change nothing that `verify` compares. */
const withoutEffect = [
  ...["--output", "--workers", "--memory-limit", "--report", "--if-changed", "--wait", "--log-file"],
  ...["--summary", "--progress", "--quiet", "--help"],
];

test("the trainings have every option", () => {
  const used = new Set(Object.values(trainings).flat());
  const options: { name: string; short?: string }[] = Object.values(trainingOptions);
  const unused = options
    .filter(({ name, short }) => !used.has(`--${name}`) && !(short !== undefined && used.has(`-${short}`)))
    .map(({ name }) => `--${name}`);
  expect(unused.filter((name) => !withoutEffect.includes(name))).toEqual([]);
});

describe("trainings with every option are verified", () => {
  const schema: Schema = JSON.parse(readFileSync(join(root, "docs/verification.schema.json"), "utf8"));
  for (const [name, args] of Object.entries(trainings)) {
    test(name, () => {
      const directory = trained(...args);
      const listing = readdirSync(home).sort();
      const times = readdirSync(join(home, directory)).map(
        (file) => statSync(join(home, directory, file)).mtimeMs,
      );
      const { code, json, messages } = verify(directory);
      expect({ code, messages, verified: json.verified }).toEqual({ code: 0, messages: [], verified: true });
      expect(misfits(schema, json, schema)).toEqual([]);
      expect(json.notes).toEqual([]);
      // Nothing was written.
      expect(readdirSync(home).sort()).toEqual(listing);
      const after = readdirSync(join(home, directory)).map(
        (file) => statSync(join(home, directory, file)).mtimeMs,
      );
      expect(after).toEqual(times);
      const alone = verify(directory, "--files-only");
      const { code: fileCode, json: found } = alone;
      expect({ fileCode, messages: alone.messages }).toEqual({ fileCode: 0, messages: [] });
      expect([found.verified, found.trained]).toEqual([null, false]);
      expect(misfits(schema, found, schema)).toEqual([]);
    });
  }
});

const inHomeAt = (file: string) => join(home, file);
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(inHomeAt(path), change(readFileSync(inHomeAt(path), "utf8")));
/** Changes a file, or removes it if `change` returns null, during a check. Then restores the file. */
function whileChanged<T>(path: string, change: (text: Buffer) => Buffer | string | null, check: () => T): T {
  const before = readFileSync(inHomeAt(path));
  const changed = change(before);
  if (changed === null) rmSync(inHomeAt(path));
  else writeFileSync(inHomeAt(path), changed);
  try {
    return check();
  } finally {
    writeFileSync(inHomeAt(path), before);
  }
}
/** Returns a function that replaces the first `from` in the bytes by `to`. */
const oneByte = (from: string, to: string) => (bytes: Buffer) => {
  const copy = Buffer.from(bytes);
  copy[bytes.indexOf(from)] = to.charCodeAt(0);
  return copy;
};
const record = (directory: string): Json =>
  JSON.parse(readFileSync(inHomeAt(`${directory}/training.json`), "utf8"));

test("the record has the CRC-32 of each input's text, in whatever container", () => {
  const names = ["a.txt", "packed.txt.gz", "packed.txt.zst"];
  const { inputs } = record(trained(...names, ...sized));
  const sums = [`${english}<|endoftext|>${scripts}`, english, scripts].map((text) => crc32(text));
  expect(inputs.map((input: Json) => Number.parseInt(input.crc32, 16))).toEqual(sums);
  const texts = english.split("\n\n").join("");
  for (const name of ["lines.jsonl", "list.json"]) {
    const [{ crc32: sum }] = record(trained(name, ...sized, "--text-field", "body")).inputs;
    expect(Number.parseInt(sum, 16)).toBe(crc32(texts));
  }
  const known = trained("a.txt", "b.txt", ...sized, "--cache", "cache-sums");
  const again = trained("a.txt", "b.txt", ...sized, "--cache", "cache-sums");
  expect(record(again).inputs).toEqual(record(known).inputs);
  expect(record(known).inputs[0].crc32).toMatch(/^[0-9a-f]{8}$/);
});

describe("an input that changed is named", () => {
  test("one byte", () => {
    const directory = trained("a.txt", "b.txt", ...sized);
    const { code, messages, stderr } = whileChanged("b.txt", oneByte("E", "Q"), () => verify(directory));
    expect(code).toBe(1);
    expect(messages[0]).toBe("b.txt has changed: the same number of bytes, but a different text (crc32)");
    expect(messages.filter((message) => /a\.txt/.test(message))).toEqual([]);
    expect(stderr).toMatch(
      /^bpe: error: "out-\d+" is not verified: stdout lists \d+ differences? from its record\n$/,
    );
  });

  test("a byte that is no longer UTF-8", () => {
    const directory = trained("b.txt", ...sized);
    const { messages } = whileChanged("b.txt", oneByte("E", "\xff"), () => verify(directory));
    expect(messages[0]).toBe("b.txt has changed: 1 invalid byte, not 0");
  });

  test("two records that are joined, and one that is divided", () => {
    const linesOf = (...texts: string[]) => texts.map((text) => `${JSON.stringify({ text })}\n`).join("");
    const half = Math.floor(english.length / 2);
    const [first, second] = [english.slice(0, half), english.slice(half)];
    put(home, "two.jsonl", linesOf(first, second));
    const directory = trained("two.jsonl", ...sized);
    const verified = (...texts: string[]) =>
      whileChanged(
        "two.jsonl",
        () => linesOf(...texts),
        () => verify(directory),
      ).messages[0];
    expect(verified(english)).toBe("two.jsonl has changed: 1 document, not 2");
    expect(verified(first, second.slice(0, 9), second.slice(9))).toBe(
      "two.jsonl has changed: 3 documents, not 2",
    );
  });

  test("one byte that changes no merge", () => {
    const directory = trained("a.txt", "-n", "260", "--no-ledger");
    const { messages, json } = whileChanged("a.txt", oneByte("S", "Q"), () => verify(directory));
    expect(messages).toEqual(["a.txt has changed: the same number of bytes, but a different text (crc32)"]);
    expect([json.verified, json.trained]).toEqual([false, true]);
  });

  test("two records that are swapped, and a byte in another field", () => {
    const directory = trained("lines.jsonl", ...sized, "--text-field", "body");
    const swapped = (bytes: Buffer) => {
      const [first, second, ...rest] = bytes.toString().split("\n");
      return [second, first, ...rest].join("\n");
    };
    const { messages } = whileChanged("lines.jsonl", swapped, () => verify(directory));
    expect(messages).toEqual([
      "lines.jsonl has changed: the same number of bytes, but a different text (crc32)",
    ]);
    const other = (bytes: Buffer) => bytes.toString().replace('"id":1', '"id":2');
    expect(whileChanged("lines.jsonl", other, () => verify(directory)).code).toBe(0);
  });

  test("longer, shorter, empty, binary", () => {
    const directory = trained("a.txt", "b.txt", ...sized);
    for (const change of [
      (bytes: Buffer) => `${bytes}x`,
      (bytes: Buffer) => bytes.subarray(1),
      () => "",
      (bytes: Buffer) => Buffer.concat([Buffer.from("\0"), bytes]),
    ]) {
      const { code, messages, json } = whileChanged("a.txt", change, () => verify(directory));
      expect([code, messages.length, json.trained]).toEqual([1, 1, false]);
      expect(messages[0]).toMatch(/^a\.txt has changed: [\d,]+ bytes, not [\d,]+$/);
    }
  });

  test("records that are damaged", () => {
    const directory = trained("lines.jsonl", ...sized, "--text-field", "body");
    const { code, messages } = whileChanged(
      "lines.jsonl",
      () => "{",
      () => verify(directory),
    );
    expect(code).toBe(1);
    expect(messages[0]).toMatch(/^training fails now: line 1 of "lines\.jsonl"/);
  });

  test("word counts, and the files of a base", () => {
    const counted = trained("--counts", "words.tsv", ...sized);
    const more = (bytes: Buffer) => `${bytes}zzz\t9\n`;
    expect(whileChanged("words.tsv", more, () => verify(counted)).messages).toEqual([
      "words.tsv has changed: its SHA-256 differs",
    ]);
    const extended = trained("b.txt", "-n", "+20", "--extend", "bare");
    expect(
      whileChanged(
        "bare/merges.txt",
        (b) => `${b}\n`,
        () => verify(extended),
      ).messages,
    ).toEqual(["bare/merges.txt has changed: its SHA-256 differs"]);
  });

  test("the tokenizer for --like", () => {
    const directory = trained("b.txt", ...sized, "--like", "hf");
    const other = (bytes: Buffer) => bytes.toString().replace('"NFC"', '"NFD"');
    const { code, messages } = whileChanged("hf/tokenizer.json", other, () => verify(directory));
    expect(code).toBe(1);
    expect(messages.join("\n")).toMatch(/tokenizer\.json differs in line/);
  });
});

describe("an input that moved is found", () => {
  test("by path, as a folder, compressed, from another directory", () => {
    const directory = trained("corpus", "a.txt", ...sized);
    mkdirSync(inHomeAt("elsewhere"));
    renameSync(inHomeAt("corpus"), inHomeAt("elsewhere/texts"));
    try {
      const missing = verify(directory);
      expect(missing.code).toBe(1);
      expect(missing.messages).toHaveLength(3);
      expect(missing.messages[0]).toBe(
        `corpus/one.txt is missing: there is no "${join(home, "corpus/one.txt")}"`,
      );
      expect(missing.json.trained).toBe(false);
      for (const moved of ["corpus=elsewhere/texts", `${home}/corpus=elsewhere/texts/`])
        expect(verify(directory, "--input", moved).code).toBe(0);
      put(home, "one.gz", gzipSync(english));
      const two = ["--input", "corpus=elsewhere/texts", "--input", "corpus/one.txt=one.gz"];
      expect(verify(directory, ...two).json.inputs[0]).toEqual({ path: "corpus/one.txt", place: "one.gz" });
      expect(verify(directory, ...two).code).toBe(0);
      const bare = bpe(["verify", directory, "--input", "elsewhere"], inHome);
      expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("--input corpus=/data/corpus")]);
      const unused = bpe(["verify", directory, "--input", "copus=elsewhere"], inHome);
      expect(unused.code).toBe(2);
      expect(unused.stderr).toMatch(/training.json has no input /);
    } finally {
      renameSync(inHomeAt("elsewhere/texts"), inHomeAt("corpus"));
    }
  });

  test("a whole project, read from the present directory", () => {
    const project = scratch();
    put(project, "x.txt", english);
    expect(bpe(["train", "x.txt", "-n", "300", "-o", "t", "-q"], { cwd: project }).code).toBe(0);
    const copy = join(scratch(), "copy");
    cpSync(project, copy, { recursive: true });
    rmSync(join(project, "x.txt"));
    expect(bpe(["verify", "t"], { cwd: copy }).code).toBe(0);
    expect(bpe(["verify", join(copy, "t")], { cwd: copy }).code).toBe(0);
    expect(bpe(["verify", join(copy, "t/training.json")], { cwd: copy }).code).toBe(0);
    expect(bpe(["verify", join(copy, "t")], inHome).code).toBe(1);
  });

  test("standard input is named", () => {
    const { exitCode } = Bun.spawnSync([binary, "train", "-", "-n", "300", "-o", "piped", "-q"], {
      stdin: readFileSync(inHomeAt("a.txt")),
      ...inHome,
    });
    expect(exitCode).toBe(0);
    expect(verify("piped").messages[0]).toMatch(/^- was standard input/);
    expect(verify("piped", "--input=-=a.txt").code).toBe(0);
    expect(verify("piped", "--input=-=packed.txt.gz").code).toBe(1);
  });
});

describe("a file that was edited is named", () => {
  const cases: Record<string, readonly [name: string, change: (bytes: Buffer) => Buffer | string | null]> = {
    "a merge": ["merges.txt", oneByte("t", "s")],
    "a merge less": ["merges.txt", (bytes) => bytes.toString().replace(/.*\n$/, "")],
    "a line more": ["merges.txt", (bytes) => `${bytes}\n`],
    "a byte": ["tokenizer.json", oneByte("7", "8")],
    "a count": ["tokens.tsv", oneByte("4", "5")],
    "no file": ["vocab.json", () => null],
    "an empty file": ["tokenizer.tiktoken", () => ""],
    "a setting": ["tokenizer_config.json", (bytes) => bytes.toString().replace("false", "true")],
    "the last byte": ["special_tokens_map.json", (bytes) => bytes.subarray(0, -1)],
  };
  let directory: string;
  beforeAll(() => {
    directory = trained("a.txt", ...sized, ...end);
  });
  for (const [title, [name, change]] of Object.entries(cases)) {
    test(title, () => {
      const path = `${directory}/${name}`;
      const found = whileChanged(path, change, () => verify(directory));
      expect([found.code, found.json.trained]).toEqual([1, true]);
      expect(found.json.differences.map(({ what }: Json) => what)).toEqual([name]);
      const alone = whileChanged(path, change, () => verify(directory, "--files-only"));
      expect(alone.code).toBe(1);
      expect(alone.json.differences.map(({ what }: Json) => what)).toContain(name);
    });
  }

  test("each field of the record", () => {
    const path = `${directory}/training.json`;
    const before = record(directory);
    const said = (change: (json: Json) => void) =>
      whileChanged(
        path,
        () => {
          const json = structuredClone(before);
          change(json);
          return JSON.stringify(json);
        },
        () => verify(directory),
      );
    const changes: Record<string, (json: Json) => void> = {
      wordCount: (json) => json.wordCount++,
      fingerprint: (json) => {
        json.fingerprint = "1-0";
      },
      mergesSha256: (json) => {
        json.mergesSha256 = "0";
      },
      mergeCount: (json) => json.mergeCount--,
      bytesPerToken: (json) => {
        json.bytesPerToken += 1e-9;
      },
      "curve, too": (json) => json.curve.pop(),
      "a file more": (json) => json.files.unshift("x.json"),
      "a file less": (json) => json.files.shift(),
      "a checksum": (json) => {
        json.filesSha256["merges.txt"] = "0".repeat(64);
      },
      "a size": (json) => json.options.vocabSize--,
      "a special token": (json) => json.options.specialTokens.push("<|y|>"),
      "a limit": (json) => {
        json.options.minFrequency = 40;
      },
      "a pattern": (json) => {
        json.options.pattern = { name: "cl100k", regex: json.options.pattern.regex, javascript: null };
      },
      "a reserved token": (json) => json.options.reservedTokens.push("<|r|>"),
      "a text": (json) => {
        json.inputs[0].crc32 = "00000000";
      },
      documents: (json) => json.inputs[0].documents++,
      invalidBytes: (json) => json.inputs[0].invalidBytes++,
    };
    const unnoticed = Object.entries(changes)
      .filter(([, change]) => said(change).code !== 1)
      .map(([name]) => name);
    expect(unnoticed).toEqual([]);
    // These fields are not compared.
    const others = (json: Json) => {
      json.timings.totalMs = 1;
      json.options.workers = 64;
      json.options.pattern.javascript = null;
      json.startedAt = "2020-01-01T00:00:00.000Z";
    };
    expect(said(others).messages).toEqual([]);
  });

  test("a record of another version, and without checksums", () => {
    const path = `${directory}/training.json`;
    const older = (bytes: Buffer) => {
      const json = JSON.parse(bytes.toString());
      delete json.filesSha256;
      delete json.inputs[0].crc32;
      return JSON.stringify({ ...json, version: "0.0.9", commit: "0123456789abcdef" });
    };
    const found = whileChanged(path, older, () => verify(directory));
    expect([found.code, found.json.verified]).toEqual([0, true]);
    expect(found.json.notes).toEqual(["the record has no checksum of its inputs: only sizes were compared"]);
    const alone = whileChanged(path, older, () => verify(directory, "--files-only"));
    expect([alone.code, alone.json.notes]).toEqual([
      0,
      ["the record has no checksums of the files: an older version of bpe made it"],
    ]);
    const edited = whileChanged(path, older, () =>
      whileChanged(`${directory}/merges.txt`, oneByte("t", "s"), () => verify(directory)),
    );
    expect(edited.json.notes.at(-1)).toMatch(/^it was made by bpe 0\.0\.9 \(012345678\); this is /);
  });
});

describe("what cannot be verified is refused by name", () => {
  const refusals: Record<string, readonly [change: (json: Json) => unknown, message: RegExp]> = {
    "another format": [
      (json) => ({ ...json, format: 2 }),
      /has the format 2, but this version of bpe reads only the format 1/,
    ],
    "no format": [({ format: _, ...json }) => json, /has no "format", so bpe did not write it/],
    "another option": [
      (json) => ({ ...json, options: { ...json.options, dropout: 0.1 } }),
      /has the option "dropout", which this version of bpe does not know/,
    ],
    "a list": [() => [], /is not a JSON object/],
    "no inputs": [({ inputs: _, ...json }) => json, /is not a training record: it has no "inputs"/],
    "a number as path": [
      (json) => ({ ...json, inputs: [{ ...json.inputs[0], path: 7 }] }),
      /its "inputs\[0\]\.path" is 7, not text/,
    ],
    "a number as checksum": [
      (json) => ({ ...json, filesSha256: { "merges.txt": 7 } }),
      /its "filesSha256\.merges\.txt" is 7, not text/,
    ],
    "a language for some inputs": [
      ({ inputs: [first], ...json }) => ({
        ...json,
        inputs: [first, { ...first, language: "en", isDev: false }],
      }),
      /some of its inputs have no language/,
    ],
    pruned: [(json) => ({ ...json, pruned: {} }), /is the record of a pruned tokenizer/],
    converted: [(json) => ({ ...json, converted: {} }), /is the record of a converted tokenizer/],
  };
  for (const [name, [change, message]] of Object.entries(refusals)) {
    test(name, () => {
      const directory = trained("a.txt", "-n", "260");
      edit(`${directory}/training.json`, (text) => JSON.stringify(change(JSON.parse(text))));
      const { code, stderr } = bpe(["verify", directory], inHome);
      expect(code).toBe(1);
      expect(stderr).toMatch(message);
    });
  }

  test("other directories and files", () => {
    mkdirSync(inHomeAt("nothing"), { recursive: true });
    for (const [path, message] of [
      ["nothing", /"nothing" has no training\.json/],
      ["absent", /"absent" does not exist/],
      ["a.txt", /"a\.txt" is not a directory/],
      ["base/merges.txt", /name the directory that contains training\.json: bpe verify base/],
    ] as const) {
      const { code, stderr } = bpe(["verify", path], inHome);
      expect([path, code]).toEqual([path, 1]);
      expect(stderr).toMatch(message);
    }
    put(inHomeAt("nothing"), "training.json", '{"format": 1');
    expect(bpe(["verify", "nothing"], inHome).code).toBe(1);
    expect(bpe(["verify"], inHome).code).toBe(2);
    expect(bpe(["verify", "base", "base"], inHome).code).toBe(2);
  });

  test("what commands made from tokenizers, and merges over ids", () => {
    run("prune", "base", "--text", "b.txt", "-n", "350", "-o", "smaller");
    run("truncate", "base", "-n", "300", "-o", "shorter");
    run("convert", "bare", "-o", "written");
    run("encode", "a.txt", "--tokenizer", "base", "-o", "ids.npy");
    run("ids", "train", "ids.npy", "-n", "420", "-o", "over-ids");
    for (const name of ["smaller", "shorter", "written", "over-ids"]) {
      const { code, stderr } = bpe(["verify", name], inHome);
      expect([name, code]).toEqual([name, 1]);
      expect(stderr).toMatch(/is the record of (a (pruned|converted) tokenizer|merges over ids) \(bpe /);
    }
  });
});

test("the record has the fingerprint of the tokenizer that loading the directory returns", () => {
  const specials = [...end, "--special-tokens-first"];
  const inspected = (directory: string) =>
    JSON.parse(bpe(["inspect", directory, "--json"], inHome).stdout).fingerprint;
  const fingerprints = ["huggingface", "gpt2", "tiktoken", "tiktoken,tekken", "tekken", "tekken,gguf"].map(
    (format) => {
      const directory = trained("a.txt", ...sized, ...specials, "--format", format);
      expect([format, record(directory).fingerprint]).toEqual([format, inspected(directory)]);
      return record(directory).fingerprint;
    },
  );
  // A tokenizer loaded from tekken.json never recognizes special tokens in text, so its fingerprint differs.
  expect(new Set(fingerprints.slice(0, 4)).size).toBe(1);
  expect(new Set(fingerprints.slice(4)).size).toBe(1);
  expect(fingerprints[3]).not.toBe(fingerprints[4]);
});

test("a line of a long file is named by its number", () => {
  const directory = trained("a.txt", "-n", "60k");
  let number = 0;
  edit(`${directory}/tokenizer.json`, (text) => {
    // The file is written in parts of 64 kB, and this line is beyond the first.
    expect(text.length).toBeGreaterThan(100_000);
    const lines = text.split("\n");
    number = lines.length - 20;
    lines[number - 1] += " ";
    return lines.join("\n");
  });
  const line = number.toLocaleString("en");
  expect(verify(directory).messages[0]).toStartWith(`tokenizer.json differs in line ${line}: `);
});

test("a different fingerprint in the record is found without training", () => {
  const directory = trained("a.txt", ...sized);
  const { fingerprint } = record(directory);
  const wrong = `1-${"0".repeat(32)}`;
  edit(`${directory}/training.json`, (text) => text.replace(fingerprint, wrong));
  const { code, messages } = verify(directory, "--files-only");
  expect({ code, messages }).toEqual({
    code: 1,
    messages: [`tokenizer.json has the fingerprint ${fingerprint}, not ${wrong}`],
  });
  // A record of an older version has no fingerprint.
  edit(`${directory}/training.json`, (text) => text.replace(/ *"fingerprint": .*\n/, ""));
  expect(verify(directory, "--files-only")).toMatchObject({ code: 0, messages: [] });
});

test("a file that cannot be loaded is compared by its checksum", () => {
  const directory = trained("a.txt", ...sized, "--format", "gguf");
  const { code, json } = verify(directory, "--files-only");
  expect([code, json.notes]).toEqual([0, ["no file can be loaded: only checksums were compared"]]);
  const found = whileChanged(`${directory}/tokenizer.gguf`, oneByte("G", "H"), () =>
    verify(directory, "--files-only"),
  );
  expect(found.messages).toEqual(["tokenizer.gguf has a different SHA-256 than the record states"]);
});

test("an image of another build is not compared, and a damaged one is found", () => {
  const directory = trained("a.txt", ...sized, "--format", "image");
  const image = `${directory}/tokenizer.image`;
  const flipped = (at: number) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    copy[at] = copy[at]! ^ 1;
    return copy;
  };
  for (const at of [8, 16, 31]) {
    const { code, json } = whileChanged(image, flipped(at), () => verify(directory));
    expect([at, code, json.notes]).toEqual([
      at,
      0,
      ["tokenizer.image was not compared: another version of bpe compiled it"],
    ]);
  }
  for (const at of [0, 7, 12, 15, 32, 400]) {
    const { messages } = whileChanged(image, flipped(at), () => verify(directory));
    expect([at, ...messages]).toEqual([
      at,
      "tokenizer.image is not what this bpe compiles from the files next to it",
    ]);
  }
});

test("too little memory is a failure of this run, not a difference", () => {
  const directory = trained("a.txt", ...sized);
  const { code, json, stderr } = verify(directory, "--memory-limit", "20MB");
  expect([code, json]).toEqual([1, null]);
  expect(stderr).toMatch(
    /^bpe: error: counting needs at least .*; the limit is 20 MB\nhint: .*--memory-limit/,
  );
});

test("a pipe in place of a file is named, and not waited for", () => {
  const directory = trained("a.txt", ...sized);
  rmSync(inHomeAt(`${directory}/merges.txt`));
  makePipe(inHomeAt(`${directory}/merges.txt`));
  for (const options of [[], ["--files-only"]])
    expect(verify(directory, ...options).messages).toEqual(["merges.txt is not a regular file"]);
});

test("Ctrl-C ends the command and leaves nothing", async () => {
  put(home, "long.txt", scripts.repeat(2000));
  const directory = trained("long.txt", ...sized, "-p", "none");
  const TMPDIR = scratch();
  for (const delayMs of [0, 30, 90]) {
    const run = Bun.spawn([binary, "verify", directory], {
      cwd: home,
      env: { ...environment, TMPDIR },
      stdout: "pipe",
      stderr: "pipe",
    });
    await untilItCatches(run, "SIGINT");
    await Bun.sleep(delayMs);
    run.kill("SIGINT");
    expect(await run.exited).toBe(130);
    expect(await new Response(run.stderr).text()).toBe("bpe: interrupted\n");
    expect(readdirSync(TMPDIR)).toEqual([]);
  }
});

test("one size of several is verified alone", () => {
  const directory = trained("a.txt", "-n", "300,400", ...end);
  expect(verify(`${directory}/300`).messages).toEqual([]);
  expect(verify(`${directory}/400`).messages).toEqual([]);
  rmSync(inHomeAt(`${directory}/300/training.json`));
  appendFileSync(inHomeAt(`${directory}/400/merges.txt`), "x y\n");
  const { messages } = verify(directory);
  expect(messages[0]).toMatch(/^300\/training\.json cannot be read/);
  expect(messages[1]).toMatch(/^400\/merges\.txt has more than/);
  expect(verify(directory, "--files-only").code).toBe(1);
});

test("the output for people", () => {
  const directory = trained("a.txt", ...sized);
  const good = bpe(["verify", directory], inHome);
  expect(good.stdout).toMatch(
    /^verified: the same 244 merges from the same [\d.]+ kB, the same 7 files \(\d+ ms; the training took \d+ ms\)\n$/,
  );
  expect(good.stderr).toBe("");
  appendFileSync(inHomeAt(`${directory}/merges.txt`), "x y\n");
  const bad = bpe(["verify", directory], inHome);
  expect(bad.stdout).toMatch(
    /^not verified, after training again:\n- merges\.txt has more than the [\d,]+ bytes that training gives\n$/,
  );
  expect(bpe(["verify", directory, "--files-only", "-q"], inHome).stderr).toMatch(
    /is not verified: stdout lists 2 differences/,
  );
});
