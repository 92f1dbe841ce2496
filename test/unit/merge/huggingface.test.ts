import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BPE, byteLevelPreTokenizer, Tokenizer } from "tokenizers";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { tableOf } from "./made-words.ts";

// HF's npm package trains only with its default options: 30,000 entries, and an alphabet of the characters that occur.
// These characters have the same order as in an alphabet of all bytes, so the merges are equal.
test("merges equal those of HF's own trainer on made-up text, including ties and repeats", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomNumbers(seed * 65537);
    const lines = Array.from({ length: 1 + random(60) }, () => makeLine(random));
    const ours = learn(lines);
    const theirs = learnWithHuggingface(lines);
    expect(ours.length).toBeGreaterThan(0);
    const length = Math.min(ours.length, theirs.length);
    expect({ seed, merges: ours.slice(0, length) }).toEqual({ seed, merges: theirs.slice(0, length) });
    expect({ seed, length: ours.length }).toEqual({ seed, length: theirs.length });
  }
});

/**
 * Returns random words of letters. If they are joined by single spaces into a line, a pattern for words splits the line
 * as "first", " second", " third", …, "\n".
 */
function makeLine(random: Random): string[] {
  const alphabet = ["ab", "abc", "aé", "thequickbrownfox"][random(4)]!;
  const letter = () => alphabet[random(alphabet.length)]!;
  return Array.from({ length: 1 + random(12) }, () => {
    let word = "";
    for (let piece = random(6); piece >= 0; piece--)
      word += letter().repeat(1 + random(random(5) === 0 ? 9 : 1));
    return word;
  });
}

function learn(lines: string[][]): string[] {
  const words = new Map<string, number>();
  const count = (pretoken: string) => {
    const bytes = String.fromCharCode(...new TextEncoder().encode(pretoken));
    words.set(bytes, (words.get(bytes) ?? 0) + 1);
  };
  for (const line of lines) {
    line.forEach((word, k) => {
      count(k === 0 ? word : ` ${word}`);
    });
    count("\n");
  }
  const merges = runToEnd(trainMerges(tableOf(words), { mergeCount: 29_000, compat: "huggingface" }));
  const tokens = [...byteCharacters.characters];
  return Array.from({ length: merges.mergeCount }, (_, k) => {
    const left = tokens[merges.left[k]!]!;
    const right = tokens[merges.right[k]!]!;
    tokens.push(left + right);
    return `${left} ${right}`;
  });
}

function learnWithHuggingface(lines: string[][]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "bpe-merge-"));
  try {
    const textPath = join(folder, "text.txt");
    const savedPath = join(folder, "tokenizer.json");
    writeFileSync(textPath, lines.map((line) => `${line.join(" ")}\n`).join(""));
    const tokenizer = new Tokenizer(BPE.empty());
    tokenizer.setPreTokenizer(byteLevelPreTokenizer(false, true));
    tokenizer.train([textPath]);
    tokenizer.save(savedPath);
    const saved = JSON.parse(readFileSync(savedPath, "utf8")) as { model: { merges: [string, string][] } };
    return saved.model.merges.map(([left, right]) => `${left} ${right}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
