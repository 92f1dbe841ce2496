import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { bothOf, huggingFaceIds, jsonOf, type TokenizerJson, writeTokenizer } from "./made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 17);
const random = randomNumbers(seed);
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;

/** Letters of one to four bytes; few, so that the same sequences recur often. */
const letters = ["a", "e", "é", "ü", "д", "у", "漢", "字", "는", "다", "𠀀", "𠮷"];
const madeWord = (lengthMax: number) =>
  Array.from({ length: 1 + random(lengthMax) }, () => pick(letters)).join("");

/** Returns a tokenizer.json with `ignore_merges`. The words in `wholes` are tokens, most without merges. */
function madeJson(): { json: TokenizerJson; wholes: string[] } {
  const json = jsonOf(writeTokenizer("gpt2"));
  const { vocab } = json.model;
  json.model.ignore_merges = true;
  json.model.merges = [];
  let id = 1000;
  const merge = (left: string, right: string) => {
    if (left + right in vocab && (vocab[left + right] ?? 0) >= 1000) return;
    vocab[left + right] ??= id++;
    json.model.merges.push([left, right]);
  };
  for (const letter of letters) {
    const bytes = [...byteCharacters.encode(Buffer.from(letter))];
    // Some letters stay two or more tokens.
    if (random(4) === 0) continue;
    bytes.reduce((left, right) => {
      merge(left, right);
      return left + right;
    });
  }
  const known = () => pick(Object.keys(vocab).filter((token) => byteCharacters.decode(token) !== null));
  for (let n = random(12); n > 0; n--) merge(known(), known());
  const wholes = Array.from({ length: 1 + random(8) }, () => (random(3) === 0 ? " " : "") + madeWord(4));
  for (const whole of wholes) vocab[byteCharacters.encode(Buffer.from(whole))] ??= id++;
  if (random(2) === 0)
    vocab[byteCharacters.encode(Buffer.from(madeWord(3)).subarray(0, 2 + random(3)))] ??= id++;
  return { json, wholes };
}

/** Returns one to four parts, each a whole token or a random word. */
const madeNeighbours = (wholes: readonly string[]) =>
  Array.from({ length: 1 + random(4) }, () => (random(2) === 0 ? pick(wholes) : madeWord(3))).join("");

/** By `ignore_merges`, a pretoken that is a token has its id; otherwise merges apply. */
function encodeNaively({ model: { vocab, merges } }: TokenizerJson, pretoken: string): number[] {
  const text = byteCharacters.encode(Buffer.from(pretoken));
  if (text in vocab) return [vocab[text]!];
  const parts = [...text];
  for (;;) {
    const ranks = parts.map((part, i) =>
      merges.findIndex((merge) => (merge as string[]).join(" ") === `${part} ${parts[i + 1]}`),
    );
    const best = Math.min(...ranks.filter((rank) => rank >= 0));
    if (best === Number.POSITIVE_INFINITY) return parts.map((part) => vocab[part]!);
    const at = ranks.indexOf(best);
    parts.splice(at, 2, parts[at]! + parts[at + 1]!);
  }
}

test("only a whole pretoken gets the id of a token that merging never makes, as in HF and in a naive encoder", async () => {
  let wholeCount = 0;
  for (let round = 0; round < rounds(15); round++) {
    const { json, wholes } = madeJson();
    const { theirs, ours } = await bothOf(json);
    for (let n = 0; n < 60; n++) {
      const text = madeNeighbours(wholes);
      const ids = [...ours.encode(text)];
      const expected = await huggingFaceIds(theirs, text);
      expect({ seed, round, text, ids }).toEqual({ seed, round, text, ids: expected });
      if (/^ ?\p{L}+$/u.test(text)) expect(ids).toEqual(encodeNaively(json, text));
      wholeCount += ids.length === 1 ? 1 : 0;
    }
  }
  expect(wholeCount).toBeGreaterThan(rounds(25));
});

test("with a file of ranks, only a whole pretoken gets such an id, as in tiktoken", async () => {
  for (let round = 0; round < rounds(10); round++) {
    const { json, wholes } = madeJson();
    const tokens = Object.keys(json.model.vocab).flatMap((token) => {
      const bytes = byteCharacters.decode(token);
      return bytes === null ? [] : [Buffer.from(bytes).toString("base64")];
    });
    const theirs = new Tiktoken(`! 0 ${tokens.join(" ")}`, {}, patterns.gpt2.sources[0]!);
    const file = join(scratch(), "made.tiktoken");
    writeFileSync(file, tokens.map((token, rank) => `${token} ${rank}\n`).join(""));
    const ours = await Tokenizer.load(file, { pattern: "gpt2" });
    for (let n = 0; n < 60; n++) {
      const text = madeNeighbours(wholes);
      expect({ seed, round, text, ids: [...ours.encode(text)] }).toEqual({
        seed,
        round,
        text,
        ids: [...theirs.encode(text)],
      });
    }
    theirs.free();
  }
});
