import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { readHead } from "../../../src/corpus/inspect-input.ts";
import { jsonShapeOf } from "../../../src/corpus/json-shape.ts";
import { put, scratch } from "../../binary.ts";

const directory = scratch();

function headOf(content: Uint8Array, bytesMax?: number) {
  const fd = openSync(put(directory, "file", content), "r");
  try {
    const { compression, bytes, isWhole } = readHead(fd, "file", bytesMax);
    return { compression, text: Buffer.from(bytes).toString("latin1"), isWhole };
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns a zstd frame with `blockCount` blocks of four bytes, each of which decompresses to 128 KiB of the letter a.
 */
function repeatedLetter(blockCount: number): Buffer {
  const block = (isLast: number) => [
    (((1 << 17) << 3) & 0xff) | 2 | isLast,
    (((1 << 17) << 3) >> 8) & 0xff,
    (1 << 20) >> 16,
    0x61,
  ];
  const blocks = Array.from({ length: blockCount }, (_, i) => block(Number(i === blockCount - 1))).flat();
  return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38, ...blocks]);
}

const skippable = (byteCount: number) => {
  const frame = Buffer.alloc(8 + byteCount);
  frame.set([0x50, 0x2a, 0x4d, 0x18]);
  frame.writeUInt32LE(byteCount, 4);
  return frame;
};

test("a head is the beginning of a file's content, however it is compressed", () => {
  const noise = Buffer.from(Array.from({ length: 100_000 }, (_, i) => 32 + (((i * i * 7919) >> 5) % 90)));
  for (const [compression, compress] of [
    ["none", (bytes: Uint8Array) => Buffer.from(bytes)],
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ] as const) {
    for (const bytesMax of [10, 8192, 50_000, 99_999, 100_000]) {
      const head = headOf(compress(noise), bytesMax);
      expect(head).toEqual({ compression, text: noise.toString("latin1", 0, bytesMax), isWhole: false });
    }
    expect(headOf(compress(noise), 100_001)).toEqual({
      compression,
      text: noise.toString("latin1"),
      isWhole: true,
    });
  }
});

test("few bytes that become gigabytes are decompressed only as far as the head needs", () => {
  const bomb = repeatedLetter(40_000);
  expect(zstdBytes(repeatedLetter(3))).toBe(3 << 17);
  const head = { compression: "zstd" as const, text: "a".repeat(8192), isWhole: false };
  expect(headOf(bomb)).toEqual(head);
  expect(headOf(Buffer.concat([skippable(3000), bomb]))).toEqual(head);
  expect(headOf(Buffer.concat([skippable(200_000), bomb]))).toEqual(head);
  expect(headOf(bomb, 1 << 20).text.length).toBe(1 << 20);
});

const zstdBytes = (frame: Uint8Array) => Bun.zstdDecompressSync(frame).length;

test("members without content are skipped", () => {
  const empty = Array.from({ length: 5000 }, () => gzipSync(""));
  expect(headOf(Buffer.concat([...empty, gzipSync("text")]))).toEqual({
    compression: "gzip",
    text: "text",
    isWhole: true,
  });
});

test("a head of damaged data is an error; one that is cut short is not", () => {
  const packed = gzipSync("some text, some more text");
  expect(headOf(packed.subarray(0, -9)).text).toMatch(/^some/);
  const damaged = Buffer.from(packed);
  damaged[10] = 7;
  expect(() => headOf(damaged)).toThrow('"file" has damaged gzip data');
});

const shapeOf = (json: string, isWhole = true) => jsonShapeOf(Buffer.from(json), isWhole, "text").kind;

test("lines of objects, arrays of them, documents and other text are distinguished", () => {
  const cases: [json: string, kind: string][] = [
    ['{"text":"a"}\n{"text":"b"}\n', "jsonl"],
    ['{"id":1}\r\n{"id":2}', "jsonl"],
    ['{"text":"alone"}', "jsonl"],
    ['\ufeff{"text":"alone"}\n\n', "jsonl"],
    ['{"text":"a"}\nwrong after it', "jsonl"],
    ['[{"text":"a"},{"text":"b"}]', "json"],
    ['\ufeff\n[\n  {"id": 1}\n]', "json"],
    ['{\n"text": "alone"\n}\n', "json"],
    ['{\n"id": 1\n}\n{\n"id": 2\n}', "json"],
    ['{"id":1} {"id":2}', "json"],
    ['{"name":"package","text":{"text":"inner"}}', "document"],
    ['{\n"version": 1,\n"data": [{"text": "a"}]\n}', "document"],
    ['{"text":5}', "document"],
    ["[1,2,3]", "document"],
    ['["a","b"]', "document"],
    ["[]", "document"],
    ["{text} is set in braces", "none"],
    ["[1] A note at the foot\n", "document"],
    ["{} after", "none"],
    ["text", "none"],
    ["", "none"],
    ['{"open', "none"],
  ];
  expect(cases.map(([json]) => [json, shapeOf(json)])).toEqual(cases);
});

test("a long beginning is judged by its visible part", () => {
  expect(shapeOf('{"text":"a long lin', false)).toBe("jsonl");
  expect(shapeOf('{"id":1,"body":"a long lin', false)).toBe("jsonl");
  expect(shapeOf('{\n "text": "x",\n "more": [1,', false)).toBe("json");
  expect(shapeOf('{\n "version": 1,\n "data": [{"text": "a"},', false)).toBe("document");
  expect(shapeOf('[{"text":"a long', false)).toBe("json");
});

test("the field is found by any spelling of its name, and only in the object itself", () => {
  const hasField = (json: string) => jsonShapeOf(Buffer.from(json), true, "text").hasField;
  expect(hasField('{"id": {"text": "x"}, "te\\u0078t" : "y"}')).toBe(true);
  expect(hasField('{"id": {"text": "x"}, "text": null}')).toBe(false);
  expect(hasField('{"\\"text": "x", "a": "\\\\", "b": "text"}')).toBe(false);
});
