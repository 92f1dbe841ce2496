import { expect, test } from "bun:test";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { pick, type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, type TokenizerJson, writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { checkSegments, MaskedSegments, madeAtRandom, madeBases } from "./session-checks.ts";

const seed = Number(process.env.TEST_SEED ?? 5);
const maskOf = (content: string) => `\ue000${specialTokens.indexOf(content)}\ue001`;

/** Replaces special tokens in trusted segments with names that no text contains. */
function masked({ text, trusted }: { text: string; trusted: boolean }): string {
  if (!trusted) return text;
  const longestFirst = specialTokens.toSorted((a, b) => b.length - a.length);
  const found = longestFirst.map((token) => token.replaceAll(/[|[\]<>]/g, "\\$&")).join("|");
  return text.replaceAll(new RegExp(found, "g"), maskOf);
}

function maskedTokenizer(json: TokenizerJson): Tokenizer {
  const added_tokens = json.added_tokens.map((token) => ({
    ...token,
    content: maskOf(String(token.content)),
  }));
  const isSpecial = (text: string) => specialTokens.includes(text);
  const names = Object.entries(json.model.vocab).map(([text, id]) => [
    isSpecial(text) ? maskOf(text) : text,
    id,
  ]);
  return Tokenizer.from({
    ...json,
    added_tokens,
    model: { ...json.model, vocab: Object.fromEntries(names) },
  });
}

function madeSegments(random: Random) {
  const pieces = ["<|end", "oftext|>", "|>", "<", "é", "e\u0301", "[é漢]", "🙂", " ", ...specialTokens];
  return Array.from({ length: random(7) }, () => ({
    text: Array.from({ length: random(4) }, () =>
      random(3) === 0 ? madeText(random(100), 5) : pick(random, pieces),
    ).join(""),
    trusted: random(2) === 0,
  }));
}

test("the ids of segments are those of a text in which only trusted special tokens are special", () => {
  for (const [n, name] of ["gpt2", "cl100k", "o200k"].entries()) {
    const json = jsonOf(writeTokenizer(name as "gpt2"));
    for (const normalizer of [null, { type: "NFC" }]) {
      const tokenizer = Tokenizer.from({ ...json, normalizer });
      const naive = maskedTokenizer({ ...json, normalizer });
      for (let round = 0; round < rounds(200); round++) {
        const random = randomNumbers(seed * 1_000_003 + 1009 * n + round);
        const segments = madeSegments(random);
        const text = segments.map(masked).join("");
        const about = { seed, name, round, segments };
        const found = tokenizer.encodeSegments(segments);
        expect({ ...about, ids: [...found] }).toEqual({ ...about, ids: [...naive.encode(text)] });
        const alone = segments.flatMap(({ text, trusted }) => [
          ...tokenizer.encode(text, { specialTokensAsText: !trusted }),
        ]);
        expect([...tokenizer.encodeSegments(segments, { isolate: true })]).toEqual(alone);
        if (normalizer !== null) continue;
        for (const isolate of [false, true]) {
          const given = segments.map((segment) => ({ ...segment, text: Buffer.from(segment.text) }));
          const { ids, starts, ends } = tokenizer.encodeSegmentsWithOffsets(given, { isolate });
          expect([...ids]).toEqual(isolate ? alone : [...found]);
          expect([...starts, Buffer.concat(given.map(({ text }) => text)).length]).toEqual(
            [0, ...ends].slice(0, ids.length + 1),
          );
          const inString = tokenizer.encodeSegmentsWithOffsets(segments, { isolate });
          const whole = segments.map(({ text }) => text).join("");
          expect(inString.ids).toEqual(ids);
          inString.ids.forEach((id, i) => {
            const token = new TextDecoder().decode(tokenizer.tokenBytes(id));
            if (token.includes("\ufffd")) return;
            expect(whole.slice(inString.starts[i], inString.ends[i])).toBe(token);
          });
        }
      }
    }
  }
});

test("the ids of segments are those of their definition for random tokenizers, including other added tokens", () => {
  const bases = madeBases();
  for (let trial = 0; trial < rounds(100); trial++) {
    const json = madeAtRandom(bases, seed * 1_000_003 + trial)?.json;
    if (json === undefined) continue;
    const naive = new MaskedSegments(json);
    const random = randomNumbers(seed * 1009 + trial);
    for (let round = 0; round < 20; round++) checkSegments(naive, random);
  }
});

test("segments do not depend on the preceding text", () => {
  const json = jsonOf(writeTokenizer("gpt2"));
  const added_tokens = json.added_tokens.map((token) => ({ ...token, normalized: true }));
  const tokenizer = Tokenizer.from({ ...json, added_tokens, normalizer: { type: "NFC" } });
  const segments = [
    { text: "low ", trusted: true },
    { text: `e\u0301${specialTokens[0]}`, trusted: false },
    { text: `er${specialTokens[0]}`, trusted: true },
  ];
  const ids = tokenizer.encodeSegments(segments);
  expect([...ids].filter((id) => id === tokenizer.specialTokens.get(specialTokens[0]!)).length).toBe(1);
  for (const size of [1, 5, 15, 100]) {
    tokenizer.encode("e\u0301 low".repeat(size));
    expect(tokenizer.encodeSegments(segments)).toEqual(ids);
  }
});

test("values other than segments are refused", () => {
  const tokenizer = Tokenizer.from(jsonOf(writeTokenizer("gpt2")));
  const wrong = [["a"], [{ text: "a" }], [{ text: 1, trusted: true }], [{ text: "a", trusted: 1 }], "text"];
  for (const segments of wrong)
    expect(() => tokenizer.encodeSegments(segments as never)).toThrow(/encodeSegments: segments/);
  expect(tokenizer.encodeSegments([]).length).toBe(0);
  expect(tokenizer.encodeSegments([{ text: "", trusted: false }]).length).toBe(0);
});
