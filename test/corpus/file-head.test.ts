import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { readHead } from "../../src/corpus/inspect-input.ts";
import { put, scratch } from "../binary.ts";

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

/** A frame of zstd whose content is `blockCount` times 128 KB of the letter a, in four bytes each. */
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

test("a head is the beginning of what the file holds, however it is compressed", () => {
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

test("few bytes that become gigabytes are decompressed only as far as the head goes", () => {
  const bomb = repeatedLetter(40_000);
  expect(zstdBytes(repeatedLetter(3))).toBe(3 << 17);
  const head = { compression: "zstd" as const, text: "a".repeat(8192), isWhole: false };
  expect(headOf(bomb)).toEqual(head);
  expect(headOf(Buffer.concat([skippable(3000), bomb]))).toEqual(head);
  expect(headOf(Buffer.concat([skippable(200_000), bomb]))).toEqual(head);
  expect(headOf(bomb, 1 << 20).text.length).toBe(1 << 20);
});

const zstdBytes = (frame: Uint8Array) => Bun.zstdDecompressSync(frame).length;

test("members without content are passed over", () => {
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
  expect(() => headOf(damaged)).toThrow('"file" is damaged gzip data');
});
