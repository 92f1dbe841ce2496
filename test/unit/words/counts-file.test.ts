import { describe, expect, test } from "bun:test";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { unicodeVersion } from "../../../src/pattern/unicode-version.ts";
import * as host from "../../../src/runtime/host.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { CountsOptions } from "../../../src/words/counts-format.ts";
import * as countsFormat from "../../../src/words/counts-format.ts";
import type { SortedWords } from "../../../src/words/sorted-words.ts";
import * as sortedWords from "../../../src/words/sorted-words.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { errorOf } from "../../thrown.ts";
import { entriesOf, keyOf, NaiveCounter, wordTableOf } from "./generators.ts";

const options: CountsOptions = {
  patterns: ["\\p{N}{1,3}", " ?\\p{L}+|é"],
  specialTokens: ["<|endoftext|>"],
  isLinewise: false,
};

function fileOf(table: WordTable, madeWith: CountsOptions = options): Uint8Array {
  // Copies into a new Uint8Array, because `slice` of a Buffer does not copy.
  return new Uint8Array(Buffer.concat([...countsFormat.fileChunks(table, madeWith)]));
}

/** Returns a reader that gets at most `pieceBytes` bytes at a time. */
function readerOf(file: Uint8Array, pieceBytes = 1 << 30): countsFormat.Reader {
  let pos = 0;
  const read = (into: Uint8Array) => {
    const piece = file.subarray(pos, pos + Math.min(pieceBytes, into.length));
    into.set(piece);
    pos += piece.length;
    return piece.length;
  };
  return new countsFormat.Reader("some.counts", read, file.length);
}

/** Returns the sum of the readers' words as a table. */
function tableOf(readers: readonly countsFormat.Reader[]): WordTable {
  return runToEnd(
    sortedWords.wordTableOfSum(new sortedWords.SumOfWords(readers.map((words) => ({ words, times: 1 })))),
  );
}

function randomTable(seed: number, wordCount = 3000, letters = 4, lengthMax = 40): WordTable {
  const random = randomNumbers(seed);
  const words = new Map<string, readonly [Uint8Array, number]>();
  for (let i = 0; i < wordCount; i++) {
    const word = Uint8Array.from({ length: 1 + random(lengthMax) }, () => random(letters));
    words.set(keyOf(word), [word, random(3) === 0 ? 2 ** (1 + random(40)) - 1 : 1 + random(9)]);
  }
  return wordTableOf(words.values());
}

const messageOf = (work: () => void) => errorOf(work).message;

test("written words are read, in the order of their bytes, in pieces of any size", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const table = randomTable(seed, 2000, [2, 4, 256][seed % 3]!);
    const file = fileOf(table);
    for (const pieceBytes of [1, 13, 1 << 30]) {
      const reader = readerOf(file, pieceBytes);
      expect(reader.header).toMatchObject(options);
      const read: [string, number][] = [];
      while (reader.next())
        read.push([keyOf(reader.word.bytes.subarray(0, reader.wordLength)), reader.count]);
      expect({ seed, read }).toEqual({ seed, read: entriesOf(table) });
    }
  }
});

test("the words of a table come in the order of their bytes, like from its file", () => {
  const table = randomTable(21, 3000, 3, 300);
  const words = runToEnd(sortedWords.TableWords.sort(table));
  const reader = readerOf(fileOf(table));
  expect(words.totals).toMatchObject({ wordCount: table.wordCount });
  while (reader.next()) {
    expect(words.next()).toBe(true);
    const bytesOf = ({ word, wordLength }: SortedWords) => keyOf(word.bytes.subarray(0, wordLength));
    expect([bytesOf(words), words.count]).toEqual([bytesOf(reader), reader.count]);
  }
  expect(words.next()).toBe(false);
});

test("no words are a valid file", () => {
  const reader = readerOf(fileOf(wordTableOf([])));
  expect(reader.header.wordCount).toBe(0);
  expect(reader.next()).toBe(false);
  expect(tableOf([readerOf(fileOf(wordTableOf([])))]).wordCount).toBe(0);
});

test("words longer than a frame, and words of zero bytes, are read as they were", () => {
  const long = Uint8Array.from({ length: 300_000 }, (_, pos) => (pos * 31) & 255);
  const table = wordTableOf([
    [long, 2],
    [long.subarray(0, 200_000), 3],
    [new Uint8Array(2_000_000), 1],
    [new Uint8Array(5), 9],
    [new Uint8Array(6), 2 ** 52],
  ]);
  const read = tableOf([readerOf(fileOf(table))]);
  expect(entriesOf(read)).toEqual(entriesOf(table));
});

describe("files are added up", () => {
  test("in any number and order, with the sums of a Map", () => {
    for (const fileCount of [1, 2, 3, 7, 20]) {
      const tables = Array.from({ length: fileCount }, (_, i) =>
        randomTable(100 + i, 40 * (i % 5) * 10, 2, 12),
      );
      const naive = new NaiveCounter();
      for (const table of tables) {
        for (let w = 0; w < table.wordCount; w++) {
          naive.add(table.bytes.subarray(table.starts[w]!, table.starts[w + 1]!), table.counts[w]!);
        }
      }
      const files = tables.map((table) => fileOf(table));
      const readers = () => files.map((file) => readerOf(file));
      expect(entriesOf(tableOf(readers()))).toEqual(naive.sorted());
      expect(entriesOf(tableOf(readers().reverse()))).toEqual(naive.sorted());
      const counter = new WordCounter();
      for (let round = 0; round < 2; round++) {
        for (const reader of readers()) {
          while (reader.next()) counter.add(reader.word, 0, reader.wordLength, reader.count);
        }
      }
      expect(entriesOf(counter.toWordTable())).toEqual(
        naive.sorted().map(([word, count]) => [word, count * 2]),
      );
    }
  });

  test("including files whose words share a prefix, and files without words", () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomNumbers(seed);
      const naive = new NaiveCounter();
      const summands = Array.from({ length: 1 + random(9) }, (_, i) => {
        const table = randomTable(1000 * seed + i, random(40), 1 + random(2), 1 + random(6));
        for (let w = 0; w < table.wordCount; w++) {
          naive.add(table.bytes.subarray(table.starts[w]!, table.starts[w + 1]!), table.counts[w]!);
        }
        return { table, times: 1 };
      });
      const sum = new sortedWords.SumOfWords(
        summands.map(({ table, times }, i) => ({
          words: i % 2 === 0 ? readerOf(fileOf(table)) : runToEnd(sortedWords.TableWords.sort(table)),
          times,
        })),
      );
      const found: [string, number][] = [];
      let before = "";
      while (sum.next()) {
        const word = keyOf(sum.word.bytes.subarray(0, sum.wordLength));
        let shared = 0;
        while (shared < before.length && before[shared] === word[shared]) shared++;
        expect(sum.sharedLength).toBe(shared);
        found.push([word, sum.count]);
        before = word;
      }
      expect({ seed, found }).toEqual({ seed, found: naive.sorted() });
    }
  });

  test("into words in the order of their bytes", () => {
    const table = tableOf([readerOf(fileOf(randomTable(1))), readerOf(fileOf(randomTable(2)))]);
    const words = Array.from({ length: table.wordCount }, (_, w) =>
      table.bytes.slice(table.starts[w], table.starts[w + 1]),
    );
    expect(words.every((word, w) => w === 0 || Buffer.compare(words[w - 1]!, word) < 0)).toBe(true);
    expect(table.starts.length).toBe(table.wordCount + 1);
  });

  test("but not beyond 2^53", () => {
    const file = fileOf(wordTableOf([["a", 2 ** 52]]));
    expect(tableOf([readerOf(file)]).counts[0]).toBe(2 ** 52);
    expect(messageOf(() => tableOf([readerOf(file), readerOf(file)]))).toContain("2^53");
  });
});

describe("a wrong file is refused", () => {
  const file = fileOf(randomTable(5, 400));

  function readAll(bytes: Uint8Array): string {
    return messageOf(() => tableOf([readerOf(bytes)]));
  }

  test("wherever it is truncated", () => {
    for (let size = countsFormat.magic.length; size < file.length; size += size < 400 ? 1 : 97) {
      expect({ size, message: readAll(file.subarray(0, size)) }).toEqual({
        size,
        message: '"some.counts" is cut short: the counts end early',
      });
    }
    expect(readAll(file.subarray(0, file.length - 1))).toContain("cut short");
  });

  test("if it is not a counts file, or empty", () => {
    expect(readAll(new TextEncoder().encode("a\t1\n"))).toBe('"some.counts" is not a file of word counts');
    expect(readAll(new Uint8Array(0))).toBe('"some.counts" is not a file of word counts');
    expect(readAll(new Uint8Array(1000))).toBe('"some.counts" is not a file of word counts');
  });

  test("if it has another version", () => {
    const other = file.slice();
    other[8] = 1;
    expect(readAll(other)).toBe('"some.counts" has version 1 of the counts format; this program reads 3');
  });

  test("whichever byte is changed", () => {
    for (let pos = countsFormat.magic.length + 4; pos < file.length; pos += pos < 400 ? 1 : 89) {
      const changed = file.slice();
      changed[pos]! ^= 1 << (pos & 7);
      expect({ pos, message: readAll(changed) }).toEqual({
        pos,
        message: expect.stringMatching(/is damaged|is cut short/) as never,
      });
    }
  });

  test("if its header has impossible values, or values that do not fit the file's size", () => {
    const header = readerOf(file).header;
    const wrong = (totals: object) => {
      const head = countsFormat.fileHead(options, { ...header, ...totals });
      const lying = Buffer.concat([head, file.subarray(head.length)]);
      return messageOf(() => readerOf(lying));
    };
    for (const totals of [
      { wordCount: file.length >> 1 },
      { byteCount: header.wordCount * 2 * file.length },
    ]) {
      expect(wrong(totals)).toContain("cut short");
    }
    for (const totals of [
      { wordCount: 0 },
      { byteCount: header.wordCount - 1 },
      { pretokenCount: header.wordCount - 1 },
    ]) {
      expect(wrong(totals)).toMatch(/^"some.counts": its header says .*, which contradict each other$/);
    }
    const byteCount = header.wordCount;
    const head = countsFormat.fileHead(options, { ...header, byteCount });
    expect(readAll(Buffer.concat([head, file.subarray(head.length)]))).toBe(
      '"some.counts" is damaged: its words do not add up to the totals that its header states',
    );
  });

  test("if one of its varints never ends", () => {
    const head = countsFormat.fileHead(options, { wordCount: 1, byteCount: 1, pretokenCount: 1 });
    const endless = [...Array<number>(200).fill(128), 0];
    for (const word of [
      [...endless, 1, 97, 1],
      [0, ...endless, 97, 1],
      [0, 1, 97, ...endless],
    ]) {
      const frame = new Uint8Array(countsFormat.frameHeadBytes + word.length);
      frame.set(word, countsFormat.frameHeadBytes);
      const view = new DataView(frame.buffer);
      view.setUint32(0, word.length, true);
      view.setBigUint64(4, host.xxHash64(Uint8Array.from(word), 0n), true);
      expect(readAll(Buffer.concat([head, frame]))).toBe(
        '"some.counts" is damaged: it contains a word that is invalid or out of order',
      );
    }
  });

  test("if bytes follow its end", () => {
    expect(readAll(Buffer.concat([file, Uint8Array.of(0)]))).toContain("is damaged");
  });

  test("if its header lacks a field, or has an unknown or different one", () => {
    const header = { ...options, unicode: unicodeVersion, wordCount: 0, byteCount: 0, pretokenCount: 0 };
    const wrong = (change: object, json = JSON.stringify({ ...header, ...change })) => {
      const payload = new TextEncoder().encode(json);
      const head = new Uint8Array(countsFormat.frameHeadBytes);
      new DataView(head.buffer).setUint32(0, payload.length, true);
      new DataView(head.buffer).setBigUint64(4, host.xxHash64(payload, 0n), true);
      return readAll(Buffer.concat([file.subarray(0, countsFormat.magic.length + 4), head, payload]));
    };
    expect(wrong({})).toBe('"some.counts" is cut short: the counts end early');
    const said = (what: string) => `"some.counts": its header ${what}`;
    expect(wrong({}, "7")).toBe(said("is not a JSON object"));
    expect(wrong({}, "[]")).toBe(said("is not a JSON object"));
    expect(wrong({}, "null")).toBe(said("is not a JSON object"));
    expect(wrong({}, "{")).toBe(said("is not a JSON object"));
    expect(wrong({ minCount: 3 })).toBe(
      said('has the entry "minCount", which this version of bpe does not know'),
    );
    expect(wrong({ specialTokens: undefined })).toBe(said('is invalid: it has no "specialTokens"'));
    expect(wrong({ patterns: [] })).toBe(
      said('is invalid: its "patterns" is [], not a list of at least one'),
    );
    expect(wrong({ patterns: "a" })).toBe(said('is invalid: its "patterns" is "a", not a list'));
    expect(wrong({ specialTokens: [7] })).toBe(said('is invalid: its "specialTokens[0]" is 7, not text'));
    expect(wrong({ isLinewise: 0 })).toBe(said('is invalid: its "isLinewise" is 0, neither true nor false'));
    for (const count of [-1, 1.5, "7", null, 2 ** 53]) {
      expect(wrong({ wordCount: count })).toBe(
        said(
          `is invalid: its "wordCount" is ${JSON.stringify(count)}, not a whole number from 0 to 9007199254740991`,
        ),
      );
    }
    expect(wrong({ unicode: "99.0.0" })).toBe(
      `"some.counts" was made with the character classes of Unicode 99.0.0, but this program has those of Unicode ${unicodeVersion}`,
    );
  });
});

const stated: CountsOptions = {
  patterns: ["\\p{N}{1,3}", " ?\\p{L}+|é"],
  specialTokens: ["<|a|>", "<|b|>"],
  isLinewise: false,
};

const check = (change: Partial<CountsOptions>) =>
  countsFormat.checkOptions(
    { name: '"some.counts"', options: stated },
    { name: "this run", options: { ...stated, ...change } },
    "",
  );
const differenceOf = (change: Partial<CountsOptions>) => errorOf(() => check(change)).message;

test("differences are named, and a pattern by its names if it has any", () => {
  check({});
  check({ specialTokens: ["<|b|>", "<|a|>"] });
  expect(differenceOf({ patterns: patterns["deepseek-v3"].sources })).toBe(
    '"some.counts" was made with the pattern "\\\\p{N}{1,3}", then " ?\\\\p{L}+|é", but this run has deepseek-v3',
  );
  expect(differenceOf({ patterns: patterns.nemotron.sources })).toEndWith("but this run has tekken/nemotron");
  expect(differenceOf({ patterns: ["\\p{N}{1,3}"] })).toEndWith('this run has "\\\\p{N}{1,3}"');
  expect(differenceOf({ specialTokens: [] })).toBe(
    '"some.counts" was made with the special tokens ["<|a|>","<|b|>"], but this run has []',
  );
  expect(differenceOf({ isLinewise: true })).toBe(
    'this run counts line by line (as with --compat huggingface), but "some.counts" was counted in whole texts',
  );
});

test("files must agree with the first one", () => {
  expect(countsFormat.commonOptions([])).toBeNull();
  const some = { name: "a", options: stated };
  expect(countsFormat.commonOptions([some, { name: "b", options: { ...stated } }])).toBe(stated);
  const other = { name: "c", options: { ...stated, isLinewise: true } };
  expect(errorOf(() => countsFormat.commonOptions([some, some, other])).message).toStartWith(
    "c was counted line by line (as with --compat huggingface), but a was counted in whole texts",
  );
  const hint = "count again";
  expect(
    errorOf(() => countsFormat.checkOptions(other, { ...some, name: countsFormat.thisRun }, hint)).message,
  ).toBe("c was counted line by line (as with --compat huggingface), but this run reads whole texts");
});
