import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Tiktoken } from "tiktoken";
import { Tokenizer } from "tokenizers";
import { bpe, put, scratch, tokenizerFiles } from "./binary.ts";
import { gpt2Pattern, madeText } from "./vocabulary/made-merges.ts";

// What the binary writes, in the hands of the tools it is written for.

const home = scratch();

const special = "<|endoftext|>";
const documents = Array.from({ length: 40 }, (_, seed) => madeText(seed, 400));
const corpus = put(home, "corpus.txt", documents.join(special));
const vocabSize = 900;
const trainInto = (name: string, ...more: string[]) => {
  const output = join(home, name);
  const { code, stderr } = bpe([
    "train",
    corpus,
    "-n",
    String(vocabSize),
    "-s",
    special,
    "-o",
    output,
    "-q",
    ...more,
  ]);
  expect([code, stderr]).toEqual([0, ""]);
  return output;
};
const output = trainInto("tokenizer", "-w", "2");
const files = tokenizerFiles(output);
const vocabulary = new Map(Object.entries(JSON.parse(files["vocab.json"]!) as Record<string, number>));
const ranks = new Map(
  files["merges.txt"]!.split("\n")
    .slice(1, -1)
    .map((pair, rank) => [pair, rank]),
);
const sentences = Array.from(
  { length: 1000 },
  (_, n) => madeText(1000 + n, 12) + (n % 9 === 0 ? special : ""),
);

/** The textbook encoder, from vocab.json and merges.txt alone. */
function encodeNaively(text: string): number[] {
  return text.split(/(<\|endoftext\|>)/).flatMap((part) => {
    if (part === special) return [vocabulary.get(special)!];
    return [...part.matchAll(gpt2Pattern)].flatMap(([pretoken]) => mergeAll(characters(pretoken)).map(idOf));
  });
}

const idOf = (token: string) => vocabulary.get(token)!;

/** Bytes in their printable form: the other 68 bytes take the characters from U+0100 on. */
function characters(pretoken: string): string[] {
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => !isPrintable(byte));
  return [...Buffer.from(pretoken)].map((byte) =>
    String.fromCodePoint(isPrintable(byte) ? byte : 256 + others.indexOf(byte)),
  );
}

function mergeAll(tokens: string[]): string[] {
  for (;;) {
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let i = 0; i + 1 < tokens.length; i++) {
      const rank = ranks.get(`${tokens[i]} ${tokens[i + 1]}`) ?? Number.POSITIVE_INFINITY;
      if (rank < best) [best, at] = [rank, i];
    }
    if (at < 0) return tokens;
    tokens = [...tokens.slice(0, at), tokens[at]! + tokens[at + 1]!, ...tokens.slice(at + 2)];
  }
}

test("HF tokenizers loads it, agrees on every id, and encodes 1,000 sentences as the textbook does", async () => {
  const theirs = Tokenizer.fromFile(join(output, "tokenizer.json"));
  expect(theirs.getVocabSize()).toBe(vocabSize);
  for (const [token, id] of vocabulary) expect(theirs.tokenToId(token)).toBe(id);
  for (const sentence of sentences) {
    expect([...(await theirs.encode(sentence)).getIds()]).toEqual(encodeNaively(sentence));
  }
});

test("tiktoken loads it and encodes 1,000 sentences as the textbook does", () => {
  const lines = files["tokenizer.tiktoken"]!.trim()
    .split("\n")
    .map((line) => line.split(" "));
  const theirRanks = lines.map(([token, rank]) => `! ${rank} ${token}`).join("\n");
  const { options } = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
  const theirs = new Tiktoken(theirRanks, { [special]: vocabulary.get(special)! }, options.pattern.regex);
  for (const sentence of sentences)
    expect([...theirs.encode(sentence, "all")]).toEqual(encodeNaively(sentence));
  theirs.free();
});

test("1, 2 and 7 workers write the same bytes", () => {
  for (const workers of ["1", "7"])
    expect(tokenizerFiles(trainInto(`workers-${workers}`, "-w", workers))).toEqual(files);
});

test("the binary alone, from an empty directory with an empty environment, trains with two workers", () => {
  const empty = scratch();
  const { code, stderr } = bpe(
    ["train", corpus, "-n", String(vocabSize), "-s", special, "-o", "out", "-w", "2", "-q"],
    {
      cwd: empty,
    },
  );
  expect([code, stderr]).toEqual([0, ""]);
  expect(tokenizerFiles(join(empty, "out"))).toEqual(files);
  rmSync(empty, { recursive: true });
});
