import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SpecialTokenFinder } from "../../src/corpus/special-tokens.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** All tokens found from the left, as [position, token]. */
function findAll(tokens: string[], text: string): [number, string][] {
  const finder = new SpecialTokenFinder(tokens.map(utf8));
  const bytes = utf8(text);
  finder.reset(bytes);
  const found: [number, string][] = [];
  for (let pos = 0; ; ) {
    const at = finder.find(pos, bytes.length);
    if (at >= bytes.length) return found;
    const length = finder.lengthAt(at, bytes.length);
    found.push([at, new TextDecoder().decode(bytes.subarray(at, at + length))]);
    pos = at + length;
  }
}

/** The same by the definition: at each place the longest token, if any. */
function findAllNaively(tokens: string[], text: string): [number, string][] {
  const found: [number, string][] = [];
  const longestFirst = tokens.toSorted((a, b) => b.length - a.length);
  for (let pos = 0; pos < text.length; ) {
    const token = longestFirst.find((candidate) => text.startsWith(candidate, pos));
    if (token !== undefined) found.push([pos, token]);
    pos += token?.length ?? 1;
  }
  return found;
}

describe("special tokens", () => {
  test("none are found where there are none", () => {
    expect(findAll(["<|a|>"], "")).toEqual([]);
    expect(findAll([], "text")).toEqual([]);
  });

  test("of two that begin at one place the longest is taken", () => {
    expect(findAll(["<a>", "<a><b>"], "x<a><b><a>y")).toEqual([
      [1, "<a><b>"],
      [7, "<a>"],
    ]);
  });

  test("what overlaps a token found is no token", () => {
    expect(findAll(["ab", "bc"], "abcbc")).toEqual([
      [0, "ab"],
      [3, "bc"],
    ]);
  });

  test("a token that would end behind the limit is not found", () => {
    const finder = new SpecialTokenFinder([utf8("<|end|>")]);
    finder.reset(utf8("ab<|end|>"));
    expect(finder.find(0, 8)).toBe(8);
    finder.reset(utf8("ab<|end|>"));
    expect(finder.find(0, 9)).toBe(2);
  });

  test("any tokens in any text are found as the definition says", () => {
    const letters = fc.constantFrom("a", "b", "<", "|");
    const token = fc.string({ unit: letters, minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.uniqueArray(token, { maxLength: 5 }),
        fc.string({ unit: letters, maxLength: 60 }),
        (tokens, text) => {
          expect(findAll(tokens, text)).toEqual(findAllNaively(tokens, text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
