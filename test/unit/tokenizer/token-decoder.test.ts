import { expect, test } from "bun:test";
import { TokenDecoder } from "../../../src/tokenizer/token-decoder.ts";
import type { TokenTable } from "../../../src/tokenizer/token-table.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";

const seed = Number(process.env.TEST_SEED ?? 11);
const random = randomNumbers(seed);

function decodeNaively(table: TokenTable, ids: Iterable<number>) {
  const parts: Uint8Array[] = [];
  for (const id of ids) {
    const token = tokenTables.bytesOf(table, id);
    if (token.length === 0) return { bytes: Buffer.concat(parts), unknownIndex: parts.length };
    parts.push(token);
  }
  return { bytes: Buffer.concat(parts), unknownIndex: -1 };
}

const randomBytes = (length: number) => Uint8Array.from({ length }, () => random(256));

/** Returns random tokens, a few of them long, and ids without a token. */
const randomTable = () =>
  tokenTables.build(
    Array.from(
      { length: 1 + random(40) },
      () => [random(50), randomBytes(random(9) === 0 ? random(300) : random(18))] as const,
    ),
  );

test("ids have the bytes of their tokens, up to the first id without a token", () => {
  for (let round = 0; round < rounds(60); round++) {
    const table = randomTable();
    const decoder = new TokenDecoder(table);
    const known = Array.from({ length: table.idLimit }, (_, id) => id).filter(
      (id) => tokenTables.bytesOf(table, id).length > 0,
    );
    for (let n = 0; n < 6; n++) {
      const length = random(4) === 0 ? random(40_000) : random(12);
      const ids = Array.from({ length: known.length === 0 ? 0 : length }, () => known[random(known.length)]!);
      const odd = [table.idLimit, 0xffff, 0xffffffff, -1, 0.5, Number.NaN, 2 ** 32, -0, Infinity];
      if (random(3) === 0) ids.splice(random(ids.length + 1), 0, odd[random(odd.length)]!);
      for (const given of [Float64Array.from(ids), Uint32Array.from(ids), Uint16Array.from(ids)]) {
        const { bytes, unknownIndex } = decoder.decode(given);
        const expected = decodeNaively(table, given);
        expect({ seed, round, unknownIndex }).toEqual({ seed, round, unknownIndex: expected.unknownIndex });
        expect(Buffer.compare(bytes, expected.bytes)).toBe(0);
      }
    }
  }
});

test("no tokens, and one longer than the output of a call", () => {
  expect(new TokenDecoder(tokenTables.build([])).decode(Uint32Array.of(0))).toEqual({
    bytes: new Uint8Array(),
    unknownIndex: 0,
  });
  const long = randomBytes(300_001);
  const decoder = new TokenDecoder(tokenTables.build([[1, long]]));
  const { bytes } = decoder.decode(Uint32Array.of(1, 1));
  expect(Buffer.compare(bytes, Buffer.concat([long, long]))).toBe(0);
});
