import { expect, test } from "bun:test";
import { unpackLz4, unpackLz4Block } from "../../../src/corpus/records/parquet/page-headers.ts";
import { randomOf } from "../../words/generators.ts";

const random = randomOf(4);

/** A random block and what it says: literals and matches of any length, some of which reach into themselves. */
function made(sequenceCount: number): { packed: Uint8Array; plain: Uint8Array } {
  const packed: number[] = [];
  const plain: number[] = [];
  const more = (length: number) => {
    for (let rest = length - 15; rest >= 0; rest -= 255) packed.push(Math.min(rest, 255));
  };
  for (let s = 0; s < sequenceCount; s++) {
    const isLast = s === sequenceCount - 1;
    const literals = Array.from({ length: random(4) === 0 ? random(600) : random(20) + 1 }, () =>
      random(256),
    );
    const match = random(4) === 0 ? random(700) : random(16);
    packed.push((Math.min(literals.length, 15) << 4) | (isLast ? 0 : Math.min(match, 15)));
    if (literals.length >= 15) more(literals.length);
    packed.push(...literals);
    plain.push(...literals);
    if (isLast || plain.length === 0) break;
    const distance = 1 + random(Math.min(plain.length, 65_535));
    packed.push(distance & 255, distance >> 8);
    if (match >= 15) more(match);
    for (let i = 0; i < match + 4; i++) plain.push(plain.at(-distance)!);
  }
  return { packed: Uint8Array.from(packed), plain: Uint8Array.from(plain) };
}

const bigEndian = (value: number) => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255];

test("blocks of LZ4 are unpacked, alone and behind their sizes", () => {
  for (let run = 0; run < 500; run++) {
    const blocks = Array.from({ length: 1 + random(3) }, () => made(1 + random(12)));
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

test("a block whose first bytes could be sizes is a block", () => {
  // 16 literals: a token, one more byte of length, and literals that say 0x41414141 bytes.
  const plain = new Uint8Array(16).fill(0x41);
  expect(unpackLz4(Uint8Array.of(0xf0, 1, ...plain), 16)).toEqual(plain);
  const high = new Uint8Array(20).fill(0xff);
  expect(unpackLz4(Uint8Array.of(0xf0, 5, ...high), 20)).toEqual(high);
});

test("a block that is cut off, or has other bytes than its page, is damaged", () => {
  const { packed, plain } = made(9);
  for (const sizeBytes of [0, plain.length - 1, plain.length + 1]) {
    expect(() => unpackLz4Block(packed, sizeBytes)).toThrow("damaged");
  }
  for (let end = 0; end < packed.length; end++) {
    expect(() => unpackLz4Block(packed.subarray(0, end), plain.length)).toThrow("damaged");
  }
  // No literal before a match, and a match of distance 0.
  expect(() => unpackLz4Block(Uint8Array.of(0x00, 1, 0), 4)).toThrow("damaged");
  expect(() => unpackLz4Block(Uint8Array.of(0x10, 65, 0, 0), 5)).toThrow("damaged");
});
