import { expect, test } from "bun:test";
import { SpelledTokens } from "../../src/vocabulary/spelled-tokens.ts";
import { Random } from "../pattern/naive.ts";

test("two tokens are one if their bytes are equal, however they were made", () => {
  const seed = 20261122;
  const random = new Random(seed);
  for (let trial = 0; trial < 300; trial++) {
    const first = ["a", "b", "\0", "ab", "aa"].slice(0, 2 + random.below(4));
    const starts = [0];
    for (const text of first) starts.push(starts.at(-1)! + text.length);
    const tokens = new SpelledTokens(Buffer.from(first.join("")), starts);
    const texts = [...first];
    for (let k = 0; k < 40; k++) {
      const [left, right] = [random.below(texts.length), random.below(texts.length)];
      const text = texts[left]! + texts[right]!;
      const known = texts.indexOf(text);
      const joined = tokens.join(left, right);
      expect({ seed, trial, text, joined }).toEqual({
        seed,
        trial,
        text,
        joined: known < 0 ? texts.length : known,
      });
      if (known < 0) texts.push(text);
      expect(Buffer.from(tokens.bytesOf(joined)).toString()).toBe(text);
      expect(tokens.lengthOf(joined)).toBe(text.length);
    }
    const packed = tokens.packed();
    expect(Buffer.from(packed.bytes).toString()).toBe(texts.join(""));
    expect([...packed.starts].at(-1)).toBe(texts.join("").length);
  }
});

test("a token of 2^40 bytes is told from others without its bytes", () => {
  const tokens = new SpelledTokens(Buffer.from("ab"), [0, 1, 2]);
  let [a, b] = [0, 1];
  for (let k = 0; k < 40; k++) [a, b] = [tokens.join(a, a), tokens.join(b, b)];
  expect(tokens.lengthOf(a)).toBe(2 ** 40);
  expect([tokens.count, a === b]).toEqual([82, false]);
});
