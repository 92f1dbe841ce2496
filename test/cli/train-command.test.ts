import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";

const directory = scratch();

const corpus = put(
  directory,
  "corpus.txt",
  "low low low low low<|end|>lower lower widest widest widest".repeat(3),
);
const output = () => join(directory, `tokenizer-${Math.random().toString(36).slice(2)}`);
const train = (...args: string[]) => bpe(["train", "--progress", "none", ...args], { cwd: directory });

describe("a run that goes well", () => {
  test("writes every format, a record that lists them, and a summary on stderr", () => {
    const into = output();
    const { code, stdout, stderr } = train(corpus, "-n", "262", "-s", "<|end|>", "-o", into, "-w", "1");
    expect([code, stdout]).toEqual([0, ""]);
    const record = JSON.parse(readFileSync(join(into, "training.json"), "utf8"));
    expect(readdirSync(into).sort()).toEqual([...record.files].sort());
    expect(record.files).toEqual([
      "tokenizer.json",
      "tokenizer_config.json",
      "special_tokens_map.json",
      "vocab.json",
      "merges.txt",
      "tokenizer.tiktoken",
      "tokens.tsv",
      "training.json",
    ]);
    expect(record.inputs).toEqual([
      { path: corpus, sizeBytes: 174, documents: 4, invalidBytes: 0, format: "text", formatFrom: "name" },
    ]);
    expect([record.wordCount, record.distinctWordCount, record.mergeCount]).toEqual([28, 6, 5]);
    expect(record.options).toEqual({
      vocabSize: 262,
      specialTokens: ["<|end|>"],
      padTo: 1,
      reservedTokens: [],
      pattern: { name: "gpt2", regex: expect.stringContaining("\\p{L}") },
      compat: "cs336",
      minFrequency: 1,
      maxTokenLength: null,
      model: {
        addsBos: false,
        chatTemplate: null,
        modelMaxLength: null,
        tokenizerClass: "PreTrainedTokenizerFast",
      },
      workers: 1,
    });
    for (const shown of ["4 documents", "28, 6 of them distinct", "bytes/token", "memory", into, '" low"']) {
      expect(stderr).toContain(shown);
    }
  });

  test("names the pattern by its own name, whatever it was called", () => {
    const into = output();
    const { code, stderr } = train(corpus, "-n", "260", "-o", into, "-p", "gpt-4o");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^pattern +o200k$/m);
    const { options } = JSON.parse(readFileSync(join(into, "training.json"), "utf8"));
    expect(options.pattern.name).toBe("o200k");
  });

  test("stops early where the corpus gives no more merges", () => {
    const into = output();
    const { code, stderr } = train(corpus, "-n", "5000", "-o", into);
    expect(code).toBe(0);
    expect(stderr).toContain("stopped early");
    expect(mergesOf(into).length).toBeLessThan(50);
  });

  test("writes only the formats asked for", () => {
    const into = output();
    expect(train(corpus, "-n", "260", "-o", into, "--format", "gpt2").code).toBe(0);
    expect(readdirSync(into).sort()).toEqual(["merges.txt", "training.json", "vocab.json"]);
  });

  test("replaces an older result, and leaves nothing beside it", () => {
    const home = scratch();
    const into = join(home, "tokenizer");
    expect(train(corpus, "-n", "260", "-o", into).code).toBe(0);
    expect(train(corpus, "-n", "258", "-o", into, "--format", "gpt2").code).toBe(0);
    expect(readdirSync(home)).toEqual(["tokenizer"]);
    expect(readdirSync(into).sort()).toEqual(["merges.txt", "training.json", "vocab.json"]);
    expect(mergesOf(into).length).toBe(2);
    rmSync(home, { recursive: true });
  });

  test("-q is silent, --progress json ends with the result", () => {
    expect(bpe(["train", corpus, "-n", "260", "-o", output(), "-q"]).stderr).toBe("");
    const lines = bpe(["train", corpus, "-n", "260", "-o", output(), "--progress", "json"])
      .stderr.trim()
      .split("\n");
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ event: "result", success: true, mergeCount: 4 });
  });

  test("a glob names its matches in byte order, and a file named twice counts twice", () => {
    const home = scratch();
    for (const name of ["b.txt", "a.txt", ".hidden.txt", "B.txt"]) put(home, name, "abc");
    const into = join(home, "out");
    expect(bpe(["train", "*.txt", "b.txt", "-n", "258", "-o", into, "-q"], { cwd: home }).code).toBe(0);
    const { inputs } = JSON.parse(readFileSync(join(into, "training.json"), "utf8"));
    expect(inputs.map(({ path }: { path: string }) => path)).toEqual(["B.txt", "a.txt", "b.txt", "b.txt"]);
    rmSync(home, { recursive: true });
  });

  test("an empty file among others is no error", () => {
    expect(train(corpus, put(directory, "empty.txt", ""), "-n", "258", "-o", output()).code).toBe(0);
  });

  test("invalid bytes are reported with their number and the first one's place", () => {
    const path = put(directory, "invalid.txt", Buffer.from([0x61, 0x62, 0xff, 0x61, 0x62, 0xfe]));
    const { code, stderr } = train(path, "-n", "257", "-o", output());
    expect(code).toBe(0);
    expect(stderr).toContain(`warning: 2 bytes are not valid UTF-8, the first at offset 2 of "${path}"`);
  });

  test("options may be numbers or look like others", () => {
    const home = scratch();
    put(home, "007", "a 007 b 007 c 1e3");
    expect(
      bpe(["train", "007", "-n300", "-o", "2026", "-s", "007", "-s", "1e3", "-s=--sep--", "-q"], {
        cwd: home,
      }).code,
    ).toBe(0);
    const record = JSON.parse(readFileSync(join(home, "2026", "training.json"), "utf8"));
    expect(record.options.specialTokens).toEqual(["007", "1e3", "--sep--"]);
    expect(record.inputs[0].documents).toBe(3);
    rmSync(home, { recursive: true });
  });
});

describe("wrong input ends with a clear error, its exit code and nothing written", () => {
  const cases: [what: string, args: string, code: number, error: string][] = [
    ["no input", "-n 300 -o out", 2, "<file>... is missing"],
    ["a missing file", "nowhere.txt -n 300 -o out", 1, '"nowhere.txt": no such file'],
    [
      "a glob without a match",
      "*.nothing -n 300 -o out",
      1,
      '"*.nothing": no such file, and no file matches it',
    ],
    ["a directory without files", "none -n 300 -o out", 1, 'there is no file below "none"'],
    ["an empty device", "/dev/null -n 300 -o out", 1, '"/dev/null" is empty'],
    ["standard input twice", "- -n 300 -o out -", 2, "standard input (-) is named twice"],
    ["no input, and no place for the output", "-n 300 -o foreign", 2, "<file>... is missing"],
    ["standard input twice, and no place", "- - -n 300 -o foreign", 2, "named twice"],
    [
      "standard input as Parquet, and no place",
      "- --input-format parquet -n 300 -o foreign",
      2,
      "standard input cannot be read as Parquet",
    ],
    ["an empty corpus", "empty.txt -n 300 -o out", 1, 'the corpus is empty: "empty.txt" is empty'],
    ["no vocabulary size", "corpus.txt -o out", 2, "--vocab-size is missing"],
    ["no output", "corpus.txt -n 300", 2, "--output is missing"],
    [
      "nothing at all",
      "",
      2,
      "<file>..., --vocab-size and --output are missing\nhint: usage: bpe train <file>... -n N -o DIR [options]\n",
    ],
    ["an unknown option, and nothing else", "--keep-all", 2, "unknown option --keep-all"],
    [
      "a size that is no number",
      "corpus.txt -n many -o out",
      2,
      '--vocab-size: "many" is not a whole number',
    ],
    ["a size below 256", "corpus.txt -n 255 -o out", 2, "--vocab-size 255 is too small"],
    [
      "no room for the special token",
      "corpus.txt -n 256 -s <|e|> -o out",
      2,
      "--vocab-size 256 is too small",
    ],
    ["an empty special token", "corpus.txt -n 300 -s= -o out", 2, "a special token is empty"],
    ["a special token twice", "corpus.txt -n 300 -s <a> -s <a> -o out", 2, "given twice"],
    ["an unknown pattern", "corpus.txt -n 300 -p gtp2 -o out", 2, "gtp2"],
    ["an unknown format", "corpus.txt -n 300 --format gguf -o out", 2, '--format: unknown value "gguf"'],
    ["an unknown option", "corpus.txt --vocab-sise 300 -o out", 2, "unknown option --vocab-sise"],
    ["an option twice", "corpus.txt -n 300 -n 300 -o out", 2, "-n is given twice"],
    ["no workers", "corpus.txt -n 300 -w 0 -o out", 2, "-w"],
    [
      "word counts in the output",
      "corpus.txt -n 300 -o out --save-counts ./out/a.tsv",
      2,
      '--save-counts "./out/a.tsv" is in --output "out", which is replaced as a whole',
    ],
    [
      "a log in the output",
      "corpus.txt -n 300 -o foreign --log-file foreign/log",
      2,
      '--log-file "foreign/log" is in --output "foreign"',
    ],
    [
      "a cache in the output",
      "corpus.txt -n 300 -o foreign/ --cache foreign",
      2,
      '--cache "foreign" is in --output "foreign/"',
    ],
    [
      "word counts that would replace the corpus",
      "corpus.txt -n 300 -o out --save-counts corpus.txt",
      1,
      '"corpus.txt" is read, and what is made of it would take its place',
    ],
    ["an output below a file", "corpus.txt -n 300 -o corpus.txt/out", 1, "corpus.txt"],
    ["an output that is a file", "corpus.txt -n 300 -o corpus.txt", 1, "corpus.txt"],
    ["an output with foreign files", "corpus.txt -n 300 -o foreign", 1, "foreign"],
  ];
  for (const [what, args, code, error] of cases) {
    test(what, () => {
      const home = scratch();
      put(home, "corpus.txt", "some text");
      put(home, "empty.txt", "");
      mkdirSync(join(home, "foreign"));
      mkdirSync(join(home, "none"));
      writeFileSync(join(home, "foreign", "thesis.tex"), "");
      const before = readdirSync(home, { recursive: true }).sort();
      const finished = bpe(`train ${args}`.trim().split(" "), { cwd: home });
      expect(finished.stderr).toStartWith("bpe: error: ");
      expect(finished.stderr).toContain(error);
      expect(finished.stderr).not.toMatch(/^\s+at /m);
      expect([finished.code, finished.stdout]).toEqual([code, ""]);
      expect(readdirSync(home, { recursive: true }).sort()).toEqual(before);
      expect(readFileSync(join(home, "corpus.txt"), "utf8")).toBe("some text");
      rmSync(home, { recursive: true });
    });
  }

  test("an older result survives a run that fails", () => {
    const into = output();
    train(corpus, "-n", "260", "-o", into);
    const before = tokenizerFiles(into);
    expect(train("nowhere.txt", "-n", "300", "-o", into).code).toBe(1);
    expect(tokenizerFiles(into)).toEqual(before);
  });

  test("with --progress json the error is the last object", () => {
    const { code, stderr } = bpe(["train", "nowhere.txt", "-n", "300", "-o", "x", "--progress", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stderr.trim())).toMatchObject({ event: "result", success: false, exitCode: 1 });
  });
});

describe("help and version", () => {
  test("bpe alone, help and --help go to stdout and end with 0", () => {
    for (const args of [[], ["help"], ["--help"], ["-h"]]) {
      const { code, stdout, stderr } = bpe(args);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain("  train <file>...  ");
      expect(stdout).toContain("  inspect <path>  ");
    }
  });

  test("a command's help ends with an example to paste", () => {
    const { code, stdout } = bpe(["train", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("\n    bpe train corpus.txt");
    expect(bpe(["help", "train"]).stdout).toBe(stdout);
  });

  test("the version names Bun and the commit", () => {
    const { stdout } = bpe(["--version"]);
    expect(stdout).toMatch(/^bpe \d+\.\d+\.\d+ \(Bun 1\.4\.5, commit \S+\)\n$/);
    for (const spelling of ["-v", "-V", "version"])
      expect(bpe([spelling])).toMatchObject({ code: 0, stdout });
  });

  test("a closed stdout ends each of them in silence", () => {
    for (const args of ["", "help", "train --help", "--version", "train --pattern help"]) {
      const script = `"$0" ${args} | true; exit "\${PIPESTATUS[0]}"`;
      const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script, binary]);
      expect([args, exitCode, stderr.toString()]).toEqual([args, 0, ""]);
    }
  });

  test("an unknown command is named, with the nearest", () => {
    const { code, stderr } = bpe(["trian"]);
    expect([code, stderr]).toEqual([
      2,
      'bpe: error: unknown command "trian"\nhint: did you mean bpe train?\n',
    ]);
  });
});

test("nothing is left in the temporary outputs of failed runs", () => {
  expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([]);
  expect(existsSync(join(directory, "out"))).toBe(false);
});
