import { expect, spyOn, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { version } from "../../../package.json";
import { tokenizerOfJson } from "../../../src/formats/tokenizer-json.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { tokenizerImage } from "../../../src/tokenizer/image.ts";
import { isOwnVariable, variableKey } from "../../../src/tokenizer/laid-out-model.ts";
import { jsonOf, writeTokenizer } from "./made-tokenizer.ts";

const json = jsonOf(writeTokenizer("gpt2"));
const parts = tokenizerOfJson(Buffer.from(JSON.stringify(json)), "made");
const partCount = 9;
const headBytes = 56 + 8 * partCount;

/**
 * Returns an image's bytes, the places of its parts, and two functions that return a part: as numbers (`words`) and as
 * bytes (`part`).
 */
function opened(image: Uint8Array) {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.length);
  const partAt = (i: number) => [bytes.readUInt32LE(56 + 8 * i), bytes.readUInt32LE(60 + 8 * i)] as const;
  const places = Array.from({ length: partCount }, (_, i) => partAt(i));
  const part = (i: number) => bytes.subarray(places[i]![0], places[i]![0] + places[i]![1]);
  const words = (i: number) => new Uint32Array(Uint8Array.from(part(i)).buffer, 0, part(i).length >> 2);
  return { bytes, places, words, part };
}

test("the header has a checksum of everything after it, the digest of the kernel, and the version that can use it", () => {
  const { bytes } = opened(tokenizerImage(parts, {}));
  expect(bytes.toString("latin1", 0, 8)).toBe("bpeimage");
  expect(bytes.readUInt32LE(8)).toBe(8);
  expect(bytes.readUInt32LE(12)).toBe(crc32(bytes.subarray(16)));
  const kernel = (name: string) => readFileSync(join(import.meta.dir, `../../../dist/kernel/${name}.wasm`));
  const kernels = [kernel("kernel-encode"), kernel("kernel-text")];
  const digest = createHash("sha256").update(Buffer.concat(kernels)).update(version).digest("hex");
  expect(bytes.toString("hex", 16, 32)).toBe(digest.slice(0, 32));
});

test("the image is the same without SIMD", () => {
  const image = tokenizerImage(parts, {});
  const validate = spyOn(WebAssembly, "validate").mockReturnValue(false);
  try {
    expect(Buffer.compare(tokenizerImage(parts, {}), image)).toBe(0);
    expect(validate).toHaveBeenCalled();
  } finally {
    validate.mockRestore();
  }
});

test("parts follow each other from the header to the end, each at a multiple of four", () => {
  const { bytes, places } = opened(tokenizerImage(parts, { some: "facts" }));
  let end = headBytes;
  for (const [start, size] of places) {
    expect(start).toBe(end);
    end = start + Math.ceil(size / 4) * 4;
  }
  expect(bytes.length).toBe(end);
});

test("an image contains facts and tokens unchanged", () => {
  const { bytes, part, words } = opened(tokenizerImage(parts, { name: "é" }));
  expect(JSON.parse(part(0).toString())).toEqual({ name: "é" });
  expect(bytes.readUInt32LE(36)).toBe(parts.tokens.idLimit);
  const contents = json.added_tokens.map(({ content }) => Buffer.byteLength(String(content)));
  expect(bytes.readUInt32LE(40)).toBe(Math.max(...contents));
  expect([...words(1)]).toEqual([...parts.tokens.starts]);
  expect(part(2).equals(Buffer.from(parts.tokens.bytes))).toBe(true);
});

test("areas of the memory follow each other, and contain all bytes of the model; variables have their keys", () => {
  const { bytes, part, words } = opened(tokenizerImage(parts, {}));
  const pageCount = bytes.readUInt32LE(52);
  const [areas, variables] = [words(5), words(7)];
  let [end, size] = [0, 0];
  for (let i = 0; i < areas.length; i += 3) {
    expect(areas[i]).toBeGreaterThanOrEqual(end);
    end = areas[i]! + areas[i + 1]!;
    size += areas[i + 2] === 256 ? areas[i + 1]! : 0;
  }
  expect(end).toBeLessThanOrEqual(pageCount << 16);
  expect(size).toBe(part(6).length);
  const keys = Array.from({ length: variables.length / 3 }, (_, i) => variables[3 * i]!);
  expect(keys).toEqual(keys.toSorted((a, b) => a - b));
  const names = Object.keys(kernels.createForEncoding().exports).filter((name) => name.includes("/"));
  const known = new Set(names.filter((name) => !isOwnVariable(name)).map(variableKey));
  expect(new Set(names.map(variableKey)).size).toBe(names.length);
  expect(keys.filter((key) => !known.has(key))).toEqual([]);
  for (const name of ["pair-ranks/slots", "scanner/automaton", "encode-words/isNarrow"])
    expect(keys).toContain(variableKey(name));
});

test("an image contains only what its tokenizer needs", () => {
  const flagsOf = (changed: object) =>
    opened(tokenizerImage({ ...parts, ...changed }, {})).bytes.readUInt32LE(32);
  expect(flagsOf({})).toBe(1 | 4 | 8 | 16 | 32 | 128);
  expect(flagsOf({ addsPrefixSpace: true })).toBe(1 | 2);
  const { part } = opened(tokenizerImage(parts, {}));
  // This part has the added tokens, because encoding the segments of a text needs them.
  const contents = parts.addedTokens.map(({ content }) => Buffer.byteLength(content));
  expect(part(4).length).toBe(contents.reduce((sum, size) => sum + 16 + size, 24));
  const single = parts.addedTokens.map((token) => ({ ...token, singleWord: true }));
  const changed = opened(tokenizerImage({ ...parts, addedTokens: single, normalization: "NFC" }, {}));
  const [early, late, contentBytes, wordRanges, steps] = changed.words(4);
  expect([early! + late!, steps]).toEqual([single.length, 1]);
  expect(wordRanges).toBeGreaterThan(100);
  expect(changed.part(4).length).toBe(24 + 16 * single.length + 8 * wordRanges! + contentBytes! + 1);
  expect(changed.part(4).at(-1)).toBe(0);
  // A `singleWord` token depends on the text around it. So a text goes to the kernel unchanged (flag 32) only if
  // special tokens are encoded as text.
  expect(flagsOf({ addedTokens: single })).toBe(1 | 32);
});

test("the same tokenizer always has the same image, and another one has another image", () => {
  const image = tokenizerImage(parts, {});
  expect(Buffer.compare(image, tokenizerImage(parts, {}))).toBe(0);
  const other = tokenizerOfJson(Buffer.from(JSON.stringify(jsonOf(writeTokenizer("o200k")))), "made");
  expect(Buffer.compare(image, tokenizerImage(other, {}))).not.toBe(0);
});
