import { describe, expect, test } from "bun:test";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { trainTokenizer } from "../../../src/library/train-tokenizer.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { triedPatterns } from "../pattern/names.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import {
  bothOf,
  huggingFaceIds,
  jsonOf,
  specialTokens,
  type TokenizerJson,
  writeTokenizer,
} from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 11);
const random = randomNumbers(seed);
const special = specialTokens[0]!;

/** Returns made-up texts with whole and truncated special tokens. */
function texts(count: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const parts = Array.from({ length: 1 + random(4) }, (_, k) => {
      const token = specialTokens[random(specialTokens.length)]!;
      const between = random(3) === 0 ? token.slice(0, 1 + random(token.length)) : token;
      return madeText(seed + 10 * n + k, random(20)) + (random(2) === 0 ? between : "");
    });
    return parts.join("");
  });
}

/** Cases like those of CS336's tests for tokenizers. */
const cases = [
  "",
  "s",
  "🙃",
  "Hello, how are you?",
  "I'm sure that's what we'd've said; they'll see",
  "Die Leland Stanford Junior University (kurz Stanford University) ist süß.",
  `Hello, how ${special}${special} are you?${special}`,
  `Hello, how are you?${special}${special}${special}`,
  `${special}\n\n${special}  \n`,
  "new lines\n\n\n  and \t tabs \r\n",
  "Héllò hôw are ü? 🙃",
  "\u0085\ufeff\u200b\u00a0",
];

const gpt2Json = () => jsonOf(writeTokenizer("gpt2"));
const roundTrip = (tokenizer: Tokenizer, text: string) => tokenizer.decode(tokenizer.encode(text));

describe("ids are HF's", () => {
  for (const pattern of triedPatterns) {
    test(`with the pattern ${pattern}`, async () => {
      const { theirs, ours } = await bothOf(jsonOf(writeTokenizer(pattern)));
      for (const text of [...cases, ...texts(30)]) {
        expect({ seed, text, ids: [...ours.encode(text)] }).toEqual({
          seed,
          text,
          ids: await huggingFaceIds(theirs, text),
        });
        expect(roundTrip(ours, text)).toBe(text);
      }
    });
  }

  test("with special tokens first, as HF numbers them", async () => {
    const { theirs, ours } = await bothOf(jsonOf(writeTokenizer("gpt4", "huggingface")));
    for (const text of texts(30)) expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
    expect(ours.specialTokens.get(special)).toBe(0);
  });

  test("with merges as strings", async () => {
    const json = gpt2Json();
    json.model.merges = json.model.merges.map((merge) => (merge as string[]).join(" "));
    const { theirs, ours } = await bothOf(json);
    for (const text of texts(20)) expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
  });

  test("with ignore_merges and tokens that no merges reach", async () => {
    const json = gpt2Json();
    json.model.ignore_merges = true;
    let id = Object.keys(json.model.vocab).length;
    for (const token of ["Ġunreachable", "thelowing", "\u00c3\u00bc\u00c3\u00bc", "Ġnewest", "ĊĊĊ"]) {
      json.model.vocab[token] ??= id++;
    }
    const { theirs, ours } = await bothOf(json);
    const words = ["an unreachable thelowing", "üü", "the newest\n\n\nthelowing", " thelowing newest's"];
    for (const text of [...words, ...texts(20)]) {
      expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
    }
  });

  test("with merges in any order, and with several for one token", async () => {
    for (let round = 0; round < 8; round++) {
      const json = gpt2Json();
      const { vocab, merges } = json.model;
      for (const token of Object.keys(vocab)) {
        if (token.length < 3 || random(4) > 0) continue;
        const at = 1 + random(token.length - 1);
        if (token.slice(0, at) in vocab && token.slice(at) in vocab)
          merges.push([token.slice(0, at), token.slice(at)]);
      }
      json.model.merges = merges
        .map((merge) => ({ merge, key: random(1000) }))
        .sort((a, b) => a.key - b.key)
        .map(({ merge }) => merge);
      const { theirs, ours } = await bothOf(json);
      for (const text of [...texts(10), "aaaaaaaaaaaaaaa", "thethethethe".repeat(20)]) {
        expect({ seed, round, ids: [...ours.encode(text)] }).toEqual({
          seed,
          round,
          ids: await huggingFaceIds(theirs, text),
        });
      }
    }
  });

  test("if the vocabulary lacks bytes, with and without an unknown token", async () => {
    for (const unknown of [null, special]) {
      const json = gpt2Json();
      for (const token of ["l", "Ã", "Ċ"]) delete json.model.vocab[token];
      json.model.merges = json.model.merges.filter((merge) => {
        const [left, right] = merge as [string, string];
        return ![left, right, left + right].some((token) => /[lÃĊ]/.test(token));
      });
      json.model.unk_token = unknown;
      const { theirs, ours } = await bothOf(json);
      for (const text of [...cases, ...texts(20)]) {
        expect({ unknown, text, ids: [...ours.encode(text)] }).toEqual({
          unknown,
          text,
          ids: await huggingFaceIds(theirs, text),
        });
      }
    }
  });

  test("where the vocabulary lacks one byte, fuse_unk is refused", () => {
    const json = gpt2Json();
    for (const token of Object.keys(json.model.vocab))
      if (token.includes("q")) delete json.model.vocab[token];
    json.model.merges = json.model.merges.filter((merge) => !String(merge).includes("q"));
    Object.assign(json.model, { unk_token: special, fuse_unk: true });
    expect(() => Tokenizer.from(json)).toThrow(
      "fuse_unk is true, and its vocabulary lacks tokens for some bytes",
    );
    json.model.fuse_unk = false;
    expect(Tokenizer.from(json).encode("qq")).toHaveLength(2);
  });

  test("with a space before each piece", async () => {
    const json = gpt2Json();
    json.pre_tokenizer = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
    const { theirs, ours } = await bothOf(json);
    for (const text of [...cases, ...texts(20)]) {
      expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
    }
  });

  test("if nothing cuts a text", async () => {
    const json = gpt2Json();
    for (const add_prefix_space of [false, true]) {
      json.pre_tokenizer = { type: "ByteLevel", add_prefix_space, trim_offsets: true, use_regex: false };
      const { theirs, ours } = await bothOf(json);
      for (const text of [...cases, ...texts(20)]) {
        expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
      }
    }
  });

  test("with Digits and Punctuation before ByteLevel", async () => {
    for (const [digits, behavior] of [
      [true, "Contiguous"],
      [false, "Isolated"],
    ] as const) {
      const json = gpt2Json();
      json.pre_tokenizer = {
        type: "Sequence",
        pretokenizers: [
          { type: "Punctuation", behavior },
          { type: "Digits", individual_digits: digits },
          { type: "Split", pattern: { String: "low" }, behavior: "Isolated", invert: false },
          { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
        ],
      };
      const { theirs, ours } = await bothOf(json);
      for (const text of ["a+b=c^d 1234.5 ¿x? low", ...texts(20)]) {
        expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
      }
    }
  });
});

describe("added tokens", () => {
  const flagged = (content: string, id: number, flags: Record<string, boolean>) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
    ...flags,
  });

  test("strip white space and require word boundaries according to their flags", async () => {
    const json = gpt2Json();
    const id = Object.keys(json.model.vocab).length;
    json.added_tokens.push(
      flagged("<mask>", id, { lstrip: true }),
      flagged("<r>", id + 1, { rstrip: true }),
      flagged("<b>", id + 2, { lstrip: true, rstrip: true, special: false }),
      flagged("word", id + 3, { single_word: true, special: false }),
      flagged("norm", id + 4, { normalized: true, special: false }),
      flagged("<|endoftext|>norm", id + 5, { normalized: true }),
    );
    const { theirs, ours } = await bothOf(json);
    const pieces = [
      "<mask>",
      "<r>",
      "<b>",
      "word",
      "norm",
      special,
      " ",
      "  ",
      "\n",
      "\u00a0",
      "\u3000",
      "é",
      "a",
      "_",
      ".",
      "5",
      "the",
    ];
    for (let n = 0; n < 600; n++) {
      const text = Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
      expect({ seed, text, ids: [...ours.encode(text)] }).toEqual({
        seed,
        text,
        ids: await huggingFaceIds(theirs, text),
      });
    }
  });

  test("are plain text on request, like with HF's encode_special_tokens", async () => {
    const ours = await Tokenizer.load(writeTokenizer("gpt2"));
    const text = `the low${special}new`;
    const ids = ours.encode(text, { specialTokensAsText: true });
    expect([...ids]).not.toContain(ours.specialTokens.get(special)!);
    expect(ours.decode(ids)).toBe(text);
    const plain = gpt2Json();
    plain.added_tokens = [];
    const { theirs } = await bothOf(plain);
    expect([...ids]).toEqual(await huggingFaceIds(theirs, text));
  });
});

describe("normal forms", () => {
  const pieces = [
    "e\u0301",
    "é",
    "a\u0308\u0323",
    "\u1100\u1161\u11a8",
    "가\u11a8",
    "\u212b",
    "ﬁ",
    "Å",
    "<|end|>",
    "\u0338",
    "\u0301",
    "the",
    " low",
    "漢",
    "\uf900",
    "🙃",
    "norm\u0301e",
    "\u0958",
    "\u1e9b\u0323",
    "½",
    "=\u0338",
  ];
  for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) {
    test(`${form} comes between the added tokens and the pattern`, async () => {
      const json = gpt2Json();
      json.normalizer = { type: "Sequence", normalizers: [{ type: form }] };
      const id = Object.keys(json.model.vocab).length;
      const flags = { single_word: false, lstrip: false, rstrip: false, special: false };
      json.added_tokens.push({ id, content: "normé", normalized: true, ...flags });
      const { theirs, ours } = await bothOf(json);
      for (let n = 0; n < 150; n++) {
        const text = Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join("");
        expect({ seed, text, ids: [...ours.encode(text)] }).toEqual({
          seed,
          text,
          ids: await huggingFaceIds(theirs, text),
        });
      }
    });
  }

  test("NFC leaves invalid bytes unchanged, and text around them is normalized separately", async () => {
    const json = gpt2Json();
    json.normalizer = { type: "NFC" };
    const { ours } = await bothOf(json);
    const bytes = Buffer.concat([
      Buffer.from("e"),
      Buffer.of(0xff),
      Buffer.from("\u0301e\u0301"),
      Buffer.of(0xc3),
    ]);
    const expected = Buffer.concat([
      Buffer.from("e"),
      Buffer.of(0xff),
      Buffer.from("\u0301é"),
      Buffer.of(0xc3),
    ]);
    expect(Buffer.from(ours.decodeBytes(ours.encode(bytes))).toString("hex")).toBe(expected.toString("hex"));
  });
});

describe(".tiktoken", () => {
  const directory = writeTokenizer("gpt4");
  const path = join(directory, "tokenizer.tiktoken");
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);

  test("gives tiktoken's ids", async () => {
    const ranks = lines.map((line) => line.split(" ")[0]);
    const theirs = new Tiktoken(
      `! 0 ${ranks.join(" ")}`,
      { [special]: ranks.length },
      patterns.gpt4.sources[0]!,
    );
    const ours = await Tokenizer.load(path, { pattern: "gpt4", specialTokens: { [special]: ranks.length } });
    for (const text of [...cases, ...texts(40)]) {
      expect({ seed, text, ids: [...ours.encode(text)] }).toEqual({
        seed,
        text,
        ids: [...theirs.encode(text, "all")],
      });
    }
    theirs.free();
  });

  test("gives tiktoken's ids even if the ranks are not in the order of a training", async () => {
    for (let round = 0; round < 10; round++) {
      const tokens = new Set(Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)));
      for (let n = 0; n < 60; n++)
        tokens.add(Array.from({ length: 2 + random(4) }, () => "abc"[random(3)]!).join(""));
      const shuffled = [...tokens]
        .map((token) => ({ token, key: random(1e6) }))
        .sort((a, b) => a.key - b.key);
      const ranks = shuffled.map(({ token }) => Buffer.from(token, "latin1").toString("base64"));
      const theirs = new Tiktoken(`! 0 ${ranks.join(" ")}`, {}, patterns.gpt2.sources[0]!);
      const file = join(scratch(), "x.tiktoken");
      writeFileSync(file, ranks.map((token, rank) => `${token} ${rank}\n`).join(""));
      const ours = await Tokenizer.load(file, { pattern: "gpt2" });
      for (let n = 0; n < 60; n++) {
        const text = Array.from({ length: 1 + random(40) }, () => "abc"[random(3)]!).join("");
        expect({ seed, round, text, ids: [...ours.encode(text)] }).toEqual({
          seed,
          round,
          text,
          ids: [...theirs.encode(text)],
        });
      }
      theirs.free();
    }
  });

  test("accepts special tokens with ids beyond 16 bits", async () => {
    for (const id of [65_535, 65_536, 70_000]) {
      const ours = await Tokenizer.load(path, { pattern: "gpt2", specialTokens: { "<|far|>": id } });
      expect([...ours.encode("<|far|>a<|far|>")]).toEqual([id, 97, id]);
    }
  });

  test("needs a pattern, and every byte", async () => {
    await expect(Tokenizer.load(path)).rejects.toThrow("is a rank file of an unknown tokenizer");
    const file = join(scratch(), "x.tiktoken");
    writeFileSync(file, lines.slice(1).join("\n"));
    await expect(Tokenizer.load(file, { pattern: "gpt2" })).rejects.toThrow("no token for byte 0x00");
  });
});

describe("vocab.json and merges.txt", () => {
  test("give HF's ids, with and without the header; tokens that no merge produces are special", async () => {
    const directory = writeTokenizer("gpt2");
    const theirs = HuggingFace.fromFile(join(directory, "tokenizer.json"));
    rmSync(join(directory, "tokenizer.json"));
    const mergesPath = join(directory, "merges.txt");
    for (const content of [
      readFileSync(mergesPath, "utf8"),
      readFileSync(mergesPath, "utf8").replace(/^#.*\n/, ""),
    ]) {
      writeFileSync(mergesPath, content);
      const ours = await Tokenizer.load(directory);
      expect([...ours.specialTokens.keys()].sort()).toEqual(specialTokens.toSorted());
      for (const text of texts(20))
        expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
    }
    renameSync(mergesPath, join(directory, "gpt2-merges.txt"));
    renameSync(join(directory, "vocab.json"), join(directory, "gpt2-vocab.json"));
    expect((await Tokenizer.load(join(directory, "gpt2-merges.txt"))).size).toBe(
      256 + 300 + specialTokens.length,
    );
  });
});

describe("a regular expression of tokenizer.json", () => {
  const split = (regex: string) => ({
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: regex }, behavior: "Isolated", invert: false },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
    ],
  });

  test.each([
    "\\w+|[^\\w\\s]+|\\s+",
    "(?i:'S)|\\w{1,3}+$|\\w|\\W",
    "[[:alpha:]]+|^\\s|.",
  ])("means what it means in HF's engine: %s", async (regex) => {
    const json = gpt2Json();
    json.pre_tokenizer = split(regex);
    const { theirs, ours } = await bothOf(json);
    for (const text of ["10² a\u200db ½'s\n\nlow\n low", ...texts(20)]) {
      expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
    }
  });

  test.each([
    "(?i:ß)|.",
    "(?i:ss)|.",
    "(?x: a)|.",
  ])("that we could not cut alike is refused: %s", async (regex) => {
    const json = gpt2Json();
    json.pre_tokenizer = split(regex);
    const path = join(scratch(), "tokenizer.json");
    writeFileSync(path, JSON.stringify(json));
    await expect(Tokenizer.load(path)).rejects.toThrow(regex);
  });

  test("is not accepted for a file of ranks if it may leave text unmatched", async () => {
    const path = join(scratch(), "ranks.tiktoken");
    const ranks = Array.from(
      { length: 256 },
      (_, byte) => `${Buffer.from([byte]).toString("base64")} ${byte}\n`,
    );
    writeFileSync(path, ranks.join(""));
    await expect(Tokenizer.load(path, { pattern: "[a-z]+" })).rejects.toThrow("may leave text unmatched");
    expect((await Tokenizer.load(path, { pattern: "[a-z]+|[^a-z]" })).encode("a1").length).toBe(2);
  });
});

describe("tokenizers that cannot be reproduced are refused, and the error names the reason", () => {
  const refusals: [what: string, change: (json: TokenizerJson) => void, message: string][] = [
    ["another model", (json) => (json.model.type = "Unigram"), 'its model is "Unigram"'],
    [
      "a normalizer",
      (json) => (json.normalizer = { type: "Sequence", normalizers: [{ type: "NFC" }, { type: "Nmt" }] }),
      'its normalizer is "Nmt"',
    ],
    ["a suffix", (json) => (json.model.end_of_word_suffix = "</w>"), 'end_of_word_suffix is "</w>"'],
    ["dropout", (json) => (json.model.dropout = 0.1), "dropout is 0.1"],
    ["another version", (json) => Object.assign(json, { version: "2.0" }), 'its version is "2.0", not "1.0"'],
    ["no pre-tokenizer", (json) => (json.pre_tokenizer = null), "its pre-tokenizer (none) is not byte-level"],
    ["Whitespace", (json) => (json.pre_tokenizer = { type: "Whitespace" }), '"Whitespace" is not supported'],
    [
      "a Split that drops text",
      (json) => {
        const split = { type: "Split", pattern: { Regex: "a+" }, behavior: "Removed", invert: true };
        json.pre_tokenizer = {
          type: "Sequence",
          pretokenizers: [split, { type: "ByteLevel", add_prefix_space: false }],
        };
      },
      'behavior "Removed"',
    ],
    ["a merge of nothing", (json) => json.model.merges.push(["zz", "zz"]), 'needs the token "zz"'],
  ];
  for (const [what, change, message] of refusals) {
    test(what, async () => {
      const json = gpt2Json();
      change(json);
      const path = join(scratch(), "tokenizer.json");
      writeFileSync(path, JSON.stringify(json));
      await expect(Tokenizer.load(path)).rejects.toThrow(message);
    });
  }

  const wrongTypes: [field: string, change: (json: TokenizerJson) => void][] = [
    ["ignore_merges", (json) => Object.assign(json.model, { ignore_merges: "true" })],
    ["byte_fallback", (json) => Object.assign(json.model, { byte_fallback: 1 })],
    ["fuse_unk", (json) => Object.assign(json.model, { fuse_unk: "false" })],
    ["unk_token", (json) => Object.assign(json.model, { unk_token: 5 })],
    ...["use_regex", "add_prefix_space", "trim_offsets"].map((field): (typeof wrongTypes)[number] => [
      field,
      (json) =>
        (json.pre_tokenizer = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, [field]: 1 }),
    ]),
  ];
  test.each(wrongTypes)("%s of a wrong type, which HF does not read either", async (field, change) => {
    const json = gpt2Json();
    change(json);
    expect(() => HuggingFace.fromString(JSON.stringify(json))).toThrow("invalid type");
    const path = join(scratch(), "tokenizer.json");
    writeFileSync(path, JSON.stringify(json));
    await expect(Tokenizer.load(path)).rejects.toThrow(`its "${field}" is `);
  });

  test("but a template post-processor only causes a note", async () => {
    const json = gpt2Json();
    json.post_processor = {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: special, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
      pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
      special_tokens: { [special]: { id: special, ids: [json.model.vocab[special]!], tokens: [special] } },
    };
    const { theirs, ours } = await bothOf(json);
    expect(ours.notes).toEqual([
      "the post-processor (TemplateProcessing) is not applied: ids are as with add_special_tokens=False",
    ]);
    expect([...ours.encode("the low")]).toEqual(await huggingFaceIds(theirs, "the low"));
  });
});

describe("bytes", () => {
  test("are decoded as they were, valid UTF-8 or not: 10,000 cases", async () => {
    const tokenizer = await Tokenizer.load(writeTokenizer("o200k"));
    const alphabet = Buffer.concat([
      Buffer.from("the low é漢🙃<|end|>\n "),
      Buffer.of(0xff, 0xc3, 0xe6, 0xbc, 0xf0),
    ]);
    for (let n = 0; n < 10_000; n++) {
      const bytes = Uint8Array.from({ length: random(40) }, () =>
        random(4) === 0 ? random(256) : alphabet[random(alphabet.length)]!,
      );
      const decoded = tokenizer.decodeBytes(tokenizer.encode(bytes));
      if (Buffer.compare(decoded, bytes) !== 0)
        expect({ seed, n, bytes: [...decoded] }).toEqual({ seed, n, bytes: [...bytes] });
    }
  });

  test("an id without a token is an error with its position", async () => {
    const tokenizer = await Tokenizer.load(writeTokenizer("gpt2"));
    const last = tokenizer.idLimit - 1;
    expect(tokenizer.decode([last]).length).toBeGreaterThan(0);
    for (const wrong of [last + 1, -1, 0.5, Number.NaN, 2 ** 32 + 65]) {
      expect(() => tokenizer.decode([65, wrong, 66])).toThrow(
        `id ${wrong} at position 1 is not in the vocabulary`,
      );
    }
  });
});

test("a large vocabulary without merges is loaded, where each token is a separate pretoken", async () => {
  const json = gpt2Json();
  json.model.ignore_merges = true;
  json.model.merges = [];
  for (let n = 0; n < 70_000; n++) json.model.vocab[`Ġ${n}`] ??= 1000 + n;
  const { theirs, ours } = await bothOf(json);
  for (const text of [" 69999 77 the 70000", "12 34"]) {
    expect([...ours.encode(text)]).toEqual(await huggingFaceIds(theirs, text));
  }
  const directory = scratch();
  writeFileSync(join(directory, "vocab.json"), JSON.stringify(json.model.vocab));
  writeFileSync(join(directory, "merges.txt"), "#version: 0.2\n");
  expect((await Tokenizer.load(directory)).idLimit).toBe(71_000);
});

test("an id that a special token shares with an ordinary token is decoded as the ordinary one, as by HF", async () => {
  const specials = ["é", "Ġthe", "Ã", "<é>", "<|end|>"];
  const texts = ["頁 the 語 the aé <é> the the\n", "naïve 頁頁 é", "Ġthe <|end|> the", "<é>"];
  const warnings: string[] = [];
  const trained = await trainTokenizer({
    texts: [texts.join("").repeat(5)],
    vocabSize: 290,
    compat: "huggingface",
    specialTokens: specials,
    onWarning: (message) => warnings.push(message),
    workers: 1,
  });
  const json = trained.files().get("tokenizer.json")!;
  const theirs = HuggingFace.fromString(Buffer.from(json).toString());
  const shared = (content: string, bytes: string, id: number) =>
    expect.stringContaining(`"${content}" and the token "${bytes}" have the same id, ${id}`);
  const told = [shared("é", "\\xe9", 0), shared("Ġthe", " the", 1), shared("Ã", "\\xc3", 2)];
  expect(warnings.slice(0, told.length)).toEqual(told);
  const loaded = Tokenizer.from(json);
  expect(loaded.notes).toEqual(told);
  for (const text of texts) {
    const ids = await huggingFaceIds(theirs, text);
    const decoded = await theirs.decode(ids, false);
    for (const tokenizer of [trained, loaded]) {
      expect([...tokenizer.encode(text)]).toEqual(ids);
      const ours = tokenizer.decode(ids);
      // HF decodes the characters of the special token "<é>" as bytes, so é becomes U+FFFD. `decode` keeps the text of
      // the token.
      expect(ours).toBe(decoded.replaceAll("<\ufffd>", "<é>"));
    }
  }
  expect(loaded.decode(loaded.encode(texts[0]!))).toBe(texts[0]!.replace("aé", "a\ufffd"));
});
