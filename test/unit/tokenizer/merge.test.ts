import { expect, test } from "bun:test";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { EncodingKernel, WordMerger } from "../../../src/tokenizer/encoding-kernel.ts";
import type { EncodingModel } from "../../../src/tokenizer/encoding-model.ts";
import * as encodingModels from "../../../src/tokenizer/encoding-model.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";

const seed = Number(process.env.TEST_SEED ?? 5);
const random = randomNumbers(seed);

type Merge = { left: number; right: number; id: number };

/**
 * Merges by definition: the pair with the lowest rank first; if several have it, the leftmost. Merges with the same
 * `firstTied` count as one rank. Calls `note` for each merge.
 */
function mergeNaively(
  symbols: readonly number[],
  merges: readonly Merge[],
  note?: (rightStart: number, rank: number) => void,
  firstTied: readonly number[] = [...merges.keys()],
): number[] {
  const ids = [...symbols];
  const starts = ids.map((_, pos) => pos);
  for (;;) {
    let best = merges.length;
    let bestPos = 0;
    for (let i = 0; i + 1 < ids.length; i++) {
      const rank = merges.findIndex(({ left, right }) => left === ids[i] && right === ids[i + 1]);
      if (rank >= 0 && (best === merges.length || firstTied[rank]! < firstTied[best]!)) {
        best = rank;
        bestPos = i;
      }
    }
    if (best === merges.length) return ids;
    note?.(starts[bestPos + 1]!, best);
    ids.splice(bestPos, 2, merges[best]!.id);
    starts.splice(bestPos + 1, 1);
  }
}

/**
 * Returns random merges of `letters`, which are bytes, and of other merges' results. With `isOrdered`, a token's merge
 * comes after those of its parts.
 */
function madeMerges(count: number, isOrdered: boolean, letters = [97, 98, 99]): Merge[] {
  const merges: Merge[] = [];
  const tokens = [...letters];
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

const modelOf = (merges: readonly Merge[], idOf = (byte: number) => byte): EncodingModel =>
  encodingModels.build({
    byteIds: Int32Array.from({ length: 256 }, (_, byte) => idOf(byte)),
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

/**
 * Returns whether the kernel considers a model monotone: every pair has a higher rank than the merges that make its
 * halves. The model's header stores that (src/kernel/encode/model-layout.ts).
 */
function isMonotone(model: EncodingModel): boolean {
  const { kernel, modelAddress } = new EncodingKernel(model, true);
  return new Uint32Array(kernel.memory.buffer, modelAddress, 15)[14] === 1;
}

/** For each algorithm of merging, returns a function that returns the ids of a word. */
function mergersOf(model: EncodingModel): ((word: readonly number[]) => number[])[] {
  // The first algorithm compares all ranks for each merge, and has memory only for at most this many symbols of a word
  // (`scannedBytesMax` of src/kernel/encode/merge-word.ts). With the limit 0, every word is merged by the other
  // algorithm, which uses a heap.
  const longestScanned = isSmallScale ? 5 : 64;
  return [longestScanned, 0].map((scannedMax) => {
    const merger = new WordMerger(model);
    merger.kernel.limitMerging(scannedMax);
    return (word) => [...merger.merge(Uint8Array.from(word))];
  });
}

test("both algorithms agree with the naive one, on runs, periods and random letters", () => {
  for (let round = 0; round < rounds(15); round++) {
    const isOrdered = random(3) > 0;
    const merges = madeMerges(1 + random(30), isOrdered);
    const model = modelOf(merges);
    if (isOrdered) expect(isMonotone(model)).toBe(true);
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

test("of tied merges the leftmost is made first, in both algorithms and in a trace", () => {
  for (let round = 0; round < rounds(15); round++) {
    const merges = madeMerges(1 + random(30), random(2) > 0);
    const firstTied = merges.map(() => 0);
    for (let rank = 1; rank < merges.length; rank++)
      firstTied[rank] = random(2) > 0 ? firstTied[rank - 1]! : rank;
    const model = modelOf(merges);
    const tied = { ...model, merges: { ...model.merges, firstTied: Int32Array.from(firstTied) } };
    const ways = mergersOf(tied);
    const merger = new WordMerger(tied);
    for (let n = 0; n < 8; n++) {
      const word = madeWord(1 + random(60));
      const made: number[] = [];
      const ids = mergeNaively(word, merges, (_, rank) => made.push(rank), firstTied);
      for (const [way, merge] of ways.entries())
        expect({ seed, round, way, ids: merge(word) }).toEqual({ seed, round, way, ids });
      const trace = [...merger.trace(Uint8Array.from(word))].filter((_, i) => i % 2 === 1);
      expect({ seed, round, trace }).toEqual({ seed, round, trace: made });
    }
  }
});

test("a trace has the naive merges in order, with late merges, whole characters and dropped bytes", () => {
  for (let round = 0; round < rounds(30); round++) {
    const letters = [...(random(2) ? "abc" : " éß漢")].flatMap((letter) => [...Buffer.from(letter)]);
    const bytes = [...new Set(letters)];
    const dropped = random(4) === 0 ? bytes[random(bytes.length)] : undefined;
    const merges = madeMerges(1 + random(40), random(3) > 0, bytes);
    const model = modelOf(merges, (byte) => (byte === dropped ? -1 : byte));
    const merger = new WordMerger(model);
    for (let n = 0; n < 8; n++) {
      const word = Array.from({ length: random(90) }, () => letters[random(letters.length)]!);
      const expected: number[] = [];
      const symbols = word.filter((byte) => byte !== dropped);
      const ids = mergeNaively(symbols, merges, (rightStart, rank) => expected.push(rightStart, rank));
      const trace = [...merger.trace(Uint8Array.from(word))];
      expect({ seed, round, trace }).toEqual({ seed, round, trace: expected });
      expect({ seed, round, ids: [...merger.merge(Uint8Array.from(word))] }).toEqual({ seed, round, ids });
    }
  }
});

test("two pairs with the same hash have separate ranks, or none", () => {
  // Both pairs have the same hash by hashOf of src/kernel/encode/pair-ranks.ts, so a search for the second one meets
  // the first.
  const first = { left: 97, right: 98 };
  const second = { left: 97 + 50_549, right: 98 + 11_547 };
  const idOf = (byte: number) => (byte === 100 ? second.right : byte);
  const merges = [
    { left: 101, right: 102, id: second.left },
    { ...first, id: second.left + 1 },
    { ...second, id: second.left + 2 },
  ];
  const word = [101, 102, 100, 97, 98, 101, 102, 100];
  for (const some of [merges.slice(0, 2), merges]) {
    for (const merge of mergersOf(modelOf(some, idOf)))
      expect(merge(word)).toEqual(mergeNaively(word.map(idOf), some));
  }
});

test("a word of a million letters is merged, which no quadratic algorithm would finish", () => {
  const word = Array.from({ length: 1_000_000 }, () => 97 + random(3));
  // Each merge is of two letters, so the expected result comes from replacing pairs, one rank after the other.
  const merges = [
    { left: 97, right: 98, id: 256 },
    { left: 99, right: 97, id: 257 },
    { left: 98, right: 98, id: 258 },
  ];
  let text = Buffer.from(word).toString("latin1");
  for (const { left, right, id } of merges) {
    text = text.replaceAll(String.fromCharCode(left, right), String.fromCharCode(id));
  }
  const [merge] = mergersOf(modelOf(merges));
  expect(merge!(word)).toEqual(Array.from(text, (character) => character.charCodeAt(0)));
});
