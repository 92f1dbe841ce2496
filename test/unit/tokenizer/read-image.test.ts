import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { tokenizerOfJson } from "../../../src/formats/tokenizer-json.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { tokenizerImage } from "../../../src/tokenizer/image.ts";
import { partsOfImage } from "../../../src/tokenizer/read-image.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import type { TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeTrial } from "../text/made-trials.ts";
import { expectInImage } from "./image-round-trip.ts";
import { jsonOf, writeTokenizer } from "./made-tokenizer.ts";

const json = jsonOf(writeTokenizer("gpt2"));
const load = (root: object): TokenizerParts => tokenizerOfJson(Buffer.from(JSON.stringify(root)), "made");

/** Loads a tokenizer. Returns null if it is refused, because it cannot be reproduced. */
function loadOrRefuse(root: object): TokenizerParts | null {
  try {
    return load(root);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return null;
  }
}

test("the image of a tokenizer restores each of its parts", () => {
  let readCount = 0;
  for (let seed = 0; seed < rounds(80); seed++) {
    const parts = loadOrRefuse(madeTrial(json, seed).json);
    if (parts === null) continue;
    expectInImage(parts);
    readCount++;
  }
  expect(readCount).toBeGreaterThan(rounds(40));
  expectInImage(load(jsonOf(writeTokenizer("starcoder"))));
});

/** Corrects the checksum of an image after a change. */
function checked(image: Uint8Array): Uint8Array {
  new DataView(image.buffer, image.byteOffset).setUint32(12, crc32(image.subarray(16)), true);
  return image;
}

const whole = tokenizerImage(load(json), {});
const refusalOf = (image: Uint8Array) => {
  try {
    partsOfImage(image, "x.image");
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
};

test("another version, a truncated image and a wrong checksum are refused", () => {
  const changed = (at: number) => whole.map((byte, i) => (i === at ? byte ^ 1 : byte));
  expect(refusalOf(whole)).toBeNull();
  expect(refusalOf(changed(8))).toBe('"x.image" is an image of another version of bpe');
  expect(refusalOf(changed(31))).toBe('"x.image" is an image of another version of bpe');
  for (const at of [12, 32, whole.length - 1])
    expect(refusalOf(changed(at))).toBe('"x.image" is a damaged tokenizer image');
  for (const size of [8, 100, whole.length - 1])
    expect(refusalOf(whole.slice(0, size))).toBe('"x.image" is a damaged tokenizer image');
});

/** Returns the image with up to three changed numbers. */
function damage(random: Random): Uint8Array {
  const image = whole.slice();
  const view = new DataView(image.buffer);
  for (let n = 1 + random(3); n > 0; n--) {
    const part = random(10);
    const [start, size] =
      part === 9 ? [32, 96] : [view.getUint32(56 + 8 * part, true), view.getUint32(60 + 8 * part, true)];
    const at = Math.min(start + 4 * random(Math.max(1, size >> 2)), image.length - 4) & ~3;
    const values = [0, 1, 2, random(2 ** 16), 2 ** 24, 2 ** 31, 2 ** 32 - 1, view.getUint32(at, true) + 4];
    view.setUint32(at, values[random(values.length)]! >>> 0, true);
  }
  return checked(image);
}

test("after any damage, an image is refused, or gives consistent tables", () => {
  const random = randomNumbers(3);
  let refusedCount = 0;
  for (let round = 0; round < rounds(600); round++) {
    let parts: TokenizerParts;
    try {
      parts = partsOfImage(damage(random), "x.image");
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      refusedCount++;
      continue;
    }
    const { model, tokens } = parts;
    const { left, right, merged } = model.merges;
    for (const ids of [left, right, merged, model.wholeTokens?.ids ?? []])
      for (const id of ids) if (!(id >= 0 && id < model.idLimit)) throw new Error(`id ${id}`);
    expect([left.length, right.length]).toEqual([merged.length, merged.length]);
    expect(model.idLimit).toBeLessThanOrEqual(tokens.idLimit);
    expect(tokens.starts[tokens.idLimit]).toBe(tokens.bytes.length);
  }
  expect(refusedCount).toBeGreaterThan(rounds(120));
});

/**
 * Returns a copy of the image with another last entry in `areas` (laid-out-model.ts): the address, the size and the
 * fill byte of an area of the kernel's memory.
 */
function withLastArea(...area: readonly [start: number, size: number, fill: number]): Uint8Array {
  const image = whole.slice();
  const view = new DataView(image.buffer);
  const end = view.getUint32(56 + 8 * 5, true) + view.getUint32(60 + 8 * 5, true);
  for (const [i, number] of area.entries()) view.setUint32(end - 12 + 4 * i, number, true);
  return checked(image);
}

test("an image cannot make its reader write much more memory than its own size", () => {
  const damaged = '"x.image" is a damaged tokenizer image';
  expect(refusalOf(withLastArea(0x8000_0000, 2 ** 24 + 1, 7))).toBe(damaged);
  expect(refusalOf(withLastArea(0xffff_f000, 0xfff, 257))).toBe(damaged);
  expect(refusalOf(withLastArea(0xffff_f000, 0x1000, 7))).toBe(damaged);
});

test("ids beyond the vocabulary, or beyond 16 bits if ids have 16, are refused", () => {
  const damaged = '"x.image" is a damaged tokenizer image';
  const parts = load(json);
  const { idLimit } = parts.tokens;
  const around = (id: number) => ({ ...parts, postProcessing: { before: [], after: [id], trims: [] } });
  expect(refusalOf(tokenizerImage(around(idLimit - 1), {}))).toBeNull();
  expect(refusalOf(tokenizerImage(around(idLimit), {}))).toBe(damaged);
  const wide = { ...parts.addedTokens[0]!, id: 70_000, content: "wide" };
  const tokens = tokenTables.build([[wide.id, Buffer.from("wide")]]);
  const isWide = (isNarrow: boolean) => ({ ...parts, tokens, addedTokens: [wide], isNarrow });
  expect(refusalOf(tokenizerImage(isWide(false), {}))).toBeNull();
  expect(refusalOf(tokenizerImage(isWide(true), {}))).toBe(damaged);
});
