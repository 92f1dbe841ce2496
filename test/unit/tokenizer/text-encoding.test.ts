import { expect, test } from "bun:test";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { type AddedToken, isCutUnchanged } from "../../../src/text/cutting.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import type { EncodingParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeText } from "./made-merges.ts";
import { writeTokenizer } from "./made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 41);
const random = randomNumbers(seed);

const gpt2 = (await Tokenizer.load(writeTokenizer("gpt2"))).parts;
const flags = { special: false, normalized: false, lstrip: false, rstrip: false, singleWord: false };

/**
 * Returns two encoders. In one, the kernel does everything. In the other, the text goes through the links of a
 * `TextChain`, because this encoder has a token that depends on the text next to it.
 */
function bothWays(parts: EncodingParts, specialTokensAsText: boolean): [TextEncoding, TextEncoding] {
  expect(isCutUnchanged(parts)).toBe(true);
  const never: AddedToken = { ...flags, id: 400, content: "\u{10ffff}never", singleWord: true };
  const byLinks = { ...parts, addedTokens: [...parts.addedTokens, never] };
  expect(isCutUnchanged(byLinks)).toBe(false);
  return [
    new TextEncoding({ ...parts, specialTokensAsText }),
    new TextEncoding({ ...byLinks, specialTokensAsText }),
  ];
}

/** Encodes in pieces of `pieceBytes` bytes. */
function encodeBy(encoding: TextEncoding, bytes: Uint8Array, pieceBytes: number): number[] {
  for (let pos = 0; pos < bytes.length; pos += pieceBytes) {
    encoding.push(bytes, pos, Math.min(bytes.length, pos + pieceBytes));
    expect(encoding.pendingBytes).toBeGreaterThanOrEqual(0);
  }
  encoding.end();
  return [...encoding.out.flush()];
}

/** Returns tokens that contain and overlap one another, with few or many different first bytes. */
function madeTokens(): AddedToken[] {
  const letters =
    random(2) === 0 ? ["<", "a", "|"] : ["<", "a", "b", "c", "|", "é", " ", "漢", "d", "e", "f"];
  const normalized = random(4) === 0;
  return Array.from({ length: random(8) }, (_, i) => {
    const content = Array.from({ length: 1 + random(random(3) === 0 ? 20 : 4) }, () => {
      return letters[random(letters.length)]!;
    }).join("");
    return { ...flags, id: 300 + i, content, normalized, special: random(2) === 0 };
  });
}

function madeBytes(tokens: readonly AddedToken[], length: number): Uint8Array {
  const parts = Array.from({ length }, (_, n) => {
    const kind = random(4);
    if (kind === 0 || tokens.length === 0) return madeText(seed + n + random(1000), 3);
    const { content } = tokens[random(tokens.length)]!;
    return kind === 1 ? content.slice(0, 1 + random(content.length)) : content;
  });
  const bytes = Buffer.from(parts.join(""));
  if (random(3) === 0 && bytes.length > 0) bytes[random(bytes.length)] = random(256);
  return bytes;
}

test("the kernel finds added tokens and pretokens like the links of the chain, for any tokens and pieces", () => {
  for (let round = 0; round < rounds(15); round++) {
    const addedTokens = madeTokens();
    const ways = bothWays({ ...gpt2, addedTokens }, random(3) === 0);
    for (let n = 0; n < 12; n++) {
      const bytes = madeBytes(addedTokens, random(20));
      const expected = encodeBy(ways[1], bytes, Math.max(1, bytes.length));
      for (const pieceBytes of [1, 2 + random(9), Math.max(1, bytes.length)]) {
        const ids = encodeBy(ways[0], bytes, pieceBytes);
        expect({ seed, round, n, pieceBytes, ids }).toEqual({ seed, round, n, pieceBytes, ids: expected });
      }
    }
  }
});

test("a text longer than a slice of work is encoded completely, with tokens at its blocks' ends", () => {
  const addedTokens = [{ ...flags, id: 300, content: "<|x|>" }];
  const [kernel, links] = bothWays({ ...gpt2, addedTokens }, false);
  const bytes = Buffer.alloc(3_000_000, "the low, er ");
  for (let block = 1 << 14; block < bytes.length; block += 1 << 14) {
    if (random(3) > 0) bytes.write("<|x|>", block - random(8));
  }
  const expected = encodeBy(links, bytes, 1 << 18);
  // The first encoding is in pieces, so that the text is moved while tokens are found in it. After that, the buffer can
  // hold the whole text.
  expect(encodeBy(kernel, bytes, 100_000)).toEqual(expected);
  expect(encodeBy(kernel, bytes, bytes.length)).toEqual(expected);
});

test("a pattern whose four-byte tables are built lazily gives the same ids before and after", () => {
  const pattern = compiledPatterns.compile(["\\p{L}+|\\s|[^\\p{L}\\s]{1,3}"]);
  const [kernel, links] = bothWays({ ...gpt2, pattern }, false);
  const bytes = Buffer.from(Array.from({ length: 40_000 }, (_, n) => madeText(n, 4)).join(" "));
  expect(bytes.length).toBeGreaterThan(1 << 19);
  const expected = encodeBy(links, bytes, bytes.length);
  expect(encodeBy(kernel, bytes, 1 << 16)).toEqual(expected);
});

/** Concatenates words, in the layout of tables of words. */
function tableOf(words: readonly Uint8Array[]): { bytes: Uint8Array; starts: Uint32Array } {
  const starts = new Uint32Array(words.length + 1);
  words.forEach((word, i) => {
    starts[i + 1] = starts[i]! + word.length;
  });
  return { bytes: Buffer.concat(words), starts };
}

test("many pretokens at once have the ids of each alone, and are not cut", () => {
  const [kernel, links] = bothWays(gpt2, false);
  const texts = Array.from({ length: 300 }, (_, n) => Buffer.from(madeText(seed + n, 1 + random(30))));
  const { bytes, starts } = tableOf(texts);
  kernel.pushPretokens(bytes, starts, 10, 290);
  const ids = [...kernel.out.flush()];
  for (let word = 10; word < 290; word++) links.pushPretokens(bytes, starts, word, word + 1);
  expect(ids).toEqual([...links.out.flush()]);
});
