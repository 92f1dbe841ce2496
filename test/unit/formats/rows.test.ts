import { expect, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import {
  idRows,
  jsonSpelling,
  mergeRows,
  plainSpelling,
  withoutFirstByte,
} from "../../../src/formats/rows.ts";
import { rankRows } from "../../../src/formats/tiktoken.ts";
import type { Vocabulary } from "../../../src/tokenizer/vocabulary.ts";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { mergesOf } from "../tokenizer/made-merges.ts";

const seed = Number(process.env.TEST_SEED ?? 7);

/**
 * Returns a random vocabulary. `TokenBytes` stores the bytes of a token only if there are at most 64. To test both
 * sides of this limit, a vocabulary with many merges has tokens of exactly 64 bytes, and longer ones.
 */
function randomVocabulary(seed: number, mergeCount: number, specialTokens: string[]): Vocabulary {
  const random = randomNumbers(seed);
  const left: number[] = [];
  const right: number[] = [];
  const lengths: number[] = Array.from({ length: 256 }, () => 1);
  for (let k = 0; k < mergeCount; k++) {
    // Only one merge in twenty may make a token of more than 64 bytes. If all merges could, most tokens would be long.
    const isShort = random(20) > 0;
    let [a, b] = [random(lengths.length), random(lengths.length)];
    while (isShort && lengths[a]! + lengths[b]! > 64) [a, b] = [random(lengths.length), random(256)];
    if (lengths[a]! + lengths[b]! > 1000) [a, b] = [random(256), random(256)];
    left.push(a);
    right.push(b);
    lengths.push(lengths[a]! + lengths[b]!);
  }
  return vocabularies.build({ merges: mergesOf(left, right), specialTokens, compat: "huggingface" });
}

const spelled = ({ tokenBytes }: Vocabulary, token: number) =>
  Array.from(tokenBytes.copy(token), (byte) => byteCharacters.characters[byte]!).join("");
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** For each function of `kinds`, a naive one that gives the same rows. It uses only strings. */
const naive = {
  merges: (vocabulary: Vocabulary) =>
    Array.from({ length: vocabulary.mergeCount }, (_, k) => {
      return `,[${spelled(vocabulary, vocabulary.left[k]!)} + ${spelled(vocabulary, vocabulary.right[k]!)}]`;
    }).join(""),
  mergesInJson: (vocabulary: Vocabulary) =>
    Array.from({ length: vocabulary.mergeCount }, (_, k) => {
      const halves = [vocabulary.left[k]!, vocabulary.right[k]!].map((half) => spelled(vocabulary, half));
      return `${inJson(halves[0]!)}${inJson(halves[1]!)}\n`;
    }).join(""),
  ids: (vocabulary: Vocabulary) =>
    Array.from(vocabulary.entries, (entry, id) => {
      const name =
        entry < 0
          ? vocabulary.specialTokens[vocabularies.specialOfEntry(entry)]!
          : spelled(vocabulary, entry);
      return `,"${inJson(name)}": ${id};`;
    }).join(""),
  ranks: (vocabulary: Vocabulary) =>
    Array.from(vocabulary.entries, (entry, id) => {
      if (entry < 0) return "";
      return `${Buffer.from(vocabulary.tokenBytes.copy(entry)).toString("base64")} ${id}\n`;
    }).join(""),
};

const kinds = {
  merges: (vocabulary: Vocabulary) => mergeRows(vocabulary, [",[", " + ", "]"], plainSpelling),
  mergesInJson: (vocabulary: Vocabulary) => mergeRows(vocabulary, ["", "", "\n"], jsonSpelling),
  ids: (vocabulary: Vocabulary) => idRows(vocabulary, [',"', '": ', ";"]),
  ranks: (vocabulary: Vocabulary) => rankRows(vocabulary),
};
const names = Object.keys(kinds) as (keyof typeof kinds)[];

const textOf = (chunks: Iterable<Uint8Array>) =>
  Buffer.concat(Array.from(chunks, (chunk) => Buffer.from(chunk))).toString();

test(`rows equal those built from strings, whatever lengths tokens have (seed ${seed})`, () => {
  const specials = ['a "quoted" <\n>', "漢字 😀", "Ġt", "<|end|>"];
  for (let round = 0; round < rounds(8); round++) {
    const mergeCount = [0, 1, 2, 300, 3000][round % 5]!;
    const vocabulary = randomVocabulary(seed + round, mergeCount, specials.slice(0, round % 3));
    for (const name of names) expect(textOf(kinds[name](vocabulary))).toBe(naive[name](vocabulary));
  }
});

test("files of many chunks are complete, and numbers have as many digits as they need", () => {
  const vocabulary = randomVocabulary(seed, 110_000, ["<|end|>"]);
  for (const name of names) {
    const chunks = Array.from(kinds[name](vocabulary), (chunk) => Buffer.from(chunk));
    expect(chunks.length).toBeGreaterThan(3);
    const text = Buffer.concat(chunks).toString();
    // Comparing the texts with `toBe` would print megabytes if they differ.
    expect(text === naive[name](vocabulary)).toBe(true);
  }
});

test("rows of two vocabularies, and of two files, can be requested alternately", () => {
  const vocabularies = [randomVocabulary(seed, 30_000, []), randomVocabulary(seed + 1, 30_000, [])];
  const open = vocabularies.flatMap((vocabulary) =>
    names.map((name) => ({ rows: kinds[name](vocabulary), expected: naive[name](vocabulary), text: "" })),
  );
  for (let left = open.length; left > 0; ) {
    left = 0;
    for (const file of open) {
      const { done, value } = file.rows.next();
      if (done) continue;
      file.text += Buffer.from(value).toString("latin1");
      left++;
    }
  }
  for (const { text, expected } of open) {
    expect(text === Buffer.from(expected).toString("latin1")).toBe(true);
  }
});

test("a token of 64 bytes is cached, and one of 65 bytes is also written", () => {
  // Doublings up to 64 spaces, then one token of 65 bytes.
  const left = [32, 256, 257, 258, 259, 260, 261];
  const right = [32, 256, 257, 258, 259, 260, 97];
  const vocabulary = vocabularies.build({
    merges: mergesOf(left, right),
    specialTokens: [],
    compat: "cs336",
  });
  expect([...vocabulary.tokenBytes.starts].map((start) => start < 0).lastIndexOf(false)).toBe(261);
  const lines = textOf(
    mergeRows(vocabulary, ["<".repeat(24), "|".repeat(24), ">".repeat(24)], plainSpelling),
  );
  const line = (a: string, b: string) => `${"<".repeat(24)}${a}${"|".repeat(24)}${b}${">".repeat(24)}`;
  expect(lines.endsWith(line("Ġ".repeat(32), "Ġ".repeat(32)) + line("Ġ".repeat(64), "a"))).toBe(true);
  for (const name of names) expect(textOf(kinds[name](vocabulary))).toBe(naive[name](vocabulary));
});

test("the first of rows that begin with a comma omits it, and no other", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(textOf(withoutFirstByte([bytes(",a,b"), bytes(",c")]))).toBe("a,b,c");
  expect(textOf(withoutFirstByte([]))).toBe("");
});
