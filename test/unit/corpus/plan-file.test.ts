import { expect, test } from "bun:test";
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import type { Range } from "../../../src/corpus/input.ts";
import * as planFile from "../../../src/corpus/plan-file.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { countCorpus } from "../../../src/words/count-corpus.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { put, scratch } from "../../binary.ts";
import { rounds } from "../../rounds.ts";
import { entriesOf } from "../words/generators.ts";

const directory = scratch();

const specialTokens = ["<|end|>", "<|endless|>"];
const options = {
  patterns: patterns.gpt2.sources,
  specialTokens,
  isLinewise: false,
  keepsTextsWhole: false,
  pattern: compiledPatterns.compile(patterns.gpt2.sources),
};

async function planOf(settings: Omit<planFile.PlanOptions, keyof typeof options>): Promise<planFile.Line[]> {
  const lines: planFile.Line[] = [];
  const lineOf = planFile.lineMaker({ ...options, ...settings });
  for await (const range of planFile.plannedRanges({ ...options, ...settings })) lines.push(lineOf(range));
  return lines;
}

const textOf = (lines: readonly planFile.Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

async function countRanges(paths: readonly string[], ranges?: readonly Range[], workerCount = 1) {
  const inputs = findInputs(paths);
  return countCorpus(
    { inputs, ranges, cutting: cuttings.plain(options.pattern, specialTokens), workerCount },
    () => {},
  );
}

function wordsOf(counters: WordCounter[]): [string, number][] {
  const total = new WordCounter();
  for (const counter of counters) runToEnd(total.absorb(counter.pack()));
  return entriesOf(total.toWordTable());
}

const piece = fc.constantFrom(
  "a",
  "the ",
  " the",
  "\n",
  "  ",
  "'ll",
  "12",
  "日本",
  "é",
  "<|end|>",
  "<|endless|>",
  "<|end",
  "!!",
);
const content = fc.array(piece, { minLength: 1, maxLength: 120 }).map((pieces) => pieces.join(""));

test("slices of a plan, in any order and any grouping, count to the whole, documents included", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer(),
      async (contents, rangeSizeBytes, sliceCount, seed) => {
        const paths = contents.map((text, i) => put(directory, `slices-${i}`, text));
        const lines = await planOf({ inputs: findInputs(paths), rangeSizeBytes });
        const slices = Map.groupBy(
          lines,
          (line) => Math.abs(Math.imul(line.index + 1, seed | 1)) % sliceCount,
        );
        const counters: WordCounter[] = [];
        let documentCount = 0;
        for (const slice of slices.values()) {
          const { inputs: named, ranges } = planFile.read(textOf(slice.toReversed()), "plan", options);
          const { counter, statistics } = await countCorpus(
            {
              inputs: named,
              ranges,
              cutting: cuttings.plain(options.pattern, specialTokens),
              workerCount: 1,
            },
            () => {},
          );
          counters.push(counter.words);
          documentCount += statistics.reduce((sum, found) => sum + found.documentCount, 0);
        }
        const whole = await countRanges(paths);
        expect(wordsOf(counters)).toEqual(wordsOf([whole.counter.words]));
        expect(documentCount).toBe(whole.statistics.reduce((sum, found) => sum + found.documentCount, 0));
      },
    ),
    { numRuns: rounds(250) },
  );
});

test("workers cut the ranges of a plan further, and give the same words", async () => {
  const text = `${"some words, and more of them.\n".repeat(30)}<|end|>`.repeat(200);
  const path = put(directory, "workers", text);
  const lines = await planOf({ inputs: findInputs([path]), rangeSizeBytes: 50_000 });
  expect(lines.length).toBeGreaterThan(3);
  const { inputs, ranges } = planFile.read(textOf(lines.toReversed()), "plan", options);
  const whole = wordsOf([(await countRanges([path])).counter.words]);
  for (const [workerCount, rangeSizeBytes] of [[1], [2, 1000], [3, 100_000]]) {
    const { counter } = await countCorpus(
      {
        inputs,
        ranges,
        cutting: cuttings.plain(options.pattern, specialTokens),
        workerCount: workerCount!,
        rangeSizeBytes,
      },
      () => {},
    );
    expect(wordsOf([counter.words])).toEqual(whole);
  }
});

test("a plan is the same every time, joins without gaps, and names inputs without bytes", async () => {
  const paths = [put(directory, "one", "some text<|end|>".repeat(50)), put(directory, "none", "")];
  const inputs = findInputs(paths);
  const lines = await planOf({ inputs, rangeSizeBytes: 100 });
  expect(await planOf({ inputs, rangeSizeBytes: 100 })).toEqual(lines);
  expect(lines.map(({ index }) => index)).toEqual(lines.map((_, i) => i));
  const [ofOne, ofNone] = paths.map((path) => lines.filter((line) => line.path === path));
  expect(ofOne!.length).toBeGreaterThan(4);
  expect([ofOne![0]!.start, ofOne!.at(-1)!.end]).toEqual([0, 800]);
  for (const [i, line] of ofOne!.entries()) if (i > 0) expect(line.start).toBe(ofOne![i - 1]!.end);
  expect(ofNone!.map(({ start, end }) => [start, end])).toEqual([[0, 0]]);
});

test("lines keep their meaning when another program rewrites them", async () => {
  const lines = await planOf({ inputs: findInputs([put(directory, "new", "x y z")]), rangeSizeBytes: 100 });
  const [{ path, start, ...rest }] = lines as [planFile.Line];
  const written = `\n${JSON.stringify({ ...rest, host: "node-7", start, path }, null, 1).replaceAll("\n", " ")}\r\n`;
  expect(planFile.read(written, "plan", options).ranges.length).toBe(1);
});

test("a plan of 5 GB reads less than a thousandth of it", async () => {
  const path = join(directory, "sparse");
  const fd = openSync(path, "w");
  const [sizeBytes, rangeSizeBytes] = [5e9, 256e6];
  ftruncateSync(fd, sizeBytes);
  // The file is sparse, except for the positions at which cuts are searched for.
  for (let at = rangeSizeBytes; at < sizeBytes; at += rangeSizeBytes)
    writeSync(fd, "some words ".repeat(6000), at - 1000);
  closeSync(fd);
  const readBytes = () => Number(/^rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))![1]);
  const before = readBytes();
  const lines = await planOf({ inputs: findInputs([path], { binary: "text" }), rangeSizeBytes });
  expect(readBytes() - before).toBeLessThan(sizeBytes / 1000);
  expect(lines.length).toBeGreaterThan(15);
});
