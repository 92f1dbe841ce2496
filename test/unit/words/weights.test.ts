import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { trainTokenizer } from "../../../src/index.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { addWeighted } from "../../../src/words/count-groups.ts";
import * as inputWeights from "../../../src/words/weights.ts";
import * as wordTables from "../../../src/words/word-table.ts";
import { put, scratch } from "../../binary.ts";
import { inOrder, naiveWords } from "../../naive.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { errorOf, refusalOf } from "../../thrown.ts";
import { entriesOf, wordTableOf } from "./generators.ts";

const weightOf = (glob: string, weight: number) => ({ name: null, glob, weight });

describe("the inputs that a weight applies to", () => {
  const paths = [
    "corpus/en/a.txt",
    "corpus/hi/a.txt",
    "./b.en.txt",
    "/data/en/c.txt",
    "-",
    "lang=hi/d",
    ".e",
  ];
  const fits = (glob: string) => {
    const weights = inputWeights.forPaths(paths, [weightOf(glob, 2)]);
    return paths.filter((_, i) => weights[i] === 2);
  };

  test("are paths, folders above them, and globs; without a slash at any depth", () => {
    for (const [glob, ...fitting] of [
      ["corpus/en/a.txt", "corpus/en/a.txt"],
      ["./corpus/en//a.txt", "corpus/en/a.txt"],
      ["a.txt", "corpus/en/a.txt", "corpus/hi/a.txt"],
      ["en", "corpus/en/a.txt", "/data/en/c.txt"],
      ["en/", "corpus/en/a.txt", "/data/en/c.txt"],
      ["corpus/hi/", "corpus/hi/a.txt"],
      ["/data", "/data/en/c.txt"],
      ["*.en.txt", "./b.en.txt"],
      ["b.en.txt", "./b.en.txt"],
      ["corpus/*/a.txt", "corpus/en/a.txt", "corpus/hi/a.txt"],
      ["**/en/*", "corpus/en/a.txt", "/data/en/c.txt"],
      ["-", "-"],
      ["./lang=hi", "lang=hi/d"],
      [".*", ".e"],
      ["*", ...paths],
    ] as const) {
      expect([glob, ...fits(glob)]).toEqual([glob, ...fitting]);
    }
  });

  test("are named exactly: special characters of globs may be in a path, and a leading ! is a character", () => {
    expect(inputWeights.forPaths(["a[1].txt", "a1.txt"], [weightOf("a[1].txt", 2)])).toEqual([2, 2]);
    expect(inputWeights.forPaths(["!a", "b"], [weightOf("!a", 2)])).toEqual([2, 1]);
  });

  test("have the last weight that matches, or 1; a weight that matches no input is an error", () => {
    const weights = [weightOf("*", 0), weightOf("en", 0.5), weightOf("a.txt", 3)];
    expect(inputWeights.forPaths(paths, weights)).toEqual([3, 3, 0, 0.5, 0, 0, 0]);
    const problem = (...some: ReturnType<typeof weightOf>[]) =>
      errorOf(() => inputWeights.forPaths(paths, some)).message;
    expect(problem(weightOf("fr", 2))).toBe('the weight "fr:2" has no effect: no input matches "fr"');
    expect(problem(weightOf("n.txt", 2))).toContain("no input matches");
    expect(problem(weightOf("en", 2), weightOf("*", 1))).toContain(
      "later weights match everything that it matches",
    );
    expect(problem(weightOf("*", 0))).toContain("every input has the weight 0");
  });
});

describe("a sum of weighted counts", () => {
  const weighed = (weights: number[], ...tables: Record<string, number>[]) =>
    entriesOf(
      runToEnd(
        addWeighted(
          tables.map((words) => wordTableOf(Object.entries(words))),
          weights,
        ),
      ),
    );

  test("is rounded once, half up, and 0 is removed", () => {
    expect(weighed([0.5], { a: 1, b: 2, c: 3 })).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 2],
    ]);
    // Separately, the terms would be rounded to 0 each, or to 1 each.
    expect(weighed([0.4, 0.4], { a: 1, b: 1 }, { a: 1 })).toEqual([["a", 1]]);
    expect(weighed([0.5, 0.5], { a: 1 }, { a: 1 })).toEqual([["a", 1]]);
    expect(weighed([0.333333, 0], { a: 3, b: 1 }, { c: 9 })).toEqual([["a", 1]]);
    // The exact sum of these weights is a half, although the nearest doubles are all slightly larger.
    expect(weighed([0.1, 0.2, 0.2], { a: 1 }, { a: 1 }, { a: 1 })).toEqual([["a", 1]]);
    expect(weighed([0.1, 0], { a: 4 }, { b: 1e9 })).toEqual([]);
  });

  test("is exact to 2^53, and refused above", () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(weighed([1, 1], { a: most - 1 }, { a: 1 })).toEqual([["a", most]]);
    expect(weighed([1e6], { a: 9_007_199_254 })).toEqual([["a", 9_007_199_254e6]]);
    expect(errorOf(() => weighed([1, 1], { a: most }, { b: 1 })).hint).toBe("use fewer files of word counts");
    expect(errorOf(() => weighed([1e6], { a: 9_007_199_255 })).hint).toBe("use smaller weights");
    expect(errorOf(() => weighed([0.000001], { a: 2 ** 53 })).hint).toBe(
      "use weights with fewer digits after the point",
    );
  });
});

/** Adds up weighted counts naively, with unbounded integers. */
function naiveSum(texts: readonly (readonly [text: string, weight: number])[]): Map<string, number> {
  const sums = new Map<string, bigint>();
  for (const [text, weight] of texts) {
    const [whole, part = ""] = weight.toFixed(6).split(".");
    const parts = BigInt(whole + part.padEnd(6, "0"));
    for (const [word, count] of naiveWords(text)) {
      sums.set(word, (sums.get(word) ?? 0n) + parts * BigInt(count));
    }
  }
  const rounded = [...sums].map(
    ([word, sum]) => [word, Number((2n * sum + 1_000_000n) / 2_000_000n)] as const,
  );
  return new Map(rounded.filter(([, count]) => count > 0));
}

const home = scratch();

test("training with weights equals training on the weighted counts of a naive twin", async () => {
  const seed = Number(process.env.BPE_TEST_SEED ?? Date.now() % 2 ** 31);
  const random = randomNumbers(seed);
  const pick = <T>(from: readonly T[]) => from[random(from.length)]!;
  const words = [
    "low",
    "lower",
    " newest",
    " widest",
    "aaaa",
    "é",
    " 日本",
    "12",
    "!!",
    "\n",
    " the",
    "़क",
    "\u{1f98a}",
  ];
  const textOf = () => Array.from({ length: 1 + random(60) }, () => pick(words)).join("");
  const weightOfAny = () =>
    pick([0, 1, 1, 2, 3, 0.5, 0.25, 0.1, 1.5, 0.333333, 0.000001, random(2_000_000) / 1e6, random(1e6)]);
  for (let round = 0; round < rounds(40); round++) {
    const compat = pick(["cs336", "huggingface", "rustbpe"] as const);
    const texts = Array.from({ length: 1 + random(6) }, (_, i): [string, number] => [
      `${textOf()}${i}.`,
      weightOfAny(),
    ]);
    // HF's trainer reads line by line, which the twin does not do.
    if (compat === "huggingface") for (const one of texts) one[0] = one[0].replaceAll("\n", "");
    if (texts.every(([, weight]) => weight === 0)) continue;
    const forms: ((text: string, i: number) => string)[] = [
      (text, i) => put(home, `${i}.txt`, text),
      (text, i) => put(home, `${i}.txt.gz`, gzipSync(text)),
      (text, i) => put(home, `${i}.jsonl`, `${JSON.stringify({ text })}\n`),
    ];
    const files = texts.map(([text], i) => pick(forms)(text, i));
    const weights = Object.fromEntries(texts.map(([, weight], i) => [files[i]!, weight]));
    const common = { vocabSize: 330, compat, workers: pick([1, 2, 3]) };
    const counts = naiveSum(texts);
    if (counts.size === 0) {
      expect((await refusalOf(trainTokenizer({ ...common, files, weights }))).message).toContain(
        "rounded to 0",
      );
      continue;
    }
    const wordCounts = inOrder(counts).map(([word, n]) => [Buffer.from(word, "latin1"), n] as const);
    const cache = random(3) === 0 ? join(home, "cache") : undefined;
    const wanted = (await trainTokenizer({ ...common, wordCounts })).files();
    for (const again of cache === undefined ? [1] : [1, 2]) {
      const found = (await trainTokenizer({ ...common, files, weights, cache })).files();
      expect([seed, round, again, ...found]).toEqual([seed, round, again, ...wanted]);
    }
  }
}, 600_000);

test("many inputs with few distinct weights are counted by groups", async () => {
  const files = Array.from({ length: 40 }, (_, i) =>
    put(home, `many-${i}.txt`, `word${i % 5} of ${i} `.repeat(3)),
  );
  const weights = { "many-?.txt": 2, "many-1?.txt": 0.5 };
  const texts = files.map((_, i): [string, number] => [
    `word${i % 5} of ${i} `.repeat(3),
    i < 10 ? 2 : i < 20 ? 0.5 : 1,
  ]);
  const { statistics } = await trainTokenizer({ files, weights, vocabSize: 300, workers: 2 });
  const counts = [...naiveSum(texts).values()];
  expect(statistics.wordCount).toBe(counts.reduce((sum, count) => sum + count, 0));
  expect(statistics.distinctWordCount).toBe(counts.length);
});

test("a weighted table has its own totals", () => {
  const table = runToEnd(
    addWeighted(
      [
        wordTableOf([["ab", 3]]),
        wordTableOf([
          ["ab", 1],
          ["c", 1],
        ]),
      ],
      [0.5, 2],
    ),
  );
  expect(wordTables.totalsOf(table)).toEqual({ wordCount: 2, byteCount: 3, pretokenCount: 6 });
});

test("invalid weights are refused", async () => {
  const files = put(home, "plain.txt", "some text");
  const hintOf = async (options: object) =>
    (await refusalOf(trainTokenizer({ files, vocabSize: 300, ...options }))).message;
  for (const weight of [-1, Number.NaN, Infinity, 1e6 + 1, 0.0000001, 1 / 3, "3" as never]) {
    const isTooFine = weight === 0.0000001 || weight === 1 / 3;
    expect(await hintOf({ weights: { "plain.txt": weight } })).toBe(
      `weights: the weight of "plain.txt" is ${weight === ("3" as never) ? '"3"' : weight}, but must ${isTooFine ? "have at most six digits after the point" : "be a number from 0 to 1,000,000"}`,
    );
  }
  expect(await hintOf({ weights: { "": 1 } })).toBe("weights: the weight 1 has no input");
  expect((await trainTokenizer({ files, vocabSize: 300, weights: {} })).statistics.wordCount).toBe(2);
});
