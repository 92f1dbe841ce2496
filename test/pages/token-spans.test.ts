import { expect, test } from "bun:test";
import { spansOf } from "../../src/pages/token-spans.ts";

test("spans end where tokens of both tokenizers end", () => {
  const shown = (left: number[], right: number[]) =>
    spansOf(left, right).map(
      ({ startByte, endByte, left, right }) => `${startByte}-${endByte} ${left.join("-")} ${right.join("-")}`,
    );
  // The cuts are ab|c|d|ef and a|b|c|def.
  expect(shown([2, 1, 1, 2], [1, 1, 1, 3])).toEqual(["0-2 0-1 0-2", "2-3 1-2 2-3", "3-6 2-4 3-4"]);
  expect(shown([2, 2], [1, 3])).toEqual(["0-4 0-2 0-2"]);
  expect(shown([3, 1], [3, 1])).toEqual(["0-3 0-1 0-1", "3-4 1-2 1-2"]);
  expect(shown([], [])).toEqual([]);
});

test("for random cuts of a text, the spans cover its bytes, and each is the shortest possible", () => {
  for (let seed = 1; seed < 200; seed++) {
    let state = seed;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const cut = () => {
      const lengths: number[] = [];
      for (let left = 40; left > 0; left -= lengths.at(-1)!) lengths.push(Math.min(left, 1 + random(5)));
      return lengths;
    };
    const [left, right] = [cut(), cut()];
    const borders = (lengths: readonly number[]) => {
      let end = 0;
      return new Set(lengths.map((length) => (end += length)));
    };
    const shared = [...borders(left)].filter((end) => borders(right).has(end));
    expect(spansOf(left, right).map(({ endByte }) => endByte)).toEqual(shared);
  }
});
