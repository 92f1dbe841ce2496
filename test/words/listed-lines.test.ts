import { expect, test } from "bun:test";
import { encodeBytes } from "../../src/bytes/byte-characters.ts";
import { createKernel, growMemory } from "../../src/runtime/kernel.ts";
import { readDistinctLines } from "../../src/words/listed-lines.ts";
import { TsvReader } from "../../src/words/tsv.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import type { WordTable } from "../../src/words/word-table.ts";
import { bytesOf, entriesOf, keyOf, randomOf } from "./generators.ts";

/** Read in pieces of at most so many bytes. */
function readDistinct(file: string, pieceBytes = 1 << 30, sizeBytes?: number): WordTable | null {
  const bytes = bytesOf(file);
  let pos = 0;
  const read = (into: Uint8Array) => {
    const piece = bytes.subarray(pos, pos + Math.min(pieceBytes, into.length));
    into.set(piece);
    pos += piece.length;
    return piece.length;
  };
  const work = readDistinctLines(read, sizeBytes ?? bytes.length);
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** The same by the reader for all files. */
function readAny(file: string): WordTable {
  const counter = new WordCounter();
  const reader = new TsvReader("words.tsv", counter);
  reader.read(bytesOf(file));
  reader.finish();
  return counter.toWordTable();
}

const entriesOrNull = (table: WordTable | null) => table && entriesOf(table);

/** Lines of distinct words of all lengths and bytes. */
function distinctLines(seed: number, lineCount: number): string[] {
  const random = randomOf(seed);
  const lines = new Map<string, string>();
  while (lines.size < lineCount) {
    const word = Uint8Array.from({ length: 1 + random(random(8) === 0 ? 60 : 14) }, () => random(256));
    lines.set(keyOf(word), `${encodeBytes(word)}\t${1 + random(10 ** (1 + random(9)))}\n`);
  }
  return [...lines.values()];
}

test("words that stand once are read as the reader for all files reads them, in any pieces", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const file = distinctLines(seed, [1, 2, 100, 5000, 20_000][seed % 5]!).join("");
    const expected = entriesOf(readAny(file));
    for (const pieceBytes of [seed < 3 ? 1 : 1000, 1 << 30]) {
      expect(entriesOrNull(readDistinct(file, pieceBytes))).toEqual(expected);
    }
    // The last newline may be missing, and the size be another one: a file may grow.
    expect(entriesOrNull(readDistinct(file.slice(0, -1), 5000, 1))).toEqual(expected);
  }
});

test("no lines are no words", () => {
  expect(readDistinct("")?.wordCount).toBe(0);
});

test("a word that stands twice is found, wherever its lines are and however many lie between", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = randomOf(seed);
    const lines = distinctLines(seed, [2, 10, 3000, 40_000][seed % 4]!);
    const [from, to] = [random(lines.length), random(lines.length + 1)];
    const word = lines[from]!.split("\t")[0]!;
    const twice = [...lines.slice(0, to), `${word}\t1\n`, ...lines.slice(to)].join("");
    expect(readDistinct(twice)).toBeNull();
    expect(readDistinct(lines.join(""))?.wordCount).toBe(lines.length);
  }
});

test("files with more words than are looked through at once", () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `w${i}\t${1 + (i % 7)}\n`);
  const file = lines.join("");
  const table = readDistinct(file)!;
  expect(table.wordCount).toBe(300_000);
  expect(table.counts.reduce((sum, count) => sum + count, 0)).toBe(
    lines.reduce((sum, line) => sum + Number(line.split("\t")[1]), 0),
  );
  for (const w of [0, 1, 8191, 8192, 131_071, 299_999]) {
    expect(Buffer.from(table.bytes.subarray(table.starts[w], table.starts[w + 1])).toString()).toBe(`w${w}`);
    expect(table.counts[w]).toBe(1 + (w % 7));
  }
  for (const twice of ["w0", "w131072", "w299999"]) expect(readDistinct(`${file}${twice}\t1\n`)).toBeNull();
  expect(readDistinct(`w299999\t1\n${file}`)).toBeNull();
});

test("a line that is not plainly right, or longer than all that is read at once, is left to the other reader", () => {
  const lines = distinctLines(1, 2000);
  const strangers = [
    "b",
    "\t3",
    "b\t0",
    "b c\t1",
    "€\t1",
    "ń\t1",
    "b\t1e3",
    "b\t",
    "",
    "b\t9007199254740992",
  ];
  for (const line of [...strangers, `b\t${"0".repeat(16)}1`, `${"b".repeat(1 << 18)}\t1`]) {
    for (const at of [0, 1000, 2000]) {
      expect(readDistinct([...lines.slice(0, at), `${line}\n`, ...lines.slice(at)].join("")) === null).toBe(
        true,
      );
    }
  }
  // A line that just fits.
  const long = "b".repeat((1 << 18) - 3);
  expect(entriesOrNull(readDistinct(`a\t1\n${long}\t1\nc\t1\n`))?.length).toBe(3);
});

test("counts are exact, and together no more than 2^53 - 1", () => {
  const most = Number.MAX_SAFE_INTEGER;
  expect(entriesOrNull(readDistinct(`a\t${most - 1}\nb\t1\n`))).toEqual([
    ["a", most - 1],
    ["b", 1],
  ]);
  expect(readDistinct(`a\t${most}\nb\t1\n`)).toBeNull();
});

test("equal hashes are found in parts of any number, and a part with too many is not looked through", () => {
  const kernel = createKernel();
  const { exports, memory } = kernel;
  const [slots, ends, hashes] = [1 << 12, (1 << 12) + (8 << 14), (1 << 12) + (8 << 14) + (4 << 8)];
  const hasEqual = (values: readonly bigint[], partBits: number) => {
    const parts = hashes + 8 * values.length;
    growMemory(memory, parts + 8 * values.length);
    new BigUint64Array(memory.buffer, hashes, values.length).set(values);
    new Uint32Array(memory.buffer, ends, 2 ** partBits).fill(0);
    const middle = values.length >> 1;
    exports.countParts(hashes, 0, middle, ends, partBits);
    exports.countParts(hashes, middle, values.length, ends, partBits);
    exports.placeParts(ends, partBits);
    exports.fillParts(hashes, 0, middle, ends, partBits, parts);
    exports.fillParts(hashes, middle, values.length, ends, partBits, parts);
    const split = (2 ** partBits) >> 1;
    return (
      exports.hasEqual(0, split, ends, partBits, parts, slots) !== 0 ||
      exports.hasEqual(split, 2 ** partBits, ends, partBits, parts, slots) !== 0
    );
  };
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomOf(seed);
    const bits = 10 + random(54);
    const value = () => {
      const wide = (BigInt(random(2 ** 31)) << 33n) | (BigInt(random(2 ** 31)) << 2n) | BigInt(random(4));
      return (wide >> BigInt(64 - bits)) << BigInt(random(2) * (64 - bits)) || 1n;
    };
    const values = Array.from({ length: 2 + random(3000) }, value);
    for (const partBits of [1, 2, 5, 8]) {
      expect({ seed, partBits, is: hasEqual(values, partBits) }).toEqual({
        seed,
        partBits,
        is: new Set(values).size < values.length,
      });
    }
  }
  const crowd = Array.from({ length: 12 << 10 }, (_, i) => BigInt(i + 1));
  expect(hasEqual(crowd, 3)).toBe(false);
  expect(hasEqual([...crowd, 1n << 40n], 3)).toBe(true);
});
