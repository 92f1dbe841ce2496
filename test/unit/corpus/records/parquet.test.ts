import { describe, expect, test } from "bun:test";
import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, crc32, gzipSync, zstdCompressSync } from "node:zlib";
import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import { findInputs } from "../../../../src/corpus/find-inputs.ts";
import { type Input, openInput } from "../../../../src/corpus/input.ts";
import { FileSource } from "../../../../src/corpus/range-reader.ts";
import {
  decodeRleBitPacked,
  ParquetReader,
  pageValues,
} from "../../../../src/corpus/records/parquet/parquet-reader.ts";
import {
  planInputPages,
  unpackLz4,
  unpackLz4Block,
} from "../../../../src/corpus/records/parquet/plan-pages.ts";
import { patterns } from "../../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../../src/pattern/pattern.ts";
import { isSmallScale } from "../../../../src/runtime/scale.ts";
import * as cuttings from "../../../../src/text/cutting.ts";
import { countCorpus } from "../../../../src/words/count-corpus.ts";
import { put, scratch } from "../../../binary.ts";
import { inOrder, naiveWords } from "../../../naive.ts";
import { randomNumbers } from "../../../random.ts";
import { writeTinyRows } from "../../../stress/bombs.ts";
import { entriesOf } from "../../words/generators.ts";

const directory = scratch();

type Settings = Partial<Omit<ColumnSource, "name" | "data">> & {
  rowGroupSize?: number;
  pageSize?: number;
  dictionarySize?: number;
};

const compressors = { GZIP: gzipSync, ZSTD: zstdCompressSync, BROTLI: brotliCompressSync };

/** Writes a file with the texts in a column between two other columns. */
function written(name: string, texts: unknown[], settings: Settings = {}): string {
  const { rowGroupSize = 500, pageSize = 1 << 20, dictionarySize, ...column } = settings;
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "id", data: texts.map((_, i) => i), type: "INT32" },
      { name: "text", data: texts as string[], type: "STRING", ...column },
      { name: "z", data: texts.map((_, i) => `z${i}`), type: "STRING" },
    ],
    rowGroupSize,
    pageSize,
    ...(dictionarySize !== undefined && { dictionarySize }),
    compressors,
  });
  return put(directory, name, new Uint8Array(buffer));
}

function textsOf(
  path: string,
  runSizeBytes?: number,
  batchBytes?: number,
  reader = new ParquetReader(batchBytes),
): string[] {
  const [input] = findInputs([path]) as [Input];
  const source = new FileSource(openInput(input), input);
  const texts: string[] = [];
  let inputBytes = 0;
  let rowCount = 0;
  for (const pages of planInputPages(input, undefined, runSizeBytes)) {
    if (pages === undefined) continue;
    expect(pages.firstRow).toBe(rowCount);
    inputBytes += pages.inputBytes;
    let done = 0;
    for (done of reader.read(source, pages, input)) {
      const { text, ends, count } = reader.batch;
      for (let r = 0; r < count; r++) {
        texts.push(Buffer.from(text.bytes.subarray(r === 0 ? 0 : ends[r - 1]!, ends[r]!)).toString());
      }
      rowCount += count;
    }
    expect(done).toBe(pages.endByte - pages.startByte);
  }
  closeSync(source.fd);
  if (rowCount > 0) expect(inputBytes).toBeCloseTo(input.sizeBytes, 3);
  return texts;
}

const random = randomNumbers(1);
const word = () => ["it's", "日本語", "😀", "don't ", "\n\n", "<|end|>", "12345", " "][random(8)]!;
const distinct = Array.from({ length: 1200 }, (_, i) => `${i} ${word()}${word()}`.repeat(random(9)));
const repeated = Array.from({ length: 1200 }, () => `${word()}${word()}`);

describe("the texts of a Parquet file", () => {
  test("are those that were written, with every encoding and compression", () => {
    for (const [name, texts] of [
      ["distinct", distinct],
      ["repeated", repeated],
    ] as const) {
      for (const codec of ["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI"] as const) {
        for (const nullable of [true, false]) {
          const path = written(`${name}.parquet`, texts, { codec, nullable, pageSize: 4000 });
          expect(textsOf(path)).toEqual(texts);
          expect(textsOf(path, 1, 500)).toEqual(texts);
        }
      }
      for (const encoding of ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"] as const) {
        const path = written(`${name}.parquet`, texts, { encoding, pageSize: 4000 });
        expect(textsOf(path, 5000)).toEqual(texts);
      }
    }
  });

  test("may change from a dictionary to plain pages", () => {
    const path = written("over.parquet", [...repeated, ...distinct], {
      rowGroupSize: 100_000,
      pageSize: 2000,
      dictionarySize: 3000,
    });
    expect(textsOf(path, 1000)).toEqual([...repeated, ...distinct]);
  });

  test("are those of their own file, if two files have their dictionaries at the same offset", () => {
    const texts = [Array(50).fill("one"), Array(50).fill("two")];
    const paths = texts.map((some, i) => written(`same-${i}.parquet`, some, { rowGroupSize: 50 }));
    const reader = new ParquetReader();
    const read = paths.map((path) => textsOf(path, undefined, undefined, reader));
    expect(read).toEqual(texts);
  });

  test("may be one, empty, or none", () => {
    expect(textsOf(written("one.parquet", ["one"]))).toEqual(["one"]);
    expect(textsOf(written("empty.parquet", ["", "", "x", ""]))).toEqual(["", "", "x", ""]);
    expect(textsOf(written("none.parquet", []))).toEqual([]);
  });

  test("are returned in small portions if a page repeats one long text", () => {
    const long = "long ".repeat(20_000);
    const path = written("again.parquet", Array(500).fill(long), { rowGroupSize: 500 });
    const [input] = findInputs([path]) as [Input];
    const source = new FileSource(openInput(input), input);
    const reader = new ParquetReader();
    let count = 0;
    for (const pages of planInputPages(input)) {
      if (pages === undefined) continue;
      for (const _ of reader.read(source, pages, input)) {
        count += reader.batch.count;
        expect(reader.batch.byteCount).toBeLessThanOrEqual(1 << 20);
      }
    }
    closeSync(source.fd);
    expect(count).toBe(500);
  });

  test.skipIf(isSmallScale)("are returned in small portions if a page has many empty ones", () => {
    const path = writeTinyRows(join(directory, "empty.parquet"), "", 200_000, 2);
    const [input] = findInputs([path]) as [Input];
    const source = new FileSource(openInput(input), input);
    const reader = new ParquetReader();
    const counts: number[] = [];
    for (const pages of planInputPages(input)) {
      if (pages === undefined) continue;
      for (const _ of reader.read(source, pages, input)) {
        counts.push(reader.batch.count);
        reader.batch.restart(0);
      }
    }
    closeSync(source.fd);
    expect(counts.filter((count) => count > 0)).toEqual([65_536, 34_464, 65_536, 34_464]);
  });

  test("come in runs that state how large a page, or the dictionary, may become", () => {
    const long = "long ".repeat(2000);
    const largest = (name: string, texts: string[], settings: Settings) => {
      const [input] = findInputs([written(name, texts, { codec: "ZSTD", ...settings })]) as [Input];
      return Math.max(...[...planInputPages(input)].map((pages) => pages?.pageBytesMax ?? 0));
    };
    const plain = largest("sizes.parquet", ["a", long], { encoding: "PLAIN" });
    expect(plain).toBeGreaterThan(long.length);
    expect(plain).toBeLessThan(long.length + 100);
    const referred = largest("referred.parquet", Array(500).fill(long), {});
    expect(referred).toBeGreaterThan(long.length);
    expect(referred).toBeLessThan(long.length + 100);
    // This encoding stores only how a text differs from the previous one, so a small page can have many long texts.
    const shared = Array.from({ length: 400 }, (_, i) => `${long}${i}`);
    const differing = largest("differing.parquet", shared, {
      encoding: "DELTA_BYTE_ARRAY",
      pageSize: 1 << 30,
    });
    expect(differing).toBeGreaterThan(400 * long.length);
  });

  test("are counted as separate texts, with any number of workers", async () => {
    const path = written("counted.parquet", distinct, { pageSize: 2000, rowGroupSize: 700 });
    const inputs = findInputs([path]);
    const words = new Map<string, number>();
    for (const text of distinct) {
      for (const [key, count] of naiveWords(text, ["<|end|>"])) words.set(key, (words.get(key) ?? 0) + count);
    }
    const textBytes = Buffer.byteLength(distinct.join(""));
    const documentCount = distinct
      .flatMap((text) => text.split("<|end|>"))
      .filter((part) => part !== "").length;
    for (const workerCount of [1, 2, 7]) {
      const done: number[] = [];
      const { counter, statistics } = await countCorpus(
        {
          inputs,
          cutting: cuttings.plain(compiledPatterns.compile(patterns.gpt2.sources), ["<|end|>"]),
          workerCount,
        },
        (bytesDone) => done.push(bytesDone),
      );
      expect(entriesOf(counter.words.toWordTable())).toEqual(inOrder(words));
      expect(statistics).toEqual([
        {
          textBytes,
          documentCount,
          invalidByteCount: 0,
          firstInvalidByte: -1,
          crc32: crc32(distinct.join("")),
        },
      ]);
      expect(done.at(-1)).toBeCloseTo(inputs[0]!.sizeBytes, 3);
    }
  });
});

describe("an invalid Parquet file is an error that says what is wrong", () => {
  const withField = (path: string, textField: string) => () => {
    const [input] = findInputs([path], { textField }) as [Input];
    return [...planInputPages(input)];
  };

  test("a null, with its row", () => {
    for (const pageSize of [20, 1 << 20]) {
      const texts = Array.from({ length: 2500 }, (_, i) => (i === 1700 ? null : `text ${i}`));
      const path = written("null.parquet", texts, { pageSize });
      expect(() => textsOf(path)).toThrow(`row 1701 of "${path}": the column "text" is null`);
    }
  });

  test("bytes that are not UTF-8, with their row, even if two rows together would be UTF-8", () => {
    const bytes = (...values: number[]) => Uint8Array.from(values);
    const cases = [
      [[bytes(97), bytes(0xe9), bytes(97)], 2],
      [[bytes(97), bytes(98, 0xc3), bytes(0xa9, 97)], 2],
      [[bytes(0xc3), bytes(0xa9)], 1],
      [[bytes(97), bytes(), bytes(0xa9)], 3],
    ] as const;
    for (const [texts, row] of cases) {
      const path = written("latin.parquet", [...texts], { type: "BYTE_ARRAY" });
      expect(() => textsOf(path)).toThrow(`row ${row} of "${path}": the column "text" is not valid UTF-8`);
    }
  });

  test("a column that is missing, or is not text", () => {
    const path = written("columns.parquet", ["x"]);
    expect(withField(path, "body")).toThrow(`"${path}" has no column "body"`);
    try {
      withField(path, "body")();
    } catch (error) {
      expect((error as { hint: string }).hint).toContain("(columns of text: text, z)");
    }
    expect(withField(path, "id")).toThrow(
      `"${path}": column "id" contains values of the type INT32, not text`,
    );
    expect(withField(path, "z")).not.toThrow();
  });

  test("two columns of the requested name", () => {
    const data = ["a", "b"];
    const columnData = ["text", "text", "other"].map((name) => ({ name, data, type: "STRING" as const }));
    const path = put(directory, "twice.parquet", new Uint8Array(parquetWriteBuffer({ columnData })));
    expect(withField(path, "text")).toThrow(`"${path}" has several columns named "text"`);
    expect(withField(path, "other")).not.toThrow();
  });

  /** Returns the values of an uncompressed page, in which no row may be null. */
  function valuesIn(
    page: Uint8Array,
    num_values: number,
    encoding: "DELTA_BYTE_ARRAY" | "RLE_DICTIONARY",
    dictionary?: Parameters<typeof pageValues>[3],
  ) {
    const levels = { definition_level_encoding: "RLE", repetition_level_encoding: "RLE" } as const;
    const sizes = { uncompressed_page_size: page.length, compressed_page_size: page.length };
    const header = {
      type: "DATA_PAGE",
      data_page_header: { num_values, encoding, ...levels },
      ...sizes,
    } as const;
    const column = { codec: "UNCOMPRESSED", isOptional: false } as const;
    return pageValues({ header, dataByte: 0, endByte: page.length }, page, column, dictionary);
  }

  test("values with a shared prefix longer than the previous value, or longer than the page", () => {
    // Encodes two integers as DELTA_BINARY_PACKED: blocks of 128 values in 4 miniblocks, 2 values in total, the first
    // value, the difference, and the miniblocks' widths of 0 bits.
    const integers = (first: number, second: number) => {
      const zigzag = (value: number) => (value << 1) ^ (value >> 31);
      return [0x80, 1, 4, 2, zigzag(first), zigzag(second - first), 0, 0, 0, 0];
    };
    const valuesOf = (shared: number[], rest: number[], text: string) => {
      const [a, b, c, d] = [...shared, ...rest] as [number, number, number, number];
      const page = Buffer.from([...integers(a, b), ...integers(c, d), ...Buffer.from(text)]);
      const { bytes, starts, ends } = valuesIn(page, 2, "DELTA_BYTE_ARRAY");
      return [0, 1].map((v) => Buffer.from(bytes.subarray(starts[v], ends[v])).toString());
    };
    expect(valuesOf([0, 2], [3, 1], "abcd")).toEqual(["abc", "abd"]);
    expect(() => valuesOf([0, 4], [3, 1], "abcd")).toThrow(
      "a shared prefix that is longer than the previous value",
    );
    expect(() => valuesOf([1, 2], [3, 1], "abcd")).toThrow(
      "a shared prefix that is longer than the previous value",
    );
    expect(() => valuesOf([0, 2], [3, 2], "abcd")).toThrow("fewer values than it claims");
    expect(() => valuesOf([0, 2], [3, -1], "abcd")).toThrow("negative length");
  });

  test("a page with an index that its dictionary does not have, or a negative one", () => {
    const dictionary = { bytes: Buffer.from("ab"), starts: Int32Array.of(0), ends: Int32Array.of(2) };
    const valuesBy = (width: number, ...index: number[]) => {
      const page = Uint8Array.of(width, 3 << 1, ...index);
      return valuesIn(page, 3, "RLE_DICTIONARY", dictionary);
    };
    expect([...valuesBy(1, 0).ends]).toEqual([2, 2, 2]);
    expect(() => valuesBy(1, 1)).toThrow("refers to value 1 of its dictionary");
    expect(() => valuesBy(31, 0xff, 0xff, 0xff, 0xff)).toThrow("refers to value 4294967295 of its");
  });

  test("a file cut anywhere", () => {
    const whole = new Uint8Array(
      parquetWriteBuffer({ columnData: [{ name: "text", data: distinct.slice(0, 50), type: "STRING" }] }),
    );
    for (let end = 1; end < whole.length; end += 7) {
      const path = put(directory, "cut.parquet", whole.subarray(0, end));
      expect(() => textsOf(path)).toThrow(end < 4 ? /does not begin with PAR1/ : /is cut off/);
    }
  });

  test("damage anywhere is an error or does not matter, and never anything else", () => {
    const path = written("damaged.parquet", distinct.slice(0, 300), {
      codec: "UNCOMPRESSED",
      pageSize: 1500,
    });
    const whole = new Uint8Array(readFileSync(path));
    const chance = randomNumbers(5);
    for (let run = 0; run < 500; run++) {
      const bytes = whole.slice();
      for (let flips = 1 + chance(3); flips > 0; flips--) {
        // Half of the flips are aimed at the last 600 bytes, which are metadata, where damage matters most.
        const at = chance(2) === 0 ? chance(bytes.length) : bytes.length - 1 - chance(600);
        bytes[at] = bytes[at]! ^ (1 << chance(8));
      }
      put(directory, "damaged.parquet", bytes);
      expectUserErrorAtMost(() => textsOf(path));
    }
  }, 600_000);

  test("no single changed byte of the metadata or of a header causes anything but an error about the file", () => {
    const path = written("bytes.parquet", ["it's", "two", "two"], { codec: "UNCOMPRESSED" });
    const whole = new Uint8Array(readFileSync(path));
    for (let at = 0; at < whole.length; at++) {
      for (const change of [0xff, 0x01, 0x10, 0x80]) {
        put(directory, "bytes.parquet", whole.with(at, whole[at]! ^ change));
        expectUserErrorAtMost(() => textsOf(path));
      }
    }
  });
});

function expectUserErrorAtMost(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if ((error as Error).name !== "UserError") throw error;
    // An error of JavaScript's engine would quote the code at which it stopped.
    expect((error as Error).message).not.toMatch(/evaluating|is not (a|an) |undefined|out of bounds/i);
  }
}

test("runs and bit-packed groups are decoded, and nothing is read after their end", () => {
  const out = new Int32Array(12);
  // A run of five 3s, and one group of eight 3-bit values: 0 to 7.
  const bytes = Uint8Array.of(10, 3, 3, 0b10001000, 0b11000110, 0b11111010);
  expect(decodeRleBitPacked(bytes, 0, bytes.length, 3, out)).toBe(true);
  expect([...out]).toEqual([3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 5, 6]);
  for (let end = 0; end < bytes.length; end++) expect(decodeRleBitPacked(bytes, 0, end, 3, out)).toBe(false);
  // A run longer than the number of requested values is truncated.
  expect(decodeRleBitPacked(Uint8Array.of(0xfe, 0xff, 0xff, 0xff, 0x07, 9), 0, 6, 4, out)).toBe(true);
  expect([...out]).toEqual(Array(12).fill(9));
});

const draw = randomNumbers(4);

/** Returns a random LZ4 block and its content. Some matches overlap themselves. */
function made(sequenceCount: number): { packed: Uint8Array; plain: Uint8Array } {
  const packed: number[] = [];
  const plain: number[] = [];
  const more = (length: number) => {
    for (let rest = length - 15; rest >= 0; rest -= 255) packed.push(Math.min(rest, 255));
  };
  for (let s = 0; s < sequenceCount; s++) {
    const isLast = s === sequenceCount - 1;
    const literals = Array.from({ length: draw(4) === 0 ? draw(600) : draw(20) + 1 }, () => draw(256));
    const match = draw(4) === 0 ? draw(700) : draw(16);
    packed.push((Math.min(literals.length, 15) << 4) | (isLast ? 0 : Math.min(match, 15)));
    if (literals.length >= 15) more(literals.length);
    packed.push(...literals);
    plain.push(...literals);
    if (isLast || plain.length === 0) break;
    const distance = 1 + draw(Math.min(plain.length, 65_535));
    packed.push(distance & 255, distance >> 8);
    if (match >= 15) more(match);
    for (let i = 0; i < match + 4; i++) plain.push(plain.at(-distance)!);
  }
  return { packed: Uint8Array.from(packed), plain: Uint8Array.from(plain) };
}

const bigEndian = (value: number) => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255];

test("blocks of LZ4 are decompressed, alone and after their sizes", () => {
  for (let run = 0; run < 500; run++) {
    const blocks = Array.from({ length: 1 + draw(3) }, () => made(1 + draw(12)));
    for (const { packed, plain } of blocks) {
      expect(unpackLz4Block(packed, plain.length)).toEqual(plain);
      expect(unpackLz4(packed, plain.length)).toEqual(plain);
    }
    const sized = blocks.flatMap(({ packed, plain }) => [
      ...bigEndian(plain.length),
      ...bigEndian(packed.length),
      ...packed,
    ]);
    const whole = blocks.flatMap(({ plain }) => [...plain]);
    expect(unpackLz4(Uint8Array.from(sized), whole.length)).toEqual(Uint8Array.from(whole));
  }
});

test("a block whose first bytes could be sizes is read as a block", () => {
  // The block has 16 literals: two bytes with their number, then the literals. If its first eight bytes were read as
  // two sizes, these would be 0xf0014141 and 0x41414141.
  const plain = new Uint8Array(16).fill(0x41);
  expect(unpackLz4(Uint8Array.of(0xf0, 1, ...plain), 16)).toEqual(plain);
  const high = new Uint8Array(20).fill(0xff);
  expect(unpackLz4(Uint8Array.of(0xf0, 5, ...high), 20)).toEqual(high);
});

test("a block that is truncated, or has more or fewer bytes than its page, is damaged", () => {
  const { packed, plain } = made(9);
  for (const sizeBytes of [0, plain.length - 1, plain.length + 1]) {
    expect(() => unpackLz4Block(packed, sizeBytes)).toThrow("damaged");
  }
  for (let end = 0; end < packed.length; end++) {
    expect(() => unpackLz4Block(packed.subarray(0, end), plain.length)).toThrow("damaged");
  }
  // A match at the start, where nothing precedes it, is refused, as is a match of distance 0.
  expect(() => unpackLz4Block(Uint8Array.of(0x00, 1, 0), 4)).toThrow("damaged");
  expect(() => unpackLz4Block(Uint8Array.of(0x10, 65, 0, 0), 5)).toThrow("damaged");
});
