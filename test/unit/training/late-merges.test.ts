import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import { trainTokenizer } from "../../../src/index.ts";
import { EncodingKernel, IdBuffer } from "../../../src/tokenizer/encoding-kernel.ts";
import type { EncodingModel } from "../../../src/tokenizer/encoding-model.ts";
import * as encodingModels from "../../../src/tokenizer/encoding-model.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { isThorough, rounds } from "../../rounds.ts";
import { encodeWith, uncutEncoding } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 11);
const random = randomNumbers(seed);
const one = <T>(list: ArrayLike<T>) => list[random(list.length)]!;

/** Turns off cuts within pretokens, and therefore late merges: this is plain merging. */
const uncut = { cuts: "nowhere" } as const;

function factsOf(model: EncodingModel): { mergeCount: number; lateRank: number } {
  const { kernel, modelAddress } = new EncodingKernel(model, true);
  const head = new Uint32Array(kernel.memory.buffer, modelAddress, kernel.exports.modelHeadBytes() / 4);
  return { mergeCount: head[4]!, lateRank: head.at(-1)! };
}

/** Each merge is [left, right, merged]. The lowest rank comes first. */
type Merges = readonly (readonly number[])[];

/** Returns random merges of letters and merged tokens, and their model. No two merges make the same token. */
function madeModel(
  count: number,
  letters: string,
  firstId: number,
): { model: EncodingModel; merges: Merges } {
  const tokens = [...letters].map((letter) => ({ id: letter.charCodeAt(0), text: letter }));
  const merges: number[][] = [];
  for (let tries = 0; merges.length < count && tries < 1000; tries++) {
    const [a, b] = [one(tokens), one(tokens)];
    const text = a.text + b.text;
    if (text.length > 12 || tokens.some((token) => token.text === text)) continue;
    const id = firstId + merges.length;
    merges.push([a.id, b.id, id]);
    tokens.push({ id, text });
  }
  return { model: modelOf(merges), merges };
}

function modelOf(merges: Merges): EncodingModel {
  const column = (c: number) => Int32Array.from(merges, (merge) => merge[c]!);
  return encodingModels.build({
    byteIds: Int32Array.from({ length: 256 }, (_, byte) => byte),
    merges: { left: column(0), right: column(1), merged: column(2) },
  });
}

/** Merges the leftmost pair of the lowest rank until no pair is left. */
function naiveIds(merges: Merges, pretoken: string): number[] {
  const ids = [...Buffer.from(pretoken, "latin1")];
  for (;;) {
    const rank = merges.findIndex(([a, b]) => ids.some((id, i) => id === a && ids[i + 1] === b));
    if (rank < 0) return ids;
    const [a, b, merged] = merges[rank]!;
    const at = ids.findIndex((id, i) => id === a && ids[i + 1] === b);
    ids.splice(at, 2, merged!);
  }
}

/** Returns the ids of pretokens with these ends. */
function idsOf(kernel: EncodingKernel, text: string, ends: readonly number[], isNarrow: boolean): number[] {
  const out = new IdBuffer(isNarrow);
  kernel.reserveText(text.length);
  kernel.text.bytes.set(Buffer.from(text, "latin1"));
  kernel.encode(Int32Array.from(ends), ends.length, out);
  return [...out.flush()];
}

const madeText = (letters: string, length: number) =>
  random(5) === 0
    ? "ab ".repeat(length / 3)
    : Array.from({ length }, () => letters[random(letters.length)]).join("");

test("merges over spaces that are applied after all others give the ids of plain merging", () => {
  let lateCount = 0;
  for (let round = 0; round < rounds(40); round++) {
    const letters = one(["ab ", "a ", "abc  ", "ab\n ", "ab,é ", "aB \x7f"]);
    const isNarrow = random(3) > 0;
    const { model, merges } = madeModel(1 + random(40), letters, isNarrow ? 256 : 70_000);
    const { mergeCount, lateRank } = factsOf(model);
    if (lateRank < mergeCount) lateCount++;
    const late = new EncodingKernel(model, isNarrow);
    const whole = new EncodingKernel(model, isNarrow, uncut);
    if (random(3) === 0) late.limitMerging(random(5));
    for (let n = 0; n < 6; n++) {
      const text = madeText(letters, 1 + random(n === 0 ? 900 : 60));
      const inner = Array.from({ length: random(one([4, 40])) }, () => random(text.length + 1));
      const ends = [...new Set([0, ...inner, text.length])].sort((a, b) => a - b);
      const found = idsOf(late, text, ends, isNarrow);
      expect({ seed, round, text, ends, found }).toEqual({
        seed,
        round,
        text,
        ends,
        found: idsOf(whole, text, ends, isNarrow),
      });
      if (text.length > 60) continue;
      const pretokens = ends.slice(1).map((end, i) => text.slice(ends[i], end));
      const naive = pretokens.flatMap((pretoken) => naiveIds(merges, pretoken));
      expect({ seed, round, text, ends, found }).toEqual({ seed, round, text, ends, found: naive });
    }
    const text = madeText(letters, 1 + random(60));
    const ids = (kernel: EncodingKernel) => {
      kernel.reserveText(text.length);
      kernel.text.bytes.set(Buffer.from(text, "latin1"));
      return [...kernel.merge(text.length)];
    };
    expect({ seed, round, text, ids: ids(late) }).toEqual({ seed, round, text, ids: ids(whole) });
  }
  expect(lateCount).toBeGreaterThan(rounds(20));
});

test("a line of any length, with segments of any length, is merged like in plain merging", () => {
  const letters = "ab ";
  for (let round = 0; round < rounds(10); round++) {
    const { model } = madeModel(30, letters, 256);
    const late = new EncodingKernel(model, true);
    const whole = new EncodingKernel(model, true, uncut);
    // More bytes than 16 bits can count.
    const length = isThorough ? 1_000_000 : 150_000;
    const part = madeText(letters, 2 + random(20));
    const texts = [part.repeat(length / part.length), madeText(letters, length)];
    for (const text of texts) {
      const ends = [0, random(text.length), text.length].filter((end, i, all) => end !== all[i - 1]);
      const found = idsOf(late, text, ends, true);
      const wanted = idsOf(whole, text, ends, true);
      const differs = found.findIndex((id, i) => id !== wanted[i]);
      expect({ seed, round, part, differs, count: found.length }).toEqual({
        seed,
        round,
        part,
        differs: -1,
        count: wanted.length,
      });
    }
  }
});

test("a segment of any length is merged like in plain merging", () => {
  const [a, space] = [0x61, 0x20];
  const merges = [
    [a, space, 256],
    [a, a, 257],
    [257, 257, 258],
    [258, 257, 259],
    [258, 258, 260],
  ];
  const model = modelOf(merges);
  expect(factsOf(model)).toEqual({ mergeCount: 5, lateRank: 0 });
  const late = new EncodingKernel(model, true);
  const whole = new EncodingKernel(model, true, uncut);
  const around = [1, 3, 64, 72, 144, 216, 1024, 2048, 3072].flatMap((n) => [n, n + 1, n + 2, n + 3]);
  for (const length of around) {
    for (const before of ["", ",,,", "a ,"]) {
      const text = `${before}${"a".repeat(length)} a,aa`;
      const ends = [0, text.length];
      const found = idsOf(late, text, ends, true);
      expect({ before, length, found }).toEqual({ before, length, found: idsOf(whole, text, ends, true) });
    }
  }
});

test("many pretokens end at any position of a chunk", () => {
  const { model } = madeModel(30, "ab ", 256);
  const late = new EncodingKernel(model, true);
  const whole = new EncodingKernel(model, true, uncut);
  for (let round = 0; round < rounds(10); round++) {
    const text = madeText("ab ", 6000);
    const ends = [0];
    while (ends.at(-1)! < text.length)
      ends.push(Math.min(text.length, ends.at(-1)! + 1 + random(one([1, 4, 40]))));
    const found = idsOf(late, text, ends, true);
    expect({ seed, round, found }).toEqual({ seed, round, found: idsOf(whole, text, ends, true) });
  }
});

test("a character that late merges make is single bytes before they are applied", () => {
  const [a, b, c, space] = [0x61, 0x62, 0x63, 0x20];
  // Merges the bytes of 日 and the bytes of 本, then both characters.
  const merges = [
    [b, c, 256],
    ...[
      [a, space, 257],
      [0xe6, 0x97, 258],
      [258, 0xa5, 259],
      [0xe6, 0x9c, 260],
      [260, 0xac, 261],
      [259, 261, 262],
    ],
  ];
  const model = modelOf(merges);
  expect(factsOf(model)).toEqual({ mergeCount: 7, lateRank: 1 });
  const text = Buffer.from("日本a 日本bc日a").toString("latin1");
  const ends = [0, text.length];
  const wanted = [262, 257, 262, 256, 259, a];
  expect(idsOf(new EncodingKernel(model, true, uncut), text, ends, true)).toEqual(wanted);
  expect(idsOf(new EncodingKernel(model, true), text, ends, true)).toEqual(wanted);
});

test("merges of a byte and a space are late if the byte is visible, at any position of a block", () => {
  const [a, space] = [0x61, 0x20];
  for (const byte of [0x00, 0x09, 0x0a, 0x1f, 0x20, 0x21, 0x41, 0x7e, 0x7f, 0xc3]) {
    const merges = [
      [byte, space, 256],
      [a, space, 257],
      [256, space, 258],
      [257, byte, 259],
    ];
    const model = modelOf(merges);
    const isVisible = byte > 0x20 && byte < 0x7f;
    expect({ byte, ...factsOf(model) }).toEqual({ byte, mergeCount: 4, lateRank: isVisible ? 0 : 1 });
    const late = new EncodingKernel(model, true);
    for (let n = 0; n < 4; n++) {
      const text = madeText(String.fromCharCode(byte, a, space, space), 250);
      const found = idsOf(late, text, [0, text.length], true);
      expect({ seed, byte, text, found }).toEqual({ seed, byte, text, found: naiveIds(merges, text) });
    }
  }
});

test("segments of every length, at every position, are merged like in plain merging", () => {
  // Segments, as late-merges.ts defines them, consist here of these symbols, and end at a comma or a line feed.
  const symbols = ["a", "b", " "];
  const merges: number[][] = [];
  const ids = [0x61, 0x62, 0x20];
  for (let id = 256; merges.length < 30; id++) {
    const [left, right] = merges.length === 0 ? [0x61, 0x20] : [one(ids), one(ids)];
    if (merges.some(([l, r]) => l === left && r === right)) continue;
    merges.push([left!, right!, id]);
    ids.push(id);
  }
  const model = modelOf(merges);
  const kernels = [true, false].map((isNarrow) => ({
    isNarrow,
    kernel: new EncodingKernel(model, isNarrow),
  }));
  for (let round = 0; round < rounds(60); round++) {
    const parts = Array.from({ length: 1 + random(60) }, () =>
      Array.from({ length: 1 + random(one([2, 3, 5, 8, 20, 90])) }, () => one(symbols)).join(""),
    );
    const text = parts.join(one([",", ",,", "\n"]));
    const found = kernels.map(({ kernel, isNarrow }) => idsOf(kernel, text, [0, text.length], isNarrow));
    const wanted = parts.length < 30 ? naiveIds(merges, text) : found[0]!;
    expect({ seed, round, text, found }).toEqual({ seed, round, text, found: [wanted, wanted] });
  }
});

const words = ["the", "of", "house", "in", "a", "x1", "12", "é", "漢字", "…", "“quoted”", "re-do", "don't"];
const spaces = [" ", " ", " ", "  ", "\n", ", ", ": ", ". ", "\r\n", "\t", " -- "];
const madeProse = (length: number) => Array.from({ length }, () => one(words) + one(spaces)).join("");

test("a tokenizer with superwords encodes like plain merging, and like HF with its tokenizer.json", async () => {
  const home = scratch();
  for (const compat of ["cs336", "huggingface"] as const) {
    const output = join(home, compat);
    const tokenizer = await trainTokenizer({
      files: put(home, `${compat}.txt`, madeProse(6000)),
      specialTokens: ["<|end|>"],
      vocabSize: 700,
      superwordsFrom: 400,
      compat,
      output,
    });
    const { parts } = tokenizer;
    const { mergeCount, lateRank } = factsOf(parts.model);
    expect(lateRank).toBeGreaterThan(50);
    expect(lateRank).toBeLessThan(mergeCount - 100);
    const late = new TextEncoding(parts);
    const whole = uncutEncoding({ ...parts, addedTokens: [] });
    const peer = HuggingFace.fromString(readFileSync(join(output, "tokenizer.json"), "utf8"));
    for (let round = 0; round < rounds(15); round++) {
      const text = madeProse(1 + random(80));
      const bytes = Buffer.from(text);
      const ids = encodeWith(late, bytes);
      expect({ seed, round, text, ids }).toEqual({ seed, round, text, ids: encodeWith(whole, bytes) });
      const marked = `${text}<|end|>${madeProse(3)}`;
      const peerIds = (await peer.encode(marked)).getIds();
      expect({ marked, ids: encodeWith(late, Buffer.from(marked)) }).toEqual({ marked, ids: peerIds });
      for (let n = random(3); n > 0; n--) bytes[random(bytes.length)] = random(256);
      expect(encodeWith(late, bytes)).toEqual(encodeWith(whole, bytes));
    }
  }
});

test("ordinary vocabularies have no late merges", async () => {
  const home = scratch();
  // As in real vocabularies, the bytes of these Unicode spaces are merged before any merge with a space, so no merge is
  // late.
  const files = put(home, "text.txt", madeProse(3000) + " \u00a0 \u00a0 \u3000 \u3000 ".repeat(300));
  for (const pattern of ["gpt2", "cl100k", "o200k"]) {
    const { mergeCount, lateRank } = factsOf(
      (await trainTokenizer({ files, vocabSize: 450, pattern })).parts.model,
    );
    expect({ pattern, lateRank }).toEqual({ pattern, lateRank: mergeCount });
  }
});
