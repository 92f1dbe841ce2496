import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { randomSource } from "../../../bench/random.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { SpecialTokenFinder } from "../../../src/text/special-token-finder.ts";
import { rounds } from "../../rounds.ts";
import { type Found, findNaively } from "./naive-tokens.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * Returns all tokens in [from, limit). The search continues after each token or, with `overlapping`, one byte after its
 * start.
 */
function findAll(finder: SpecialTokenFinder, from: number, limit: number, overlapping = false): Found[] {
  const found: Found[] = [];
  for (let pos = from; ; ) {
    const at = finder.find(pos, limit);
    if (at >= limit) return found;
    found.push([at, finder.foundBytes]);
    pos = at + (overlapping ? 1 : finder.foundBytes);
  }
}

function finderOf(tokens: readonly Uint8Array[], text: Uint8Array): SpecialTokenFinder {
  const finder = new SpecialTokenFinder(tokens);
  finder.reset(text);
  return finder;
}

function found(tokens: readonly string[], text: string): [number, string][] {
  const bytes = utf8(text);
  const all = findAll(finderOf(tokens.map(utf8), bytes), 0, bytes.length);
  return all.map(([pos, length]) => [pos, new TextDecoder().decode(bytes.subarray(pos, pos + length))]);
}

/** Returns how many bytes the finder reads backwards while it finds all tokens, divided by the size of the text. */
function visitedShare(tokens: readonly string[], text: string): number {
  const bytes = utf8(text);
  const finder = finderOf(tokens.map(utf8), bytes);
  findAll(finder, 0, bytes.length);
  return finder.readBytes / bytes.length;
}

describe("special tokens", () => {
  test("none are found if there are none", () => {
    expect(found(["<|a|>"], "")).toEqual([]);
    expect(found([], "text")).toEqual([]);
    expect(found([""], "text")).toEqual([]);
  });

  test("of two tokens that begin at one position, the longest is found", () => {
    expect(found(["<a>", "<a><b>"], "x<a><b><a>y")).toEqual([
      [1, "<a><b>"],
      [7, "<a>"],
    ]);
  });

  test("a token that overlaps one already found is skipped", () => {
    expect(found(["ab", "bc"], "abcbc")).toEqual([
      [0, "ab"],
      [3, "bc"],
    ]);
  });

  test("a token that would end after the limit is not found, but a shorter one is", () => {
    const findUpTo = (limit: number) =>
      findAll(finderOf([utf8("<|end|>"), utf8("<|")], utf8("ab<|end|>")), 0, limit);
    expect(findUpTo(3)).toEqual([]);
    expect(findUpTo(8)).toEqual([[2, 2]]);
    expect(findUpTo(9)).toEqual([[2, 7]]);
    const finder = finderOf([utf8("<|end|>"), utf8("<|")], utf8("ab<|end|>"));
    expect([finder.find(2, 4), finder.foundBytes]).toEqual([2, 2]);
    expect([finder.find(2, 9), finder.foundBytes]).toEqual([2, 7]);
  });

  test("tokens that begin inside a character, and those that are not text, are found by their bytes", () => {
    const tokens = [Uint8Array.of(0xa9), Uint8Array.of(0xff, 0x00), utf8("é")];
    const text = Buffer.concat([utf8("aé"), Uint8Array.of(0xc4, 0xa9, 0xff, 0x00, 0xff)]);
    expect(findAll(finderOf(tokens, text), 0, text.length)).toEqual([
      [1, 2],
      [4, 1],
      [5, 2],
    ]);
  });

  test("many tokens with different first bytes are all found", () => {
    const tokens = Array.from("abcdefghijklmnop", (letter, i) => `${letter}${i};`);
    const text = tokens.map((token) => `${token} and `).join("");
    expect(found(tokens, text).map(([, token]) => token)).toEqual(tokens);
  });

  test("thousands of tokens that share their ends, their beginnings, or all of another token are found", () => {
    const letters = randomSource(5);
    const make = (length: number) => utf8(Array.from({ length }, () => "abc"[letters.below(3)]).join(""));
    const tokens = Array.from({ length: 2000 }, (_, i) => make(2 + (i % 11)));
    const text = make(3000);
    const finder = new SpecialTokenFinder(tokens);
    finder.reset(text);
    expect(findAll(finder, 0, text.length)).toEqual(findNaively(tokens, text, 0, text.length));
  });

  test("nothing is remembered of the previous text after a reset", () => {
    const finder = finderOf([utf8("<|a|>"), utf8("<|b|>")], utf8("<|a|><|b|>"));
    expect(finder.find(0, 10)).toBe(0);
    finder.reset(utf8("     <|b|>"));
    expect(findAll(finder, 0, 10)).toEqual([[5, 5]]);
    finder.reset(utf8("no token"));
    expect(findAll(finder, 0, 8)).toEqual([]);
    finder.reset(utf8("<|b|> <|a|>"));
    expect(findAll(finder, 0, 11)).toEqual([
      [0, 5],
      [6, 5],
    ]);
  });

  test("random tokens in random bytes are found as defined, up to any limits, overlapping or not", () => {
    const bytes = (max: number, letters: readonly number[]) =>
      fc
        .array(fc.constantFrom(...letters), { minLength: 1, maxLength: max })
        .map((list) => Uint8Array.from(list));
    const inputs = fc
      .constantFrom([97, 98], [97, 98, 60, 124], [0, 0xc3, 0xa9, 0xff], [...Array(16).keys()])
      .chain((letters) =>
        fc.record({
          tokens: fc
            .tuple(fc.constantFrom(2, 5, 40), fc.constantFrom(1, 3, 20))
            .chain(([size, count]) => fc.array(bytes(size, letters), { maxLength: count })),
          text: bytes(400, letters),
          limits: fc.array(fc.nat(400), { maxLength: 3 }),
          overlapping: fc.boolean(),
        }),
      );
    fc.assert(
      fc.property(inputs, ({ tokens, text, limits, overlapping }) => {
        const finder = finderOf(tokens, text);
        let from = 0;
        for (const limit of [
          ...limits.map((each) => each % text.length).sort((a, b) => a - b),
          text.length,
        ]) {
          const twin = findNaively(tokens, text, from, limit, overlapping);
          expect(findAll(finder, from, limit, overlapping)).toEqual(twin);
          from = limit;
        }
      }),
      { numRuns: rounds(3000) },
    );
  });

  test("tokens are found across blocks of every size", () => {
    const random = randomSource(20261122);
    for (const tokenLength of [3, 100, 20_000]) {
      const tokens = [`<${"x".repeat(tokenLength - 2)}>`, "<x", "xx>"].map(utf8);
      const parts = Array.from({ length: 60 }, () =>
        random.below(2) === 0
          ? "x".repeat(random.below(2 * tokenLength))
          : [...tokens, utf8("<"), utf8(" ".repeat(300))][random.below(5)]!,
      );
      const text = Buffer.concat(parts.map((part) => Buffer.from(part)));
      expect(findAll(finderOf(tokens, text), 0, text.length)).toEqual(
        findNaively(tokens, text, 0, text.length),
      );
    }
  });

  test("a text without the tokens' prefixes is not read backwards, and one with a few of them hardly", () => {
    const reserved = ["", ...Array.from({ length: 256 }, (_, i) => `<|reserved_special_token_${i}|>`)];
    expect(visitedShare(reserved, "a < b | c > d ".repeat(10_000))).toBe(0);
    const rare = `${"some words that follow ".repeat(1000)}<|reserved_special_token_7|>`;
    expect(visitedShare(reserved, rare.repeat(10))).toBeLessThan(0.01);
  });

  test.skipIf(isSmallScale)(
    "blocks grow where prefixes are everywhere, and are short again where they are rare",
    () => {
      const tokens = Array.from({ length: 256 }, (_, i) => `e${i}`);
      const dense = "e ".repeat(50_000);
      expect(visitedShare(tokens, dense)).toBeLessThan(1.02);
      const sparse = `e${" ".repeat(1000)}`.repeat(1000);
      expect(visitedShare(tokens, dense + sparse)).toBeLessThan(0.2);
    },
  );

  test("no byte is read backwards more than twice, for any tokens and text", () => {
    const nested = Array.from({ length: 500 }, (_, i) => "<|".repeat(i + 1));
    const cases: [string, string[], string][] = [
      ["near misses of a long token", ["<|".repeat(2000).concat("x")], "<|".repeat(50_000)],
      [
        "near misses of a long token, next to a short one",
        ["<|".repeat(2000).concat("x"), "<"],
        "<|".repeat(50_000),
      ],
      ["nested prefixes", nested, "<|".repeat(20_000)],
      ["nested prefixes in pieces", nested, "<|<|<| <".repeat(20_000)],
      ["common letters", Array.from({ length: 10_000 }, (_, i) => `e${i}`), "eee e1 e22 the ".repeat(10_000)],
      [
        "single bytes",
        [...Array(64).keys()].map((i) => String.fromCharCode(64 + i)),
        "any Text At All".repeat(10_000),
      ],
      ["a byte everywhere", ["a"], "a".repeat(100_000)],
      ["a long token at distances", ["a".concat("b".repeat(5000)), "ac"], `a${" ".repeat(70)}`.repeat(5000)],
      ["a long token far apart", ["a".concat("b".repeat(5000)), "ac"], `a${" ".repeat(200)}`.repeat(2000)],
      ["a token longer than a block", ["a".concat("b".repeat(50_000)), "ac"], "a".repeat(200_000)],
    ];
    for (const [what, tokens, text] of cases) {
      // In a text without prefixes of tokens, the kernel reads nothing backwards, so a token is added at the end.
      const share = visitedShare(tokens, text + tokens.at(-1));
      expect(`${what}: ${share <= 2 ? "at most 2" : share}`).toBe(`${what}: at most 2`);
    }
  });
});
