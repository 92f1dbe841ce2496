import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { escapeBytes } from "../../src/bytes/escape.ts";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { compareTokenizers } from "../../src/pipeline/evaluate.ts";
import { Tokenizer } from "../../src/pipeline/tokenizer.ts";
import { MemoryBudget } from "../../src/runtime/system-limits.ts";
import { ScratchDirectory } from "../../src/store/scratch-directory.ts";
import { put, scratch } from "../binary.ts";
import { naiveWords } from "../evaluation/naive-evaluation.ts";
import { jsonOf, type TokenizerJson, writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { madeText, randomNumbers } from "../vocabulary/made-merges.ts";

const temporary = new ScratchDirectory();
afterAll(() => temporary.remove());
const directory = scratch();

let fileCount = 0;
const write = (content: string) => put(directory, `file-${fileCount++}.txt`, content);

async function changed(change: (json: TokenizerJson) => void): Promise<Tokenizer> {
  const json = jsonOf(writeTokenizer("gpt2", "huggingface"));
  change(json);
  return Tokenizer.load(put(directory, `tokenizer-${fileCount++}.json`, JSON.stringify(json)));
}

const gpt2 = await Tokenizer.load(join(writeTokenizer("gpt2", "huggingface"), "tokenizer.json"));
const nfc = await changed((json) => Object.assign(json, { normalizer: { type: "NFC" } }));
/** The second half of the merges is missing, with its tokens; ids stay. */
const half = await changed(({ model }) => {
  for (const merge of model.merges.splice(model.merges.length / 2)) {
    delete model.vocab[(merge as string[] & string).length === 2 ? (merge as string[]).join("") : ""];
  }
});

function compare(a: Tokenizer, b: Tokenizer, paths: readonly string[] | null, workerCount = 1) {
  const named = ({ parts }: Tokenizer, name: string) => ({ name, path: parts.description.path, parts });
  return compareTokenizers(
    {
      tokenizers: [named(a, "a"), named(b, "b")],
      text: paths === null ? null : { name: "text", paths, inputs: findInputs(paths) },
      workerCountFor: () => workerCount,
      partWordsLeast: 20,
      budget: new MemoryBudget(),
      scratch: temporary,
    },
    () => {},
  );
}

/** How both cut each word with its white space, and how often, where they differ. */
function naiveDifferences(a: Tokenizer, b: Tokenizer, text: string) {
  const piecesOf = (tokenizer: Tokenizer, word: string) =>
    Array.from(tokenizer.encode(word), (id) => escapeBytes(tokenizer.tokenBytes(id)));
  const found = new Map<string, number>();
  for (const { before, word } of naiveWords(text)) {
    const placed = before + word;
    if (Bun.deepEquals(piecesOf(a, placed), piecesOf(b, placed))) continue;
    found.set(placed, (found.get(placed) ?? 0) + 1);
  }
  return [...found]
    .sort(([p, m], [q, n]) => n - m || Buffer.compare(Buffer.from(p), Buffer.from(q)))
    .map(([word, count]) => ({
      word: escapeBytes(Buffer.from(word)),
      count,
      piecesA: piecesOf(a, word),
      piecesB: piecesOf(b, word),
    }));
}

const random = randomNumbers(3);
const parts = ["the", " ", " ", "\n", "é", "e\u0301", "th", "漢字", "a,", "\u3000", "x1", "e t"];
const text = `${madeText(4, 3000)} ${Array.from({ length: 800 }, () => parts[random(parts.length)]!).join("")}`;

test("the words that are cut differently are those of a naive comparison, with any number of threads", async () => {
  for (const [a, b] of [
    [gpt2, half],
    [half, nfc],
    [gpt2, nfc],
  ] as const) {
    const wanted = naiveDifferences(a, b, text);
    const found = await Promise.all([1, 2, 7].map((count) => compare(a, b, [write(text)], count)));
    for (const { text: difference } of found) {
      expect(difference!.mostFrequent).toEqual(wanted.slice(0, 1000));
      expect(difference!.distinctDifferentWords).toBe(wanted.length);
      const count = wanted.reduce((sum, word) => sum + word.count, 0);
      expect(difference).toMatchObject({
        differentWords: count,
        words: naiveWords(text).length,
        differentShare: count / naiveWords(text).length,
        tokensA: a.encode(text).length,
        tokensB: b.encode(text).length,
      });
    }
    expect(wanted.length).toBeGreaterThan(0);
  }
});

test("a tokenizer and itself do not differ", async () => {
  const { tokens, merges, text: difference } = await compare(gpt2, gpt2, [write(text)]);
  expect(tokens).toMatchObject({ inBoth: gpt2.size, onlyInA: [], onlyInB: [], moved: [] });
  expect(merges).toMatchObject({ onlyInA: [], onlyInB: [], moved: [] });
  expect(difference).toMatchObject({ differentWords: 0, differentShare: 0, mostFrequent: [] });
});

test("without a text there is no difference of texts", async () => {
  expect((await compare(gpt2, half, null)).text).toBe(null);
});

test("cuts of equal lengths into other bytes differ, as a normal form makes them", async () => {
  // U+0340 becomes U+0300, which has as many bytes.
  const { text: difference } = await compare(gpt2, nfc, [write("x\u0340 x")]);
  expect(difference).toMatchObject({ words: 2, differentWords: 1 });
});
