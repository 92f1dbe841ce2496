import { expect, test } from "bun:test";
import { Tokenizer as HuggingFace } from "tokenizers";
import { TextTokenizer } from "../../src/pipeline/text-tokenizer.ts";
import { TextEncoding } from "../../src/tokenizer/text-encoding.ts";
import { nameObstacle } from "../../src/tokenizer/token-table.ts";
import { rounds } from "../rounds.ts";
import { madeTrial } from "../text/made-trials.ts";
import { errorOf } from "../thrown.ts";
import { jsonOf, specialTokens, writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { madeText } from "../vocabulary/made-merges.ts";

const seed = Number(process.env.TEST_SEED ?? 67);
const base = jsonOf(writeTokenizer("gpt2"));
const tokenizer = TextTokenizer.from(base);

/** The tokenizer, or null if its file is refused. */
function made(json: object): TextTokenizer | null {
  try {
    return TextTokenizer.from(json);
  } catch {
    return null;
  }
}

test("count says how many ids encode gives, and with a limit whether it is more", () => {
  let moreCount = 0;
  for (let trial = 0; trial < rounds(75); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    const tokenizer = made(json);
    if (tokenizer === null) continue;
    for (const [turn, text] of [...texts, texts.join(" ").repeat(10)].entries()) {
      const options = { specialTokensAsText: turn % 2 === 0 };
      const { length } = tokenizer.encode(text, options);
      const limits = [0, 1, length - 1, length, length + 1, (trial * 7) % 40].filter((limit) => limit >= 0);
      const about = { seed, trial, text, limits };
      const counted = limits.map((limit) => tokenizer.count(Buffer.from(text), { ...options, limit }));
      expect({ about, counted }).toEqual({
        ...{ about, counted: limits.map((limit) => Math.min(length, limit + 1)) },
      });
      expect(tokenizer.count(text, options)).toBe(length);
      moreCount += counted.filter((count, i) => count > limits[i]!).length;
    }
  }
  expect(moreCount).toBeGreaterThan(rounds(300));
});

test("with a limit no more of a text is read than that takes, and nothing of it is left", () => {
  const encoding = new TextEncoding(tokenizer.parts);
  const text = madeText(3, 20_000);
  const readTo = (limit: number) => encoding.pushUntil(text, limit, false);
  expect(readTo(0)).toBeLessThan(200);
  expect(encoding.out.count).toBe(0);
  expect(readTo(10)).toBeLessThan(300);
  const end = readTo(1000);
  expect(tokenizer.encode(text.slice(0, end)).length).toBeLessThan(2000);
  expect(readTo(Number.POSITIVE_INFINITY)).toBe(text.length);
  expect([encoding.pendingBytes, encoding.out.count]).toEqual([0, 0]);
  expect(tokenizer.count("a", { limit: 5 })).toBe(1);
  // A character of a string is in one step.
  expect(tokenizer.count("🦊".repeat(100), { limit: 1000 })).toBe(tokenizer.encode("🦊".repeat(100)).length);
});

test("a text is read as far as four bytes for each id, and then by quarters of what was read", () => {
  const encoding = new TextEncoding(tokenizer.parts);
  expect(encoding.pushUntil("a!".repeat(1000), 63, false)).toBe(256);
  // Two tokens of 26 bytes are certain in 64 bytes.
  expect(encoding.pushUntil(specialTokens[1]!.repeat(10), 1, false)).toBe(64);
  expect(encoding.pushUntil(specialTokens[1]!.repeat(10), 2, false)).toBe(128);
  let pushCount = 0;
  const push = encoding.push.bind(encoding);
  encoding.push = (...bytes) => {
    pushCount++;
    push(...bytes);
  };
  encoding.pushUntil("a".repeat(100_000), 0, false);
  expect(pushCount).toBeWithin(30, 45);
});

test("a batch has the ids of each text, end to end, and where they begin", () => {
  const texts = ["", "low lower", specialTokens[0]!, "", Buffer.from([0xff, 0x41]), madeText(5, 2000)];
  for (const specialTokensAsText of [false, true]) {
    const { ids, offsets } = tokenizer.encodeBatch(texts, { specialTokensAsText });
    expect(offsets.length).toBe(texts.length + 1);
    texts.forEach((text, i) => {
      const wanted = [...tokenizer.encode(text, { specialTokensAsText })];
      expect([...ids.slice(offsets[i], offsets[i + 1])]).toEqual(wanted);
    });
    expect(ids.length).toBe(offsets.at(-1)!);
  }
  expect(tokenizer.encodeBatch([])).toEqual({ ids: new Uint32Array(0), offsets: new Int32Array(1) });
  expect(() => tokenizer.encodeBatch(["a", 5 as never])).toThrow("encodeBatch: texts[1] is 5");
  expect(() => tokenizer.encodeBatch("a" as never)).toThrow('encodeBatch: texts is "a": it must be an array');
  // What it had encoded is not left behind.
  expect([...tokenizer.encode("a")]).toEqual([..."a"].map((letter) => base.model.vocab[letter]!));
});

test("mistakes are told with their value", () => {
  const wrong = (call: () => unknown, message: string) => expect(call).toThrow(message);
  wrong(
    () => tokenizer.count("a", { limit: -1 }),
    "count: limit is -1: it must be a whole number of 0 or more",
  );
  wrong(() => tokenizer.count("a", { limit: Number.NaN }), "count: limit is NaN");
  wrong(() => tokenizer.count("a", { limits: 1 } as never), 'count has no option "limits"');
  wrong(() => tokenizer.truncate("a", 0.5), "truncate: limit is 0.5");
  wrong(() => tokenizer.truncate("a", undefined as never), "truncate: limit is missing");
  wrong(() => tokenizer.truncate("a", 1, { keep: "middle" as never }), "it must be one of start, end");
  wrong(() => tokenizer.chunks("a", 0), "chunks: size is 0: it must be a whole number of 1 or more");
  wrong(
    () => tokenizer.chunks("a", 5, { overlap: 5 }),
    "chunks: overlap is 5: it must be a whole number from 0 to 4",
  );
  wrong(() => tokenizer.chunks(5 as never, 5), "chunks: text is 5");
  expect(tokenizer.chunks("", 5)).toEqual([]);
  expect(tokenizer.truncate("", 0)).toBe("");
  expect(tokenizer.count("")).toBe(0);
});

test("tokens have the names that HF gives them, added ones too; where two have one id that is an error", async () => {
  for (let trial = 0; trial < rounds(30); trial++) {
    const { json, texts } = madeTrial(base, seed * 2_000_003 + trial);
    const tokenizer = made(json);
    if (tokenizer === null) continue;
    if (nameObstacle(tokenizer.parts.tokens) !== undefined) {
      expect(() => tokenizer.tokenToId("a")).toThrow("two tokens of the files have one id");
      continue;
    }
    const theirs = HuggingFace.fromString(JSON.stringify(json));
    for (const [token, id] of Object.entries(theirs.getVocab(true))) {
      expect([trial, token, tokenizer.tokenToId(token)]).toEqual([trial, token, id]);
      expect([trial, id, tokenizer.idToToken(id)]).toEqual([trial, id, token]);
    }
    const [text] = texts;
    const { length } = tokenizer.encode(text!);
    const tokens = tokenizer.tokenize(text!);
    expect(tokens.map((token) => tokenizer.tokenToId(token)!)).toEqual([...tokenizer.encode(text!)]);
    expect(tokens).toHaveLength(length);
  }
  expect(tokenizer.tokenToId("no such token")).toBeUndefined();
  expect(tokenizer.idToToken(tokenizer.idLimit)).toBeUndefined();
  expect(tokenizer.tokenize(" the")[0]).toStartWith("Ġ");
  expect(tokenizer.vocabSize).toBe(tokenizer.size);
});

test("preTokenize cuts as the pattern does, and at added tokens; a byte order mark stays", () => {
  const [special] = specialTokens;
  const gpt2 = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
  for (const text of ["I'm  here, 42é 日本!\n\n x", madeText(4, 50), "\ufeffa b", ""])
    expect(tokenizer.preTokenize(text)).toEqual([...text.matchAll(gpt2)].map(([piece]) => piece));
  expect(tokenizer.preTokenize(`a b${special}c`)).toEqual(["a", " b", special!, "c"]);
});

test("names of other packages are refused with the way here", () => {
  const call = (name: string) => () => (tokenizer as unknown as Record<string, () => void>)[name]!();
  expect(call("add_special_tokens")).toThrow("a Tokenizer has no add_special_tokens");
  expect(errorOf(call("encode_ordinary")).hint).toContain("specialTokensAsText: true");
  expect(errorOf(call("apply_chat_template")).hint).toContain("AutoTokenizer");
  expect(Object.keys(tokenizer)).not.toContain("free");
});
