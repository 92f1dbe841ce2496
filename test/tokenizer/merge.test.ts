import { expect, test } from "bun:test";
import { EncodingKernel, WordMerger } from "../../src/tokenizer/encoding-kernel.ts";
import { buildModel, type EncodingModel } from "../../src/tokenizer/encoding-model.ts";
import { rounds } from "../rounds.ts";
import { randomNumbers } from "../vocabulary/made-merges.ts";

const seed = Number(process.env.TEST_SEED ?? 5);
const random = randomNumbers(seed);

type Merge = { left: number; right: number; id: number };

/** The lowest rank first, of equal ranks the leftmost: nothing else. */
function mergeNaively(symbols: readonly number[], merges: readonly Merge[]): number[] {
  const ids = [...symbols];
  for (;;) {
    let best = merges.length;
    let bestPos = 0;
    for (let i = 0; i + 1 < ids.length; i++) {
      const rank = merges.findIndex(({ left, right }) => left === ids[i] && right === ids[i + 1]);
      if (rank >= 0 && rank < best) {
        best = rank;
        bestPos = i;
      }
    }
    if (best === merges.length) return ids;
    ids.splice(bestPos, 2, merges[best]!.id);
  }
}

/** Merges of the letters a-c and of what they make; `isOrdered` has parts come before the whole. */
function madeMerges(count: number, isOrdered: boolean): Merge[] {
  const merges: Merge[] = [];
  const tokens = [97, 98, 99];
  while (merges.length < count) {
    const left = tokens[random(tokens.length)]!;
    const right = tokens[random(tokens.length)]!;
    if (merges.some((merge) => merge.left === left && merge.right === right)) continue;
    const id = 256 + merges.length;
    merges.push({ left, right, id });
    tokens.push(id);
  }
  return isOrdered
    ? merges
    : merges
        .map((merge) => ({ merge, key: random(1e6) }))
        .sort((a, b) => a.key - b.key)
        .map(({ merge }) => merge);
}

const modelOf = (merges: readonly Merge[]): EncodingModel =>
  buildModel({
    byteIds: Int32Array.from({ length: 256 }, (_, byte) => byte),
    merges: {
      left: Int32Array.from(merges, ({ left }) => left),
      right: Int32Array.from(merges, ({ right }) => right),
      merged: Int32Array.from(merges, ({ id }) => id),
    },
  });

function madeWord(length: number): number[] {
  const kind = random(4);
  if (kind === 0) return new Array(length).fill(97);
  if (kind === 1) return Array.from({ length }, (_, i) => 97 + (i % 3));
  if (kind === 2) return Array.from({ length }, () => (random(8) === 0 ? 98 : 97));
  return Array.from({ length }, () => 97 + random(3));
}

/** What the kernel finds out about a model, by its head (src/kernel/encode/model-layout.ts). */
function factsOf(model: EncodingModel): { isMonotone: boolean; characters: Int32Array | null } {
  const { kernel, modelAddress } = new EncodingKernel(model, true);
  const { buffer } = kernel.memory;
  const head = new Uint32Array(buffer, modelAddress, 22);
  const characters = head[17]! === 0 ? null : new Int32Array(buffer, head[17], 65536);
  return { isMonotone: head[11] === 1, characters };
}

/** The ids that each of the ways of merging leaves, one word after the other. */
function mergersOf(model: EncodingModel): ((word: readonly number[]) => number[])[] {
  const limits = [
    [64, 8192],
    [0, 2 ** 31],
    [0, 0],
  ] as const;
  return limits.map(([scannedMax, listedMin]) => {
    const merger = new WordMerger(model);
    merger.kernel.limitMerging(scannedMax, listedMin);
    return (word) => [...merger.merge(Uint8Array.from(word))];
  });
}

test("the three ways of merging agree with the naive one, on runs, periods and letters at random", () => {
  for (let round = 0; round < rounds(15); round++) {
    const isOrdered = random(3) > 0;
    const merges = madeMerges(1 + random(30), isOrdered);
    const model = modelOf(merges);
    if (isOrdered) expect(factsOf(model).isMonotone).toBe(true);
    const ways = mergersOf(model);
    for (let n = 0; n < 8; n++) {
      const word = madeWord(1 + random(60));
      const expected = mergeNaively(word, merges);
      for (const [way, merge] of ways.entries()) {
        expect({ seed, round, way, ids: merge(word) }).toEqual({ seed, round, way, ids: expected });
      }
    }
  }
});

test("words of every size are merged the same by heap and by lists", () => {
  for (let round = 0; round < 6; round++) {
    const [bySize, byHeap] = mergersOf(modelOf(madeMerges(60, true)));
    for (const length of [65, 8191, 8192, 20_000]) {
      const word = madeWord(length);
      expect(bySize!(word)).toEqual(byHeap!(word));
    }
  }
});

test("a word of a million letters is merged by heap and by lists, which no quadratic way would end", () => {
  const word = Array.from({ length: 1_000_000 }, () => 97 + random(3));
  const [, byHeap, byLists] = mergersOf(modelOf(madeMerges(60, true)));
  expect(byHeap!(word)).toEqual(byLists!(word));
});

const madeCharacter = () => [0xe3 + random(2), 0x81 + random(2), 0x81 + random(2)] as const;

test("merging may begin with whole characters where that is what merging bytes arrives at", () => {
  const bytes = [0xe3, 0xe4, 0x81, 0x82, 0x20];
  const counts = { whole: 0, fromBytes: 0 };
  for (let round = 0; round < rounds(75); round++) {
    const merges: Merge[] = [];
    const tokens = [...bytes];
    const merge = (left: number, right: number): number => {
      const known = merges.find((other) => other.left === left && other.right === right);
      if (known !== undefined) return known.id;
      merges.push({ left, right, id: 256 + merges.length });
      tokens.push(255 + merges.length);
      return 255 + merges.length;
    };
    for (let n = 2 + random(8); n > 0; n--) {
      // A character, from the front or from the back, or any two.
      const [first, second, third] = madeCharacter();
      const kind = random(3);
      if (kind === 0) merge(merge(first, second), third);
      else if (kind === 1) merge(first, merge(second, third));
      else merge(tokens[random(tokens.length)]!, tokens[random(tokens.length)]!);
    }
    const model = modelOf(merges);
    const merger = new WordMerger(model);
    const { characters } = factsOf(model);
    for (let n = 0; n < 20; n++) {
      const word: number[] = [];
      for (let length = 1 + random(8); length > 0; length--) {
        const kind = random(12);
        if (kind === 0) word.push(bytes[random(bytes.length)]!);
        else if (kind < 3) word.push(0x20);
        else {
          const character = madeCharacter();
          const id =
            characters![((character[0] & 15) << 12) | ((character[1] & 63) << 6) | (character[2] & 63)]!;
          counts[id > 0 ? "whole" : "fromBytes"]++;
          word.push(...character);
        }
      }
      const found = [...merger.merge(Uint8Array.from(word))];
      expect({ seed, round, word, found }).toEqual({ seed, round, word, found: mergeNaively(word, merges) });
    }
  }
  // Both occur often.
  expect(Math.min(counts.whole, counts.fromBytes)).toBeGreaterThan(rounds(250));
});
