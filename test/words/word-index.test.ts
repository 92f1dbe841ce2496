import { expect, test } from "bun:test";
import { noWord, WordIndex } from "../../src/words/word-index.ts";
import { Random } from "../pattern/naive.ts";

test("finds the number of every word that was added, and of no other", () => {
  const seed = 20261122;
  const random = new Random(seed);
  for (const wordCount of [3, 600, 5000]) {
    const index = new WordIndex();
    const numbers = new Map<string, number>();
    const randomWord = () =>
      Array.from({ length: random.below(6) }, () => random.pick(["a", "b", "ab", "\xff", "\0"])).join("");
    for (let k = 0; k < wordCount; k++) {
      const word = randomWord();
      const bytes = Buffer.from(`xx${word}y`, "latin1");
      const found = index.find(bytes, 2, 2 + word.length);
      expect({ seed, word, found }).toEqual({ seed, word, found: numbers.get(word) ?? noWord });
      if (found !== noWord) continue;
      const number = k - 100;
      index.add(bytes, 2, 2 + word.length, number);
      numbers.set(word, number);
    }
    expect(index.wordCount).toBe(numbers.size);
    expect(index.byteCount).toBe([...numbers.keys()].join("").length);
    for (const [word, number] of numbers) {
      expect(index.find(Buffer.from(word, "latin1"), 0, word.length)).toBe(number);
    }
    index.clear();
    expect(index.find(Buffer.from("a"), 0, 1)).toBe(noWord);
    index.add(Buffer.from("b"), 0, 1, 7);
    expect(index.find(Buffer.from("b"), 0, 1)).toBe(7);
  }
});
