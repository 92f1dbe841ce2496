import { expect, test } from "bun:test";
import {
  checkFirstMerges,
  checkSameMerges,
  firstTokens,
  piecesOfFirst,
} from "../../../src/edit/truncate-vocabulary.ts";
import * as derivation from "../../../src/tokenizer/derivations.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import {
  bytes,
  madeTokenizer,
  mergeNaively,
  type NaiveTokenizer,
  partsOf,
  truncateNaively,
} from "./naive-prune.ts";

/**
 * Truncates a tokenizer. Returns what `firstTokens` returns and, unless the size is too small, the smaller tokenizer.
 */
function truncate(tokenizer: NaiveTokenizer, size: number) {
  const parts = partsOf(tokenizer);
  const cut = firstTokens(parts, derivation.derive(parts), size);
  if ("smallestSize" in cut) return cut;
  const kept = [...tokenizer.ids].filter(([, id]) => cut.isKept[id] === 1);
  const tokens = new Set(kept.map(([token]) => token));
  const later = new Set(tokenizer.merges.slice(cut.mergeCount).map(String));
  const merges = tokenizer.merges
    .slice(0, cut.mergeCount)
    .filter((halves) => !later.has(String(halves)))
    .filter((halves) => [...halves, halves.join("")].every((token) => tokens.has(token)));
  return { ...cut, smaller: { ...tokenizer, ids: new Map(kept), merges } };
}

const tokensOf = ({ ids }: NaiveTokenizer) => [...ids.keys()].sort();

test("the tokens that stay are those of a naive twin, at every size, and its merges give the same tokens of words", () => {
  for (let seed = 1; seed <= rounds(40); seed++) {
    const random = randomNumbers(seed);
    const tokenizer = { ...madeTokenizer(random), ignoresMerges: false };
    for (let size = tokenizer.ids.size; size >= tokenizer.fixed.size; size -= 1 + random(4)) {
      const expected = truncateNaively(tokenizer, size);
      const ours = truncate(tokenizer, size);
      if ("smallestSize" in ours) throw new Error(`size ${size} is refused`);
      expect({ seed, size, tokens: tokensOf(ours.smaller) }).toEqual({
        seed,
        size,
        tokens: tokensOf(expected),
      });
      expect(ours.size).toBe(expected.ids.size);
      for (let n = 0; n < 20; n++) {
        const word = Array.from({ length: 1 + random(14) }, () => "abcd"[random(4)]!).join("");
        expect({ seed, size, word, tokens: mergeNaively(ours.smaller, word) }).toEqual({
          seed,
          size,
          word,
          tokens: mergeNaively(expected, word),
        });
      }
    }
    expect(truncate(tokenizer, tokenizer.fixed.size - 1)).toEqual({ smallestSize: tokenizer.fixed.size });
  }
});

/** Returns a tokenizer with these tokens, whose ids follow those of the bytes, and these merges. */
const tokenizerOf = (
  tokens: readonly string[],
  merges: readonly [string, string][],
  ignoresMerges = false,
): NaiveTokenizer => ({
  ids: new Map([...bytes, ...tokens].map((token, id) => [token, id])),
  fixed: new Set(bytes),
  merges,
  ignoresMerges,
});

const longTokens = (tokenizer: NaiveTokenizer, size: number) => {
  const cut = truncate(tokenizer, size);
  return "smallestSize" in cut ? cut : tokensOf(cut.smaller).filter((token) => token.length > 1);
};

test("a token stays if its whole derivation stays, and tokens that one merge completes stay or go together", () => {
  // The last merge, "a b", completes both "ab" and "abc".
  const tokenizer = tokenizerOf(
    ["abc", "xy", "ab"],
    [
      ["ab", "c"],
      ["x", "y"],
      ["a", "b"],
    ],
  );
  expect([259, 258, 257, 256].map((size) => longTokens(tokenizer, size))).toEqual([
    ["ab", "abc", "xy"],
    ["xy"],
    ["xy"],
    [],
  ]);
});

test("a token that only a whole pretoken becomes is kept by its id, and refused if ids have another order", () => {
  const merges: [string, string][] = [
    ["a", "b"],
    ["c", "d"],
    ["ab", "cd"],
  ];
  const tokenizer = tokenizerOf(["ab", "zzz", "cd", "abcd"], merges, true);
  expect([260, 259, 258, 257].map((size) => longTokens(tokenizer, size))).toEqual([
    ["ab", "abcd", "cd", "zzz"],
    ["ab", "cd", "zzz"],
    ["ab", "zzz"],
    ["ab"],
  ]);
  // An added token may have any id.
  const added = tokenizerOf(["ab", "zzz", "cd", "abcd", "xy"], [["x", "y"], ...merges], true);
  const withAdded = { ...added, fixed: new Set([...bytes, "xy"]) };
  expect(longTokens(withAdded, 259)).toEqual(["ab", "xy", "zzz"]);
  const moved = tokenizerOf(["cd", "zzz", "ab", "abcd"], merges, true);
  expect(errorOf(() => longTokens(moved, 258)).message).toContain(
    'no merge makes the token "zzz", and the ids are not in the order of the merges',
  );
  expect(longTokens({ ...moved, ignoresMerges: false }, 257)).toEqual(["ab"]);
});

test("anything but a truncation is refused, and the error says why", () => {
  const merges: [string, string][] = [
    ["a", "b"],
    ["c", "d"],
    ["ab", "cd"],
  ];
  const big = partsOf(tokenizerOf(["ab", "cd", "abcd"], merges));
  const refusal = (small: NaiveTokenizer, change: object = {}) =>
    errorOf(() => checkFirstMerges(big, { ...partsOf(small), ...change })).message.replace(/^.*: /, "");
  const first = tokenizerOf(["cd", "ab"], merges.slice(0, 2));
  checkFirstMerges(big, partsOf(first));
  checkFirstMerges(big, partsOf(tokenizerOf([], [])));
  checkFirstMerges(big, big);
  expect([
    refusal(tokenizerOf(["ab", "cd"], merges.slice(0, 2).reverse())),
    refusal(tokenizerOf(["cd"], merges.slice(1, 2))),
    refusal(tokenizerOf(["ab", "cd", "abcd", "abcda"], [...merges, ["abcd", "a"]])),
    refusal(tokenizerOf(["ab", "zz"], merges.slice(0, 1), true)),
    refusal({ ...first, fixed: new Set([...bytes, "ab"]) }),
    refusal(first, { normalization: "NFC" }),
    refusal({ ...first, ids: new Map([...first.ids].filter(([token]) => token !== "z")) }),
  ]).toEqual([
    'its merge 1 is "c" "d", not "a" "b"',
    'its merge 1 is "c" "d", not "a" "b"',
    'only one of the two tokenizers has the merge "abcd" "a"',
    'one of the two tokenizers uses the token "zz" only for a whole pretoken, but the other does not',
    "their added tokens differ",
    "the two tokenizers split or normalize text differently",
    "one of the two vocabularies lacks tokens for some bytes",
  ]);
});

test("merges are equal if each tokenizer has the first merges of the other", () => {
  const random = randomNumbers(23);
  const said = new Map<string, number>();
  for (let round = 0; round < rounds(150); round++) {
    const one = madeTokenizer(random);
    const other = { ...one, merges: [...one.merges] };
    const at = random(other.merges.length);
    const change = random(5);
    if (change === 0) other.merges.splice(at, 1);
    if (change === 1) other.merges.push(other.merges[at]!);
    if (change === 2) other.merges.reverse();
    if (change === 3) other.ignoresMerges = !other.ignoresMerges;
    const [before, after] = [partsOf(one), partsOf(other)];
    const refusalOf = (check: (refuse: (what: string) => never) => void): string => {
      try {
        check((what) => {
          throw new Error(what);
        });
        return "same";
      } catch (error) {
        return (error as Error).message;
      }
    };
    const found = refusalOf((refuse) => checkSameMerges(before, after, derivation.derive(before), refuse));
    const both = refusalOf((refuse) => {
      checkFirstMerges(before, after, refuse);
      checkFirstMerges(after, before, refuse);
    });
    expect(found).toBe(both);
    const kind = found.slice(0, 12);
    said.set(kind, (said.get(kind) ?? 0) + 1);
  }
  // Several kinds of results occur.
  expect(said.size).toBeGreaterThan(3);
});

test("a truncated tokenizer is recognized as a truncation of the whole, whatever its merges", () => {
  for (let seed = 1; seed <= rounds(30); seed++) {
    const random = randomNumbers(seed * 104729);
    const tokenizer = { ...madeTokenizer(random), ignoresMerges: false };
    const cut = truncate(tokenizer, tokenizer.fixed.size + random(tokenizer.ids.size - tokenizer.fixed.size));
    if ("smallestSize" in cut) throw new Error("it is refused");
    const listed = new Set(tokenizer.merges.map((halves) => halves.join(" ")));
    if (listed.size < tokenizer.merges.length) continue;
    checkFirstMerges(partsOf(tokenizer), partsOf(cut.smaller));
  }
});

/** Returns the pieces of a token in the smaller tokenizer, as texts. */
function piecesOf(big: NaiveTokenizer, small: NaiveTokenizer, token: string): string[] {
  const { ids, starts } = piecesOfFirst(partsOf(big), partsOf(small));
  const id = big.ids.get(token)!;
  const texts = new Map([...small.ids].map(([text, id]) => [id, text]));
  return Array.from(ids.subarray(starts[id], starts[id + 1]), (piece) => texts.get(piece)!);
}

test("the pieces of a text's tokens are its tokens in the smaller tokenizer", () => {
  for (let seed = 1; seed <= rounds(30); seed++) {
    const random = randomNumbers(seed * 15485863);
    const made = madeTokenizer(random);
    const distinct = made.merges.filter(
      ([left, right], i) => !made.merges.slice(0, i).some(([l, r]) => l === left && r === right),
    );
    const tokenizer = { ...made, merges: distinct, fixed: new Set(bytes), ignoresMerges: false };
    const cut = truncate(tokenizer, 256 + random(tokenizer.ids.size - 255));
    if ("smallestSize" in cut) throw new Error("it is refused");
    const { ids, starts } = piecesOfFirst(partsOf(tokenizer), partsOf(cut.smaller));
    for (let n = 0; n < 40; n++) {
      const word = Array.from({ length: 1 + random(20) }, () => "abcd"[random(4)]!).join("");
      const pieces = mergeNaively(tokenizer, word).flatMap((token) => {
        const id = tokenizer.ids.get(token)!;
        return [...ids.subarray(starts[id], starts[id + 1])];
      });
      const merged = mergeNaively(cut.smaller, word).map((token) => cut.smaller.ids.get(token)!);
      expect({ seed, word, pieces }).toEqual({ seed, word, pieces: merged });
    }
  }
});

test("a token that only a whole pretoken becomes is cut as a pretoken; a token that no text produces has no pieces", () => {
  const merges: [string, string][] = [
    ["a", "b"],
    ["ab", "c"],
    ["c", "d"],
  ];
  const big = tokenizerOf(["ab", "zzab", "abc", "zzz", "cd"], merges, true);
  const small = tokenizerOf(["ab", "zzab"], merges.slice(0, 1), true);
  const pieces = (token: string) => piecesOf(big, small, token);
  expect(["zzab", "zzz", "abc", "cd", "q"].map(pieces)).toEqual([
    ["zzab"],
    ["z", "z", "z"],
    ["ab", "c"],
    ["c", "d"],
    ["q"],
  ]);
  const plain = { ...big, ignoresMerges: false };
  expect(piecesOf(plain, { ...small, ignoresMerges: false }, "zzz")).toEqual([]);
});

test("an added token that text may also become by merging is refused if its merges are removed", () => {
  const merges: [string, string][] = [
    ["a", "b"],
    ["c", "d"],
  ];
  const fixed = new Set([...bytes, "cd"]);
  const big = { ...tokenizerOf(["ab", "cd", "zz"], merges), fixed };
  expect(piecesOf(big, { ...tokenizerOf(["ab", "cd"], merges), fixed }, "cd")).toEqual(["cd"]);
  const message = errorOf(() =>
    piecesOf(big, { ...tokenizerOf(["ab", "cd"], merges.slice(0, 1)), fixed }, "cd"),
  );
  expect(message.message).toContain('its added token "cd" is also the result of merges');
});

test("a vocabulary that lacks bytes is refused, because the dropped text is unknown", () => {
  const lacking = tokenizerOf(["ab"], [["a", "b"]]);
  const without = { ...lacking, ids: new Map([...lacking.ids].filter(([token]) => token !== "z")) };
  expect(errorOf(() => piecesOf(without, without, "ab")).message).toContain("lacks tokens for some bytes");
});
