import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import type { Extended } from "../../../src/merge/learn-merges.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { extensionProduct, openBase } from "../../../src/training/extend-tokenizer.ts";
import { train } from "../../../src/training/train.ts";
import { settle } from "../../../src/training/training.ts";
import { writeProduct } from "../../../src/training/write-result.ts";
import { put, scratch } from "../../binary.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { type NaiveBase, naiveExtension, naiveTokens } from "./naive-extension.ts";

const home = scratch();

/** Returns a random base, perhaps with tokens that no merge makes. */
function makeBase(random: Random): NaiveBase {
  const vocab = new Map(byteCharacters.characters.map((character, id) => [character, id] as const));
  const merges: [string, string][] = [];
  const parts = [..."abcĠ"];
  for (let k = random(12); k > 0; k--) {
    const [left, right] = [parts[random(parts.length)]!, parts[random(parts.length)]!];
    if (vocab.has(left + right) && random(3) > 0) continue;
    if (merges.some(([a, b]) => a === left && b === right) || (left + right).includes("Ġ", 1)) continue;
    merges.splice(random(merges.length + 1), 0, [left, right]);
    if (!vocab.has(left + right)) vocab.set(left + right, vocab.size);
    parts.push(left + right);
  }
  for (let k = random(3); k > 0; k--) {
    const token = Array.from({ length: 2 + random(3) }, () => "abc"[random(3)]!).join("");
    if (!vocab.has(token)) vocab.set(token, vocab.size);
  }
  return { vocab, merges, ignoresMerges: random(2) === 0 };
}

function jsonOf({ vocab, merges, ignoresMerges }: NaiveBase, addedTokens: object[] = []) {
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: null,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: ignoresMerges,
      vocab: Object.fromEntries(vocab),
      merges,
    },
  };
}

type Options = {
  readonly newTokenCounts?: readonly number[];
  readonly specialTokens?: readonly string[];
  readonly workerCount?: number;
};

async function extend(basePath: string, text: string | Uint8Array, options: Options = {}) {
  const { newTokenCounts = [12], specialTokens = [], workerCount = 1 } = options;
  const opened = await openBase({ extend: basePath }, () => {});
  const vocabSize = newTokenCounts.map((count) => ({ isMore: true, count }));
  const asked = { vocabSize, specialTokens, extend: basePath, compat: "extension" as const };
  const settled = settle(asked, { base: { ...opened, recorded: undefined } });
  const training = { ...settled, base: settled.base! };
  const inputs = findInputs([put(home, "text", text)], {});
  return { training, extended: await train(training, { inputs, workerCount }, () => {}) };
}

/** Writes the result, and returns its path. */
async function write({ training, extended }: Awaited<ReturnType<typeof extend>>) {
  const path = join(scratch(), "extended");
  const run = {
    command: "",
    arguments: [],
    corpus: { inputs: [], workerCount: 1 },
    skipped: [],
    counts: [],
    startMs: 0,
  };
  const result = { ...run, training, trained: { ...extended, statistics: [] } };
  await writeProduct(path, await extensionProduct(result, training.base, () => {}), result);
  return path;
}

const keyOf = ({ extensions }: Extended, vocab: ReadonlyMap<string, number>) => {
  const keys = new Map([...vocab].map(([key, id]) => [id, key]));
  for (const { id, bytes } of extensions[0]!.tokens) keys.set(id, byteCharacters.encode(bytes));
  return (id: number) => keys.get(id)!;
};

function makeText(random: Random): { text: string; words: Map<string, number> } {
  const words = new Map<string, number>();
  const pieces = Array.from({ length: 1 + random(25) }, () =>
    Array.from({ length: 1 + random(9) }, () => "abc"[Math.min(random(3), random(3))]!).join(""),
  );
  const add = (word: string) => words.set(word, (words.get(word) ?? 0) + 1);
  pieces.forEach((piece, k) => {
    add(k === 0 ? piece : `Ġ${piece}`);
  });
  return { text: pieces.join(" "), words };
}

describe("an extension agrees with its naive twin", () => {
  test("on random bases and texts; each new token is usable, and HF gives the same ids", async () => {
    let refusedCount = 0;
    for (let seed = 1; seed <= rounds(20); seed++) {
      const random = randomNumbers(seed * 7919);
      const naive = makeBase(random);
      const path = put(home, "tokenizer.json", JSON.stringify(jsonOf(naive), null, random(2) * 2));
      const { text, words } = makeText(random);
      const count = 1 + random(12);
      const expected = naiveExtension(naive, words, count);
      const grown = { ...naive, merges: [...naive.merges, ...expected], ignoresMerges: false };
      const isUseless = ([left, right]: [string, string]) =>
        !naive.vocab.has(left + right) && naiveTokens(grown, left + right).length > 1;
      let made: Awaited<ReturnType<typeof extend>>;
      try {
        made = await extend(path, text, { newTokenCounts: [count] });
      } catch (error) {
        // The extension may be refused only if a new token would be useless.
        expect(error).toBeInstanceOf(UserError);
        expect({ seed, isUseless: expected.some(isUseless) }).toEqual({ seed, isUseless: true });
        refusedCount++;
        continue;
      }
      const { merges, tokens, idLimit } = made.extended.extensions[0]!;
      const key = keyOf(made.extended, naive.vocab);
      const learned = Array.from(merges.left, (left, k): [string, string] => [
        key(left),
        key(merges.right[k]!),
      ]);
      expect({ seed, learned }).toEqual({ seed, learned: expected });
      expect(expected.some(isUseless)).toBe(false);
      expect(tokens.map(({ id }) => id)).toEqual(tokens.map((_, k) => naive.vocab.size + k));
      expect(idLimit).toBe(naive.vocab.size + tokens.length);

      const written = await write(made);
      const ours = await Tokenizer.load(written);
      const theirs = HuggingFace.fromString(readFileSync(join(written, "tokenizer.json"), "utf8"));
      const sample = `${text} ${makeText(random).text}`;
      const ids = (await theirs.encode(sample, null, { addSpecialTokens: false })).getIds();
      expect({ seed, ids: [...ours.encode(sample)] }).toEqual({ seed, ids });
    }
    expect(refusedCount).toBeLessThan(rounds(3));
  });

  test("at each of several sizes, including those where merges make tokens of the base", async () => {
    let knownCount = 0;
    for (let seed = 1; seed <= rounds(15); seed++) {
      const random = randomNumbers(seed * 77);
      const naive = { ...makeBase(random), ignoresMerges: false };
      const path = put(home, "tokenizer.json", JSON.stringify(jsonOf(naive)));
      const { text, words } = makeText(random);
      const newTokenCounts = [1, 2, 3, 5, 8];
      const made = await extend(path, text, { newTokenCounts }).catch((error) => error);
      if (made instanceof UserError) continue;
      for (const [i, count] of newTokenCounts.entries()) {
        const { merges, tokens, idLimit } = made.extended.extensions[i]!;
        const expected = naiveExtension(naive, words, count);
        expect({ seed, count, mergeCount: merges.left.length }).toEqual({
          seed,
          count,
          mergeCount: expected.length,
        });
        expect(idLimit).toBe(naive.vocab.size + tokens.length);
        knownCount += expected.length - tokens.length;
      }
    }
    expect(knownCount).toBeGreaterThan(rounds(4));
  });

  test("text without a token that new merges make is encoded as by the base", async () => {
    const found = { sameCount: 0, otherCount: 0 };
    for (let seed = 1; seed <= rounds(10); seed++) {
      const random = randomNumbers(seed * 4003);
      const naive = makeBase(random);
      const path = put(home, "tokenizer.json", JSON.stringify(jsonOf(naive)));
      const { text } = makeText(random);
      const made = await extend(path, text, { newTokenCounts: [6] }).catch((error) => error);
      if (made instanceof UserError) continue;
      const [before, after] = [await Tokenizer.load(path), await Tokenizer.load(await write(made))];
      const isMade = new Set<number>(made.extended.extensions[0]!.merges.merged);
      for (let k = 0; k < 60; k++) {
        const word = Array.from({ length: 1 + random(12) }, () => "abc d"[random(5)]!).join("");
        const [ids, newIds] = [[...before.encode(word)], [...after.encode(word)]];
        expect(Buffer.from(after.decodeBytes(newIds)).toString()).toBe(word);
        if (newIds.some((id) => isMade.has(id))) found.otherCount++;
        else {
          found.sameCount++;
          expect({ seed, word, ids: newIds }).toEqual({ seed, word, ids });
        }
      }
    }
    expect(Math.min(found.sameCount, found.otherCount)).toBeGreaterThan(rounds(50));
  });

  test("with 1, 2 and 7 workers", async () => {
    const naive = makeBase(randomNumbers(5));
    const path = put(home, "tokenizer.json", JSON.stringify(jsonOf(naive)));
    const random = randomNumbers(6);
    const text = Array.from({ length: 40 }, () => makeText(random).text).join("\n");
    const { extended: one } = await extend(path, text, { workerCount: 1 });
    expect(one.extensions[0]!.tokens.length).toBe(12);
    for (const workerCount of [2, 7]) {
      const { extended } = await extend(path, text, { workerCount });
      expect(extended.extensions[0]!).toEqual(one.extensions[0]!);
    }
  });
});

describe("a base that changes text before it cuts it", () => {
  const bytesOnly: NaiveBase = {
    vocab: new Map(byteCharacters.characters.map((key, id) => [key, id])),
    merges: [],
    ignoresMerges: false,
  };
  const gpt2 = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  const pieces = [
    "e\u0301",
    "é",
    "e",
    "\u0301",
    "ﬁ",
    "A\u030a",
    "Å",
    " ",
    " ",
    "x",
    "한",
    "\u1112\u1161",
    "<|end|>",
    "\n",
  ];

  /**
   * Returns the words of documents, which end at special tokens in the raw text. Each document is normalized
   * separately.
   */
  function naiveWords(text: string, form: string | null, addsSpace: boolean): Map<string, number> {
    const words = new Map<string, number>();
    for (const document of text.split("<|end|>")) {
      const changed = form === null ? document : document.normalize(form);
      const spaced = addsSpace && changed !== "" && !changed.startsWith(" ") ? ` ${changed}` : changed;
      for (const [pretoken] of spaced.matchAll(gpt2)) {
        const word = byteCharacters.encode(new TextEncoder().encode(pretoken));
        words.set(word, (words.get(word) ?? 0) + 1);
      }
    }
    return words;
  }

  test("is trained on the changed text, in lines, records and files, with 1, 2 and 7 workers", async () => {
    const forms = ["NFC", "NFD", "NFKC", "NFKD", null];
    for (let seed = 1; seed <= rounds(5); seed++) {
      const random = randomNumbers(seed * 104729);
      const [form, addsSpace] = [forms[seed % 5]!, seed % 5 === 4 || random(3) === 0];
      const text = Array.from({ length: 1 + random(300) }, () => pieces[random(pieces.length)]!).join("");
      const json = {
        ...jsonOf(bytesOnly),
        normalizer: form === null ? null : { type: form },
        pre_tokenizer: {
          type: "ByteLevel",
          add_prefix_space: addsSpace,
          trim_offsets: true,
          use_regex: true,
        },
      };
      const path = put(home, "tokenizer.json", JSON.stringify(json));
      const expected = naiveExtension(bytesOnly, naiveWords(text, form, addsSpace), 12);
      // The special token is one of the 13 new tokens.
      const options = { newTokenCounts: [13], specialTokens: ["<|end|>"], workerCount: [1, 2, 7][seed % 3]! };
      const { extended } = await extend(path, `${text}<|end|>`, options);
      const key = keyOf(extended, bytesOnly.vocab);
      const { left, right } = extended.extensions[0]!.merges;
      const learned = Array.from(left, (id, k): [string, string] => [key(id), key(right[k]!)]);
      expect({ seed, form, addsSpace, learned }).toEqual({ seed, form, addsSpace, learned: expected });
    }
  });

  test("invalid UTF-8 is counted verbatim, and its position is reported", async () => {
    const json = { ...jsonOf(bytesOnly), normalizer: { type: "NFC" } };
    const path = put(home, "tokenizer.json", JSON.stringify(json));
    const bytes = Buffer.concat([
      Buffer.from("é e\u0301 "),
      Buffer.from([0xc3]),
      Buffer.from("x<|end|>\u1112"),
    ]);
    put(home, "text", bytes);
    const { extended } = await extend(path, bytes, { newTokenCounts: [2], specialTokens: ["<|end|>"] });
    const [{ textBytes, documentCount, invalidByteCount, firstInvalidByte }] = extended.statistics as [
      (typeof extended.statistics)[number],
    ];
    expect({ textBytes, documentCount, invalidByteCount, firstInvalidByte }).toEqual({
      textBytes: bytes.length,
      documentCount: 2,
      invalidByteCount: 1,
      firstInvalidByte: 7,
    });
  });
});

describe("tokens of the base", () => {
  const abcd: NaiveBase = {
    vocab: new Map([...byteCharacters.characters, "ab", "abc"].map((key, id) => [key, id])),
    merges: [["ab", "c"]],
    ignoresMerges: true,
  };

  test("one that no merge of the base makes keeps its id when a new merge makes it", async () => {
    const path = put(home, "tokenizer.json", JSON.stringify(jsonOf({ ...abcd, merges: [] })));
    const { extended } = await extend(path, "xabx xabx xabx", { newTokenCounts: [2] });
    const { tokens, merges } = extended.extensions[0]!;
    expect([...merges.left]).toEqual([97, 256, 120]);
    expect([...merges.merged]).toEqual([256, 258, 259]);
    expect(tokens.map(({ bytes }) => String.fromCharCode(...bytes))).toEqual(["abx", "xabx"]);
  });

  test("a new token that the base's merges would always split is refused", async () => {
    const path = put(home, "tokenizer.json", JSON.stringify(jsonOf({ ...abcd, ignoresMerges: false })));
    // The new merges are (a, b), then (c, d), then (ab, cd). But when "abcd" is encoded, the base's merge (ab, c)
    // applies as soon as (a, b) has made "ab", because it ranks before (c, d). So "abcd" is never made.
    const text = "ab.ab.ab.ab.cd.cd.cd.abcd.abcd";
    const refused = extend(path, text, { newTokenCounts: [2] });
    await expect(refused).rejects.toThrow('new token 2, "abcd", could never be used');
    expect((await extend(path, text, { newTokenCounts: [1] })).extended.extensions[0]!.tokens.length).toBe(1);
  });

  test("added tokens keep their ids, and get an entry in the vocabulary, because HF numbers others by its size", async () => {
    const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
    const added = [{ id: 258, content: "<|end|>", ...special }];
    const path = put(home, "tokenizer.json", JSON.stringify(jsonOf({ ...abcd, merges: [] }, added), null, 2));
    const made = await extend(path, "hello hello", { newTokenCounts: [3] });
    expect(made.extended.extensions[0]!.tokens.map(({ id }) => id)).toEqual([259, 260, 261]);
    const written = await write(made);
    const json = readFileSync(join(written, "tokenizer.json"), "utf8");
    expect(JSON.parse(json).model.vocab["<|end|>"]).toBe(258);
    const text = "hello<|end|>hell";
    const theirs = HuggingFace.fromString(json);
    const ids = (await theirs.encode(text, null, { addSpecialTokens: false })).getIds();
    expect(ids).toContain(258);
    expect([...(await Tokenizer.load(written)).encode(text)]).toEqual(ids);
  });

  test("a token whose key represents no bytes, as in Command R+, is not one that merges could make", async () => {
    const vocab = new Map([
      ...byteCharacters.characters.map((c, id) => [c, id] as const),
      ["🙂", 256] as const,
    ]);
    const base = { vocab, merges: [], ignoresMerges: false };
    const path = put(home, "tokenizer.json", JSON.stringify(jsonOf(base)));
    const made = await extend(path, "🙂".repeat(9), { newTokenCounts: [3] });
    expect(made.extended.extensions[0]!.tokens.map(({ id }) => id)).toEqual([257, 258, 259]);
    const written = await write(made);
    expect([...(await Tokenizer.load(written)).encode("🙂")]).toEqual([259]);
    const theirs = HuggingFace.fromString(readFileSync(join(written, "tokenizer.json"), "utf8"));
    expect((await theirs.encode("🙂", null)).getIds()).toEqual([259]);
  });

  test("a base that cannot be extended is refused, and the error names it", async () => {
    const vocab = new Map([...abcd.vocab].filter(([key]) => key !== "z"));
    const path = put(home, "tokenizer.json", JSON.stringify(jsonOf({ ...abcd, vocab })));
    await expect(extend(path, "")).rejects.toThrow("lacks tokens for some bytes");
  });
});
