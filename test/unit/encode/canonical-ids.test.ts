import { expect, test } from "bun:test";
import { CanonicalCheck } from "../../../src/encode/canonical-ids.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import { firstDifference } from "../../../src/tokenizer/first-difference.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { TokenDecoder } from "../../../src/tokenizer/token-decoder.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const parts = await tokenizerFiles.load(writeTokenizer("cl100k"), {});
const { tokens } = parts;
const encoding = new TextEncoding(parts);
const decoder = new TokenDecoder(tokens);

function encode(bytes: Uint8Array): number[] {
  encoding.pushText(bytes, 0, bytes.length);
  return [...encoding.out.flush()];
}
const textOf = (ids: readonly number[]) => decoder.decode(Uint32Array.from(ids)).bytes;
const canonicalOf = (ids: readonly number[]) => encode(textOf(ids));

/** Splits some tokens in two, and replaces their ids by those of the parts. */
function broken(ids: readonly number[], share: number, next: () => number): number[] {
  return ids.flatMap((id) => {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (bytes.length < 2 || next() > share) return [id];
    const middle = 1 + Math.floor(next() * (bytes.length - 1));
    return [...encode(bytes.subarray(0, middle)), ...encode(bytes.subarray(middle))];
  });
}

/** Returns a function that returns random numbers of at least 0 and less than 1. */
function unitRandom(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => random(1 << 20) / (1 << 20);
}

test("ids are canonical if encoding their text gives them, pushed in parts of any size", () => {
  const check = new CanonicalCheck(parts);
  let foundCount = 0;
  for (let round = 0; round < rounds(400); round++) {
    const next = unitRandom(round + 1);
    const text = `${madeText(round + 1, 1 + Math.floor(next() * 60))}${next() < 0.3 ? "<|endoftext|>漢字é 𝒳" : ""}`;
    const ids = broken(encode(Buffer.from(text)), round % 2 === 0 ? 0 : 0.05, next);
    const canonical = canonicalOf(ids);
    for (let start = 0; start < ids.length; ) {
      const end = Math.min(ids.length, start + 1 + Math.floor(next() * 40));
      check.take(Uint32Array.from(ids.slice(start, end)));
      start = end;
    }
    const place = check.end();
    const index = firstDifference(ids, canonical);
    expect(place?.index ?? -1).toBe(index);
    if (place === null) continue;
    foundCount++;
    expect(ids.slice(index, index + place.given.length)).toEqual([...place.given]);
    expect(canonical.slice(index, index + place.canonical.length)).toEqual([...place.canonical]);
    expect(textOf(place.given)).toEqual(textOf(place.canonical));
  }
  expect(foundCount).toBeGreaterThan(rounds(400) / 10);
});

test("spans are the shortest with the same bytes, and the other ids are equal", () => {
  for (let round = 0; round < rounds(400); round++) {
    const next = unitRandom(round + 1);
    const ids = broken(encode(Buffer.from(madeText(round + 1, 40))), 0.2, next);
    const canonical = canonicalOf(ids);
    const recoded = [...ids];
    for (const { start, end, canonicalStart, canonicalEnd } of decoder
      .recodedSpans(ids, canonical, true)
      .reverse()) {
      const [given, others] = [ids.slice(start, end), canonical.slice(canonicalStart, canonicalEnd)];
      expect(textOf(given)).toEqual(textOf(others));
      const ends = (list: number[]) => list.map((_, i) => textOf(list.slice(0, i + 1)).length).slice(0, -1);
      expect(ends(given).filter((byte) => ends(others).includes(byte))).toEqual([]);
      recoded.splice(start, end - start, ...others);
    }
    expect(recoded).toEqual(canonical);
  }
});

test("texts that differ have one span, between the equal parts at both ends", () => {
  const spans = (given: number[], canonical: number[]) => decoder.recodedSpans(given, canonical, false);
  expect(spans([1, 2, 3], [1, 2, 3])).toEqual([]);
  expect(spans([1, 2, 3], [1, 9, 8, 3])).toEqual([{ start: 1, end: 2, canonicalStart: 1, canonicalEnd: 3 }]);
  expect(spans([1, 1], [1, 1, 1])).toEqual([{ start: 2, end: 2, canonicalStart: 2, canonicalEnd: 3 }]);
  expect(spans([], [5])).toEqual([{ start: 0, end: 0, canonicalStart: 0, canonicalEnd: 1 }]);
});

test("the first difference is found whatever follows it, and the next text starts over", () => {
  const check = new CanonicalCheck(parts);
  const split = [..." lower"].map((letter) => encode(Buffer.from(letter))[0]!);
  const long = encode(Buffer.from(`${madeText(3, 3000)}.`));
  check.take(Uint32Array.from([...long, ...split, ...long]));
  expect(check.end()?.index).toBe(long.length);
  check.take(Uint32Array.from(long));
  expect(check.end()).toBeNull();
  expect(check.end()).toBeNull();
});

test("an id without a token is refused with its position, even after a difference", () => {
  const check = new CanonicalCheck(parts);
  const a = encode(Buffer.from("a"))[0]!;
  check.take(Uint32Array.of(a, a));
  expect(() => check.take(Uint32Array.of(a, tokens.idLimit))).toThrow(
    `id ${tokens.idLimit} at position 3 is not in the vocabulary`,
  );
});
