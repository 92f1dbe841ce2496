import { expect, test } from "bun:test";
import { trainTokenizer } from "../../../src/index.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { EncodingKernel } from "../../../src/tokenizer/encoding-kernel.ts";
import type { RankedMerges } from "../../../src/tokenizer/encoding-model.ts";
import * as encodingModels from "../../../src/tokenizer/encoding-model.ts";
import { put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { encodeWith, encodingWithCuts, uncutEncoding } from "./made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 9);
const random = randomNumbers(seed);

/** Returns a text without spaces, of random words whose characters share many bytes. */
function madeScript(firstCodePoint: number, spread: number, length: number): string {
  const words = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + random(4) }, () => String.fromCodePoint(firstCodePoint + random(spread))).join(
      "",
    ),
  );
  return Array.from({ length }, () =>
    random(12) === 0 ? "。a\n"[random(3)]! : words[random(words.length)]!,
  ).join("");
}

test("cuts that no merge crosses change no id, in any script and in random bytes", async () => {
  const home = scratch();
  for (const [firstCodePoint, spread] of [
    [0x4e00, 90],
    [0xac00, 300],
    [0x400, 60],
    [0x1f600, 40],
    [0xe00, 80],
  ] as const) {
    const text = madeScript(firstCodePoint, spread, 3000);
    const tokenizer = await trainTokenizer({
      files: put(home, "corpus.txt", text),
      vocabSize: 900,
      pattern: "gpt4",
    });
    const { parts } = tokenizer;
    const withCuts = encodingWithCuts(parts, "next to foreign bytes");
    const without = uncutEncoding(parts);
    for (let round = 0; round < 60; round++) {
      // Sets the least length in bytes of pretokens that are cut.
      withCuts.kernel.exports.limitCuts([16, 1, 4][random(3)]!);
      const other = madeScript(firstCodePoint + random(20), spread, 40);
      const bytes = Buffer.from(random(2) === 0 ? other : text.slice(random(1000)).slice(0, 200));
      for (let n = random(4); n > 0; n--) bytes[random(bytes.length)] = random(256);
      const found = encodeWith(withCuts, bytes);
      expect({ seed, round, firstCodePoint, found }).toEqual({
        seed,
        round,
        firstCodePoint,
        found: encodeWith(without, bytes),
      });
    }
    expect(new Tokenizer(parts).decodeBytes(encodeWith(withCuts, Buffer.from(text)))).toEqual(
      new Uint8Array(Buffer.from(text)),
    );
  }
});

const byteIds = Int32Array.from({ length: 256 }, (_, byte) => byte);

/**
 * Returns merges that produce each of the texts: first the bytes of each character are merged from left to right, then
 * the characters. The ids of the new tokens begin at 256.
 */
function mergesThatMake(...texts: string[]): RankedMerges {
  const left: number[] = [];
  const right: number[] = [];
  const merge = (l: number, r: number) => {
    const known = left.findIndex((other, i) => other === l && right[i] === r);
    if (known >= 0) return 256 + known;
    right.push(r);
    return 255 + left.push(l);
  };
  for (const text of texts) {
    const characters = Array.from(text, (character) => [...Buffer.from(character)].reduce(merge));
    characters.reduce(merge);
  }
  return {
    left: Int32Array.from(left),
    right: Int32Array.from(right),
    merged: Int32Array.from(left, (_, rank) => 256 + rank),
  };
}

/** Returns the cuts inside bytes [start, end) of a text. These bytes are one pretoken. */
function cutsOf(kernel: EncodingKernel, content: string, start = 0, end = Buffer.byteLength(content)) {
  kernel.reserveText(100).bytes.set(Buffer.from(content));
  kernel.ends.set([start, end]);
  kernel.kernel.exports.limitCuts(1);
  return kernel.cuts(2).slice(1, -1);
}

test.skipIf(isSmallScale)(
  "pretokens of sixteen bytes and more are cut, wherever they are among others, and no shorter ones",
  () => {
    // No token spans two characters, so 漢 and é have cuts on both sides.
    const kernel = new EncodingKernel(
      encodingModels.build({ byteIds, merges: mergesThatMake("漢", "é") }),
      true,
    );
    for (let round = 0; round < 200; round++) {
      const pretokens = Array.from({ length: 1 + random(12) }, () =>
        Array.from({ length: 1 + random(8) }, () => ["漢", "é", "a", "bc", "defghi"][random(5)]!),
      );
      const ends = [0];
      const expected = [0];
      for (const characters of pretokens) {
        const byteCount = Buffer.byteLength(characters.join(""));
        let pos = ends.at(-1)!;
        ends.push(pos + byteCount);
        for (const [i, character] of characters.entries()) {
          pos += Buffer.byteLength(character);
          const isCut = byteCount >= 16 && /[漢é]/.test(character + (characters[i + 1] ?? ""));
          if (isCut || i === characters.length - 1) expected.push(pos);
        }
      }
      kernel.reserveText(2000).bytes.set(Buffer.from(pretokens.flat().join("")));
      kernel.ends.set(ends);
      expect({ seed, pretokens, cuts: kernel.cuts(ends.length) }).toEqual({
        seed,
        pretokens,
        cuts: expected,
      });
    }
  },
);

test("a whole token removes the cuts at its own ends, and no others", () => {
  const merges = mergesThatMake("漢", "字", "中", "文", "語", "字中");
  const plain = encodingModels.build({ byteIds, merges });
  const wholeTokens = new Map(
    [["文漢", 300]].map(([text, id]) => [Buffer.from(text as string).toString("latin1"), id as number]),
  );
  const model = encodingModels.build({ byteIds, merges, wholeTokens });
  const without = new EncodingKernel(plain, true);
  const cutting = new EncodingKernel(model, true);
  for (let round = 0; round < 2; round++) {
    for (const text of ["文字中漢", "中文語漢字", "aaa字文", "字é字", "漢文"]) {
      expect(cutsOf(without, text).length).toBeGreaterThan(0);
      expect(cutsOf(cutting, text)).toEqual(cutsOf(without, text));
    }
    expect(cutsOf(without, "語文漢語")).toEqual([3, 6, 9]);
    expect(cutsOf(cutting, "語文漢語")).toEqual([]);
    expect(cutsOf(cutting, "a文漢a")).toEqual([]);
    // Between an ASCII character and a byte of another character, a cut is removed if that byte is the first or the
    // last one of a whole token.
    expect(cutsOf(cutting, "aaa文字")).toEqual([6]);
    expect(cutsOf(cutting, "漢a漢文")).toEqual([7]);
    // Each of these pretokens has only a part of the whole token, so their cuts stay.
    expect(cutsOf(cutting, "語文漢語", 0, 6)).toEqual([3]);
    expect(cutsOf(cutting, "語文漢語", 6)).toEqual([9]);
  }
});

test("a merge across several characters on one side is recognized by the bytes next to the cut, on either side", () => {
  // These characters have two bytes each, so three bytes on one side of a cut are from two characters.
  const fromLeft = new EncodingKernel(
    encodingModels.build({ byteIds, merges: mergesThatMake("ба", "бав") }),
    true,
  );
  expect(cutsOf(fromLeft, "бав")).toEqual([]);
  expect(cutsOf(fromLeft, "вав")).toContain(4);
  const both = [..."аб", ..."вг"];
  const merges = mergesThatMake(both[0]! + both[1]!, both[2]! + both[3]!, "абвг");
  expect(cutsOf(new EncodingKernel(encodingModels.build({ byteIds, merges }), true), "абвг")).toEqual([]);
});

test("a cached answer for two characters is not used for two others with nearly the same hash", () => {
  const multiplier = 0x9e3779b1;
  let inverse = 1;
  for (let n = 0; n < 5; n++) inverse = Math.imul(inverse, 2 - Math.imul(multiplier, inverse));
  /** Returns the code point of a random character that has three bytes in UTF-8. */
  const madeCharacter = () => 0x1000 + random(0x4000);
  const isThreeBytes = (codePoint: number) =>
    codePoint >= 0x800 && (codePoint < 0xd800 || codePoint > 0xdfff);
  // `merged` and `apart` are pairs of characters. Their hashes have the same slot of the cache, and differ in one of
  // the 15 bits of the tag.
  for (let bit = 0; bit < 15; bit++) {
    for (let found = 0; found < 3; ) {
      const merged = [madeCharacter(), madeCharacter()] as const;
      const hash = Math.imul((merged[0] << 16) | merged[1], multiplier) ^ (1 << bit);
      const pair = Math.imul(hash, inverse);
      const apart = [pair >>> 16, pair & 0xffff] as const;
      if (!apart.every(isThreeBytes)) continue;
      found++;
      // In the token `neighbours`, the last byte of `apart[0]` is directly before the first byte of `apart[1]`, but the
      // token has neither character as a whole.
      const neighbours = String.fromCodePoint(apart[0] ^ 0x40, apart[1] ^ 1);
      const merges = mergesThatMake(String.fromCodePoint(...merged), neighbours);
      const kernel = new EncodingKernel(encodingModels.build({ byteIds, merges }), true);
      expect(cutsOf(kernel, String.fromCodePoint(...apart))).toContain(3);
      const cuts = cutsOf(kernel, String.fromCodePoint(...merged));
      expect({ seed, bit, merged, cuts }).toEqual({ seed, bit, merged, cuts: [] });
    }
  }
});

test("merging may begin with whole characters, wherever merges meet and in any order of them", () => {
  const characters = [..."абв中丮书"].map((character) => [...Buffer.from(character)]);
  const strays = [0x20, 0x61, 0xd0, 0xb8, 0xe4, 0xf0];
  for (let round = 0; round < 150; round++) {
    const left: number[] = [];
    const right: number[] = [];
    const isNew = (l: number, r: number) => left.every((other, i) => other !== l || right[i] !== r);
    const merge = (l: number, r: number) => {
      if (isNew(l, r)) {
        left.push(l);
        right.push(r);
      }
      return 256 + left.findIndex((other, i) => other === l && right[i] === r);
    };
    const anyByte = () =>
      random(2) === 0 ? strays[random(strays.length)]! : characters[random(6)]![random(2)]!;
    // Earlier merges may take some bytes of a character before its own merges do.
    const mergeStrays = (...[l, r]: [l?: number, r?: number]) => {
      for (let n = random(3); n > 0; n--) merge(l ?? anyByte(), r ?? anyByte());
    };
    for (const [first, second, third] of characters) {
      if (random(4) === 0) continue;
      mergeStrays();
      // A space may be merged with the character's first bytes, or with all of them.
      if (random(3) === 0) {
        const begun = merge(merge(0x20, first!), second!);
        if (third !== undefined) merge(begun, third);
      }
      const [begun, ended] = random(2) === 0 ? [merge(first!, second!)] : [first!, second!];
      let whole = begun;
      if (third !== undefined && ended !== undefined) {
        const end = merge(ended, third);
        mergeStrays(end);
        whole = merge(begun, end);
      } else if (third !== undefined) {
        mergeStrays(undefined, begun);
        whole = merge(begun, third);
      } else if (ended !== undefined) {
        whole = merge(begun, ended);
      }
      if (random(3) === 0) {
        mergeStrays(whole);
        merge(0x20, whole);
      }
    }
    const anyId = () =>
      random(3) === 0
        ? strays[random(strays.length)]!
        : random(3) === 0
          ? characters[random(6)]![random(2)]!
          : 256 + random(left.length);
    for (let n = 4 + random(20); left.length > 0 && n > 0; n--) merge(anyId(), anyId());
    const order = Array.from(left.keys());
    for (let n = random(3); n > 0; n--) order.push(...order.splice(random(order.length), 1));
    const inOrder = (numbers: readonly number[]) => Int32Array.from(order, (rank) => numbers[rank]!);
    const merges = {
      left: inOrder(left),
      right: inOrder(right),
      merged: Int32Array.from(order, (rank) => 256 + rank),
    };
    const model = encodingModels.build({ byteIds, merges });
    const kernels = (["next to foreign bytes", "nowhere"] as const).map(
      (cuts) => new EncodingKernel(model, true, { cuts }),
    );
    for (let n = 0; n < 100; n++) {
      const bytes = Array.from({ length: 1 + random(8) }, () =>
        random(5) === 0 ? [strays[random(strays.length)]!] : characters[random(characters.length)]!,
      ).flat();
      if (random(2) === 0) bytes.unshift(0x20);
      const [found, expected] = kernels.map((kernel) => {
        kernel.reserveText(64).bytes.set(bytes);
        return [...kernel.merge(bytes.length)];
      });
      expect({ seed, round, order, bytes, found }).toEqual({ seed, round, order, bytes, found: expected! });
    }
  }
});
