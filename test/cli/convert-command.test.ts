import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import { Tokenizer } from "../../src/library/tokenizer.ts";
import { patterns } from "../../src/pattern/named-patterns.ts";
import { bpe, put, scratch } from "../binary.ts";
import { fieldsOf } from "../unit/formats/gguf-fields.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { huggingFaceIds, jsonOf, specialTokens, writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const home = scratch();
const probes = [
  madeText(1, 400),
  madeText(3, 300),
  "zqx",
  `a${specialTokens.join("b")}  \n\n 漢字é lowest  low 123`,
];
const run = (...args: string[]) => bpe(["convert", ...args], { cwd: home });
let outputs = 0;
const newPath = () => `converted-${outputs++}`;

function converted(path: string, ...more: string[]): string {
  const into = newPath();
  const { code, stderr } = run(path, "-o", into, "-q", ...more);
  expect([stderr, code]).toEqual(["", 0]);
  return join(home, into);
}

const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const alone = (name: string, content: string) => put(scratch(), name, content);

/**
 * Expects that HF, tiktoken and `bpe` give the same ids as the tokenizer `before`. HF and tiktoken are left out if the
 * directory has no file for them.
 */
async function expectSameIds(
  before: Tokenizer,
  directory: string,
  sources: readonly string[],
): Promise<void> {
  const names = readdirSync(directory);
  const loaded = await Promise.all(
    ["tokenizer.json", "vocab.json", "tokenizer.tiktoken"]
      .filter((name) => names.includes(name))
      .map((name) => Tokenizer.load(join(directory, name))),
  );
  const theirs = names.includes("tokenizer.json")
    ? HuggingFace.fromString(read(directory, "tokenizer.json"))
    : undefined;
  const lines = names.includes("tokenizer.tiktoken")
    ? read(directory, "tokenizer.tiktoken").trim().split("\n")
    : [];
  const ranks = lines.map((line) => line.split(" ")).map(([token, rank]) => `! ${rank} ${token}`);
  const special = Object.fromEntries(before.specialTokens);
  const tiktoken = ranks.length === 0 ? undefined : new Tiktoken(ranks.join("\n"), special, sources[0]);
  for (const probe of probes) {
    const ids = [...before.encode(probe)];
    for (const tokenizer of loaded) expect([...tokenizer.encode(probe)]).toEqual(ids);
    if (theirs !== undefined) expect(await huggingFaceIds(theirs, probe)).toEqual(ids);
    if (tiktoken !== undefined) expect([...tiktoken.encode(probe, "all")]).toEqual(ids);
  }
  tiktoken?.free();
}

describe("other people's files", () => {
  const json = jsonOf(writeTokenizer("cl100k"));
  const vocab: Record<string, number> = { ...json.model.vocab, zqx: 1000, qqq: 2000 };
  const ordinary = Object.fromEntries(
    Object.entries(json.model.vocab).filter(([token]) => !specialTokens.includes(token)),
  );
  const bytesTurned = { ...ordinary, "!": ordinary['"']!, '"': ordinary["!"]! };
  const withWholes = { ...json, model: { ...json.model, vocab, ignore_merges: true } };

  test("tokens that no merge makes, and ids without a token: as ranks and back, in tiktoken and in HF", async () => {
    const path = alone("tokenizer.json", JSON.stringify(withWholes));
    const before = await Tokenizer.load(path);
    const ranks = converted(path, "--format", "tiktoken");
    await expectSameIds(before, ranks, patterns.cl100k.sources);
    const back = converted(join(ranks, "tokenizer.tiktoken"), "--format", "huggingface");
    expect(jsonOf(back).model.ignore_merges).toBe(true);
    await expectSameIds(before, back, patterns.cl100k.sources);
  });

  test("an expression that has a name may be typed out", () => {
    const ranks = converted(alone("tokenizer.json", JSON.stringify(json)), "--format", "tiktoken");
    // The file is copied without the record next to it, because that would state the pattern.
    const path = alone("typed.tiktoken", read(ranks, "tokenizer.tiktoken"));
    const names = readdirSync(converted(path, "--pattern", patterns.cl100k.sources[0]!));
    expect(names).toContain("tokenizer.json");
    expect(names).toContain("tokenizer.tiktoken");
  });

  test("tekken.json: special tokens first, and the same ids from its conversions", async () => {
    const text = (id: number) => `<|${id}|>`;
    const texts = new Map([...Object.entries(ordinary)].map(([token, id]) => [token, id + 3]));
    const vocab = {
      ...Object.fromEntries(texts),
      ...Object.fromEntries([0, 1, 2].map((id) => [text(id), id])),
    };
    const added_tokens = [0, 1, 2].map((id) => ({ ...json.added_tokens[0]!, id, content: text(id) }));
    const path = alone(
      "tokenizer.json",
      JSON.stringify({ ...json, added_tokens, model: { ...json.model, vocab } }),
    );
    const before = await Tokenizer.load(path);
    const { stderr, code } = run(path, "--format", "tekken", "-o", "tekken");
    expect([code, stderr]).toEqual([0, expect.stringContaining("but tekken.json does not")]);
    const written = JSON.parse(read(home, "tekken", "tekken.json"));
    expect(written.config).toMatchObject({
      pattern: patterns.cl100k.sources[0],
      default_num_special_tokens: 3,
    });
    expect(written.vocab.slice(0, 3)).toEqual([
      { rank: 0, token_bytes: "AA==", token_str: "\0" },
      { rank: 1, token_bytes: "AQ==", token_str: "\x01" },
      { rank: 2, token_bytes: "Ag==", token_str: "\x02" },
    ]);
    expect(written.vocab[255]).toEqual({ rank: 255, token_bytes: "/w==", token_str: null });
    expect(written.special_tokens[2]).toEqual({ rank: 2, token_str: text(2), is_control: true });
    const after = await Tokenizer.load(join(home, "tekken"));
    const back = await Tokenizer.load(converted(join(home, "tekken"), "--format", "huggingface"));
    expect(converted(join(home, "tekken"), "--format", "tekken")).toBeString();
    for (const probe of probes) {
      const ids = [...before.encode(probe)];
      expect([...after.encode(probe)]).toEqual(ids);
      expect([...back.encode(probe)]).toEqual(ids);
    }
    expect([[...before.encode(text(1))], [...back.encode(text(1))]]).toEqual([[1], [1]]);
    expect(after.decodeBytes([1])).toEqual(new TextEncoder().encode(text(1)));
  });

  test("gguf has the tokens with their ids and types, the merges in their order, and llama.cpp's name of the pattern", () => {
    const path = alone("tokenizer.json", JSON.stringify(withWholes));
    const { stderr } = run(path, "--format", "gguf", "-o", "gguf");
    expect(stderr).toContain("pre-tokenizer llama-bpe; it cuts differently at white space that ends a text");
    const fields = fieldsOf(join(home, "gguf", "tokenizer.gguf"));
    const [tokens, types] = ["tokens", "token_type"].map(
      (name) => fields[`tokenizer.ggml.${name}`] as unknown[],
    );
    expect(fields["tokenizer.ggml.pre"]).toBe("llama-bpe");
    expect(fields["tokenizer.ggml.merges"]).toEqual(
      json.model.merges.map((halves) => (halves as string[]).join(" ")),
    );
    expect(tokens).toHaveLength(2001);
    for (const [token, id] of Object.entries(vocab))
      expect([tokens![id], types![id]]).toEqual([token, specialTokens.includes(token) ? 3 : 1]);
    expect([tokens![1500], types![1500]]).toEqual(["[PAD1500]", 5]);
    expect(fields["tokenizer.ggml.eos_token_id"]).toBe(vocab["<|endoftext|>"]);
  });

  for (const [name, change, format, message] of [
    [
      "a normal form",
      { normalizer: { type: "NFC" } },
      "gpt2",
      "it cannot store the normalization of text (NFC)",
    ],
    [
      "whole tokens",
      { model: withWholes.model },
      "gpt2",
      "a pretoken becomes a token that no merge produces",
    ],
    [
      "tokens that nothing gives",
      { model: { ...json.model, vocab } },
      "tiktoken",
      'no text is encoded to the token "zqx"',
    ],
    [
      "merges in another order than ids",
      { model: { ...json.model, merges: json.model.merges.toReversed() } },
      "tiktoken",
      "these merges have a different order",
    ],
    [
      "a pattern that llama.cpp does not know",
      { pre_tokenizer: jsonOf(writeTokenizer("nanochat")).pre_tokenizer },
      "gguf",
      "llama.cpp has no pre-tokenizer for this pattern",
    ],
    ["special tokens after the others", {}, "tekken", "in tekken.json special tokens have the first ids"],
    [
      "bytes in another order",
      { added_tokens: [], model: { ...json.model, vocab: bytesTurned } },
      "tekken",
      "in tekken.json the 256 bytes come next after the special tokens",
    ],
    [
      "ids without a token",
      { added_tokens: [], model: { ...json.model, vocab: { ...ordinary, zqx: 2000 } } },
      "tekken",
      "each id has a token, but in this tokenizer some ids have none",
    ],
    ["an unknown format", {}, "nonsense", 'unknown value "nonsense"'],
  ] as const) {
    test(`${name} is refused for ${format}, and nothing is written`, () => {
      const into = newPath();
      const path = alone("tokenizer.json", JSON.stringify({ ...json, ...change }));
      const { code, stderr } = run(path, "--format", format, "-o", into, "-q");
      expect([stderr, code]).toEqual([expect.stringContaining(message), format === "nonsense" ? 2 : 1]);
      expect(existsSync(join(home, into))).toBe(false);
    });
  }

  test("without --format, a format that cannot hold it is left out", async () => {
    const [first, second, ...merges] = json.model.merges;
    const model = { ...json.model, merges: [second, first, ...merges] };
    const path = alone("tokenizer.json", JSON.stringify({ ...json, model }));
    const into = converted(path);
    expect(readdirSync(into)).not.toContain("tokenizer.tiktoken");
    await expectSameIds(await Tokenizer.load(path), into, []);
    const { stderr } = run(path, "--format", "tiktoken", "-o", "never");
    expect(stderr).toContain(
      "--format tiktoken: tiktoken merges in the order of ids, but these merges have a different order",
    );
  });
});

describe("--copy copies the tokenizer's own files", () => {
  test("copied unchanged, or not at all", () => {
    const path = writeTokenizer("gpt2");
    const into = converted(path, "--copy");
    const names = readdirSync(into);
    expect(names).toContain("tokenizer.json");
    for (const name of names) expect([name, read(into, name)]).toEqual([name, read(path, name)]);
    const foreign = put(home, "foreign.txt", "theirs");
    expect(run(path, "--copy", "-o", foreign)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`"${foreign}" is not replaced: it is not a directory`),
    });
    expect(read(foreign)).toBe("theirs");
  });

  test("refuses settings that no file could store, and another format", () => {
    const path = writeTokenizer("gpt2");
    const into = newPath();
    expect(run(join(path, "vocab.json"), "--copy", "-o", into, "-s", "<|more|>")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("cannot be copied: its files do not contain the whole tokenizer"),
    });
    expect(run(path, "--copy", "-o", into, "--format", "gpt2").code).toBe(2);
    expect(existsSync(join(home, into))).toBe(false);
  });
});
