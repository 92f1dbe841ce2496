import { expect, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { unicodeVersion } from "../../../src/pattern/unicode-version.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { CountsOptions } from "../../../src/words/counts-format.ts";
import { readTsvHead, sortByCountInSteps, TsvReader, tsvChunks, tsvHead } from "../../../src/words/tsv.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { bytesOf, entriesOf, keyOf, wordTableOf } from "./generators.ts";

function textOf(table: WordTable): string {
  return Buffer.concat([...tsvChunks(table, runToEnd(sortByCountInSteps(table)))]).toString();
}

function read(file: string | Uint8Array, chunkSizeBytes = 1 << 16): WordTable {
  const bytes = typeof file === "string" ? bytesOf(file) : file;
  const counter = new WordCounter();
  const reader = new TsvReader("words.tsv", counter);
  for (let pos = 0; pos < bytes.length; pos += chunkSizeBytes)
    reader.read(bytes.subarray(pos, pos + chunkSizeBytes));
  reader.finish();
  return counter.toWordTable();
}

const messageOf = (file: string | Uint8Array) => errorOf(() => read(file)).message;

function randomTable(seed: number): WordTable {
  const random = randomNumbers(seed);
  const words = new Map<string, readonly [Uint8Array, number]>();
  for (let i = 0; i < 800; i++) {
    const word = Uint8Array.from({ length: 1 + random(30) }, () => random(256));
    words.set(keyOf(word), [word, random(3) === 0 ? 2 ** (1 + random(47)) - 1 : 1 + random(9)]);
  }
  return wordTableOf(words.values());
}

test("words are written with the highest count first, then in the order of their bytes", () => {
  const table = wordTableOf([
    ["b", 1],
    [" the", 12],
    ["é\n", 1],
    ["a", 1],
  ]);
  expect(textOf(table)).toBe("Ġthe\t12\na\t1\nb\t1\nÃ©Ċ\t1\n");
});

test("no words are an empty file, which reads as no words", () => {
  expect(textOf(wordTableOf([]))).toBe("");
  expect(read("").wordCount).toBe(0);
});

test("written words are read, with chunks cut anywhere", () => {
  for (let seed = 1; seed <= rounds(5); seed++) {
    const table = randomTable(seed);
    const written = Buffer.from(textOf(table));
    for (const chunkSizeBytes of [1, 2, 3, 17, 1 << 16]) {
      expect({ seed, chunkSizeBytes, entries: entriesOf(read(written, chunkSizeBytes)) }).toEqual({
        seed,
        chunkSizeBytes,
        entries: entriesOf(table),
      });
    }
  }
});

test("a file is written in chunks of limited size, even inside a long word", () => {
  const long = Uint8Array.from({ length: 900_000 }, (_, pos) => (pos * 7) & 255);
  const table = wordTableOf([
    ["a", 5],
    [long, 2 ** 52],
    ...Array.from({ length: 60_000 }, (_, i) => [`w${i}`, 1] as const),
  ]);
  const chunks = [...tsvChunks(table, runToEnd(sortByCountInSteps(table)))];
  expect(chunks.length).toBeGreaterThan(6);
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(1 << 18);
  const written = Buffer.concat(chunks);
  expect(written.toString().startsWith(`${byteCharacters.encode(long)}\t4503599627370496\na\t5\n`)).toBe(
    true,
  );
  const entries = entriesOf(read(written));
  expect(entries.length).toBe(60_002);
  expect(entries.find(([, count]) => count === 2 ** 52)![0] === keyOf(long)).toBe(true);
});

test("words that occur twice add up", () => {
  expect(entriesOf(read("a\t1\nb\t2\na\t40\n"))).toEqual([
    ["a", 41],
    ["b", 2],
  ]);
});

test("a second header is an error that explains how to add up files", () => {
  const head = Buffer.from(tsvHead({ patterns: ["a"], specialTokens: [], isLinewise: false })).toString();
  const error = errorOf(() => read(`a\t1\n${head}b\t2\n`));
  expect(error.message).toBe('line 2 of "words.tsv": the line is a second header');
  expect(error.hint).toContain("--counts");
  expect(entriesOf(read("#bpe-counts\t3\na\t1\n#bpe-counts\t4\n"))).toEqual([
    ["#bpe-counts", 7],
    ["a", 1],
  ]);
});

test("the last line may lack its newline", () => {
  expect(entriesOf(read("a\t1\nb\t2"))).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
});

test("a count that is not a whole number of at least 1 is an error with its line", () => {
  for (const count of [
    "0",
    "-1",
    "1.5",
    "1e3",
    "",
    " 7",
    "7 ",
    "7\t",
    "7\r",
    "x",
    "9007199254740992",
    "9".repeat(90),
  ]) {
    expect(messageOf(`a\t3\nb\t${count}\nc\t1\n`)).toStartWith('line 2 of "words.tsv": the count ');
  }
  expect(messageOf("a\t3\nb\t1e3\n")).toBe(
    'line 2 of "words.tsv": the count "1e3" is not a whole number from 1 to 2^53 - 1',
  );
  expect(messageOf("a\t3\nb\t")).toStartWith('line 2 of "words.tsv": the count ');
});

test("a line without a tab, or without a word, is an error with its number", () => {
  expect(messageOf("a\t1\nb\n")).toBe('line 2 of "words.tsv": there is no tab');
  expect(messageOf("a\t1\n\nb\t2\n")).toBe('line 2 of "words.tsv": there is no tab');
  expect(messageOf("a\t1\nb")).toBe('line 2 of "words.tsv": there is no tab');
  expect(messageOf("a\t1\n\t3\n")).toBe('line 2 of "words.tsv": there is no word before the tab');
});

test("a character that represents no byte is an error with its line", () => {
  for (const stranger of [" ", "\0", "\r", "\u007f", "\u00a0", "\u00ad", "\u0144", "\u07ff", "€", "😀"]) {
    expect(messageOf(`a\t1\nb${stranger}c\t2\n`)).toBe(
      'line 2 of "words.tsv": the word contains a character that does not represent a byte',
    );
  }
});

test("bytes that are not UTF-8 are an error with their line", () => {
  for (const bytes of [[0xc3], [0xc3, 0x41], [0x80], [0xc1, 0xa1], [0xff], [0xc4, 0xff]]) {
    expect(messageOf(Uint8Array.of(97, 9, 49, 10, 98, ...bytes, 9, 50, 10))).toStartWith(
      'line 2 of "words.tsv": the word',
    );
  }
  expect(messageOf(Uint8Array.of(97, 9, 49, 10, 98, 0xc3))).toStartWith('line 2 of "words.tsv": the word');
});

test("counts that add up to more than 2^53 are an error that names the line", () => {
  for (const word of ["a", "b"]) {
    expect(messageOf(`a\t9007199254740991\n${word}\t1\n`)).toBe(
      'line 2 of "words.tsv": the counts up to here add up to more than 2^53 - 1',
    );
  }
});

/**
 * Parses a file naively, with strings and a Map. Returns the words, or the number of the first wrong line, counted from
 * 1.
 */
function naive(file: string): Map<string, number> | number {
  const byteOf = new Map(
    Array.from({ length: 256 }, (_, byte) => [byteCharacters.encode(Uint8Array.of(byte)), byte]),
  );
  const words = new Map<string, number>();
  const lines = file.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let total = 0;
  for (const [i, line] of lines.entries()) {
    const [word = "", field = "", ...more] = line.split("\t");
    const bytes = Array.from(word, (character) => byteOf.get(character));
    const count = Number(field);
    const isRight =
      word !== "" && !bytes.includes(undefined) && more.length === 0 && /^\d{1,39}$/.test(field);
    if (!isRight || count < 1 || count > Number.MAX_SAFE_INTEGER) return i + 1;
    total += count;
    if (total > Number.MAX_SAFE_INTEGER) return i + 1;
    const key = keyOf(Uint8Array.from(bytes as number[]));
    words.set(key, (words.get(key) ?? 0) + count);
  }
  return words;
}

/** Parses with the reader. Returns the words, or the number of the first wrong line. */
function readOrLine(file: string, chunkSizeBytes: number): Map<string, number> | number {
  try {
    return new Map(entriesOf(read(file, chunkSizeBytes)));
  } catch (error) {
    const line = /^line (\d+) of "words\.tsv": /.exec((error as Error).message)?.[1];
    if (line === undefined) throw error;
    return Number(line);
  }
}

test("lines of every kind are read like by the naive parser, and the first wrong one is named", () => {
  for (let seed = 1; seed <= rounds(15); seed++) {
    const random = randomNumbers(seed);
    const word = () => {
      const length = 1 + random(random(10) === 0 ? 70 : 18);
      const isPlain = random(2) === 0;
      return byteCharacters.encode(
        Uint8Array.from({ length }, () => (isPlain ? 33 + random(94) : random(256))),
      );
    };
    const known = Array.from({ length: 300 }, word);
    const count = () => {
      const digits = String(1 + random(10 ** (1 + random(9)))) + (random(9) === 0 ? "123456" : "");
      return random(12) === 0 ? digits.padStart(1 + random(38), "0") : digits;
    };
    const lines = Array.from({ length: 1 + random(5000) }, () => {
      return `${random(2) === 0 ? word() : known[random(known.length)]}\t${count()}\n`;
    });
    // Half of the files are changed at a random position, which makes most of them invalid.
    let file = lines.join("");
    if (seed % 2 === 0) {
      const pos = random(file.length);
      const stranger = ["\t", "\n", " ", "\r", "é", "€", "\u00ad", "ń", "x", "0", ""][random(11)]!;
      file = file.slice(0, pos) + stranger + file.slice(pos + random(2));
    }
    if (seed % 3 === 0) file = file.replace(/\n$/, "");
    const expected = naive(file);
    for (const chunkSizeBytes of [7, 1000, 1 << 20]) {
      expect({ seed, read: readOrLine(file, chunkSizeBytes) }).toEqual({ seed, read: expected });
    }
  }
});

test("counts are exact to 2^53 - 1, with any leading zeros", () => {
  const most = String(Number.MAX_SAFE_INTEGER);
  for (const digits of [most, `0${most}`, most.padStart(39, "0")]) {
    expect(entriesOf(read(`ab\t${digits}\n`))).toEqual([["ab", Number.MAX_SAFE_INTEGER]]);
    expect(messageOf(`ab\t${digits}\nab\t1\n`)).toContain('line 2 of "words.tsv": the counts up to here');
  }
  expect(messageOf(`ab\t${most.padStart(40, "0")}\n`)).toContain('line 1 of "words.tsv": the count');
});

test("words of two files together are limited to 2^53 - 1", () => {
  const counter = new WordCounter();
  for (const count of ["9007199254740991", "1"]) {
    const reader = new TsvReader("words.tsv", counter);
    const readAll = () => reader.read(bytesOf(`a\t${count}\n`));
    if (count === "1") expect(errorOf(readAll).message).toContain("more than 2^53 words");
    else readAll();
  }
});

test("a line longer than one read is read, and the following lines", () => {
  const bytes = Uint8Array.from({ length: 700_000 }, (_, pos) => (pos * 11) & 255);
  const file = `a\t1\n${byteCharacters.encode(bytes)}\t7\nb\t2\n`;
  for (const chunkSizeBytes of [1000, 1 << 18, 1 << 22]) {
    const entries = entriesOf(read(file, chunkSizeBytes));
    expect(entries.map(([key, count]) => [key.length, count]).sort()).toEqual([
      [1, 1],
      [1, 2],
      [700_000, 7],
    ]);
    expect(entries.some(([key]) => key === keyOf(bytes))).toBe(true);
  }
});

const options: CountsOptions = {
  patterns: ["\\p{N}{1,3}", "é|\\s+"],
  specialTokens: ["a\ttab", "two\nlines", "\u2028", "#bpe-counts\t{"],
  isLinewise: true,
};

/** Reads a header, at most `pieceBytes` bytes at a time. */
function readHead(file: Uint8Array, pieceBytes = 1 << 30) {
  let pos = 0;
  const { options: found, rest } = readTsvHead("words.tsv", (into) => {
    const piece = file.subarray(pos, pos + Math.min(pieceBytes, into.length));
    into.set(piece);
    pos += piece.length;
    return piece.length;
  });
  return { found, text: Buffer.concat([rest, file.subarray(pos)]).toString() };
}

const headMessageOf = (text: string) => errorOf(() => readHead(bytesOf(text))).message;

test("the header is read, in pieces of any size, and the following words are left", () => {
  const long = { ...options, specialTokens: Array.from({ length: 2000 }, (_, i) => `<|${i}|>`) };
  for (const stated of [options, long]) {
    const head = tsvHead(stated);
    expect(head.indexOf(10)).toBe(head.length - 1);
    for (const words of ["", "a\t1\n#bpe-counts\t7\n"]) {
      for (const pieceBytes of [1, 5, 4096, 1 << 30]) {
        const file = Buffer.concat([head, Buffer.from(words)]);
        expect(readHead(file, pieceBytes)).toMatchObject({ found: stated, text: words });
      }
    }
    expect(readHead(head.subarray(0, -1))).toMatchObject({ found: stated, text: "" });
  }
});

test("words are not a header, even a word with the header's name", () => {
  for (const text of [
    "",
    "a\t1\n",
    "#bpe-counts\t12\nb\t1\n",
    "#bpe-count",
    "#bpe-counts\t",
    "#bpe-counts{\t3\n",
  ]) {
    for (const pieceBytes of [1, 1 << 30]) {
      expect(readHead(bytesOf(text), pieceBytes)).toEqual({ found: null, text });
    }
  }
});

test("a header with unknown, missing or different fields is refused, and the error names them", () => {
  const stated = JSON.parse(Buffer.from(tsvHead(options)).toString().split("\t").slice(1).join("\t"));
  const changed = (change: object) =>
    headMessageOf(`#bpe-counts\t${JSON.stringify({ ...stated, ...change })}\na\t1\n`);
  const said = (what: string) => `"words.tsv": its header ${what}`;
  expect(changed({ version: 2 })).toBe(
    '"words.tsv" has version 2 of the counts format; this program reads 1',
  );
  expect(changed({ version: undefined })).toContain("has no version");
  expect(changed({ wordCount: 3 })).toBe(
    said('has the entry "wordCount", which this version of bpe does not know'),
  );
  expect(changed({ patterns: undefined })).toBe(said('is invalid: it has no "patterns"'));
  expect(changed({ isLinewise: "no" })).toBe(
    said('is invalid: its "isLinewise" is "no", neither true nor false'),
  );
  expect(changed({ unicode: "1.0" })).toBe(
    `"words.tsv" was made with the character classes of Unicode 1.0, but this program has those of Unicode ${unicodeVersion}`,
  );
  expect(headMessageOf("#bpe-counts\t{")).toBe(said("is not a JSON object"));
  expect(headMessageOf('#bpe-counts\t{"version":1}\u00e9\n')).toBe(said("is not a JSON object"));
  expect(headMessageOf(`#bpe-counts\t{"a":"${"x".repeat(1 << 24)}`)).toBe(
    said("is longer than any header that bpe writes"),
  );
});
