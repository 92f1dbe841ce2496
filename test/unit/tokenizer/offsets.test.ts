import { expect, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { tokenizerOfJson } from "../../../src/formats/tokenizer-json.ts";
import { TextEncoding, TextNotes } from "../../../src/tokenizer/text-encoding.ts";
import { TokenDecoder } from "../../../src/tokenizer/token-decoder.ts";
import { rounds } from "../../rounds.ts";
import { madeTrial } from "../text/made-trials.ts";
import { jsonOf, writeTokenizer } from "./made-tokenizer.ts";
import { OffsetFinder, readNotes, tokenStarts } from "./naive-offsets.ts";

const seed = Number(process.env.TEST_SEED ?? 23);

type Flags = { lstrip?: boolean; rstrip?: boolean; normalized?: boolean };

/**
 * Returns a function that finds the positions of tokens in a text, for a tokenizer of bytes, " a", "  " and added
 * tokens. The positions in characters that the tests expect are those of HF 0.23.3.
 */
function finderOf(added: Record<string, Flags>, { prefixSpace = false, trims = [] as boolean[] } = {}) {
  const tokens = [...byteCharacters.characters, "Ġa", "ĠĠ"];
  const all = { lstrip: false, rstrip: false, single_word: false, normalized: false, special: true };
  const json = {
    added_tokens: Object.entries(added).map(([content, flags], i) => ({
      id: 258 + i,
      content,
      ...all,
      ...flags,
    })),
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: prefixSpace, trim_offsets: true, use_regex: false },
    post_processor: {
      type: "Sequence",
      processors: trims.map((add_prefix_space) => ({
        type: "ByteLevel",
        trim_offsets: true,
        add_prefix_space,
      })),
    },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: [
        ["Ġ", "a"],
        ["Ġ", "Ġ"],
      ],
    },
  };
  const parts = tokenizerOfJson(Buffer.from(JSON.stringify(json)), "made");
  const notes = new TextNotes();
  const encoding = new TextEncoding(parts, notes);
  return (content: string, unit: "bytes" | "characters") => {
    const text = Buffer.from(content);
    notes.clear();
    encoding.pushText(text, 0, text.length);
    const ids = [...encoding.out.flush()];
    const { starts, ends } = new OffsetFinder(parts).find(text, ids, notes, unit);
    return Array.from(starts, (start, i) => [start, ends[i]]);
  };
}

test("in bytes tokens are adjacent, and in characters they may share one", () => {
  const find = finderOf({});
  expect(find("é a", "bytes")).toEqual([
    [0, 1],
    [1, 2],
    [2, 4],
  ]);
  expect(find("é a", "characters")).toEqual([
    [0, 1],
    [0, 1],
    [1, 3],
  ]);
  expect(find("", "characters")).toEqual([]);
});

test("an added token includes white space that it strips, up to that of the next one", () => {
  const find = finderOf({ "<l>": { lstrip: true }, "<r>": { rstrip: true, normalized: true } });
  expect(find("b <l>", "bytes")).toEqual([
    [0, 1],
    [1, 5],
  ]);
  expect(find("<r>\u00a0 b", "bytes")).toEqual([
    [0, 6],
    [6, 7],
  ]);
  // `<l>` is found first, so the space before it belongs to it.
  expect(find("<r> <l>", "characters")).toEqual([
    [0, 3],
    [3, 7],
  ]);
});

test("a space that is put before the text counts as the first character", () => {
  const find = finderOf({ "<x>": {} }, { prefixSpace: true });
  expect(find("a", "bytes")).toEqual([[0, 1]]);
  expect(find("b", "bytes")).toEqual([
    [0, 0],
    [0, 1],
  ]);
  expect(find("é", "characters")).toEqual([
    [0, 1],
    [0, 1],
    [0, 1],
  ]);
  expect(find(" a<x>b", "characters")).toEqual([
    [0, 2],
    [2, 5],
    [5, 6],
    [5, 6],
  ]);
});

test("a post-processor trims like HF's", () => {
  expect(finderOf({}, { trims: [false] })("b a  ", "characters")).toEqual([
    [0, 1],
    [2, 3],
    [5, 5],
  ]);
  // With add_prefix_space, a single space at the start is not trimmed, because it may have been added. Two are trimmed.
  expect(finderOf({}, { trims: [true] })(" a", "characters")).toEqual([[0, 2]]);
  expect(finderOf({}, { trims: [false] })(" a", "characters")).toEqual([[1, 2]]);
  expect(finderOf({}, { trims: [true] })("  ", "characters")).toEqual([[2, 2]]);
  expect(finderOf({ "<l>": { lstrip: true } }, { trims: [true] })("b\u2028<l>", "characters")).toEqual([
    [0, 1],
    [2, 5],
  ]);
  expect(finderOf({}, { trims: [false] })("b a", "bytes")).toEqual([
    [0, 1],
    [1, 3],
  ]);
});

test("a text of one space is trimmed from either side, like in HF", () => {
  expect(finderOf({}, { trims: [true] })(" ", "characters")).toEqual([[0, 0]]);
  expect(finderOf({}, { trims: [false] })(" ", "characters")).toEqual([[1, 1]]);
});

test("steps that trim in two ways are refused for characters", () => {
  const find = finderOf({}, { trims: [true, false] });
  expect(find("b a", "bytes")).toHaveLength(2);
  expect(() => find("b a", "characters")).toThrow("in different ways");
  expect(finderOf({}, { trims: [false, false] })("b  ", "characters")).toEqual([
    [0, 1],
    [3, 3],
  ]);
});

test("the kernel places tokens like the naive rule, including inside changed parts", () => {
  const base = jsonOf(writeTokenizer("gpt2"));
  let changedCount = 0;
  for (let trial = 0; trial < rounds(60); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    let parts: ReturnType<typeof tokenizerOfJson>;
    try {
      parts = tokenizerOfJson(Buffer.from(JSON.stringify(json)), "made");
    } catch {
      continue; // Other tests cover refusals.
    }
    const notes = new TextNotes();
    const encoding = new TextEncoding(parts, notes);
    const decoder = new TokenDecoder(parts.tokens);
    for (const content of [...texts, `${texts.join("e\u0323\u0301\uac00\u11a8ﬁ\u0344")}İ`]) {
      const text = Buffer.from(content);
      notes.clear();
      encoding.pushText(text, 0, text.length);
      const ids = Uint32Array.from(encoding.out.flush());
      const noted = readNotes(notes);
      const starts = tokenStarts(parts.tokens, ids, noted, text.length);
      const found = decoder.spans(text, ids, notes, false);
      const about = { seed, trial, content };
      expect({ ...about, starts: found && [...found.starts] }).toEqual({
        ...about,
        starts: starts && [...starts.subarray(0, -1)],
      });
      if (starts !== null) changedCount += noted.changes.length;
    }
  }
  expect(changedCount).toBeGreaterThan(rounds(40));
});
