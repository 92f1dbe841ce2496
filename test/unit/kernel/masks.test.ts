import { expect, test } from "bun:test";
import { buildMaskTables } from "../../../scripts/masks/write-named-masks.ts";
import { endsOfText } from "../../../src/pattern/cut-text.ts";
import { type NamedPattern, patterns, usualSuperwordPattern } from "../../../src/pattern/named-patterns.ts";
import type { ScanTables } from "../../../src/pattern/scan-tables.ts";
import type { Kernel } from "../../../src/runtime/kernel.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { randomNumbers } from "../../random.ts";
import { places, rounds } from "../../rounds.ts";
import { compiledTables, randomText } from "../pattern/texts.ts";

const tail = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const sourcesList: readonly (readonly string[])[] = [
  ...["gpt2", "starcoder", "qwen2", "nanochat", "cl100k", "tekken", "o200k", "deepseek-v3"].map(
    (name) => (patterns as Readonly<Record<string, NamedPattern>>)[name]!.sources,
  ),
  [String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}\p{M}]+| ?\p{N}{1,8}| ?[^\s\p{L}\p{N}\p{M}]+|\s+(?!\S)|\s+`],
  [String.raw`'s|'t|'re|'ve|'m|'ll|'d|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n/]*|${tail}`],
  [`(?i:'s|'t|'re|'ve|'m|'ll|'d)|${patterns.tekken.sources[0]}`],
  [usualSuperwordPattern],
];

/** The number of bytes, from the start of a block on, that the loops need in order to process the block. */
const lookAhead = 132;

/** Returns a pattern twice: for whole documents, and for documents that end after every line feed. */
const withLines = (sources: readonly string[]) =>
  [false, true].map((lineWise) => [sources, lineWise] as const);

const kernel = kernels.createWithRegions(kernels.createWholeMemory(1 << 28));

/** Copies a pattern's tables into the kernel. */
function setUp({ exports, memory }: Kernel, tables: ScanTables): void {
  const { columnBlocks, columns } = tables;
  const put = (array: Uint8Array | Uint16Array, size = array.byteLength) => {
    const address = exports.reserveFixed(size);
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    new Uint8Array(memory.buffer).set(bytes, address);
    return address;
  };
  const masks = put(buildMaskTables(tables)!, exports.maskTablesBytes(columns.length));
  exports.useMaskTables(masks, put(columnBlocks), put(columns), columns.length);
}

/** Returns the ends of pretokens that masks find from `start` on, and the position that the masks reach. */
function maskEnds(
  { exports, memory }: Kernel,
  start: number,
  stop: number,
  limit: number,
): { ends: number[]; reached: number } {
  const ends = exports.endsAddress();
  const reached = exports.scanMasks(exports.textAddress(), start, stop, limit, ends);
  return { ends: [...new Int32Array(memory.buffer, ends, (exports.masksEnd() - ends) / 4)], reached };
}

function putText({ exports, memory }: Kernel, text: Uint8Array, following = 0x41): void {
  new Uint8Array(memory.buffer, exports.textAddress(), text.length + 128).fill(following).set(text);
}

/**
 * Compares the ends of pretokens that masks find in a text with those that the automaton finds. Returns the position
 * that the masks reach.
 */
function expectEnds(tables: ScanTables, text: Uint8Array, following?: number): number {
  putText(kernel, text, following);
  const { ends, reached } = maskEnds(kernel, 0, text.length, text.length);
  const wanted = endsOfText(tables, text).filter((end) => end < reached);
  if (!Bun.deepEquals(ends, wanted))
    expect([`${Buffer.from(text)}`, ends]).toEqual([`${Buffer.from(text)}`, wanted]);
  return reached;
}

/** Returns random text. One in twelve contains bytes that are not UTF-8. */
function randomBytes(random: (bound: number) => number, size: number): Uint8Array {
  const bytes = Buffer.from(randomText(random, size));
  const broken = [[0x80], [0xc3], [0xe4, 0xb8], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xff], [0xc0, 0xaf]];
  if (random(12) > 0) return bytes;
  const at = random(bytes.length);
  return Buffer.concat([
    bytes.subarray(0, at),
    Uint8Array.from(broken[random(broken.length)]!),
    bytes.subarray(at),
  ]);
}

test("masks find the same ends as the automaton, up to the position they reach, from every end and to every stop", () => {
  for (const [sources, lineWise] of sourcesList.flatMap(withLines)) {
    const tables = compiledTables(sources, lineWise);
    setUp(kernel, tables);
    const random = randomNumbers(2);
    let knownBytes = 0;
    let allBytes = 0;
    for (let i = 0; i < rounds(40); i++) {
      const text = randomBytes(random, 400);
      const all = [0, ...endsOfText(tables, text)];
      putText(kernel, text);
      for (const start of all.slice(0, -1)) {
        const stop = start + 1 + random(text.length - start);
        const { ends, reached } = maskEnds(kernel, start, stop, text.length);
        const wanted = all.filter((end) => end > start && end < reached);
        expect([sources, lineWise, text.toString(), start, stop, ends]).toEqual([
          sources,
          lineWise,
          text.toString(),
          start,
          stop,
          wanted,
        ]);
        expect(reached).toBeLessThan(stop + 64);
        if (start === 0) {
          knownBytes += reached;
          allBytes += Math.max(0, Math.min(stop, text.length - lookAhead));
        }
      }
    }
    // Masks stop early where the automaton has to read: for example, at invalid bytes and at runs that are longer than
    // a block. Random text has many such places, so masks need to reach only a fifth of its bytes.
    expect(knownBytes / allBytes).toBeGreaterThan(0.2);
  }
});

test("masks get through ordinary text, except for its last bytes", () => {
  const latin =
    "The quick brown fox doesn't jump; 12345 of \"lazy\" dogs\n\n\tdo, \t\t\n  they're in  C++ (a[i]->b += 0x7f;)\r\n";
  const others =
    "Das Übermaß an Größe. Быстрая лиса прыгает. 敏捷的棕色狐狸跳过了懒狗。素早い茶色の狐が犬を飛び越える。갈색 여우가 개를 뛰어넘는다. ";
  const samples = [latin, others].map((sample) => Buffer.from(sample.repeat(40)));
  for (const [sources, lineWise] of sourcesList.flatMap(withLines)) {
    const tables = compiledTables(sources, lineWise);
    setUp(kernel, tables);
    for (const text of samples) {
      const reached = expectEnds(tables, text);
      expect([sources, reached > text.length - lookAhead]).toEqual([sources, true]);
    }
  }
});

/** Texts whose cuts depend on the text next to them. */
const neighbours = [
  ..."'s 'S 't 'T 're 'rE 've 'VE 'm 'M 'll 'lL 'd 'D 'x 'r 'l 'ſ ''s 's's !'s".split(" "),
  ..."1234567890 12٣ ٣4 ٣٤٥ ٣ 𝟎1 𝟎 1²".split(" "),
  "\n\n",
  "\r\n/",
  "!\n/\n",
  "!\r\r",
  " \n \t",
  "\t\t\n  ",
  "  \u3000 ",
  "\u3000",
  "\u3000\u3000\n",
  "!!\u0301",
  "!\u0301",
  "ABCd",
  "ABªCD",
  "ªBCd",
  "aªB",
  "ªªB",
  "文B",
  "\u0001\u0001é",
  "\u0001。",
  "・\u3040ー",
  `\n${" ".repeat(70)}x`,
  `\n${" ".repeat(70)}\n`,
  `ª${"B".repeat(70)}c`,
];

test("characters that depend on their neighbours are cut correctly at every position of a block, and across its edge", () => {
  let turn = 0;
  for (const [sources, lineWise] of sourcesList.flatMap(withLines)) {
    const tables = compiledTables(sources, lineWise);
    setUp(kernel, tables);
    for (const middle of neighbours) {
      for (const [left, right] of ["a ", "é!", "文.", "A1"]
        .entries()
        .map(([i, text]) => [text, "xB 文"[i]!])) {
        for (const length of places(66, turn++)) {
          const text = left.repeat(33).slice(0, length) + middle + right.repeat(140);
          expectEnds(tables, Buffer.from(text));
        }
      }
    }
  }
});

test("an invalid byte anywhere is left to the automaton", () => {
  let turn = 0;
  const mixed = "中文字 Да한글éß語 😀がァ. ".repeat(5);
  const han = "文字语".repeat(20);
  const texts = [mixed, han, `a${han}`, `ab${han}`].map((text) => Buffer.from(text));
  for (const [sources, lineWise] of sourcesList.flatMap(withLines)) {
    const tables = compiledTables(sources, lineWise);
    setUp(kernel, tables);
    for (const text of texts) {
      for (const wrong of [0x41, 0x80, 0xc0, 0xc3, 0xe4, 0xff]) {
        for (const at of places(text.length, turn++)) {
          const broken = Buffer.from(text);
          broken[at] = wrong;
          expectEnds(tables, broken);
        }
      }
    }
  }
});

test("text after the document has no effect", () => {
  let turn = 0;
  for (const [sources, lineWise] of sourcesList.flatMap(withLines)) {
    const tables = compiledTables(sources, lineWise);
    setUp(kernel, tables);
    for (const [last, following] of [
      [" ", 0x0a],
      [" ", 0x80],
      ["1", 0x31],
      ["B", 0x62],
      ["文", 0xaf],
    ] as const) {
      for (const length of places(150, turn++)) {
        expectEnds(tables, Buffer.from(`a\nª${last.repeat(length)}`), following);
      }
    }
  }
});
