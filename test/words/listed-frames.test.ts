import { expect, test } from "bun:test";
import { atOnce } from "../../src/runtime/turns.ts";
import { checksumOf } from "../../src/words/counts-format.ts";
import { CountsReader } from "../../src/words/counts-reader.ts";
import { countsFileChunks, countsFileHead, totalsOf } from "../../src/words/counts-writer.ts";
import { listCounts } from "../../src/words/listed-counts.ts";
import { wordTableOfSum } from "../../src/words/sorted-words.ts";
import { type WordTable, wordTableOf } from "../../src/words/word-table.ts";
import { rounds } from "../rounds.ts";
import { entriesOf, keyOf, randomOf } from "./generators.ts";

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

const listed = (file: Uint8Array, memoryBytes = 1e9) => atOnce(listCounts(readerOf(file), memoryBytes));

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
    return listed(file);
  } catch {
    return null;
  }
}

const entriesOrNull = (table: WordTable | null) => table && entriesOf(table);

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

test("a file is listed as it is read word by word, of one frame or of many", () => {
  for (let seed = 1; seed <= rounds(3); seed++) {
    const table = randomTable(seed, [0, 1, 500, 15_000][seed % 4]!, seed % 3 === 0 ? 200 : 30);
    const file = fileOf(table);
    expect(entriesOrNull(listed(file))).toEqual(entriesOf(table));
    const [sorted, read] = [listed(file)!, readOrNull(file)!];
    expect(Buffer.from(sorted.bytes).equals(Buffer.from(read.bytes))).toBe(true);
    expect(sorted.starts.join() === read.starts.join()).toBe(true);
  }
});

test("words of many kilobytes that share all but their ends, and a word too long for a list", () => {
  const long = (end: string, length = 40_000) => "x".repeat(length) + end;
  const table = wordTableOf(
    Array.from({ length: 90 }, (_, i) => [long(String.fromCharCode(33 + i)), i + 1] as const),
  );
  expect(entriesOrNull(listed(fileOf(table)))).toEqual(entriesOf(table));
  const longest = wordTableOf([
    ["a", 1],
    [long("", 65_536), 3],
  ]);
  expect(entriesOrNull(listed(fileOf(longest)))).toEqual(entriesOf(longest));
  expect(
    listed(
      fileOf(
        wordTableOf([
          ["a", 1],
          [long("", 65_537), 3],
        ]),
      ),
    ),
  ).toBeNull();
});

test("whatever stands in frames whose checksums fit: what is listed is right, and what is wrong is not listed", () => {
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

test("a file that is cut short, or has more behind its end, is not listed", () => {
  const file = fileOf(randomTable(3, 2000));
  for (const size of [file.length - 1, file.length - 12, file.length >> 1]) {
    expect(listedOrNull(file.subarray(0, size))).toBeNull();
  }
  expect(listedOrNull(Buffer.concat([file, Buffer.of(0)]))).toBeNull();
});

test("a table that is larger than the memory for it is not made", () => {
  const table = randomTable(5, 1000);
  const sizeBytes = totalsOf(table).byteCount + 12 * table.wordCount;
  expect(listed(fileOf(table), sizeBytes - 1)).toBeNull();
  expect(listed(fileOf(table), sizeBytes)?.wordCount).toBe(table.wordCount);
});
