import { expect, test } from "bun:test";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import * as modelsOfRanks from "../../../src/tokenizer/model-of-ranks.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import { randomNumbers } from "../../random.ts";

const seed = Number(process.env.TEST_SEED ?? 5);

/** Joins like tiktoken: neighbours that form a token, the lowest rank first, and of equal ranks the leftmost. */
function joinNaively(token: string, ranks: ReadonlyMap<string, number>): string[] {
  const parts = [...token];
  for (;;) {
    const joined = parts.slice(1).map((part, i) => ranks.get(parts[i]! + part) ?? Infinity);
    const best = Math.min(...joined);
    if (best === Infinity) return parts;
    const at = joined.indexOf(best);
    parts.splice(at, 2, parts[at]! + parts[at + 1]!);
  }
}

/**
 * Returns the merges that make tokens, and the tokens without a merge, which are used only for a pretoken with exactly
 * their text.
 */
function modelNaively(tokens: readonly string[]) {
  const merges: [left: number, right: number, merged: number][] = [];
  const whole = new Map<string, number>();
  const rankOf = new Map(tokens.map((text, rank) => [text, rank]));
  tokens.forEach((text, rank) => {
    if (text.length === 1) return;
    const shorter = tokens.filter((other) => other.length < text.length);
    const parts = joinNaively(text, new Map(shorter.map((other) => [other, rankOf.get(other)!])));
    if (parts.length === 2) merges.push([rankOf.get(parts[0]!)!, rankOf.get(parts[1]!)!, rank]);
    else whole.set(text, rank);
  });
  return { merges, whole };
}

const listOf = (tokens: readonly string[]) =>
  tokenTables.pack(tokens.map((text, rank) => [rank, Buffer.from(text, "latin1")] as const));

test("ranks in any order give the merges and the whole tokens that joining by rank gives", () => {
  const random = randomNumbers(seed);
  const alphabet = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  for (let round = 0; round < 60; round++) {
    const made = Array.from({ length: 40 }, () =>
      Array.from({ length: 2 + random(6) }, () => "abc"[random(3)]!).join(""),
    );
    const tokens = [...new Set(made), ...alphabet].map((text) => ({ text, key: random(1e6) }));
    const list = tokens.sort((a, b) => a.key - b.key).map(({ text }) => text);
    const { merges, wholeTokens, idLimit } = modelsOfRanks.of(listOf(list), "");
    const found = Array.from(merges.merged, (id, k) => [merges.left[k]!, merges.right[k]!, id]);
    const expected = modelNaively(list);
    expect({ seed, found }).toEqual({ seed, found: expected.merges });
    expect(new Set(wholeTokens?.ids)).toEqual(new Set(expected.whole.values()));
    expect(idLimit).toBe(list.length);
  }
});

test("a list that lacks a byte, or has a duplicate rank or token, is refused", () => {
  const alphabet = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const messageOf = (...tokens: string[]) => {
    try {
      return modelsOfRanks.of(listOf(tokens), "x") && "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(messageOf(...alphabet, "ab")).toBe("");
  expect(messageOf(...alphabet.slice(0, -1), "ab")).toContain("no token for byte 0xff");
  expect(messageOf(...alphabet, "ab", "ab")).toContain('"ab" is listed twice');
  expect(messageOf(...alphabet, "abcd", "abcd")).toContain('"abcd" is listed twice');
  expect(messageOf(...alphabet, "a")).toContain('"a" is listed twice');
  expect(messageOf()).toContain("no token for byte 0x00");
  const twice = tokenTables.pack(
    [...alphabet, "ab"].map((text, i) => [Math.min(i, 255), Buffer.from(text, "latin1")]),
  );
  expect(() => modelsOfRanks.of(twice, "x")).toThrow("two tokens have the rank 255");
});

test.skipIf(isSmallScale)("many ranks are merged in slices", () => {
  const alphabet = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const pairs = alphabet.slice(0, 80).flatMap((a) => alphabet.map((b) => a + b));
  let sliceCount = 0;
  for (const _ of modelsOfRanks.make(listOf([...alphabet, ...pairs]), "")) sliceCount++;
  expect(sliceCount).toBe(1 + Math.ceil((256 + 80 * 256) / 8192));
});
