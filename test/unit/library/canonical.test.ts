import { expect, test } from "bun:test";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { TokenDecoder } from "../../../src/tokenizer/token-decoder.ts";
import { rounds } from "../../rounds.ts";
import { madeTrial } from "../text/made-trials.ts";
import { jsonOf, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 67);
const base = jsonOf(writeTokenizer("gpt2"));

/** Returns the tokenizer, or null if its file is refused. */
function made(json: object): TextTokenizer | null {
  try {
    return TextTokenizer.from(json);
  } catch {
    return null;
  }
}

test("ids are canonical if encoding their text gives them, and recode returns the canonical ones", () => {
  const found = { canonical: 0, others: 0, otherTexts: 0 };
  for (let trial = 0; trial < rounds(200); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    const tokenizer = made(json);
    if (tokenizer === null) continue;
    for (const [turn, text] of texts.entries()) {
      const options = { specialTokensAsText: turn % 2 === 0 };
      const cut = (trial * 31 + turn) % (text.length + 1);
      const parts = turn % 3 === 0 ? [text] : [text.slice(0, cut), text.slice(cut)];
      const ids = parts.flatMap((part) => [...tokenizer.encode(part, options)]);
      const bytes = tokenizer.decodeBytes(ids);
      const expected = tokenizer.encode(bytes, options);
      const isCanonical = ids.join() === expected.join();
      const { ids: canonical, spans } = tokenizer.recode(ids, options);
      const index = tokenizer.firstNoncanonical(ids, options);
      expect(canonical).toEqual(expected);
      expect([tokenizer.isCanonical(ids, options), index < 0]).toEqual([isCanonical, isCanonical]);
      const isSameText = Buffer.compare(tokenizer.decodeBytes(expected), bytes) === 0;
      const recoded = [...ids];
      for (const { start, end, canonicalStart, canonicalEnd } of [...spans].reverse())
        recoded.splice(start, end - start, ...expected.subarray(canonicalStart, canonicalEnd));
      expect(recoded).toEqual([...expected]);
      if (!isCanonical) expect(spans[0]!.start).toBe(index);
      found[isCanonical ? "canonical" : isSameText ? "others" : "otherTexts"]++;
    }
  }
  for (const count of Object.values(found)) expect(count).toBeGreaterThan(0);
});

test("spans end with the ids if decoding leaves out spaces", () => {
  const starts = Uint32Array.of(0, 0, 1, 3, 6);
  const tokens = { idLimit: 4, tokenCount: 3, starts, bytes: new Uint8Array(6) };
  const cases: [given: number[], canonical: number[], span: number[]][] = [
    [[1], [], [0, 1, 0, 0]],
    [[], [1, 2], [0, 0, 0, 2]],
    [
      [3, 1],
      [1, 1],
      [0, 2, 0, 2],
    ],
    [
      [1, 2, 3],
      [3, 3],
      [0, 2, 0, 1],
    ],
  ];
  for (const [given, canonical, [start, end, canonicalStart, canonicalEnd]] of cases)
    expect<object>(new TokenDecoder(tokens).recodedSpans(given, canonical, true)).toEqual([
      { start, end, canonicalStart, canonicalEnd },
    ]);
});
