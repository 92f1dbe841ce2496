import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import * as rankFiles from "../../../src/formats/tiktoken.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { trainTokenizer } from "../../../src/library/train-tokenizer.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { specialTokenId } from "../../../src/tokenizer/tokenizer-parts.ts";
import { bpe, put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { errorOf } from "../../thrown.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const made = writeTokenizer("tekken");
const rankFile = join(made, "tokenizer.tiktoken");
const rankLines = readFileSync(rankFile, "utf8").trimEnd().split("\n");
const text = "the lowest newest widest <s>[INST] é漢 1234\r\n\n </s>";

/** Makes a directory with only this file, and returns its path. */
function directoryWith(name: string, content: string | Uint8Array): string {
  const directory = scratch();
  put(directory, name, content);
  return directory;
}

describe("a file of ranks", () => {
  const ranks = readFileSync(rankFile);
  const options = { pattern: "tekken", specialTokens: { "<s>": 600 } };

  test("is recognized by its content, under any name", async () => {
    const expected = (await Tokenizer.load(rankFile, options)).encode(text);
    for (const name of ["tokenizer.model", "ranks", "x.json"]) {
      const directory = directoryWith(name, ranks);
      expect((await Tokenizer.load(join(directory, name), options)).encode(text)).toEqual(expected);
    }
    const directory = directoryWith("tokenizer.model", ranks);
    expect((await Tokenizer.load(directory, options)).encode(text)).toEqual(expected);
  });

  test("is scanned, with any line ends", async () => {
    const scanned = rankFiles.scan(ranks)!;
    expect([...scanned.ids]).toEqual(rankLines.map((line) => Number(line.split(" ")[1])));
    const bytesOf = (t: number) => scanned.bytes.subarray(scanned.starts[t]!, scanned.starts[t + 1]!);
    expect(rankLines.map((_, t) => Buffer.from(bytesOf(t)).toString("base64"))).toEqual(
      rankLines.map((line) => line.split(" ")[0]!),
    );
    expect(rankFiles.scan(Buffer.from(""))?.ids.length).toBe(0);
    for (const line of ["YQ== 5\n", "YWI= 0\n", "YWJj 16777215\n", "YWJjYQ== 5\n", "/+A= 7\n", "AAA= 0\n"]) {
      const found = rankFiles.scan(Buffer.from(line))!;
      const [text, rank] = line.trim().split(" ");
      expect([...found.bytes.subarray(0, found.starts[1])]).toEqual([...Buffer.from(text!, "base64")]);
      expect([...found.ids]).toEqual([Number(rank)]);
    }
    for (const lines of ["YQ== 5", "YQ== 5\r\n", "YQ== 5\r", "\n\r\nYQ== 5\n\n", "= 5\n", "= 5", "\n", "\r"])
      expect([...rankFiles.scan(Buffer.from(lines))!.ids]).toEqual(lines.includes("5") ? [5] : []);
  });

  test("is refused with the line that is wrong", async () => {
    const refused = [
      ...[
        "YQ 5",
        "YQ==5",
        "YQ==  5\n",
        "YQ== x\n",
        "YQ== \n",
        "A=== 1\n",
        "YQ== 5 \n",
        "\rYQ== 5\n",
        "==",
        "=5",
      ],
      ...["YQ== 5\r\r\n", " \n", "= 16777216", "Y 5\n", "=\n"],

      "YQ=A 5\n",
      "YQ==YQ== 5\n",
      "YWJ 5\n",
      "Y-Jj 5\n",
      "YWJj 16777216\n",
      "YWJj",
      "YWJjYW",
      "=WJj 1\n",
    ];
    for (const line of refused) {
      expect([line, rankFiles.scan(Buffer.from(line))]).toEqual([line, null]);
      const what = line.includes("16777216")
        ? " is 16777216, but must be below 16777216"
        : /^line 2 of ".*" is ".*", but must be a token in base64, a space and its rank/s;
      const path = put(scratch(), "x", `${rankLines[0]}\n${line}`);
      await expect(Tokenizer.load(path, { pattern: "gpt2" })).rejects.toThrow(what);
    }
  });

  test("that is not scanned is refused with a line, whatever a byte is changed to", () => {
    const random = randomNumbers(7);
    const lines = "YQ== 0\nYWI= 1\r\nYWJj 2\n\n= 3\n";
    for (let trial = 0; trial < 5000; trial++) {
      const at = random(lines.length);
      const change = ["", "=", " ", "\r", "\n", "9", "A", "\xff"][random(8)]!;
      const bytes = Buffer.from(lines.slice(0, at) + change + lines.slice(at + random(3)), "latin1");
      const isScanned = rankFiles.scan(bytes) !== null;
      if (!isScanned)
        expect(errorOf(() => rankFiles.refuseRanks(bytes, "x")).message).toMatch(
          /^"x": |^line \d+ of "x" is /,
        );
    }
  });

  test("may end its lines with CRLF, and lack the last end", async () => {
    const path = put(scratch(), "tokenizer.model", rankLines.join("\r\n"));
    expect((await Tokenizer.load(path, options)).size).toBe(rankLines.length + 1);
  });

  test("may contain a token without bytes, as Whisper's does", async () => {
    const path = put(scratch(), "x", [...rankLines, `= ${rankLines.length}`, ""].join("\n"));
    const ours = await Tokenizer.load(path, options);
    expect(ours.encode(text)).toEqual((await Tokenizer.load(rankFile, options)).encode(text));
  });

  test("that is unknown needs its pattern", async () => {
    const path = put(scratch(), "tokenizer.model", ranks);
    await expect(Tokenizer.load(path)).rejects.toMatchObject({
      message: `"${path}" is a rank file of an unknown tokenizer, and rank files do not contain the pattern`,
      hint: `give the pattern, e.g. pattern cl100k, and each special token, e.g. specialTokens { "<|endoftext|>": 100257 }`,
      exitCode: 2,
    });
  });

  test("with a duplicate token or rank is refused", async () => {
    const count = rankLines.length;
    const load = (...lines: string[]) =>
      Tokenizer.load(put(scratch(), "x", `${[...rankLines, ...lines].join("\n")}\n`), options);
    await expect(load(`YWFhYWFhYWE= ${count - 1}`)).rejects.toThrow(`two tokens have the rank ${count - 1}`);
    const [lastToken] = rankLines.at(-1)!.split(" ");
    await expect(load(`${lastToken} ${count}`)).rejects.toThrow("is listed twice");
    await expect(load(`YQ== ${count}`)).rejects.toThrow('the token "a" is listed twice');
    // No merge produces these eight characters.
    await expect(load(`I34jfiN+I34= ${count}`, `I34jfiN+I34= ${count + 1}`)).rejects.toThrow(
      'the token "#~#~#~#~" is listed twice',
    );
  });
});

describe("a special token", () => {
  const load = (path: string, specialTokens: Record<string, number>) =>
    Tokenizer.load(path, { pattern: "tekken", specialTokens });
  const alone = put(scratch(), "x", readFileSync(rankFile));
  const pair = scratch();
  for (const name of ["vocab.json", "merges.txt"]) put(pair, name, readFileSync(join(made, name)));

  test("may not take the id of a rank or of another token: both are named", async () => {
    // tiktoken encodes the special token as the id 97, but decodes this id as the token of rank 97.
    const lines = rankLines.map((line) => `! ${line.split(" ")[1]} ${line.split(" ")[0]}`).join("\n");
    const theirs = new Tiktoken(lines, { "<|x|>": 97 }, patterns.gpt2.sources[0]!);
    expect([...theirs.encode("<|x|>", "all")]).toEqual([97]);
    expect(new TextDecoder().decode(theirs.decode(Uint32Array.of(97)))).toBe("a");
    theirs.free();
    for (const path of [alone, pair]) {
      await expect(load(path, { "<|x|>": 97 })).rejects.toThrow(
        'the special token "<|x|>" has the id 97, which is the id of the token "a"',
      );
      await expect(load(path, { "<|x|>": 32 })).rejects.toThrow(
        'has the id 32, which is the id of the token " "',
      );
      await expect(load(path, { "<|x|>": 900, "<|y|>": 900 })).rejects.toThrow(
        'the special tokens "<|x|>" and "<|y|>" have the same id, 900',
      );
      expect((await load(path, { "<|x|>": 900, a: 97 })).encode("a<|x|>")).toEqual(Uint32Array.of(97, 900));
    }
    const vocabulary = JSON.parse(readFileSync(join(pair, "vocab.json"), "utf8"));
    put(pair, "vocab.json", JSON.stringify({ ...vocabulary, "<|x|>": 97 }));
    await expect(Tokenizer.load(pair)).rejects.toThrow(
      '"<|x|>" has the id 97, which is the id of the token "a"',
    );
  });

  test("keeps the id in the files if it is named without one", async () => {
    const texts: string[] = ["<a>", "<b>", "a b a b"];
    const directory = join(scratch(), "t");
    await trainTokenizer({ texts, vocabSize: 259, specialTokens: ["<a>", "<b>"], output: directory });
    for (const name of ["vocab.json", "tokenizer.tiktoken"]) {
      const path = join(directory, name);
      const encode = (...named: string[]) =>
        bpe(["encode", put(directory, "../x", "<a><b><c>"), "--tokenizer", path, "-q", ...named]);
      expect(encode("-s", "<b>").stdout).toBe("257 258 60 99 62\n");
      expect(encode("-s", "<c>", "-s", "<a>").stdout).toBe("257 258 259\n");
      expect(encode("-s", "<c>=258").stderr).toContain('"<b>" and "<c>" have the same id, 258');
      expect(encode("-s", "<c>", "-s", "<c>=300")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--special-token "<c>" is given twice'),
      });
    }
  });

  test("is the same from every file of a training, however it is spelled", async () => {
    const odd = [
      "Ġx",
      "ĠĠ",
      "Ċ<x>",
      "éé",
      "Āb",
      "<|a|>",
      "x y",
      " lead",
      "ƒx",
      "[é漢]",
      "ÂłÂł",
      "\n\n",
      "Ġ Ġ",
    ];
    const home = scratch();
    for (let seed = 1; seed <= 9; seed++) {
      const random = randomNumbers(seed);
      const specialTokens = odd.filter(() => random(3) === 0);
      const compat = (["cs336", "huggingface", "rustbpe"] as const)[seed % 3]!;
      // By HF's rule, special and learned tokens with the same text share an id.
      if (compat === "huggingface") specialTokens.push(["a", "Ġt", "Ġ"][random(3)]!);
      const some = () => ["the low ", "q", "éa", "b\n", ...specialTokens][random(4 + specialTokens.length)]!;
      const text = Array.from({ length: 80 }, some).join("");
      const output = join(home, String(seed));
      const padTo = seed % 2 === 0 ? 32 : 1;
      await trainTokenizer({ texts: [text], vocabSize: 300, specialTokens, compat, output, padTo });
      const whole = await Tokenizer.load(output);
      for (const name of ["vocab.json", "merges.txt", "tokenizer.tiktoken"].filter((name) =>
        existsSync(join(output, name)),
      )) {
        const ours = await Tokenizer.load(join(output, name));
        for (const specialTokensAsText of [false, true]) {
          const encode = (tokenizer: Tokenizer) => tokenizer.encode(text, { specialTokensAsText });
          expect({ seed, name, ids: encode(ours) }).toEqual({ seed, name, ids: encode(whole) });
        }
        const all = Uint32Array.from({ length: whole.idLimit }, (_, id) => id);
        expect(ours.decode(all)).toEqual(whole.decode(all));
        expect([...ours.specialTokens].sort()).toEqual([...whole.specialTokens].sort());
      }
    }
  });
});

describe("files without a tokenizer that can be loaded are refused, and the error names them", () => {
  // A SentencePiece message with a piece, its score and its type, but no model type.
  const sentencePiece = Buffer.from("0a0e0a053c756e6b3e15000000001802", "hex");
  for (const [content, what] of [
    [sentencePiece, "is not supported: it is a SentencePiece model of the type Unigram"],
    [Buffer.from("GGUF\x03\0\0\0"), "is a GGUF model"],
    [Buffer.from("minbpe v1\n\n0\n"), "is a model of minbpe"],
    [Bun.gzipSync("{}"), "is compressed with gzip"],
    [Buffer.from("PK\x03\x04"), "is a zip archive"],
    [Buffer.from("hello"), "is not a tokenizer of a known kind"],
    [Buffer.alloc(0), "is not a tokenizer of a known kind"],
  ] as const) {
    test(what, async () => {
      const directory = directoryWith("tokenizer.model", content);
      const path = join(directory, "tokenizer.model");
      await expect(Tokenizer.load(path)).rejects.toMatchObject({
        name: "UserError",
        message: expect.stringContaining(`"${path}" ${what}`),
      });
      await expect(Tokenizer.load(directory)).rejects.toThrow(what);
    });
  }

  test("a file called .json or .tiktoken that is neither is refused with the reason", async () => {
    const load = (name: string, content: string) => Tokenizer.load(put(scratch(), name, content));
    await expect(load("x.json", "[1")).rejects.toThrow("is not JSON");
    await expect(load("x.tiktoken", "hello\n")).rejects.toThrow(
      'x.tiktoken" is "hello", but must be a token in base64',
    );
  });
});

describe("tekken.json", () => {
  const specialCount = 100;
  type Tekken = {
    config: Record<string, unknown>;
    vocab: { rank: number; token_bytes: string; token_str: string | null }[];
    special_tokens?: { rank: number; token_str: string; is_control: boolean }[];
  };
  const tekken = (vocabLength = rankLines.length): Tekken => ({
    config: {
      pattern: patterns.tekken.sources[0],
      num_vocab_tokens: rankLines.length,
      default_vocab_size: specialCount + vocabLength,
      default_num_special_tokens: specialCount,
      version: "v3",
    },
    vocab: rankLines.map((line, rank) => ({ rank, token_bytes: line.split(" ")[0]!, token_str: null })),
  });
  const write = (json: Tekken) => put(scratch(), "tekken.json", JSON.stringify(json, null, 2));

  test("has special tokens first, and ranks after them", async () => {
    const ranks = await Tokenizer.load(rankFile, { pattern: "tekken" });
    const ours = await Tokenizer.load(write(tekken()));
    expect([...ours.encode(text)]).toEqual([...ranks.encode(text)].map((rank) => rank + specialCount));
    expect(ours.decode(ours.encode(text))).toBe(text);
    expect(ours.parts.description.patternName).toBe("tekken");
    expect(ours.idLimit).toBe(specialCount + rankLines.length);
  });

  test("has special tokens with ids, but never recognizes them in a text", async () => {
    const ours = await Tokenizer.load(write(tekken()));
    const { specialTokens } = ours;
    expect([...specialTokens].slice(0, 4)).toEqual([
      ["<unk>", 0],
      ["<s>", 1],
      ["</s>", 2],
      ["[INST]", 3],
    ]);
    expect(specialTokens.get("<SPECIAL_99>")).toBe(99);
    expect(specialTokenId(ours.parts, "</s>")).toBe(2);
    expect(Math.min(...ours.encode("<s>[INST]</s><SPECIAL_99>"))).toBeGreaterThanOrEqual(specialCount);
    expect(ours.decode([1, 3, specialCount + 0x61, 2])).toBe("<s>[INST]a</s>");
  });

  test("may list more tokens than its size uses", async () => {
    const ours = await Tokenizer.load(write(tekken(300)));
    const ranks = put(scratch(), "x", `${rankLines.slice(0, 300).join("\n")}\n`);
    const theirs = await Tokenizer.load(ranks, { pattern: "tekken" });
    expect(ours.idLimit).toBe(specialCount + 300);
    expect([...ours.encode(text)]).toEqual([...theirs.encode(text)].map((rank) => rank + specialCount));
  });

  test("may list its special tokens, and must from version 11 on", async () => {
    const json = tekken();
    json.config.version = "v11";
    await expect(Tokenizer.load(write(json))).rejects.toThrow(
      'its version is "v11", and it lists no special',
    );
    json.special_tokens = ["<a>", "<b>"].map((token_str, rank) => ({ rank, token_str, is_control: true }));
    const { specialTokens } = await Tokenizer.load(write(json));
    expect([...specialTokens.keys()].slice(0, 3)).toEqual(["<a>", "<b>", "<SPECIAL_2>"]);
    json.special_tokens[1]!.token_str = "<a>";
    await expect(Tokenizer.load(write(json))).rejects.toThrow('it lists the special token "<a>" twice');
  });

  test("in another order than its ranks, too short, or with a token that is not base64, is refused", async () => {
    const json = tekken();
    json.vocab[299]!.token_bytes = "Y!==";
    await expect(Tokenizer.load(write(json))).rejects.toThrow(
      'vocab[299] is {"rank":299,"token_bytes":"Y!=="',
    );
    json.vocab[299]!.token_bytes = tekken().vocab[299]!.token_bytes;
    json.vocab[300]!.rank = 301;
    await expect(Tokenizer.load(write(json))).rejects.toThrow('vocab[300] is {"rank":301');
    json.vocab.length = 299;
    await expect(Tokenizer.load(write(json))).rejects.toThrow(
      `vocab has 299 tokens, but by its config it must have at least ${rankLines.length}`,
    );
  });

  test("with an impossible size is refused, and fills no memory", async () => {
    for (const [name, value] of [
      ["default_num_special_tokens", 2 ** 40],
      ["default_num_special_tokens", specialCount + rankLines.length + 1],
      ["default_num_special_tokens", -1],
      ["default_vocab_size", 2 ** 24 + 1],
      ["default_vocab_size", 1e300],
      ["default_vocab_size", "300"],
    ] as const) {
      const json = tekken();
      json.config[name] = value;
      await expect(Tokenizer.load(write(json))).rejects.toThrow(
        `config.${name} is ${JSON.stringify(value)}, but must be a whole`,
      );
    }
  });

  test("is found in a directory, after tokenizer.json, and takes no pattern", async () => {
    const directory = directoryWith("tekken.json", JSON.stringify(tekken()));
    expect((await Tokenizer.load(directory)).specialTokens.get("</s>")).toBe(2);
    await expect(Tokenizer.load(directory, { pattern: "gpt2" })).rejects.toThrow(
      /^"\/.*\/tekken.json" has its own pattern, so pattern cannot be given$/,
    );
    copyFileSync(join(made, "tokenizer.json"), join(directory, "tokenizer.json"));
    expect((await Tokenizer.load(directory)).specialTokens.get("</s>")).toBeUndefined();
  });
});

test("known ranks state that their text is normalized, even with a typed pattern", () => {
  const ranks = Array.from({ length: 256 }, (_, byte) => `${Buffer.of(byte).toString("base64")} ${byte}`);
  const bytes = Buffer.from(`${ranks.join("\n")}\n`);
  const kindOf = (name: string) => {
    const parts = rankFiles.partsOf(
      bytes,
      "x.tiktoken",
      { pattern: compiledPatterns.resolve("gpt2") },
      rankFiles.findKnown(name),
    );
    return [parts.description.kind, parts.normalization];
  };
  expect(kindOf("Qwen")).toEqual([
    "rank file of Qwen; with other special tokens, of Qwen 2, 2.5 and 3; text is normalized (NFC)",
    "NFC",
  ]);
  expect(kindOf("r50k_base")).toEqual(["rank file of r50k_base", null]);
});

test("training.json next to vocab.json gives the normal form, and required special tokens", async () => {
  const directory = scratch();
  for (const name of ["vocab.json", "merges.txt"]) copyFileSync(join(made, name), join(directory, name));
  const recordWith = (options: object) =>
    put(
      directory,
      "training.json",
      JSON.stringify({ files: ["vocab.json"], options: { pattern: { name: null, regex: "." }, ...options } }),
    );
  const ids = async (some: string) => [...(await Tokenizer.load(directory)).encode(some)];
  recordWith({ specialTokens: [] });
  expect(await ids("e\u0301")).toEqual([101, 0xcc, 0x81]);
  recordWith({ specialTokens: [], normalization: "NFC" });
  expect(await ids("e\u0301")).toEqual(await ids("é"));
  expect(await ids("<|end|>")).toHaveLength(7);
  recordWith({ specialTokens: ["<|end|>", "Ġx"] });
  await expect(ids("")).rejects.toThrow('lacks "Ġx", a special token in the training.json next to it');
  recordWith({ specialTokens: ["<|end|>", "Ġx"], specialIds: [1, 700] });
  const special = JSON.parse(readFileSync(join(directory, "vocab.json"), "utf8"))["<|end|>"];
  expect(await ids("<|end|>Ġx")).toEqual([special, 700]);
});

describe("training.json next to a file of ranks", () => {
  const withRecord = (record: unknown) => {
    const directory = scratch();
    copyFileSync(rankFile, join(directory, "tokenizer.tiktoken"));
    put(directory, "training.json", JSON.stringify(record));
    return join(directory, "tokenizer.tiktoken");
  };
  const files = ["tokenizer.tiktoken", "training.json"];
  const pattern = { name: "tekken", regex: patterns.tekken.sources[0] };

  test("that is damaged is refused, and the error names it", async () => {
    for (const [record, problem] of [
      [{ files, options: { pattern: { name: "x" } } }, 'it has no "options.pattern.regex"'],
      [
        { files, options: { pattern: { ...pattern, regex: 1e308 } } },
        'its "options.pattern.regex" is 1e+308, not text',
      ],
      [
        { files, options: { pattern: { ...pattern, regex: [] } } },
        'its "options.pattern.regex" is [], not text',
      ],
      [
        { files, options: { pattern, specialTokens: [{}] } },
        'its "options.specialTokens[0]" is {}, not text',
      ],
      [{ files, options: { pattern, compat: "x" } }, 'its "options.compat" is "x", none of cs336'],
      [{ files: null, options: { pattern } }, 'its "files" is null, not a list'],
      [{ options: { pattern } }, 'it has no "files"'],
      [{ files }, 'it has no "options"'],
    ] as const) {
      const path = withRecord(record);
      const message = `${join(path, "..", "training.json")}" is not a training record: ${problem}`;
      await expect(Tokenizer.load(path)).rejects.toThrow(message);
    }
  });

  test("that is not ours, or belongs to other files, is ignored", async () => {
    for (const record of [null, 7, [], { epochs: 3 }, { files: ["other"], options: { pattern } }]) {
      await expect(Tokenizer.load(withRecord(record))).rejects.toThrow(
        "is a rank file of an unknown tokenizer",
      );
    }
    expect(
      (await Tokenizer.load(withRecord({ files, options: { pattern } }))).parts.description.patternName,
    ).toBe("tekken");
  });
});
