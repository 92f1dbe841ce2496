import { expect, test } from "bun:test";
import { unicodeVersion } from "../../src/pattern/unicode-data.ts";
import type { CountsOptions } from "../../src/words/counts-format.ts";
import { readTsvHead, tsvHead } from "../../src/words/tsv.ts";
import { errorOf } from "../thrown.ts";
import { bytesOf } from "./generators.ts";

const options: CountsOptions = {
  patterns: ["\\p{N}{1,3}", "é|\\s+"],
  specialTokens: ["a\ttab", "two\nlines", "\u2028", "#bpe-counts\t{"],
  isLinewise: true,
};

/** Read with at most so many bytes at a time. */
function read(file: Uint8Array, pieceBytes = 1 << 30) {
  let pos = 0;
  const { options: found, rest } = readTsvHead("words.tsv", (into) => {
    const piece = file.subarray(pos, pos + Math.min(pieceBytes, into.length));
    into.set(piece);
    pos += piece.length;
    return piece.length;
  });
  return { found, text: Buffer.concat([rest, file.subarray(pos)]).toString() };
}

const messageOf = (text: string) => errorOf(() => read(bytesOf(text))).message;

test("what is stated is read, in pieces of any size, and the words behind it are left", () => {
  const long = { ...options, specialTokens: Array.from({ length: 2000 }, (_, i) => `<|${i}|>`) };
  for (const stated of [options, long]) {
    const head = tsvHead(stated);
    expect(head.indexOf(10)).toBe(head.length - 1);
    for (const words of ["", "a\t1\n#bpe-counts\t7\n"]) {
      for (const pieceBytes of [1, 5, 4096, 1 << 30]) {
        const file = Buffer.concat([head, Buffer.from(words)]);
        expect(read(file, pieceBytes)).toMatchObject({ found: stated, text: words });
      }
    }
    expect(read(head.subarray(0, -1))).toMatchObject({ found: stated, text: "" });
  }
});

test("words are no header, also one that is called like it", () => {
  for (const text of [
    "",
    "a\t1\n",
    "#bpe-counts\t12\nb\t1\n",
    "#bpe-count",
    "#bpe-counts\t",
    "#bpe-counts{\t3\n",
  ]) {
    for (const pieceBytes of [1, 1 << 30]) {
      expect(read(bytesOf(text), pieceBytes)).toEqual({ found: null, text });
    }
  }
});

test("a header that says more, less or something else is refused by name", () => {
  const stated = JSON.parse(Buffer.from(tsvHead(options)).toString().split("\t").slice(1).join("\t"));
  const changed = (change: object) =>
    messageOf(`#bpe-counts\t${JSON.stringify({ ...stated, ...change })}\na\t1\n`);
  const said = (what: string) => `words.tsv: its header ${what}`;
  expect(changed({ version: 2 })).toBe("words.tsv has version 2 of the counts format; this program reads 1");
  expect(changed({ version: undefined })).toContain("has no version");
  expect(changed({ wordCount: 3 })).toBe(said('says "wordCount", which this program does not know'));
  expect(changed({ patterns: undefined })).toBe(said('is not right: it has no "patterns"'));
  expect(changed({ isLinewise: "no" })).toBe(
    said('is not right: its "isLinewise" is "no", neither true nor false'),
  );
  expect(changed({ unicode: "1.0" })).toBe(
    `words.tsv was made with the letters of Unicode 1.0, and this program has those of ${unicodeVersion}`,
  );
  expect(messageOf("#bpe-counts\t{")).toBe(said("is no JSON object"));
  expect(messageOf('#bpe-counts\t{"version":1}\u00e9\n')).toBe(said("is no JSON object"));
  expect(messageOf(`#bpe-counts\t{"a":"${"x".repeat(1 << 24)}`)).toBe(
    said("is longer than any that bpe writes"),
  );
});
