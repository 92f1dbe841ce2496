import { expect, test } from "bun:test";
import { chooseTokens } from "../../../src/edit/prune-vocabulary.ts";
import { tiktoken } from "../../../src/formats/tiktoken.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import * as derivation from "../../../src/tokenizer/derivations.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import {
  bytes,
  madeTokenizer,
  mergeNaively,
  type NaiveTokenizer,
  partsOf,
  pruneNaively,
} from "./naive-prune.ts";

const madeCounts = (tokenizer: NaiveTokenizer, random: (below: number) => number) =>
  new Map([...tokenizer.ids.keys()].map((token) => [token, random(3) === 0 ? 0 : random(6)]));

function prune(tokenizer: NaiveTokenizer, counts: ReadonlyMap<string, number>, size: number) {
  const derivations = derivation.derive(partsOf(tokenizer));
  const countsById = new Float64Array(derivations.reaches.length);
  for (const [token, count] of counts) countsById[tokenizer.ids.get(token)!] = count;
  const pruning = chooseTokens(derivations, countsById, size);
  if ("smallestSize" in pruning) return pruning;
  const stays = [...tokenizer.ids].filter(([, id]) => pruning.isKept[id] === 1).map(([token]) => token);
  return { ...pruning, stays: stays.sort() };
}

test("the tokens that stay are those of a naive twin, at every size", () => {
  for (let seed = 1; seed <= rounds(30); seed++) {
    const random = randomNumbers(seed);
    const tokenizer = madeTokenizer(random);
    const counts = madeCounts(tokenizer, random);
    for (let taken = 0; taken < tokenizer.ids.size - 256; taken += 1 + random(4)) {
      const size = tokenizer.ids.size - taken;
      const expected = pruneNaively(tokenizer, counts, size);
      const ours = prune(tokenizer, counts, size);
      if ("smallestSize" in ours) {
        expect({ seed, size, ...ours }).toEqual({ seed, size, smallestSize: expected.size });
        expect(expected.size).toBeGreaterThan(size);
        continue;
      }
      expect({ seed, size, stays: ours.stays }).toEqual({ seed, size, stays: [...expected].sort() });
      expect(ours.size).toBe(expected.size);
    }
  }
});

test("the remaining merges reach the remaining tokens as before", () => {
  for (let seed = 1; seed <= rounds(50); seed++) {
    const random = randomNumbers(seed * 7919);
    const tokenizer = madeTokenizer(random);
    const size = 256 + random(tokenizer.ids.size - 256);
    const pruned = prune(tokenizer, madeCounts(tokenizer, random), size);
    if ("smallestSize" in pruned) continue;
    const stays = new Set(pruned.stays);
    const merges = tokenizer.merges.filter(([left, right]) =>
      [left, right, left + right].every((token) => stays.has(token)),
    );
    const smaller = { ...tokenizer, merges };
    for (const token of stays) {
      const before = mergeNaively(tokenizer, token);
      if (before.length === 1)
        expect({ seed, token, merged: mergeNaively(smaller, token) }).toEqual({
          seed,
          token,
          merged: [token],
        });
      expect(before.length === 1 || tokenizer.fixed.has(token) || tokenizer.ignoresMerges).toBe(true);
    }
  }
});

test("the rarest leaf is removed first, and of equally rare ones that with the highest id; its occurrences go to its parts", () => {
  const tokens = ["ab", "cd", "abc", "abcd"];
  const ids = new Map([...bytes, ...tokens].map((token, id) => [token, id]));
  const merges: [string, string][] = [
    ["a", "b"],
    ["c", "d"],
    ["ab", "c"],
    ["ab", "cd"],
  ];
  const tokenizer = { ids, fixed: new Set(bytes), merges, ignoresMerges: false };
  const left = (counts: [string, number][], size: number) => {
    const pruned = prune(tokenizer, new Map(counts), size);
    return "stays" in pruned ? pruned.stays.filter((token) => token.length > 1) : pruned;
  };
  // "c d" is merged before "ab c", so "abcd" is made from "ab" and "cd", and not from "abc".
  expect(
    left(
      [
        ["abc", 5],
        ["abcd", 4],
      ],
      259,
    ),
  ).toEqual(["ab", "abc", "cd"]);
  expect(
    left(
      [
        ["abc", 4],
        ["abcd", 4],
      ],
      259,
    ),
  ).toEqual(["ab", "abc", "cd"]);
  expect(
    left(
      [
        ["abc", 3],
        ["abcd", 4],
      ],
      259,
    ),
  ).toEqual(["ab", "abcd", "cd"]);
  // After "abcd" is removed, "cd" has 4 occurrences, more than "abc".
  expect(
    left(
      [
        ["abc", 3],
        ["abcd", 2],
        ["cd", 2],
      ],
      258,
    ),
  ).toEqual(["ab", "cd"]);
  expect(
    left(
      [
        ["abc", 3],
        ["abcd", 2],
        ["cd", 0],
      ],
      258,
    ),
  ).toEqual(["ab", "abc"]);
  expect(left([], 255)).toEqual({ smallestSize: 256 });
});

test("how each token is reached", () => {
  // "abc" is made from "a bc", because "b c" is merged first. No merge makes "xy".
  const tokens = ["bc", "ab", "abc", "xy", "cb"];
  const ids = new Map([...bytes, ...tokens].map((token, id) => [token, id]));
  const merges: [string, string][] = [
    ["b", "c"],
    ["a", "b"],
    ["ab", "c"],
    ["a", "bc"],
    ["c", "b"],
  ];
  const tokenizer = { ids, fixed: new Set([...bytes, "cb"]), merges, ignoresMerges: false };
  const derived = derivation.derive(partsOf(tokenizer));
  const reach = (token: string) => derived.reaches[ids.get(token)!];
  expect(["a", ...tokens].map(reach)).toEqual([
    ...[
      derivation.Reach.given,
      derivation.Reach.merging,
      derivation.Reach.merging,
      derivation.Reach.merging,
      derivation.Reach.unreachable,
      derivation.Reach.merging,
    ],
  ]);
  expect([derived.left[ids.get("abc")!], derived.right[ids.get("abc")!]]).toEqual([97, ids.get("bc")!]);
  expect([...derived.isFixed.subarray(256)]).toEqual([0, 0, 0, 0, 1]);
  const whole = derivation.derive(partsOf({ ...tokenizer, ignoresMerges: true }));
  expect(whole.reaches[ids.get("xy")!]).toBe(derivation.Reach.wholePretoken);
  expect([...whole.wholeParts]).toEqual([[ids.get("xy")!, [120, 121]]]);
});

test("a rank file gets no line for a token that only another file of its directory has", () => {
  const lines = Array.from({ length: 256 }, (_, byte) => `${Buffer.of(byte).toString("base64")} ${byte}\n`);
  const sources = [{ name: "x.tiktoken", path: "x.tiktoken", bytes: Buffer.from(lines.join("")) }] as const;
  const parts = tiktoken.read(sources, { pattern: compiledPatterns.resolve("gpt2") });
  const newIds = Int32Array.from({ length: 257 }, (_, id) => id);
  const [file] = tiktoken.prune!(sources, parts, { size: 257, newIds, mergeCount: 0 });
  expect(Buffer.concat([...file!.chunks()].map((chunk) => chunk.slice())).toString()).toBe(lines.join(""));
});
