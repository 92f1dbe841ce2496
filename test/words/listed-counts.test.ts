import { expect, test } from "bun:test";
import { encodeBytes } from "../../src/bytes/byte-characters.ts";
import { createKernel, growMemory } from "../../src/runtime/kernel.ts";
import { atOnce } from "../../src/runtime/turns.ts";
import { checksumOf } from "../../src/words/counts-format.ts";
import { CountsReader } from "../../src/words/counts-reader.ts";
import { countsFileChunks, countsFileHead, totalsOf } from "../../src/words/counts-writer.ts";
import { joinEqual, listCounts, readListedLines } from "../../src/words/listed-counts.ts";
import { wordTableOfSum } from "../../src/words/sorted-words.ts";
import { TsvReader } from "../../src/words/tsv.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { type WordTable, wordTableOf } from "../../src/words/word-table.ts";
import { rounds } from "../rounds.ts";
import { bytesOf, entriesOf, keyOf, randomOf } from "./generators.ts";

/** The files listed, read in pieces of at most so many bytes. */
function listed(files: readonly string[], pieceBytes = 1 << 30, sizeBytes?: number): WordTable | null {
  const readers = files.map((file) => {
    const bytes = bytesOf(file);
    let pos = 0;
    return (into: Uint8Array) => {
      const piece = bytes.subarray(pos, pos + Math.min(pieceBytes, into.length));
      into.set(piece);
      pos += piece.length;
      return piece.length;
    };
  });
  return atOnce(readListedLines(readers, sizeBytes ?? files.join("").length));
}

const listedOne = (file: string, pieceBytes?: number, sizeBytes?: number) =>
  listed([file], pieceBytes, sizeBytes);

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
  for (let seed = 1; seed <= rounds(5); seed++) {
    const file = distinctLines(seed, [1, 2, 100, 5000, 20_000][seed % 5]!).join("");
    const expected = entriesOf(readAny(file));
    for (const pieceBytes of [seed < 3 ? 1 : 1000, 1 << 30]) {
      expect(entriesOrNull(listedOne(file, pieceBytes))).toEqual(expected);
    }
    // The last newline may be missing, and the size be another one: a file may grow.
    expect(entriesOrNull(listedOne(file.slice(0, -1), 5000, 1))).toEqual(expected);
  }
});

test("no lines are no words", () => {
  expect(listedOne("")?.wordCount).toBe(0);
});

test("a word that stands twice is added up, wherever its lines are and however many lie between", () => {
  for (let seed = 1; seed <= rounds(3); seed++) {
    const random = randomOf(seed);
    const lines = distinctLines(seed, [2, 10, 3000, 40_000][seed % 4]!);
    const [from, to] = [random(lines.length), random(lines.length + 1)];
    const word = lines[from]!.split("\t")[0]!;
    const twice = [...lines.slice(0, to), `${word}\t1\n`, ...lines.slice(to)].join("");
    expect(entriesOrNull(listedOne(twice))).toEqual(entriesOf(readAny(twice)));
    expect(listedOne(lines.join(""))?.wordCount).toBe(lines.length);
  }
});

test("files with more words than are looked through at once", () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `w${i}\t${1 + (i % 7)}\n`);
  const file = lines.join("");
  const table = listedOne(file)!;
  expect(table.wordCount).toBe(300_000);
  expect(table.counts.reduce((sum, count) => sum + count, 0)).toBe(
    lines.reduce((sum, line) => sum + Number(line.split("\t")[1]), 0),
  );
  for (const w of [0, 1, 8191, 8192, 131_071, 299_999]) {
    expect(Buffer.from(table.bytes.subarray(table.starts[w], table.starts[w + 1])).toString()).toBe(`w${w}`);
    expect(table.counts[w]).toBe(1 + (w % 7));
  }
  const countOf = (table: WordTable | null, word: string) =>
    new Map(table && entriesOf(table)).get(keyOf(bytesOf(word)));
  for (const twice of ["w0", "w131072", "w299999"]) {
    expect(countOf(listedOne(`${file}${twice}\t1\n`), twice)).toBe(2 + (Number(twice.slice(1)) % 7));
  }
  expect(countOf(listedOne(`w299999\t1\n${file}`), "w299999")).toBe(2 + (299_999 % 7));
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
      expect(listedOne([...lines.slice(0, at), `${line}\n`, ...lines.slice(at)].join("")) === null).toBe(
        true,
      );
    }
  }
  // A line that just fits.
  const long = "b".repeat((1 << 18) - 3);
  expect(entriesOrNull(listedOne(`a\t1\n${long}\t1\nc\t1\n`))?.length).toBe(3);
});

test("counts are exact, and together no more than 2^53 - 1", () => {
  const most = Number.MAX_SAFE_INTEGER;
  expect(entriesOrNull(listedOne(`a\t${most - 1}\nb\t1\n`))).toEqual([
    ["a", most - 1],
    ["b", 1],
  ]);
  expect(listedOne(`a\t${most}\nb\t1\n`)).toBeNull();
});

test("several files are added up as the reader for all files does it, whatever they share", () => {
  for (let seed = 1; seed <= rounds(6); seed++) {
    const random = randomOf(seed);
    const words = distinctLines(seed, [3, 50, 4000, 20_000][seed % 4]!).map((line) => line.split("\t")[0]!);
    const share = 1 + random(4);
    const files = Array.from({ length: 2 + random(5) }, () =>
      words
        .filter(() => random(share) === 0)
        .map((word) => `${word}\t${1 + random(1000)}\n`)
        .join(""),
    );
    // The last newline of a file may be missing.
    const cut = files.map((file) => (random(2) === 0 ? file : file.slice(0, -1)));
    const expected = entriesOf(readAny(files.join("")));
    expect({ seed, words: entriesOrNull(listed(cut, 3000)) }).toEqual({ seed, words: expected });
  }
});

test("few words in many files are left to the tables, many words are not", () => {
  const fileOf = (wordCount: number) => Array.from({ length: wordCount }, (_, i) => `w${i}\t1\n`).join("");
  const few = fileOf(70_000);
  expect(listed([few])?.wordCount).toBe(70_000);
  expect(listed([few, few])).toBeNull();
  const many = fileOf(300_000);
  const table = listed([many, many, many])!;
  expect(table.wordCount).toBe(300_000);
  expect(table.counts.every((count) => count === 3)).toBe(true);
});

test("words of one hash that differ are not added up", () => {
  const table = wordTableOf([
    ["a", 1],
    ["b", 2],
    ["bc", 3],
    ["b", 4],
  ]);
  const join = (hashes: readonly (readonly [low: number, high: number])[]) => {
    return entriesOrNull(
      atOnce(joinEqual({ ...table, counts: table.counts.slice() }, Uint32Array.from(hashes.flat()))),
    );
  };
  const other = [7, 1] as const;
  expect(join([other, other, other, [1, 0]])).toEqual([
    [keyOf(bytesOf("a")), 1],
    [keyOf(bytesOf("b")), 6],
    [keyOf(bytesOf("bc")), 3],
  ]);
  for (const wrong of [0, 2]) expect(join([other, other, other, [wrong, 0]])).toBeNull();
});

test("words with the hash of an earlier one are found in parts of any number, and a part with too many is given up", () => {
  const kernel = createKernel();
  const { exports, memory } = kernel;
  const [slots, stops, hashes] = [1 << 12, (1 << 12) + (8 << 14), (1 << 12) + (8 << 14) + (4 << 8)];
  const findEqual = (values: readonly bigint[], partBits: number) => {
    const parts = hashes + 8 * values.length;
    growMemory(memory, parts + 8 * values.length);
    const marked = new BigUint64Array(memory.buffer, hashes, values.length);
    marked.set(values);
    new Uint32Array(memory.buffer, stops, 2 ** partBits).fill(0);
    const middle = values.length >> 1;
    exports.useParts(hashes, stops, parts, slots, partBits);
    exports.countParts(0, middle);
    exports.countParts(middle, values.length);
    exports.placeParts();
    exports.fillParts(0, middle);
    exports.fillParts(middle, values.length);
    const split = (2 ** partBits) >> 1;
    const all = [0, 1].map(
      (marks) =>
        (exports.findEqual(0, split, marks) >>> 0) + (exports.findEqual(split, 2 ** partBits, marks) >>> 0),
    );
    expect(all[0]).toBe(all[1]!);
    return { equalCount: all[0]!, marked: [...marked] };
  };
  for (let seed = 1; seed <= rounds(15); seed++) {
    const random = randomOf(seed);
    const bits = 10 + random(54);
    const value = () => {
      const wide = (BigInt(random(2 ** 31)) << 33n) | (BigInt(random(2 ** 31)) << 2n) | BigInt(random(4));
      const some = (wide >> BigInt(64 - bits)) << BigInt(random(2) * (64 - bits));
      // Lower ones are marks.
      return some >> 32n === 0n ? some | (1n << 32n) : some;
    };
    const values = Array.from({ length: 2 + random(3000) }, value);
    const firsts = new Map<bigint, number>();
    const marks = values.map((hash, i) => {
      const first = firsts.get(hash);
      if (first === undefined) firsts.set(hash, i);
      return first === undefined ? hash : BigInt(first);
    });
    for (const partBits of [1, 2, 5, 8]) {
      const { equalCount, marked } = findEqual(values, partBits);
      expect({ seed, partBits, equalCount }).toEqual({
        seed,
        partBits,
        equalCount: values.length - firsts.size,
      });
      expect(marked).toEqual(marks);
    }
  }
  const crowd = Array.from({ length: 12 << 10 }, (_, i) => BigInt(i + 1) << 32n);
  expect(findEqual(crowd, 3).equalCount).toBe(0);
  expect(findEqual([...crowd, ...crowd], 3).equalCount).toBe(crowd.length);
  expect(findEqual([...crowd, 1n << 47n], 3).equalCount).toBeGreaterThan(crowd.length);
});

const options = { patterns: ["a+"], specialTokens: [], isLinewise: false };

function readerOf(file: Uint8Array): CountsReader {
  let pos = 0;
  return new CountsReader("a.words", (into) => {
    const piece = file.subarray(pos, pos + Math.min(into.length, 50_000));
    into.set(piece);
    pos += piece.length;
    return piece.length;
  });
}

const listedFrames = (file: Uint8Array, memoryBytes = 1e9) => atOnce(listCounts(readerOf(file), memoryBytes));

/** The words that reading word by word finds, or null where it finds a fault. */
function readOrNull(file: Uint8Array): WordTable | null {
  try {
    return atOnce(wordTableOfSum(readerOf(file)));
  } catch {
    return null;
  }
}

function listedOrNull(file: Uint8Array): WordTable | null {
  try {
    return listedFrames(file);
  } catch {
    return null;
  }
}

const fileOf = (table: WordTable) =>
  Buffer.concat([...countsFileChunks(table, options)].map((chunk) => Buffer.from(chunk)));

function randomTable(seed: number, wordCount: number, lengthMax = 30): WordTable {
  const random = randomOf(seed);
  const words = new Map<string, readonly [Uint8Array, number]>();
  for (let i = 0; i < wordCount; i++) {
    const bytesUsed = [2, 3, 256][random(3)]!;
    const word = Uint8Array.from({ length: 1 + random(lengthMax) }, () => random(bytesUsed));
    words.set(keyOf(word), [word, random(3) === 0 ? 2 ** (1 + random(33)) - 1 : 1 + random(200)]);
  }
  return wordTableOf(words.values());
}

/** A file with these payloads as its frames of words, their checksums right, and these totals. */
function framed(payloads: readonly Uint8Array[], totals: ReturnType<typeof totalsOf>): Uint8Array {
  let checksum = 0n;
  const frames = [...payloads, new Uint8Array(0)].map((payload) => {
    checksum = checksumOf(payload, checksum);
    const head = Buffer.alloc(12);
    head.writeUInt32LE(payload.length, 0);
    head.writeBigUInt64LE(checksum, 4);
    return Buffer.concat([head, payload]);
  });
  return Buffer.concat([countsFileHead(options, totals), ...frames]);
}

function payloadsOf(file: Buffer): Buffer[] {
  const payloads: Buffer[] = [];
  for (let pos = 12; pos < file.length; ) {
    const size = file.readUInt32LE(pos);
    payloads.push(file.subarray(pos + 12, pos + 12 + size));
    pos += 12 + size;
  }
  return payloads.slice(1, -1);
}

test("a file is listedFrames as it is read word by word, of one frame or of many", () => {
  for (let seed = 1; seed <= rounds(3); seed++) {
    const table = randomTable(seed, [0, 1, 500, 15_000][seed % 4]!, seed % 3 === 0 ? 200 : 30);
    const file = fileOf(table);
    expect(entriesOrNull(listedFrames(file))).toEqual(entriesOf(table));
    const [sorted, read] = [listedFrames(file)!, readOrNull(file)!];
    expect(Buffer.from(sorted.bytes).equals(Buffer.from(read.bytes))).toBe(true);
    expect(sorted.starts.join() === read.starts.join()).toBe(true);
  }
});

test("words of many kilobytes that share all but their ends, and a word too long for a list", () => {
  const long = (end: string, length = 40_000) => "x".repeat(length) + end;
  const table = wordTableOf(
    Array.from({ length: 90 }, (_, i) => [long(String.fromCharCode(33 + i)), i + 1] as const),
  );
  expect(entriesOrNull(listedFrames(fileOf(table)))).toEqual(entriesOf(table));
  const longest = wordTableOf([
    ["a", 1],
    [long("", 65_536), 3],
  ]);
  expect(entriesOrNull(listedFrames(fileOf(longest)))).toEqual(entriesOf(longest));
  expect(
    listedFrames(
      fileOf(
        wordTableOf([
          ["a", 1],
          [long("", 65_537), 3],
        ]),
      ),
    ),
  ).toBeNull();
});

test("whatever stands in frames whose checksums fit: what is listedFrames is right, and what is wrong is not listedFrames", () => {
  let [rightCount, wrongCount] = [0, 0];
  for (let seed = 1; seed <= rounds(150); seed++) {
    const random = randomOf(seed);
    const table = randomTable(seed, 1 + random(12), 6);
    const payload = Buffer.from(payloadsOf(fileOf(table))[0]!);
    const at = random(payload.length);
    if (random(2) === 0) payload[at] = random(4) === 0 ? random(256) : (payload[at]! + 1 + random(3)) & 255;
    // The words cut into two frames anywhere, the second one's first word told apart from nothing: seldom right.
    const cut = random(3) === 0 ? random(payload.length + 1) : payload.length;
    const payloads = [payload.subarray(0, cut), payload.subarray(cut)].filter((part) => part.length > 0);
    const totals = totalsOf(table);
    const others = { ...totals, pretokenCount: totals.pretokenCount + random(2) };
    const file = framed(payloads, random(8) === 0 ? others : totals);
    const expected = entriesOrNull(readOrNull(file));
    expect({ seed, entries: entriesOrNull(listedOrNull(file)) }).toEqual({ seed, entries: expected });
    if (expected === null) wrongCount++;
    else rightCount++;
  }
  expect(Math.min(rightCount, wrongCount)).toBeGreaterThan(rounds(25));
});

test("a file that is cut short, or has more behind its end, is not listedFrames", () => {
  const file = fileOf(randomTable(3, 2000));
  for (const size of [file.length - 1, file.length - 12, file.length >> 1]) {
    expect(listedOrNull(file.subarray(0, size))).toBeNull();
  }
  expect(listedOrNull(Buffer.concat([file, Buffer.of(0)]))).toBeNull();
});

test("a table that is larger than the memory for it is not made", () => {
  const table = randomTable(5, 1000);
  const sizeBytes = totalsOf(table).byteCount + 12 * table.wordCount;
  expect(listedFrames(fileOf(table), sizeBytes - 1)).toBeNull();
  expect(listedFrames(fileOf(table), sizeBytes)?.wordCount).toBe(table.wordCount);
});
