import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkSpecialTokens } from "../../src/tokenizer/vocabulary.ts";
import { bpe, put, scratch, tokenizerFiles } from "../binary.ts";
import { randomNumbers } from "../random.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const tokens = ["<|endoftext|>", "[PAD]", "<|im start|>", "日本=5", '["x"'];
put(home, "text.txt", `${madeText(5, 400)}[PAD]${madeText(6, 400)}<|endoftext|>日本=5`);
const run = (...args: string[]) => bpe(args, { cwd: home });
const train = (output: string, ...args: string[]) =>
  run("train", "text.txt", "-w", "1", "-n", "320", "-o", output, "-q", ...args);
const typed = (some: readonly string[]) => some.map((token) => `-s=${token}`);
const filesOf = (name: string) => tokenizerFiles(join(home, name));
const specialsOf = (name: string): string[] =>
  JSON.parse(readFileSync(join(home, name, "training.json"), "utf8")).options.specialTokens;
const added = (tokens: object[]) => JSON.stringify({ version: "1.0", added_tokens: tokens, model: {} });

describe("--special-tokens", () => {
  test("is a file of lines, or a JSON list, and the same as --special-token", () => {
    const lines = tokens.slice(0, 4);
    expect(train("typed", ...typed(lines))).toMatchObject({ code: 0, stderr: "" });
    const files = {
      lines: lines.join("\n"),
      ended: `\n${lines.join("\n\n")}\n\n`,
      windows: `${lines.join("\r\n")}\r\n`,
      marked: `\ufeff${lines.join("\n")}\n`,
      list: JSON.stringify(lines),
      "list.json": `\n ${JSON.stringify(lines, null, 1)} \n`,
    };
    for (const [name, content] of Object.entries(files)) {
      put(home, name, content);
      expect([name, train("filed", "--special-tokens", name)]).toMatchObject([name, { code: 0, stderr: "" }]);
      expect([name, filesOf("filed")]).toEqual([name, filesOf("typed")]);
      expect(specialsOf("filed")).toEqual(lines);
    }
  });

  test("lines in brackets are not JSON, and a list keeps white space at an edge", () => {
    put(home, "bert.txt", "[PAD]\n[UNK]\n[CLS]\n");
    expect(train("bert", "--special-tokens", "bert.txt").code).toBe(0);
    expect(specialsOf("bert")).toEqual(["[PAD]", "[UNK]", "[CLS]"]);
    put(home, "spaces.json", '[" a", "b\\n", "[\\"x\\""]');
    expect(train("spaces", "--special-tokens", "spaces.json").code).toBe(0);
    expect(specialsOf("spaces")).toEqual([" a", "b\n", '["x"']);
  });

  test("files and options are in the order in which they are typed", () => {
    put(home, "one", "<1>\n<2>\n");
    put(home, "two", '["<3>", "<4>"]');
    const args = ["-s", "<0>", "--special-tokens", "one", "-s", "<x>", "--special-tokens=two", "-s<5>"];
    expect(train("order", ...args)).toMatchObject({ code: 0, stderr: "" });
    expect(specialsOf("order")).toEqual(["<0>", "<1>", "<2>", "<x>", "<3>", "<4>", "<5>"]);
  });

  test("a tokenizer.json gives its special tokens by their ids, and losses are reported", () => {
    const flags = { special: true, single_word: false, lstrip: false, rstrip: false, normalized: false };
    put(
      home,
      "other.json",
      added([
        { ...flags, id: 9, content: "<last>" },
        { ...flags, id: 3, content: "<mask>", lstrip: true, normalized: true },
        { ...flags, id: 4, content: "plain", special: false },
        { id: 5, content: "<short>", special: true },
      ]),
    );
    const { code, stderr } = run(
      "train",
      "text.txt",
      "-n",
      "300",
      "-o",
      "other",
      "--special-tokens",
      "other.json",
    );
    expect(code).toBe(0);
    expect(stderr).toContain(
      'these settings of its special tokens are dropped: "<mask>" lstrip, normalized\n',
    );
    expect(specialsOf("other")).toEqual(["<mask>", "<short>", "<last>"]);
    expect(train("typed", ...typed(tokens.slice(0, 3))).code).toBe(0);
    expect(train("again", "--special-tokens", "typed/tokenizer.json")).toMatchObject({ code: 0, stderr: "" });
    expect(filesOf("again")).toEqual(filesOf("typed"));
  });

  test("counts, plans, languages, extensions and --like have it, too", () => {
    put(home, "s", "<|endoftext|>\n[PAD]\n");
    const both = (command: readonly string[], outputs = ["-o", "filed"]) => {
      const given = (args: readonly string[]) => run(...command, ...args, "-w", "1", "-q");
      const [byFile, byHand] = [
        given(["--special-tokens", "s", ...outputs]),
        given(
          ["-s", "<|endoftext|>", "-s", "[PAD]", ...outputs.slice(0, -1), "typed"].slice(
            0,
            4 + outputs.length,
          ),
        ),
      ];
      expect(byFile).toEqual({ code: 0, stderr: "", stdout: byHand.stdout });
      expect(byHand.code).toBe(0);
    };
    both(["count", "text.txt"], []);
    expect(run("plan", "text.txt", "--range-size", "64KB", "--special-tokens", "s", "-q").stdout).toBe(
      run("plan", "text.txt", "--range-size", "64KB", "-s", "<|endoftext|>", "-s", "[PAD]", "-q").stdout,
    );
    both(["train", "--language", "a=text.txt", "--language", "b=text.txt", "-n", "300"]);
    expect(filesOf("filed")).toEqual(filesOf("typed"));
    expect(run("count", "text.txt", "--special-tokens", "s", "-o", "words.tsv", "-q").code).toBe(0);
    both(["train", "--counts", "words.tsv", "-n", "300"]);
    expect(filesOf("filed")).toEqual(filesOf("typed"));
    put(home, "less", "[PAD]");
    const disagreeing = run(
      "train",
      "--counts",
      "words.tsv",
      "-n",
      "300",
      "-o",
      "x",
      "--special-tokens",
      "less",
    );
    expect([disagreeing.code, disagreeing.stderr]).toEqual([1, expect.stringContaining("special token")]);
    both(["train", "text.txt", "--like", "bert", "-n", "300"]);
    expect(filesOf("filed")).toEqual(filesOf("typed"));
    both(["train", "text.txt", "--extend", "bert", "-n", "+20"]);
    expect(filesOf("filed")).toEqual(filesOf("typed"));
  });

  test("with files that have none, a line may have an id, and those of a tokenizer.json have theirs", () => {
    expect(train("typed", ...typed(["<|endoftext|>", "[PAD]"])).code).toBe(0);
    const ranks = "typed/tokenizer.tiktoken";
    const encode = (...args: string[]) =>
      run("encode", "text.txt", "--tokenizer", ranks, "-p", "gpt2", "-q", ...args);
    const expected = run("encode", "text.txt", "--tokenizer", "typed", "-q").stdout;
    expect(encode("--special-tokens", "typed/tokenizer.json").stdout).toBe(expected);
    const { added_tokens } = JSON.parse(readFileSync(join(home, "typed/tokenizer.json"), "utf8"));
    put(
      home,
      "ids",
      added_tokens.map(({ id, content }: { id: number; content: string }) => `${content}=${id}\n`).join(""),
    );
    expect(encode("--special-tokens", "ids").stdout).toBe(expected);
    put(home, "texts", "[PAD]\n<|endoftext|>");
    expect(encode("--special-tokens", "texts")).toEqual(encode("-s", "[PAD]", "-s", "<|endoftext|>"));
    expect(
      run("tokens", "text.txt", "--tokenizer", ranks, "-p", "gpt2", "-q", "--special-tokens", "ids").code,
    ).toBe(0);
  });

  test("ids of a tokenizer.json that leave gaps are kept, also in a plan for encode", () => {
    expect(train("typed", ...typed(["<|endoftext|>", "[PAD]"])).code).toBe(0);
    put(
      home,
      "apart.json",
      added([
        { id: 900, content: "<|endoftext|>", special: true },
        { id: 700, content: "[PAD]", special: true },
      ]),
    );
    const given = ["--tokenizer", "typed/tokenizer.tiktoken", "-p", "gpt2", "-q"];
    const byHand = ["-s", "<|endoftext|>=900", "-s", "[PAD]=700"];
    for (const command of ["encode", "plan"]) {
      const found = run(command, "text.txt", ...given, "--special-tokens", "apart.json");
      expect(found).toEqual(run(command, "text.txt", ...given, ...byHand));
      expect(found.code).toBe(0);
      if (command === "encode") expect(found.stdout).toContain(" 700 ");
    }
  });

  test("the rule of the --like tokenizer decides which special tokens are valid", () => {
    put(home, "byte", "a\n");
    expect(train("hf", "--compat", "huggingface", "--special-tokens", "byte").code).toBe(0);
    expect(train("alike", "--like", "hf", "--special-tokens", "byte").code).toBe(0);
    expect(specialsOf("alike")).toEqual(["a"]);
    expect(train("refused", "--like", "bert", "--special-tokens", "byte").code).toBe(2);
  });

  test("--if-changed compares the tokens, not the file that contains them", () => {
    const changed = (...args: string[]) => {
      const nightly = ["train", "text.txt", "-n", "300", "-o", "nightly", "--cache", "c", "--if-changed"];
      const { stderr } = run(...nightly, "--progress", "json", ...args);
      return JSON.parse(stderr.trim().split("\n").at(-1)!).changed;
    };
    put(home, "a.txt", "<a>\n<b>\n");
    put(home, "b.txt", '["<a>", "<b>"]');
    expect(changed("--special-tokens", "a.txt")).toBe(true);
    expect(changed("--special-tokens", "b.txt")).toBe(false);
    expect(changed("-s", "<a>", "-s", "<b>")).toBe(false);
    put(home, "a.txt", "<a>\n<c>\n");
    expect(changed("--special-tokens", "a.txt")).toBe(true);
    expect(changed()).toBe(true);
  });

  test("invalid tokens are refused with their position, and nothing is written", () => {
    mkdirSync(join(home, "directory"));
    const contents: Record<string, string | Uint8Array> = {
      empty: "\n\r\n",
      "none.json": "[]",
      "numbers.json": "[1, 2]",
      "half.json": '["a", ]',
      "half-list": '["a", "b"',
      "blank.json": '["<a>", ""]',
      latin: Buffer.from([0x61, 0xe4, 0x0a]),
      edge: "<a>\n\n<b> \n",
      start: "\t<a>",
      twice: "<a>\n<b>\r\n<a>\n",
      byte: "<a>\na\n",
      "object.json": '{"model": {}}',
      "map.json": '{"bos_token": "<s>"}',
      "strings.json": added([{ id: "1", content: "<a>", special: true }]),
      "unspecial.json": added([{ id: 1, content: "<a>", special: false }]),
    };
    for (const [name, content] of Object.entries(contents)) put(home, name, content);
    put(home, "wide", Buffer.from("<a>\n<b>\n", "utf16le"));
    const wrong: [args: string[], message: string][] = [
      [["empty"], '--special-tokens "empty" has no token'],
      [["none.json"], '--special-tokens "none.json" has no token'],
      [["numbers.json"], '--special-tokens "numbers.json" is not a list of texts: item 1 is 1'],
      [["half.json"], '"half.json" is not JSON'],
      [["half-list"], '"half-list" is not JSON'],
      [["blank.json"], 'item 2 of --special-tokens "blank.json": the special token is empty'],
      [["wide"], 'line 1 of --special-tokens "wide": there is a zero byte'],
      [["latin"], '--special-tokens "latin" is not valid UTF-8'],
      [["edge"], 'line 3 of --special-tokens "edge": "<b> " has white space at its end'],
      [["start"], '"\\x09<a>" has white space at its start'],
      [["twice"], 'line 3 of --special-tokens "twice": special token "<a>" is given twice'],
      [["a.txt", "-s", "<c>"], '--special-token: special token "<c>" is given twice'],
      [["a.txt", "--special-tokens", "a.txt"], '"a.txt": special token "<a>" is given twice'],
      [
        ["byte"],
        '"byte": "a" cannot be a special token: the vocabulary already spells a single byte that way',
      ],
      [["object.json"], 'is not a tokenizer.json: it has no "added_tokens"'],
      [["map.json"], 'is not a tokenizer.json: it has no "added_tokens"'],
      [["strings.json"], 'its "added_tokens[0].id" is "1"'],
      [["unspecial.json"], '--special-tokens "unspecial.json" has no special token'],
    ];
    for (const [args, message] of wrong) {
      const { code, stderr } = train("refused", "--special-tokens", ...args);
      expect({ args, code: code === 1 || code === 2, stderr }).toEqual({
        args,
        code: true,
        stderr: expect.stringContaining(message),
      });
      expect(stderr).toStartWith("bpe: error: ");
    }
    expect(() => filesOf("refused")).toThrow();
    expect(train("hf", "--special-tokens", "byte", "--compat", "huggingface")).toMatchObject({ code: 0 });
  });

  test("nearly equal names are distinguished", () => {
    const hint = (...args: string[]) =>
      run(...args)
        .stderr.trim()
        .split("\n")
        .at(-1);
    expect(hint("train", "text.txt", "--special-tokenss", "s")).toBe("hint: did you mean --special-tokens?");
    expect(hint("train", "text.txt", "--special-toke", "s")).toBe(
      "hint: did you mean --special-token or --special-tokens or --special-tokens-as-text or --special-tokens-first?",
    );
    expect(hint("encode", "text.txt", "--specialTokens", "s")).toBe("hint: did you mean --special-tokens?");
    expect(hint("train", "text.txt", "--special_token", "s")).toBe("hint: did you mean --special-token?");
    expect(hint("train", "text.txt", "--special-tokens-as-tex", "s")).toBe(
      "hint: did you mean --special-tokens-as-text?",
    );
    expect(hint("train", "text.txt", "--special-tokens", "-n", "300")).toContain("--special-tokens=-n");
  });
});

describe("a large number of special tokens, or very long ones,", () => {
  const random = randomNumbers(16);
  // The automaton that searches for the tokens has a state for most of their bytes: some 20 MB of tables.
  const many = Array.from({ length: 60_000 }, (_, i) => `<${i}${random(2 ** 30)}${random(2 ** 30)}>`);
  put(home, "many", many.join("\n"));
  put(home, "long", `<${"x".repeat(1_000_000)}>`);
  put(home, "too-long", `<${"x".repeat(4_000_000)}>`);
  put(home, "with.txt", `some${many[59_999]}words${many[7]}some`);

  test("count as memory of each thread", () => {
    const counted = run("count", "with.txt", "--special-tokens", "many", "-w", "2", "-q");
    expect([counted.code, counted.stderr, counted.stdout.split("\n").slice(1)]).toEqual([
      0,
      "",
      ["some\t2", "words\t1", ""],
    ]);
    expect(run("count", "with.txt", "--special-tokens", "long", "-w", "1", "-q").code).toBe(0);
  });

  test("are limited to 4 MB, which is checked before any text is read", () => {
    const { code, stderr } = run("count", "no-file", "--special-tokens", "too-long", "-w", "1");
    expect([code, stderr]).toEqual([
      2,
      'bpe: error: line 1 of --special-tokens "too-long": the special tokens have 4.0 MB in all, but may have at most 4.0 MB\nhint: use fewer or shorter special tokens\n',
    ]);
    expect(() => checkSpecialTokens(Array(5).fill("é".repeat(400_001)), "cs336")).toThrow(
      "the special tokens have 4.0 MB in all",
    );
  });
});

test("help of -s begins with its purpose", () => {
  expect(run("train", "--help").stdout).toMatch(/--special-token TEXT +one token, never merged/);
});
