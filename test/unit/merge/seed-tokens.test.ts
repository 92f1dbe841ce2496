import { describe, expect, test } from "bun:test";
import { Tiktoken } from "tiktoken";
import { Tokenizer as HuggingFace } from "tokenizers";
import { trainTokenizer } from "../../../src/library/train-tokenizer.ts";
import type { TrainTokenizerOptions } from "../../../src/library/train-tokenizer-options.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeText } from "../tokenizer/made-merges.ts";

const train = (options: Partial<TrainTokenizerOptions>) =>
  trainTokenizer({ texts: [madeText(3, 300)], vocabSize: 500, workers: 1, ...options });

describe("seed tokens", () => {
  const numbers = Array.from({ length: 1000 }, (_, n) => String(n));

  test("the numbers 0 to 999 are one token each, in bpe, HF and tiktoken", async () => {
    for (const compat of ["cs336", "huggingface", "rustbpe"] as const) {
      const special = ["<|endoftext|>"];
      const tokenizer = await train({
        seedTokens: numbers,
        vocabSize: 1400,
        pattern: "o200k",
        compat,
        specialTokens: special,
      });
      const files = tokenizer.files();
      const text = (name: string) => new TextDecoder().decode(files.get(name));
      const theirs = HuggingFace.fromString(text("tokenizer.json"));
      const ids = special.map((token) => [token, tokenizer.encode(token)[0]!]);
      const [source] = patterns.o200k.sources;
      const tiktoken = new Tiktoken(text("tokenizer.tiktoken"), Object.fromEntries(ids), source!);
      for (const number of [...numbers, " the 12 of 345", `${special[0]}7 8`, madeText(9, 40)]) {
        const found = [...tokenizer.encode(number)];
        if (/^\d+$/.test(number)) expect(found).toHaveLength(1);
        expect([number, (await theirs.encode(number)).getIds()]).toEqual([number, found]);
        expect([number, [...tiktoken.encode(number, "all")]]).toEqual([number, found]);
      }
    }
  });

  test("seeds of random text are one token each, and merges build on them", async () => {
    for (let seed = 1; seed <= rounds(20); seed++) {
      const random = randomNumbers(seed * 7919);
      const words = madeText(seed, 200).replaceAll("\n", " ").split(/(?= )/);
      const seeds = Array.from({ length: 1 + random(30) }, () => {
        const word =
          words[random(words.length)]! + (random(2) === 0 ? words[random(words.length)]!.trim() : "");
        const characters = [...word];
        return characters.slice(0, 1 + random(characters.length)).join("");
      });
      const settings = {
        compat: (["cs336", "huggingface", "rustbpe"] as const)[random(3)]!,
        pattern: random(2) === 0 ? "none" : "[^\\n]+|\\n",
        ...(random(2) === 0 && { wholeCharacters: true }),
        minFrequency: random(5),
      };
      const tokenizer = await train({ seedTokens: seeds, vocabSize: 600, ...settings });
      const theirs = HuggingFace.fromString(
        new TextDecoder().decode(tokenizer.files({ formats: ["huggingface"] }).get("tokenizer.json")),
      );
      for (const text of seeds) {
        const ids = [...tokenizer.encode(text)];
        expect({ seed, settings, text, ids }).toEqual({ seed, settings, text, ids: [ids[0]!] });
        expect({ seed, text, ids: (await theirs.encode(text)).getIds() }).toEqual({ seed, text, ids });
      }
      const text = madeText(seed + 1000, 60);
      expect({ seed, ids: (await theirs.encode(text)).getIds() }).toEqual({
        seed,
        ids: [...tokenizer.encode(text)],
      });
    }
  });

  test("a corpus without a pair still gets them", async () => {
    const tokenizer = await train({ texts: ["x"], seedTokens: ["aaaa", "né"] });
    expect(tokenizer.merges.map((pair) => pair.map((half) => Buffer.from(half).toString("latin1")))).toEqual([
      ["a", "a"],
      ["aa", "aa"],
      ["\xc3", "\xa9"],
      ["n", "\xc3\xa9"],
    ]);
  });

  test("a seed of one byte is already a token: a note says so, and it uses no id", async () => {
    const said: string[] = [];
    const seeded = await train({ seedTokens: ["a", "7"], onWarning: (message) => said.push(message) });
    expect(said).toEqual(['seed tokens that are always tokens, because they are single bytes: "a", "7"']);
    expect(seeded.merges).toEqual((await train({})).merges);
  });

  test("line ends in a corpus that HF's trainer reads by lines, and pieces that only occur in longer ones", async () => {
    const tokenizer = await train({ seedTokens: ["\n\n", "\n "], compat: "huggingface", pattern: "cl100k" });
    expect(tokenizer.encode("a\n\nb")).toHaveLength(3);
  });

  const refused: readonly (readonly [Partial<TrainTokenizerOptions>, string])[] = [
    [{ seedTokens: [""] }, 'seed token "": it is empty'],
    [{ seedTokens: ["a\ud800"] }, "half of a surrogate pair"],
    [{ seedTokens: ["a".repeat(1025)] }, "it has 1025 bytes, but may have at most 1024"],
    [
      { seedTokens: ["ok", "1234"], pattern: "cl100k" },
      'seed token "1234": it would never be used, because the pattern splits it into "123" "4"',
    ],
    [{ seedTokens: ["new york"] }, 'the pattern splits it into "new" " york"'],
    [{ seedTokens: ["a b"], pattern: "\\b" }, 'the pattern splits it into "a" " " "b"'],
    [
      { seedTokens: ["234", "1234"], pattern: "(?<=\\d)(?=(?:\\d{3})+(?!\\d))" },
      'seed token "1234": it would never be used, because the pattern splits it into "1" "234"',
    ],
    [{ seedTokens: ["<|x|>"], specialTokens: ["<|x|>"] }, "it is a special token"],
    [
      { seedTokens: ["a<|x|>"], specialTokens: ["<|x|>"], pattern: "none" },
      'the special token "<|x|>" splits it',
    ],
    [{ seedTokens: ["abcd"], maxTokenLength: 3 }, "it has 4 bytes, but may have at most 3"],
    [
      { seedTokens: ["abc"], maxTokenLength: 3, compat: "huggingface" },
      "it has 3 bytes, but may have at most 2",
    ],
    [
      { seedTokens: ["abcdef"], vocabSize: 260 },
      "vocabSize is 260, but must be at least 261 for the seed tokens and the shorter tokens that they are merged from",
    ],
    [
      { seedTokens: numbers, vocabSize: 1245 },
      "vocabSize is 1245, but must be at least 1246 for the seed tokens",
    ],
  ];
  for (const [options, message] of refused) {
    test(`refused: ${message}`, async () => {
      await expect(train(options)).rejects.toThrow(message);
    });
  }

  test("seeds that just fit are not refused", async () => {
    await train({ seedTokens: ["abcdef"], vocabSize: 261 });
    await train({ seedTokens: ["abcd"], maxTokenLength: 4 });
    await train({ seedTokens: ["ab"], maxTokenLength: 1, compat: "huggingface" });
    await train({ seedTokens: ["a".repeat(1024)], vocabSize: 266 });
  });
});
