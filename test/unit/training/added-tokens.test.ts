import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { trainTokenizer } from "../../../src/library/train-tokenizer.ts";
import type { TrainTokenizerOptions } from "../../../src/library/train-tokenizer-options.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { naiveMayJoin } from "../merge/naive-whole-characters.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { type NaiveBase, naiveTokens } from "./naive-extension.ts";

const home = scratch();

/** Writes a base. Returns its path and its naive form. */
async function makeBase(name: string, options: Partial<TrainTokenizerOptions> = {}) {
  const path = join(home, name);
  const made = await trainTokenizer({
    texts: [madeText(3, 300)],
    vocabSize: 420,
    workers: 1,
    output: path,
    specialTokens: ["<|end|>"],
    ...options,
  });
  return { path, naive: naiveOf(path), made };
}

function naiveOf(path: string): NaiveBase {
  const { model } = JSON.parse(readFileSync(join(path, "tokenizer.json"), "utf8"));
  return { vocab: new Map(Object.entries(model.vocab)), merges: model.merges, ignoresMerges: false };
}

/**
 * Returns the merges that make each seed one token, in GPT-2's characters. Each merge joins the first adjacent pair of
 * the seed's tokens that `naiveMayJoin` allows, or else the first pair.
 */
function naiveMerges(base: NaiveBase, seeds: readonly string[]): [string, string][] {
  const latin = (key: string) => Buffer.from(byteCharacters.decode(key)!).toString("latin1");
  const merges: [string, string][] = [];
  for (const seed of seeds) {
    for (;;) {
      const tokens = naiveTokens(
        { ...base, merges: [...base.merges, ...merges] },
        byteCharacters.encode(Buffer.from(seed)),
      );
      if (tokens.length === 1) break;
      const i = tokens.findIndex(
        (token, k) => k + 1 < tokens.length && naiveMayJoin(latin(token), latin(tokens[k + 1]!)),
      );
      merges.push([tokens[Math.max(i, 0)]!, tokens[Math.max(i, 0) + 1]!]);
    }
  }
  return merges;
}

const extend = (path: string, options: Partial<TrainTokenizerOptions>) =>
  trainTokenizer({ extend: path, workers: 1, ...options });

const theirsOf = (files: ReadonlyMap<string, Uint8Array>) => {
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  const added: { content: string; id: number }[] = JSON.parse(text("tokenizer.json")).added_tokens;
  const ids = Object.fromEntries(added.map(({ content, id }) => [content, id]));
  const tiktoken = new Tiktoken(text("tokenizer.tiktoken"), ids, patterns.gpt2.sources[0]!);
  const huggingface = HuggingFace.fromString(text("tokenizer.json"));
  return async (given: string) => ({
    huggingface: (await huggingface.encode(given, null, { addSpecialTokens: false })).getIds(),
    tiktoken: [...tiktoken.encode(given, "all")],
  });
};

describe("tokens for a tokenizer without a corpus", () => {
  test("each seed is one token in bpe, HF and tiktoken; text without a new pair is encoded as before", async () => {
    const { path, naive, made: before } = await makeBase("random");
    const found = { sameCount: 0, otherCount: 0 };
    for (let seed = 1; seed <= rounds(8); seed++) {
      const random = randomNumbers(seed * 7919);
      const words = madeText(seed, 60).replaceAll(/\s+/g, " ").split(/(?= )/);
      const odd = ["naïve", " 日本", "😀", "aaaa", " x"];
      const seeds = Array.from({ length: 1 + random(8) }, () =>
        random(3) === 0
          ? odd[random(odd.length)]!
          : words[random(words.length)]!.replaceAll(/[^\p{L} ]/gu, ""),
      ).filter((text) => text.trim() !== "");
      if (seeds.length === 0) continue;
      const expected = naiveMerges(naive, [...new Set(seeds)]);
      const specials = ["<|tool|>", "<|x|>"].slice(0, random(3));
      if (expected.length + specials.length === 0) continue;
      const after = await extend(path, { seedTokens: seeds, specialTokens: specials });
      const latin = (half: Uint8Array) => byteCharacters.encode(half);
      expect(after.merges.map((pair) => pair.map(latin))).toEqual(expected);
      expect(after.idLimit).toBe(420 + expected.length + specials.length);
      specials.forEach((text, i) => {
        expect([...after.encode(text)]).toEqual([420 + expected.length + i]);
      });
      const theirs = theirsOf(after.files());
      for (const text of seeds) expect([text, after.encode(text).length]).toEqual([text, 1]);
      const text = `${madeText(seed + 50, 40)} ${seeds.join("")}${specials.join(" ")} <|end|>${seeds.join(" ")}`;
      const ids = [...after.encode(text)];
      expect({ seed, ...(await theirs(text)) }).toEqual({ seed, huggingface: ids, tiktoken: ids });
      // A word that the new merges do not shorten is encoded as before.
      const grown = { ...naive, merges: [...naive.merges, ...expected] };
      const parts = seeds.flatMap((text) => [text, `${text}q`, text.slice(0, -1)]);
      for (const word of [...madeText(seed + 90, 40).split(/\s+/), ...parts]) {
        const key = byteCharacters.encode(Buffer.from(word));
        const isSame = naiveTokens(grown, key).length === naiveTokens(naive, key).length;
        if (isSame) expect([word, [...after.encode(word)]]).toEqual([word, [...before.encode(word)]]);
        found[isSame ? "sameCount" : "otherCount"]++;
      }
    }
    expect(Math.min(found.sameCount, found.otherCount)).toBeGreaterThan(rounds(8));
  });

  test("a base with ignore_merges, such as Llama 3's, also agrees with HF", async () => {
    const { path } = await makeBase("whole");
    const file = join(path, "tokenizer.json");
    const json = JSON.parse(readFileSync(file, "utf8"));
    json.model.ignore_merges = true;
    // A token that no merge makes.
    json.model.vocab.qzq = 420;
    writeFileSync(file, JSON.stringify(json));
    const said: string[] = [];
    const after = await extend(file, {
      seedTokens: ["qzqz", "qzq"],
      onWarning: (message) => said.push(message),
    });
    expect(said).toEqual(['seed tokens that the base already has: "qzq"']);
    expect([...after.encode("qzq")]).toEqual([420]);
    expect(after.encode("qzqz")).toHaveLength(1);
    const theirs = HuggingFace.fromString(new TextDecoder().decode(after.files().get("tokenizer.json")));
    for (const text of ["qzqz qzq qzqzq zqzq qz"])
      expect((await theirs.encode(text, null)).getIds()).toEqual([...after.encode(text)]);
  });

  test("with a corpus, seeds come first, then learned tokens, then special tokens, then reserved ones", async () => {
    const { path } = await makeBase("learning");
    const options = { texts: [madeText(8, 200)], seedTokens: [" zebra"], specialTokens: ["<|tool|>"] };
    const after = await extend(path, { ...options, vocabSize: "+12", padTo: 16 });
    expect(after.encode(" zebra")).toEqual(Uint32Array.of(after.encode(" zebra")[0]!));
    expect(after.specialTokens.get("<|tool|>")).toBe(431);
    expect(after.idLimit).toBe(432);
    const seeds = naiveMerges(naiveOf(path), [" zebra"]);
    const spelled = after.merges.map((pair) => pair.map((half) => byteCharacters.encode(half)));
    expect(spelled.slice(0, seeds.length)).toEqual(seeds);
    expect(spelled).toHaveLength(11);
    // The smaller of two sizes has room only for the seed and the special token.
    const sizes = join(home, "sizes");
    await extend(path, { ...options, vocabSize: [420 + seeds.length + 1, 432], output: sizes });
    const small = await Tokenizer.load(join(sizes, String(420 + seeds.length + 1)));
    expect(small.encode(" zebra")).toHaveLength(1);
    expect(small.specialTokens.get("<|tool|>")).toBe(420 + seeds.length);
    await expect(extend(path, { ...options, vocabSize: "+2" })).rejects.toThrow(
      `vocabSize is 422 (+2), but must be at least ${421 + seeds.length} (+${1 + seeds.length}) for the seed tokens and the shorter tokens that they are merged from`,
    );
  });

  test("in memory, an extended tokenizer equals the saved one, whatever the format of its base", async () => {
    const { made: base } = await makeBase("memory");
    for (const format of ["gpt2", "tiktoken", "huggingface"]) {
      const path = join(home, `memory-${format}`);
      await base.save(path, { formats: [format] });
      const options = { seedTokens: ["zebra"], specialTokens: ["<|tool|>"], padTo: 16 };
      const made = await extend(path, { ...options, rename: { "<|end|>": "<|stop|>" } });
      await made.save(join(home, `memory-${format}-saved`));
      const saved = await Tokenizer.load(join(home, `memory-${format}-saved`));
      const text = "a<|tool|>zebra<|stop|><|end|><|reserved_special_token_0|>";
      const factsOf = (tokenizer: Tokenizer) => [
        [...tokenizer.encode(text)],
        [...tokenizer.specialTokens],
        tokenizer.size,
      ];
      expect([format, ...factsOf(made)]).toEqual([format, ...factsOf(saved)]);
      expect(made.encode("<|tool|>")).toHaveLength(1);
    }
  });

  test("a given pattern is for all files of a base that state none", async () => {
    const { path, made: base } = await makeBase("bare");
    const bare = join(home, "bare-files");
    mkdirSync(bare);
    for (const name of ["vocab.json", "merges.txt", "tokenizer.tiktoken"])
      copyFileSync(join(path, name), join(bare, name));
    const made = await extend(bare, { seedTokens: ["zebra"], pattern: "gpt2" });
    expect(made.encode("zebra")).toHaveLength(1);
    const text = madeText(5, 60);
    expect([...made.encode(text)]).toEqual([...base.encode(text)]);
    expect([...made.files().keys()].sort()).toEqual(["merges.txt", "tokenizer.tiktoken", "vocab.json"]);
  });

  test("companion files name new special tokens, and again when that result is extended", async () => {
    const { path } = await makeBase("next");
    const output = join(home, "next-more");
    await extend(path, { specialTokens: ["<|a|>", "<|b|>"], output });
    const config = JSON.parse(readFileSync(join(output, "tokenizer_config.json"), "utf8"));
    expect(config.additional_special_tokens).toEqual(["<|end|>", "<|a|>", "<|b|>"]);
    expect(config.added_tokens_decoder["421"].content).toBe("<|b|>");
    const text = readFileSync(join(output, "tokenizer_config.json"), "utf8");
    expect(text).toBe(`${JSON.stringify(config, null, 2)}\n`);
    const again = await extend(output, { specialTokens: ["<|a|>", "<|c|>"] });
    expect([...again.encode("<|a|><|c|><|end|>")]).toEqual([420, 422, 419]);
    const { options } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
    expect(options).toMatchObject({
      specialTokens: ["<|end|>", "<|a|>", "<|b|>"],
      specialIds: [419, 420, 421],
    });
    for (const name of ["vocab.json", "tokenizer.tiktoken"])
      expect([...(await Tokenizer.load(join(output, name))).encode("a<|b|>")]).toEqual([97, 421]);
  });

  const refused: readonly (readonly [Partial<TrainTokenizerOptions>, string])[] = [
    [{}, "extend: there is nothing to add"],
    [{ specialTokens: ["<|end|>"] }, "already has all tokens that were given"],
    [{ seedTokens: ["a"] }, "already has all tokens that were given"],
    [{ seedTokens: ["new york"] }, 'the pattern splits it into "new" " york"'],
    [{ seedTokens: ["a<|end|>"] }, 'the special token "<|end|>" splits it'],
    [
      { specialTokens: ["a"] },
      '"a" cannot be a special token: the vocabulary already spells a single byte that way',
    ],
    [{ specialTokens: ["<|x|>"], textField: "a" }, "textField needs vocabSize"],
    [{ specialTokens: ["<|x|>"], texts: ["a"] }, "vocabSize is missing"],
    [{ rename: { x: "y" } }, '"x" cannot be renamed: the base has no such special token'],
    [{ rename: { "<|end|>": "a" } }, '"a" cannot be a special token'],
    [{ rename: { "<|end|>": "<|x|>" }, specialTokens: ["<|x|>"] }, "already has all tokens that were given"],
  ];
  test("the hint for a seed token that the pattern cuts does not offer another pattern", async () => {
    const { path } = await makeBase("cutting");
    const { hint } = await extend(path, { seedTokens: ["new york"] }).catch((error) => error);
    expect(hint).toBe("leave it out");
  });

  for (const [options, message] of refused) {
    test(`refused: ${message}`, async () => {
      const { path } = await makeBase("refusing");
      const made = extend(path, options);
      if (message === "already has all tokens that were given" && options.rename !== undefined) await made;
      else await expect(made).rejects.toThrow(message);
    });
  }

  test("refused: a special token that is the key of a token, of the base or newly learned", async () => {
    const { path, naive } = await makeBase("keys");
    const key = naive.merges[3]!.join("");
    await expect(extend(path, { specialTokens: [key] })).rejects.toThrow(
      `special token "${key}" is already token`,
    );
    const learning = { texts: ["qq qq qq"], vocabSize: "+4" as const, specialTokens: ["Ġqq"] };
    await expect(extend(path, learning)).rejects.toThrow('special token "Ġqq" equals a learned token');
  });
});

describe("another text for a special token", () => {
  const all = (path: string) =>
    ["tokenizer.json", "vocab.json", "tokenizer.tiktoken"].map((name) => Tokenizer.load(join(path, name)));

  test("its id stays, in every file and in companion files, and nothing else changes", async () => {
    const { path } = await makeBase("renaming", {
      padTo: 64,
      model: { addsBos: true, roles: { bos: "<|end|>" } },
    });
    const output = join(home, "renamed");
    const rename = { "<|reserved_special_token_0|>": '<|"tool"\\|>', "<|end|>": "<|fin|>" };
    await extend(path, { rename, output });
    for (const tokenizer of await Promise.all(all(output))) {
      expect([...tokenizer.encode('a<|"tool"\\|>b<|fin|>')]).toEqual([97, 420, 98, 419]);
      expect(tokenizer.encode("<|end|>").length).toBeGreaterThan(1);
      expect(tokenizer.decode([419])).toBe("<|fin|>");
    }
    // Only the occurrences of the old text changed.
    const asJson = (text: string) => JSON.stringify(text).slice(1, -1);
    for (const name of ["tokenizer.json", "vocab.json", "tokenizer_config.json", "special_tokens_map.json"]) {
      let expected = readFileSync(join(path, name), "utf8");
      for (const [before, after] of Object.entries(rename))
        expected = expected.replaceAll(`"${before}"`, () => `"${asJson(after)}"`);
      expect([name, readFileSync(join(output, name), "utf8")]).toEqual([name, expected]);
    }
    const theirs = HuggingFace.fromString(readFileSync(join(output, "tokenizer.json"), "utf8"));
    expect((await theirs.encode("a<|fin|>", null)).getIds()).toEqual([419, 97, 419]);
    const { options } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
    expect(options.rename).toEqual(rename);
    expect(options.reservedTokens).not.toContain('<|"tool"\\|>');
    // The token ends documents under its new name.
    const more = await extend(output, { texts: ["zz<|fin|>zz<|fin|>zz"], vocabSize: "+2", compat: "cs336" });
    expect(more.merges).toHaveLength(1);
  });

  test("refused: a text that is in use, two tokens with one text, a template that contains the old text", async () => {
    const { path, naive } = await makeBase("taken", { padTo: 64 });
    const key = naive.merges[3]!.join("");
    const spare = "<|reserved_special_token_1|>";
    for (const [rename, message] of [
      [{ "<|end|>": key }, `"${key}" is already token`],
      [{ "<|end|>": spare }, `"${spare}" is already token 421 of the base`],
      [{ "<|end|>": "<x>", [spare]: "<x>" }, 'another token is renamed to "<x>", too'],
      [{ [key]: "<x>" }, `"${key}" cannot be renamed: the base has no such special token`],
    ] as const) {
      await expect(extend(path, { rename })).rejects.toThrow(message);
    }
    const chat = await makeBase("chat", { model: { chatTemplate: "{{ '<|end|>' }}" } });
    await expect(extend(chat.path, { rename: { "<|end|>": "<x>" } })).rejects.toThrow(
      'the chat template contains the token "<|end|>", which rename would change',
    );
  });

  test("refused: a token that merges make", async () => {
    const output = join(home, "made-by-merges");
    const asked = { compat: "huggingface", specialTokens: ["we"], specialTokensAsText: true } as const;
    await trainTokenizer({ texts: ["we we we"], vocabSize: 259, ...asked, output });
    for (const name of ["tokenizer.json", "vocab.json"])
      await expect(extend(join(output, name), { rename: { we: "<x>" } })).rejects.toThrow(
        '"we" cannot be renamed: it is also a learned token',
      );
  });

  test("refused: a text that HF would find at other positions", async () => {
    const { path } = await makeBase("stripping");
    const file = join(path, "tokenizer.json");
    const json = JSON.parse(readFileSync(file, "utf8"));
    json.added_tokens[0].rstrip = true;
    writeFileSync(file, JSON.stringify(json));
    await expect(extend(file, { specialTokens: [" <x>"] })).rejects.toThrow("begins with white space");
  });
});
