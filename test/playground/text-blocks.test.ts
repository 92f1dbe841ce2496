import { expect, test } from "bun:test";
import { escapeBytes } from "../../src/bytes/escape.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { mergerOf, neverJoined, TextJoiner } from "../../src/playground/joined-text.ts";
import { blocksOf } from "../../src/playground/text-blocks.ts";
import * as cuttings from "../../src/text/cutting.ts";
import { randomNumbers } from "../random.ts";
import { rounds } from "../rounds.ts";

const random = randomNumbers(20261126);
const none = mergerOf(new Int32Array(0), new Int32Array(0));
const cutting = cuttings.plain(compiledPatterns.resolve("gpt2").compiled);
const joiner = new TextJoiner(cutting, none);
const joined = (bytes: Uint8Array) => joiner.join(bytes);

test("blocks have each byte, unit and word of a text once, in their order", () => {
  const parts = [
    "a",
    " ",
    "word",
    " the",
    "é",
    "e\u0301",
    "\n",
    "\n\n",
    "\u202e",
    "\\x41",
    "🦊",
    "नि",
    "\0",
    "中",
  ].map((text) => Buffer.from(text));
  parts.push(Buffer.from([0xff]), Buffer.from([0xe2, 0x82]), Buffer.from(" long".repeat(200)));
  for (let round = 0; round < rounds(20); round++) {
    const bytes = Buffer.concat(Array.from({ length: random(300) }, () => parts[random(parts.length)]!));
    const text = joined(bytes);
    const blocks = blocksOf(text);
    const wordStarts = blocks.flatMap((block) => [...block.wordStarts.subarray(0, -1)]);
    const borders = [...bytes.keys()].filter((pos) => pos === 0 || text.joinedBy[pos]! >= neverJoined);
    expect(wordStarts).toEqual(borders);
    expect(blocks.map(({ firstWord }) => firstWord)).toEqual(
      blocks.map((_, b) => blocks.slice(0, b).reduce((sum, block) => sum + block.wordStarts.length - 1, 0)),
    );
    expect(blocks.map(({ shown }) => shown).join("")).toBe(escapeBytes(bytes).replaceAll("\\x0a", "↵"));
    for (const { shown, unitStarts, unitOffsets } of blocks) {
      for (let unit = 0; unit + 1 < unitStarts.length; unit++) {
        const part = bytes.subarray(unitStarts[unit], unitStarts[unit + 1]);
        const its = shown.slice(unitOffsets[unit], unitOffsets[unit + 1]);
        expect([unit, its]).toEqual([unit, escapeBytes(part).replace("\\x0a", "↵")]);
      }
    }
  }
});

test("a unit is a character with its marks, or a byte that is not in one; a block ends at a line end or a space", () => {
  const [block] = blocksOf(joined(Buffer.from("é e\u0301\u202ea\n")));
  expect(block).toMatchObject({ shown: "é e\u0301\\xe2\\x80\\xaea↵", firstWord: 0 });
  expect([...block!.unitStarts]).toEqual([0, 2, 3, 6, 7, 8, 9, 10, 11]);
  expect([...block!.unitOffsets]).toEqual([0, 1, 2, 4, 8, 12, 16, 17, 18]);
  const lengths = (text: string) => blocksOf(joined(Buffer.from(text))).map(({ shown }) => shown.length);
  expect(lengths("a\nb\n\nc")).toEqual([2, 3, 1]);
  expect(lengths(`${"a".repeat(479)} b c`)).toEqual([481, 2]);
  expect(lengths("1".repeat(1200))).toEqual([960, 240]);
  expect(lengths("")).toEqual([]);
});
