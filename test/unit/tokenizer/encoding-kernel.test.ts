import { expect, test } from "bun:test";
import { EncodingKernel, IdBuffer } from "../../../src/tokenizer/encoding-kernel.ts";
import * as encodingModels from "../../../src/tokenizer/encoding-model.ts";
import { randomNumbers } from "../../random.ts";

const seed = Number(process.env.TEST_SEED ?? 31);
const random = randomNumbers(seed);

/** Returns a kernel without merges, in which each id is that of a byte. */
function kernelOfBytes(idOf: (byte: number) => number, isNarrow: boolean, cacheShrinkBits = 0) {
  const none = new Int32Array(0);
  const byteIds = Int32Array.from({ length: 256 }, (_, byte) => idOf(byte));
  const model = encodingModels.build({ byteIds, merges: { left: none, right: none, merged: none } });
  return new EncodingKernel(model, isNarrow, { cacheShrinkBits });
}

const encoderOfBytes = (...of: Parameters<typeof kernelOfBytes>) => encoderOf(kernelOfBytes(...of));

function encoderOf(kernel: EncodingKernel) {
  const out = new IdBuffer(kernel.isNarrow);
  return (pretokens: readonly Uint8Array[]): number[] => {
    const ends = new Int32Array(pretokens.length + 1);
    for (const [i, pretoken] of pretokens.entries()) ends[i + 1] = ends[i]! + pretoken.length;
    const { bytes } = kernel.reserveText(ends.at(-1)!);
    for (const [i, pretoken] of pretokens.entries()) bytes.set(pretoken, ends[i]!);
    kernel.encode(ends, ends.length, out);
    return [...out.flush()];
  };
}

const bytesOf = (pretokens: readonly Uint8Array[]) => pretokens.flatMap((pretoken) => [...pretoken]);

/** Returns random bytes with `kinds` different values. If there are few values, many words differ in a single byte. */
const madeBytes = (length: number, kinds: number) => Uint8Array.from({ length }, () => 97 + random(kinds));

for (const cacheShrinkBits of [0, 8]) {
  test(`every word is distinguished from those that differ in a byte or in length, in a cache 2^${cacheShrinkBits} times smaller`, () => {
    const encode = encoderOfBytes((byte) => byte, true, cacheShrinkBits);
    for (let length = 1; length <= 40; length++) {
      const word = madeBytes(length, 26);
      const words = [word, madeBytes(length + 1, 26)];
      for (let pos = 0; pos < length; pos++) {
        for (const bit of [1, 128]) {
          const other = word.slice();
          other[pos]! ^= bit;
          words.push(other);
        }
        words.push(word.slice(0, pos + 1));
      }
      for (let round = 0; round < 2; round++)
        expect({ length, ids: encode(words) }).toEqual({ length, ids: bytesOf(words) });
    }
  });

  test(`words are encoded right while the cache grows and is cleared, 2^${cacheShrinkBits} times smaller`, () => {
    const encode = encoderOfBytes((byte) => byte, true, cacheShrinkBits);
    for (let round = 0; round < 12; round++) {
      const words = Array.from({ length: 20_000 }, () => {
        const kind = random(20);
        return madeBytes(
          kind < 12 ? 1 + random(7) : kind < 18 ? 8 + random(8) : 16 + random(kind === 18 ? 10 : 200),
          8,
        );
      });
      expect(encode(words)).toEqual(bytesOf(words));
    }
  });
}

/**
 * Returns a word of this length with at most `idCount` ids. Its other bytes give no ids, because the vocabulary lacks
 * them.
 */
const madeWord = (length: number, idCount: number) => {
  const word = madeBytes(length, 26).map((byte) => byte - 32);
  for (let i = 0; i < idCount; i++) word[random(length)] = 97 + random(26);
  return word;
};

for (const [what, lengths, idCount, cleared] of [
  ["short words", [5, 7], 2, [true, false, false]],
  ["middle words", [8, 15], 2, [false, true, false]],
  ["long words", [16, 40], 2, [false, false, true]],
  ["records of long words", [900, 1100], 2, [false, false, true]],
  ["ids that are kept", [41, 60], 200, [true, true, true]],
  ["all words, with many ids or few", [2, 80], 40, [true, true, true]],
] as const) {
  test(`only a full table of the cache is cleared: ${what}`, () => {
    for (const isNarrow of [true, false]) {
      const kernel = kernelOfBytes((byte) => (byte < 97 ? encodingModels.droppedByte : byte), isNarrow, 8);
      const encode = encoderOf(kernel);
      // A few words of each table, which are lost only when their table is cleared.
      const words = [5, 12, 30].flatMap((length) => Array.from({ length: 50 }, () => madeWord(length, 6)));
      // For each table, its number of words just before each time it was cleared, and at the end.
      const peaks = [[0], [0], [0]];
      for (let round = 0; round < 150; round++) {
        const batch =
          round === 0 ? words.slice() : Array.from({ length: 10 }, () => words[random(words.length)]!);
        for (let i = 0; round > 0 && i < 20; i++) {
          const word = madeWord(lengths[0] + random(lengths[1] - lengths[0] + 1), idCount);
          batch.push(word);
          words.push(word);
        }
        expect(encode(batch)).toEqual(bytesOf(batch).filter((byte) => byte >= 97));
        for (const [table, wordCount] of kernel.cachedWords().entries()) {
          const last = peaks[table]!;
          if (wordCount < last.at(-1)!) last.push(wordCount);
          else last[last.length - 1] = wordCount;
        }
      }
      const wasCleared = peaks.map((of) => of.length > 1);
      expect({ isNarrow, wasCleared }).toEqual({ isNarrow, wasCleared: [...cleared] });
      // The cleared cache fills again.
      expect(peaks.some(([first, second]) => second !== undefined && second > first! / 2)).toBe(true);
    }
  });
}

test("long words with the same hash are distinguished", () => {
  const encode = encoderOfBytes((byte) => byte, true);
  const byHash = new Map<number, Uint8Array>();
  const words: Uint8Array[] = [];
  for (let n = 0; n < 400_000 && words.length < 6; n++) {
    const word = Uint8Array.from({ length: 16 }, () => random(256));
    const hash = hashOfSixteen(new DataView(word.buffer));
    const other = byHash.get(hash);
    if (other !== undefined) words.push(other, word);
    byHash.set(hash, word);
  }
  expect(words.length).toBeGreaterThan(0);
  for (let round = 0; round < 2; round++) expect(encode(words)).toEqual(bytesOf(words));
});

/** The hash of a word of 16 bytes by `hashLong` of src/kernel/words/word-slots.ts. */
function hashOfSixteen(word: DataView): number {
  const wrap = (number: bigint) => BigInt.asUintN(64, number);
  const mixed = (bits: bigint) => {
    const product = wrap(bits * 0x9e3779b97f4a7c15n);
    return product ^ (product >> 29n);
  };
  let hash = wrap(16n * 0xc2b2ae3d27d4eb4fn);
  for (const pos of [0, 8]) hash = mixed(hash ^ word.getBigUint64(pos, true));
  return Number(wrap(mixed(hash) * 0xc2b2ae3d27d4eb4fn) >> 32n);
}

test("ids of any size are written completely: 16 bits and more", () => {
  for (const [firstId, isNarrow] of [
    [0xff00, true],
    [0xff00, false],
    [2 ** 24 - 100, false],
    [2 ** 25, false],
  ] as const) {
    const encode = encoderOfBytes((byte) => firstId + byte, isNarrow);
    for (let round = 0; round < 2; round++) {
      const words = Array.from({ length: 300 }, (_, i) => madeBytes(1 + (i % 30), 26));
      expect(encode(words)).toEqual(bytesOf(words).map((byte) => firstId + byte));
    }
  }
});

test("bytes that the vocabulary lacks are dropped, even if they are a whole word", () => {
  const encode = encoderOfBytes((byte) => (byte === 97 ? encodingModels.droppedByte : byte), true);
  for (let round = 0; round < 2; round++) {
    const words = Array.from({ length: 400 }, (_, i) => madeBytes(1 + (i % 50), 2));
    expect(encode(words)).toEqual(bytesOf(words).filter((byte) => byte !== 97));
  }
});

test("words too long for the cache are encoded among others, and so are more pretokens than fit at a time", () => {
  for (const isNarrow of [true, false]) {
    const encode = encoderOfBytes((byte) => byte, isNarrow);
    const long = [4095, 4096, 4097, 10_000].flatMap((length) => [madeBytes(length, 4), madeBytes(3, 4)]);
    for (let round = 0; round < 2; round++) expect(encode(long)).toEqual(bytesOf(long));
    const many = Array.from({ length: 150_000 }, (_, i) => madeBytes(1 + (i % 9), 3));
    expect(encode(many)).toEqual(bytesOf(many));
  }
});

test("text with more cuts and ends than are listed at a time", () => {
  // No token spans two characters, so a long pretoken of `foreign` is cut between all its characters.
  const encode = encoderOfBytes((byte) => byte, true);
  const foreign = (length: number) =>
    Buffer.from(Array.from({ length }, () => String.fromCodePoint(0x4e00 + random(500))).join(""));
  const words = [
    foreign(30_000),
    ...Array.from({ length: 20_000 }, (_, i) =>
      i % 100 < 90 ? madeBytes(1 + (i % 9), 3) : foreign(1 + (i % 7)),
    ),
    foreign(8191),
    foreign(8192),
    foreign(8193),
    madeBytes(5, 5),
  ];
  for (let round = 0; round < 2; round++) expect(encode(words)).toEqual(bytesOf(words));
});

test("a tokenizer, text or word that is too large is refused by name, and the next one is encoded", () => {
  const byteIds = Int32Array.from({ length: 256 }, (_, byte) => byte);
  const pair = { left: Int32Array.of(97), right: Int32Array.of(97), merged: Int32Array.of(256) };
  const model = encodingModels.build({ byteIds, merges: pair });
  const memoryOf = (megabytes: number) =>
    new WebAssembly.Memory({ initial: 1, maximum: 16 * megabytes, shared: true });
  expect(() => new EncodingKernel(model, true, { memory: memoryOf(8) })).toThrow(
    "not enough memory for the tokenizer",
  );

  const kernel = new EncodingKernel(model, true, { memory: memoryOf(64) });
  const out = new IdBuffer(true);
  const idsOf = (length: number) => {
    kernel.reserveText(length).bytes.fill(97, 0, length);
    kernel.encode(Int32Array.of(0, length), 2, out);
    return out.flush().length;
  };
  expect(idsOf(20_000)).toBe(10_000);
  expect(() => idsOf(1_500_000)).toThrow("not enough memory for a pretoken");
  expect(() => kernel.reserveText(2 ** 26)).toThrow("not enough memory for a pretoken in a text of 64 MB");
  expect(idsOf(20_000)).toBe(10_000);
  expect([...new Set(out.ids.subarray(0, 100))]).toEqual([256]);
});
