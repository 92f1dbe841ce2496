import { expect, test } from "bun:test";
import { closeSync } from "node:fs";
import { zstdCompressSync } from "node:zlib";
import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { openInput, wholeRange } from "../../../src/corpus/input.ts";
import { FileSource, TextMemory } from "../../../src/corpus/range-reader.ts";
import { LineReader } from "../../../src/corpus/records/line-reader.ts";
import { ParquetReader } from "../../../src/corpus/records/parquet/parquet-reader.ts";
import { planInputPages } from "../../../src/corpus/records/parquet/plan-pages.ts";
import { put, scratch } from "../../binary.ts";

const directory = scratch();

/** Reads a file with `roomBytes` of memory. Returns the sizes of its texts, and the most memory that was claimed. */
function read(path: string, roomBytes: number): { sizes: number[]; claimedBytes: number } {
  const [input] = findInputs([path]);
  const source = new FileSource(openInput(input!), input!);
  const room = new TextMemory(roomBytes);
  const sizes: number[] = [];
  let claimedBytes = 0;
  const readAll = (reader: ParquetReader | LineReader, reading: Iterable<number>) => {
    for (const _ of reading) {
      const { ends, count } = reader.batch;
      for (let r = 0; r < count; r++) sizes.push(ends[r]! - (r === 0 ? 0 : ends[r - 1]!));
      claimedBytes = Math.max(claimedBytes, room.claimedBytes);
    }
  };
  try {
    if (input!.format === "jsonl") {
      const reader = new LineReader(1 << 16, room);
      readAll(reader, reader.read(source, wholeRange(input!, 0), input!));
    } else {
      const reader = new ParquetReader(1 << 20, room);
      for (const pages of planInputPages(input!)) {
        if (pages !== undefined) readAll(reader, reader.read(source, pages, input!));
      }
    }
    return { sizes, claimedBytes };
  } finally {
    closeSync(source.fd);
  }
}

function parquet(name: string, data: string[], settings: Partial<ColumnSource>): string {
  const columnData = [{ ...settings, name: "text", data, type: "STRING" as const }];
  const options = { columnData, pageSize: 1 << 30, compressors: { ZSTD: zstdCompressSync } };
  return put(directory, name, new Uint8Array(parquetWriteBuffer(options)));
}

const sizeBytes = 20e6;
const long = "long text ".repeat(sizeBytes / 10);

test("memory for a page, a dictionary or a line is claimed before it is allocated, and refused beyond the limit", () => {
  const cases: [path: string, name: string, leastBytes: number][] = [
    [
      parquet("plain.parquet", ["a", long], { codec: "ZSTD", encoding: "PLAIN" }),
      'the page of row 1 of "',
      sizeBytes,
    ],
    [
      parquet("delta.parquet", Array(40).fill(long.slice(0, sizeBytes / 40)), {
        codec: "ZSTD",
        encoding: "DELTA_BYTE_ARRAY",
      }),
      'the page of row 1 of "',
      sizeBytes,
    ],
    [
      put(directory, "a.jsonl", `{"text":"a"}\n${JSON.stringify({ text: long })}\n`),
      'line 2 of "',
      sizeBytes,
    ],
  ];
  for (const [path, name, leastBytes] of cases) {
    const { sizes, claimedBytes } = read(path, 1e9);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(leastBytes);
    expect(claimedBytes).toBeGreaterThan(leastBytes);
    expect(claimedBytes).toBeLessThan(5 * leastBytes);
    expect(read(path, claimedBytes).sizes).toEqual(sizes);
    expect(() => read(path, claimedBytes - 1)).toThrow(name);
    expect(() => read(path, 1e6)).toThrow("the limit is 1 MB");
  }
});

test("small pages and lines claim nothing", () => {
  const texts = Array.from({ length: 5000 }, (_, i) => `text ${i} `.repeat(20));
  const lines = texts.map((text) => JSON.stringify({ text })).join("\n");
  expect(read(put(directory, "small.jsonl", lines), 8e6).claimedBytes).toBe(0);
  expect(read(parquet("small.parquet", texts, {}), 8e6)).toMatchObject({ claimedBytes: 0 });
});
