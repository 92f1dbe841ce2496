import { describe, expect, test } from "bun:test";
import { UserError } from "../../../src/runtime/errors.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import * as wordCounter from "../../../src/words/word-counter.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { pick, randomNumbers } from "../../random.ts";
import { isThorough, places, rounds } from "../../rounds.ts";
import { bytesOf, countPretokens, entriesOf, NaiveCounter, pretokensOf } from "./generators.ts";

/** Prefixes for numbers: the first makes short words, the second words of middle length. */
const kinds = ["", "middle word"];

function countOf(words: readonly Uint8Array[], counter = new WordCounter()): WordCounter {
  return countPretokens(counter, pretokensOf(words));
}

function expectCounts(counter: WordCounter, naive: NaiveCounter, note = ""): void {
  const table = counter.toWordTable();
  expect(table.wordCount).toBe(naive.counts.size);
  expect(counter.distinctWordCount).toBe(naive.counts.size);
  expect(table.starts.length).toBe(table.wordCount + 1);
  expect(table.starts[table.wordCount]).toBe(table.bytes.length);
  expect(counter.pretokenCount).toBe([...naive.counts.values()].reduce((sum, count) => sum + count, 0));
  const found = entriesOf(table);
  const wanted = naive.sorted();
  const wrong = found.findIndex(([word, count], i) => word !== wanted[i]![0] || count !== wanted[i]![1]);
  if (wrong >= 0) expect({ note, entry: found[wrong] }).toEqual({ note, entry: wanted[wrong] as never });
}

function expectSame(words: readonly Uint8Array[], note = ""): void {
  const naive = new NaiveCounter();
  naive.count(words);
  expectCounts(countOf(words), naive, note);
}

/**
 * Returns words over `letters` different bytes. If these are few, words repeat, and some are prefixes of others. A word
 * has at most `lengthMax` bytes.
 */
function randomWords(seed: number, wordCount: number, letters: number, lengthMax = 40): Uint8Array[] {
  const random = randomNumbers(seed);
  return Array.from({ length: wordCount }, () => {
    const word = new Uint8Array(1 + random(1 + random(lengthMax)));
    for (let pos = 0; pos < word.length; pos++) word[pos] = random(letters);
    return word;
  });
}

test("the worked example is counted", () => {
  const table = countOf([bytesOf("a"), bytesOf(" bc"), bytesOf(" bc")]).toWordTable();
  expect(entriesOf(table)).toEqual([
    [" bc", 2],
    ["a", 1],
  ]);
});

test("a counter gives up its memory once, with the text's part cleared", () => {
  const counter = countOf([bytesOf("a"), bytesOf(" bc")]);
  for (const sizeBytes of [100, 40_000_000]) counter.text(sizeBytes).bytes.fill(255);
  const { kernel, freeStart, freeEnd } = counter.giveUpMemory()!;
  expect(freeEnd - freeStart).toBe(kernel.exports.textCapacity());
  const text = new Uint8Array(kernel.memory.buffer, freeStart, 50_000_000);
  expect(text.findIndex((byte) => byte !== 0)).toBe(-1);
  expect(counter.distinctWordCount).toBe(0);
  expect(counter.giveUpMemory()).toBeUndefined();
});

test("the tables of both kernels end before the zeros of a memory that was taken over", () => {
  const packing = countOf([bytesOf("a")]);
  const { exports, memory } = packing.kernel;
  const address = exports.reserveFixed(3_000_000) >>> 0;
  new Uint8Array(memory.buffer, address, 3_000_000).fill(9);
  const counter = new WordCounter();
  runToEnd(counter.absorb(packing.pack()));
  const { kernel, fixedEnd, freeStart } = counter.giveUpMemory()!;
  expect(fixedEnd).toBe(address + 3_000_000);
  expect(freeStart).toBeGreaterThan(fixedEnd);
  const rest = new Uint8Array(kernel.memory.buffer, fixedEnd, Math.min(freeStart - fixedEnd, 8_000_000));
  expect(rest.findIndex((byte) => byte !== 0)).toBe(-1);
});

test("an empty text has no words", () => {
  const counter = new WordCounter();
  counter.take(Int32Array.of(0), 1);
  expect(counter.toWordTable().wordCount).toBe(0);
  expect(counter.toWordTable().starts).toEqual(Uint32Array.of(0));
  expect(counter.distinctWordCount).toBe(0);
  expect(counter.pretokenCount).toBe(0);
});

test("a counter begins with less than 256 KB", () => {
  expect(new WordCounter().memoryBytes).toBeLessThan(256 * 1024);
});

test("random words of length 1 to 40 are counted like in a Map", () => {
  for (let seed = 1; seed <= rounds(15); seed++) {
    expectSame(
      randomWords(seed, 1 + (seed % 7) * 700, 1 + (seed % 5) * (seed % 3 === 0 ? 60 : 1)),
      `seed ${seed}`,
    );
  }
});

test("pretokens are read from their positions in the text", () => {
  for (let startPos = 0; startPos < 9; startPos++) {
    const words = randomWords(startPos + 1, 300, 3);
    const counter = countPretokens(new WordCounter(), pretokensOf(words, startPos));
    const naive = new NaiveCounter();
    naive.count(words);
    expectCounts(counter, naive, `start ${startPos}`);
  }
});

test("all 256 single bytes are distinct words", () => {
  const words = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  expectSame([...words, ...words.slice(100)]);
});

test("all words of two bytes are distinct", () => {
  expectSame(Array.from({ length: 65536 }, (_, i) => Uint8Array.of(i & 255, i >> 8)));
});

test("words of zero bytes differ by their length", () => {
  const words = Array.from({ length: 70 }, (_, i) => new Uint8Array(i + 1));
  expectSame([...words, ...words]);
  expect(countOf(words).distinctWordCount).toBe(70);
});

test("words that end in zero bytes are not the words without them", () => {
  const words: Uint8Array[] = [];
  for (let length = 1; length <= 40; length++) {
    for (let zeros = 0; zeros < length; zeros++) {
      words.push(new Uint8Array(length).fill(7, 0, length - zeros), new Uint8Array(length).fill(7, zeros));
    }
  }
  expectSame(words);
});

test("prefixes of one another are distinct words", () => {
  const longest = randomWords(5, 1, 256, 1)[0]!;
  const whole = new Uint8Array(300).map((_, pos) => (pos * 37 + longest[0]!) & 255);
  expectSame(Array.from({ length: 600 }, (_, i) => whole.subarray(0, 1 + (i % 300))));
});

test("words that differ in a single byte, at any position, are distinct", () => {
  for (const length of [1, 2, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 20, 33]) {
    const words: Uint8Array[] = [];
    for (let pos = 0; pos < length; pos++) {
      for (let byte = 0; byte < 256; byte++)
        words.push(new Uint8Array(length).fill(97).fill(byte, pos, pos + 1));
    }
    expectSame(words, `length ${length}`);
  }
});

describe("words that differ in a regular way", () => {
  const bits64 = (1n << 64n) - 1n;
  const [multiplier0, multiplier1] = [0x9e3779b97f4a7c15n, 0xc2b2ae3d27d4eb4fn];
  /**
   * For each of the kernel's three tables: the number of eight-byte parts of a slot, and the hash of the key that
   * begins at `slots[pos]`.
   */
  const tables: [slotParts: number, hashAt: (slots: BigUint64Array, pos: number) => bigint][] = [
    [2, (slots, pos) => slots[pos]! * multiplier0],
    [
      3,
      (slots, pos) => {
        const head = (slots[pos + 1]! * multiplier1) & bits64;
        return ((head ^ (head >> 32n)) + slots[pos]!) * multiplier0;
      },
    ],
    [1, (slots, pos) => slots[pos]! << 32n],
  ];

  /** Returns the average number of slots that a search for a key of the table examines. */
  function meanProbes({ kernel: { exports, memory } }: WordCounter, kind: number): number {
    const [slotParts, hashAt] = tables[kind]!;
    const slots = new BigUint64Array(
      memory.buffer,
      exports.slotsAddress(kind) >>> 0,
      exports.slotsBytes(kind) / 8,
    );
    const slotCount = slots.length / slotParts;
    let probeCount = 0;
    for (let slot = 0; slot < slotCount; slot++) {
      if (slots[slot * slotParts] === 0n) continue;
      const home = Number((hashAt(slots, slot * slotParts) & bits64) >> BigInt(64 - Math.log2(slotCount)));
      probeCount += 1 + ((slot - home + slotCount) % slotCount);
    }
    return probeCount / exports.usedSlots(kind);
  }

  function expectFewProbes(words: readonly Uint8Array[], note: string): void {
    const counter = countOf(words);
    for (let kind = 0; kind < 3; kind++) {
      if (counter.kernel.exports.usedSlots(kind) < 2) continue;
      const probes = meanProbes(counter, kind);
      if (probes > 6) expect({ note, kind, probes }).toBe("at most 6 probes a word" as never);
    }
  }

  test("stay near their home slots: numbers", () => {
    for (const length of [5, 7, 8, 12, 15, 16, 20]) {
      expectFewProbes(
        Array.from({ length: 20_000 }, (_, i) => bytesOf(String(i).padStart(length, "0"))),
        `${length} digits`,
      );
    }
  });

  test("stay near their home slots: two bytes, of 256 and 16 values, the second anywhere", () => {
    for (const length of [7, 15, 18]) {
      for (let a = 0; a < length; a++) {
        for (const b of places(length, a)) {
          const words = Array.from({ length: 4096 }, (_, i) => {
            const word = new Uint8Array(length).fill(97);
            word[a] = i & 255;
            word[b] = i >> 8;
            return word;
          });
          if (a !== b) expectFewProbes(words, `length ${length}, bytes ${a}, ${b}`);
        }
      }
    }
  });

  test("stay near their home slots: three bytes of 20 values each, at any positions", () => {
    for (const length of [3, 7, 9, 15, 19]) {
      for (const a of places(length, length)) {
        for (let b = a + 1; b < length; b += length > 7 ? 4 : 1) {
          for (let c = b + 1; c < length; c += length > 7 ? 4 : 1) {
            const words = Array.from({ length: 8000 }, (_, i) => {
              const word = new Uint8Array(length).fill(97);
              word[a] = 97 + (i % 20);
              word[b] = 97 + (Math.floor(i / 20) % 20);
              word[c] = 97 + Math.floor(i / 400);
              return word;
            });
            expectFewProbes(words, `length ${length}, bytes ${a}, ${b}, ${c}`);
          }
        }
      }
    }
  });
});

test("words of 1 MB that differ in their last byte are distinct", () => {
  const megabyte = new Uint8Array(1 << 20).map((_, pos) => (pos * 31 + (pos >> 8)) & 255);
  const other = megabyte.slice();
  other[other.length - 1]! ^= 1;
  const shorter = megabyte.subarray(0, megabyte.length - 1);
  const counter = countOf([megabyte, other, shorter, megabyte]);
  const table = counter.toWordTable();
  expect(table.wordCount).toBe(3);
  const byCount = new Map<number, Uint8Array[]>();
  for (let w = 0; w < 3; w++) {
    const word = table.bytes.subarray(table.starts[w]!, table.starts[w + 1]!);
    byCount.set(table.counts[w]!, [...(byCount.get(table.counts[w]!) ?? []), word]);
  }
  expect(Buffer.compare(byCount.get(2)![0]!, megabyte)).toBe(0);
  expect(byCount.get(1)!.length).toBe(2);
});

test("a corpus counted in blocks of any size gives the same table", () => {
  const words = randomWords(77, 3000, 3);
  const naive = new NaiveCounter();
  naive.count(words);
  for (const blockPretokens of [1, 2, 7, 1023, 1024, 1025, 3000]) {
    const counter = new WordCounter();
    for (let i = 0; i < words.length; i += blockPretokens)
      countOf(words.slice(i, i + blockPretokens), counter);
    expectCounts(counter, naive, `blocks of ${blockPretokens}`);
  }
});

test("tables are right at every size while they grow", () => {
  for (const length of [4, 8, 16]) {
    const counter = new WordCounter();
    const naive = new NaiveCounter();
    // These words fill a table several times, in blocks whose size divides no table size.
    for (let i = 0; i < 12000; i += 997) {
      const words = Array.from({ length: 997 }, (_, j) => bytesOf(String(i + j).padStart(length, "0")));
      countOf([...words, words[0]!], counter);
      naive.count([...words, words[0]!]);
      expectCounts(counter, naive, `length ${length}, ${i} words`);
    }
  }
});

test("tables that begin with two slots are right at every size, even if entries wrap around their ends", () => {
  for (let seed = 1; seed <= rounds(10); seed++) {
    const words = randomWords(seed, 20 * seed, 1 + (seed % 200), 24);
    const naive = new NaiveCounter();
    const counter = new WordCounter(undefined, { short: 1, middle: 1, long: 1 });
    words.forEach((word, i) => {
      naive.count([word]);
      const { text } = pretokensOf([word]);
      counter.add(text, 0, word.length, 1);
      if (i % 7 === 0) expectCounts(counter, naive, `seed ${seed}, ${i} words`);
    });
    expectCounts(counter, naive, `seed ${seed}`);
  }
});

test.skipIf(isSmallScale)("a table grows although all its keys but one have wrapped around its end", () => {
  const multiplier = 0x9e3779b97f4a7c15n;
  let inverse = 1n;
  for (let i = 0; i < 6; i++) inverse = BigInt.asUintN(64, inverse * (2n - multiplier * inverse));
  // Words of seven bytes whose hashes begin with sixteen ones. Each key is computed from its hash, by multiplying with
  // the inverse. A key's lowest byte must be the word's length, 7, which determines the lowest byte of the hash.
  const lowestByte = (7n * multiplier) & 255n;
  const words = Array.from({ length: 3500 }, (_, i) => {
    const hash = (0xffffn << 48n) | (BigInt(i) << 8n) | lowestByte;
    return new Uint8Array(new BigUint64Array([BigInt.asUintN(64, hash * inverse)]).buffer).slice(1);
  });
  const naive = new NaiveCounter();
  naive.count(words);
  const counter = countOf(words);
  expectCounts(counter, naive);
  naive.count(words);
  expectCounts(countOf(words, counter), naive, "found again");
});

test("a word added with a count counts as that many pretokens", () => {
  for (let seed = 1; seed <= rounds(5); seed++) {
    const random = randomNumbers(seed);
    const words = randomWords(seed, 500, 2);
    const counter = new WordCounter();
    const naive = new NaiveCounter();
    const { text, ends } = pretokensOf(words, 3);
    words.forEach((word, i) => {
      const count = random(3) === 0 ? random(2 ** 31) * 1000 : 1 + random(5);
      counter.add(text, ends[i]!, ends[i + 1]!, count);
      naive.add(word, count);
    });
    expectCounts(counter, naive, `seed ${seed}`);
  }
});

describe("absorbing", () => {
  test("gives the same table in every order", () => {
    const parts = [
      randomWords(1, 900, 2),
      randomWords(2, 40, 3),
      [],
      randomWords(3, 5000, 4),
      randomWords(4, 900, 2),
    ];
    const naive = new NaiveCounter();
    for (const words of parts) naive.count(words);
    for (const order of [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [3, 0, 4, 2, 1],
      [2, 1, 0, 4, 3],
    ]) {
      const counter = new WordCounter();
      for (const part of order) runToEnd(counter.absorb(countOf(parts[part]!).pack()));
      expectCounts(counter, naive, `order ${order}`);
    }
  });

  test("and further counting give the same as counting everything", () => {
    const words = randomWords(9, 4000, 3);
    const naive = new NaiveCounter();
    naive.count(words);
    const counter = countOf(words.slice(0, 1000));
    runToEnd(counter.absorb(countOf(words.slice(1000, 3000)).pack()));
    countOf(words.slice(3000), counter);
    expectCounts(counter, naive);
  });

  test("grows tables as needed: all, some or none of the words are new", () => {
    const words = Array.from({ length: 40_000 }, (_, i) =>
      bytesOf(`w${i}${i % 3 === 0 ? " of middle length" : ""}`),
    );
    for (const sharedCount of [0, 1000, 20_000, 40_000]) {
      const added = words.map((word, i) => (i < sharedCount ? word : bytesOf(`x${i}${"y".repeat(i % 12)}`)));
      const naive = new NaiveCounter();
      naive.count(words);
      naive.count(added);
      const counter = countOf(words);
      runToEnd(counter.absorb(countOf(added).pack()));
      expectCounts(counter, naive, `${sharedCount} shared`);
    }
  });

  test("grows tables before words crowd at the front of a table, even without any in common", () => {
    const countNumbers = (first: number, end: number): WordCounter => {
      const counter = new WordCounter();
      const ends = Int32Array.from({ length: end - first + 1 }, (_, i) => 7 * i);
      const { bytes } = counter.text(7 * (end - first));
      for (let i = first; i < end; i++) bytes.set(bytesOf(String(i).padStart(7, "0")), 7 * (i - first));
      counter.take(ends, ends.length);
      return counter;
    };
    const counter = countNumbers(0, 1_500_000);
    runToEnd(counter.absorb(countNumbers(1_490_000, 2_990_000).pack()));
    const { counts } = counter.toWordTable();
    expect([counter.distinctWordCount, counts.length]).toEqual([2_990_000, 2_990_000]);
    expect(counts.filter((count) => count === 2).length).toBe(10_000);
  });

  test("works on data that another thread receives", () => {
    const words = randomWords(10, 3000, 3);
    const naive = new NaiveCounter();
    naive.count(words);
    const received = structuredClone(countOf(words).pack());
    expect(received.tables.distinctWordCount).toBe(naive.counts.size);
    const counter = new WordCounter();
    runToEnd(counter.absorb(received));
    expectCounts(counter, naive);
  });

  test("accepts records that are longer than a portion", () => {
    const long = new Uint8Array(5 << 20).map((_, pos) => (pos * 31 + (pos >> 8)) & 255);
    const words = [...randomWords(13, 500, 3), long, long.subarray(1), ...randomWords(14, 500, 3)];
    const naive = new NaiveCounter();
    naive.count(words);
    naive.count(words);
    const counter = countOf(words);
    runToEnd(counter.absorb(countOf(words.toReversed()).pack()));
    expectCounts(counter, naive);
  });

  test("in slices returns each word once, with any number of slices", () => {
    const long = new Uint8Array(2 << 20).map((_, pos) => (pos * 31 + (pos >> 8)) & 255);
    const rare = Array.from({ length: 30_000 }, (_, i) =>
      bytesOf(`w${i}${["", " of middle", " of more than sixteen"][i % 3]}`),
    );
    const parts = [
      ...[21, 22, 23].map((seed) => randomWords(seed, 6000, 3)),
      [...rare.slice(0, 20_000), long],
      [...rare.slice(10_000), long.subarray(1)],
      [bytesOf("one word")],
      [],
    ];
    const naive = new NaiveCounter();
    for (const words of parts) naive.count(words);
    for (const count of isThorough ? [1, 2, 3, 7, 64] : [1, 3, 20]) {
      const all = parts.map((words) => countOf(words, new WordCounter(1e7, undefined, 99)).pack());
      const tables = all.map((packed) => packed.tables);
      const slices = Array.from({ length: count }, (_, index) => {
        const own = all[index] ?? countOf([long], new WordCounter(1e7, undefined, 99)).pack();
        const counter = WordCounter.forSlice(own, { index, count });
        for (let round = 0; round < wordCounter.sliceRounds; round++)
          runToEnd(counter.addSliceOf(tables, round));
        return counter.toWordTable();
      });
      const joined = wordCounter.joinTables(slices);
      expect(joined.wordCount).toBe(naive.counts.size);
      expect(entriesOf(joined)).toEqual(naive.sorted());
      // Hashes distribute the words evenly over the slices.
      const most = Math.max(...slices.map(({ wordCount }) => wordCount));
      expect(most).toBeLessThan((1.5 * naive.counts.size) / count + 50);
      // The packed counters still have all their words.
      const counter = new WordCounter();
      for (const packed of all) runToEnd(counter.absorb(packed));
      expectCounts(counter, naive, `${count} slices`);
    }
  }, 600_000);

  test("in slices returns each word once, even if all free slots of a table are in one slice", () => {
    const firstSlotBits = { short: 1, middle: 1, long: 1 };
    for (let seed = 1; seed <= rounds(200); seed++) {
      const count = 2 + (seed % 4);
      const random = randomNumbers(seed);
      const words = Array.from({ length: 1 + random(5) }, () => bytesOf(pick(random, kinds) + random(1000)));
      const naive = new NaiveCounter();
      const all = Array.from({ length: count }, () => {
        naive.count(words);
        return countOf(words, new WordCounter(1e6, firstSlotBits, 99)).pack();
      });
      const slices = all.map((own, index) => {
        const counter = WordCounter.forSlice(own, { index, count });
        const tables = all.map((packed) => packed.tables);
        for (let round = 0; round < wordCounter.sliceRounds; round++)
          runToEnd(counter.addSliceOf(tables, round));
        return counter.toWordTable();
      });
      expect({ seed, words: entriesOf(wordCounter.joinTables(slices)) }).toEqual({
        seed,
        words: naive.sorted(),
      });
    }
  });

  test("moves all words to another counter and starts over", () => {
    const naive = new NaiveCounter();
    const held = new WordCounter();
    const counter = new WordCounter();
    runToEnd(counter.moveInto(held));
    expect(held.distinctWordCount).toBe(0);
    for (const seed of [15, 16, 17]) {
      const words = randomWords(seed, 3000, 20);
      naive.count(words);
      runToEnd(countOf(words, counter).moveInto(held));
      expect([counter.distinctWordCount, counter.pretokenCount]).toEqual([0, 0]);
      expectCounts(held, naive, `seed ${seed}`);
    }
  });

  test("is estimated to take infinite memory if the words may not fit", () => {
    const counter = countOf([bytesOf("a")], new WordCounter(1));
    const packed = countOf([bytesOf("b"), bytesOf("c")]).pack();
    const bytesWith = (more: Partial<typeof packed.tables>) =>
      counter.memoryBytesWithPacked({ ...packed, tables: { ...packed.tables, ...more } });
    expect(bytesWith({})).toBeGreaterThan(counter.memoryBytes + packed.tables.tableBytes);
    expect(bytesWith({})).toBeLessThan(1e6);
    for (const keyCounts of [
      [1e8, 0, 0],
      [0, 1e8, 0],
      [0, 0, 1e8],
    ] as const)
      expect(bytesWith({ keyCounts })).toBe(Number.POSITIVE_INFINITY);
    expect(bytesWith({ records: { address: 0, byteCount: 1e9 } })).toBe(Number.POSITIVE_INFINITY);
    expect(new WordCounter().memoryBytesWithPacked(packed)).toBeLessThan(1e6);
  });

  test("leaves the counter that packed empty and ready", () => {
    const counter = countOf(randomWords(11, 2000, 3));
    counter.pack();
    expect(counter.distinctWordCount).toBe(0);
    expect(counter.pretokenCount).toBe(0);
    const words = randomWords(12, 100, 3);
    const naive = new NaiveCounter();
    naive.count(words);
    expectCounts(countOf(words, counter), naive);
  });
});

describe("a counter that was cleared", () => {
  test("counts like a new one, and its memory is known beforehand", () => {
    const counter = new WordCounter();
    for (const seed of [11, 12, 13]) {
      const words = randomWords(seed, seed === 12 ? 120_000 : 9000, 200);
      const naive = new NaiveCounter();
      naive.count(words);
      const textBytes = words.reduce((sum, word) => sum + word.length, 0);
      const foretold = counter.memoryBytesWith(textBytes);
      countOf(words, counter);
      expect(counter.memoryBytes).toBeLessThan(foretold);
      expectCounts(counter, naive, `seed ${seed}`);
      counter.clear();
      expect([counter.distinctWordCount, counter.pretokenCount]).toEqual([0, 0]);
      expect(counter.memoryBytes).toBeLessThan(256 * 1024);
    }
  }, 600_000);
});

describe("large counts", () => {
  const words = [bytesOf("a"), bytesOf("middle word"), bytesOf("a word of more than sixteen bytes")];

  /** Returns a counter with `words`, each counted `count` times. */
  function counterOf(count: number): WordCounter {
    const counter = new WordCounter();
    const { text, ends } = pretokensOf(words);
    for (let i = 0; i < words.length; i++) counter.add(text, ends[i]!, ends[i + 1]!, count);
    return counter;
  }

  test("are exact past 2^31 and 2^32 when tables are absorbed", () => {
    let counts = [3, 3, 3];
    let counter = counterOf(3);
    for (let doubling = 0; doubling < 45; doubling++) {
      const twin = counterOf(counts[0]!);
      runToEnd(twin.absorb(counter.pack()));
      counter = twin;
      counts = counts.map((count) => 2 * count);
      expect([...counter.toWordTable().counts]).toEqual(counts);
    }
    expect(counts[0]).toBeGreaterThan(2 ** 46);
  });

  test("are exact when counting passes 2^32", () => {
    const counter = counterOf(2 ** 32 - 5);
    countOf(
      Array.from({ length: 3000 }, (_, i) => words[i % 3]!),
      counter,
    );
    expect([...counter.toWordTable().counts]).toEqual(Array(3).fill(2 ** 32 + 995));
  });

  test("are exact up to 2^53 - 1, and an error beyond", () => {
    const counter = new WordCounter();
    const { text, ends } = pretokensOf(words);
    counter.add(text, ends[1]!, ends[2]!, 2 ** 53 - 2);
    countOf(words.slice(0, 1), counter);
    expect(counter.toWordTable().counts).toContain(2 ** 53 - 2);
    expect(() => countOf(words.slice(0, 1), counter)).toThrow(UserError);
    expect(() => counter.add(text, ends[0]!, ends[1]!, 1)).toThrow("more than 2^53");
    expect(() => runToEnd(counter.absorb(countOf(words).pack()))).toThrow(UserError);
    expect(counter.pretokenCount).toBe(2 ** 53 - 1);
  });
});
