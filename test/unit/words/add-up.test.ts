import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { ScratchDirectory } from "../../../src/store/scratch-directory.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { addUp } from "../../../src/words/add-up.ts";
import { countCorpus } from "../../../src/words/count-corpus.ts";
import { CountsFileReader, type CountsSource } from "../../../src/words/counts-file-reader.ts";
import type { CountsOptions } from "../../../src/words/counts-format.ts";
import * as countsFormat from "../../../src/words/counts-format.ts";
import { sourcesOfSortedRuns } from "../../../src/words/parts.ts";
import { SpillingCounter } from "../../../src/words/spilling-counter.ts";
import { reduceSources } from "../../../src/words/sum-of-parts.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { put, scratch } from "../../binary.ts";
import { turns } from "../../rounds.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { entriesOf, wordTableOf } from "./generators.ts";

const home = scratch();

const countsOptions: CountsOptions = {
  patterns: patterns.gpt2.sources,
  specialTokens: [],
  isLinewise: false,
};
const pattern = compiledPatterns.compile(patterns.gpt2.sources);
const long = "abcdefgh".repeat(40);
const paths = [1, 2, 3].map((seed) =>
  put(home, `${seed}.txt`, `${madeText(seed, 60_000)} ${long}${seed} ${madeText(9, 20_000)}`),
);
const inputs = findInputs(paths);

/** Counts with this much memory for words, in bytes. With 0, words are moved to a sorted run before each window. */
async function count(workerCount: number, wordBytesMax: number, countedPerInput = new Set<number>()) {
  const directory = mkdtempSync(join(home, "runs-"));
  const runOptions = { directory, countsOptions, wordBytesMax };
  const counts = await countCorpus(
    { inputs, cutting: cuttings.plain(pattern), workerCount, runOptions, countedPerInput },
    () => {},
  );
  return { ...counts, directory };
}

const whole = await countCorpus({ inputs, cutting: cuttings.plain(pattern), workerCount: 1 }, () => {});
const wanted = entriesOf(runToEnd(addUp({ counter: whole.counter, sources: [] })));

function save(name: string, table: WordTable): CountsSource {
  const path = join(home, name);
  writeFileSync(path, Buffer.concat([...countsFormat.fileChunks(table, countsOptions)]));
  return { path, totals: CountsFileReader.open(path).totals };
}

describe("words that do not fit into memory", () => {
  test("are the same words, with any number of workers", async () => {
    for (const workerCount of [1, 2, 7]) {
      const { counter, runs, directory } = await count(workerCount, 0);
      // With more workers, a worker that has a single task may keep its words in memory.
      if (workerCount === 1) expect(runs.length).toBe(3);
      expect(runs.every((run) => run.inputIndex === null)).toBe(true);
      expect(readdirSync(directory).length).toBe(runs.length);
      expect(entriesOf(runToEnd(addUp({ counter, sources: sourcesOfSortedRuns(runs) })))).toEqual(wanted);
    }
  }, 600_000);

  test("are not written if memory suffices", async () => {
    for (const workerCount of [1, 2]) {
      const { counter, runs } = await count(workerCount, 1e12);
      expect(runs).toEqual([]);
      expect(entriesOf(runToEnd(addUp({ counter, sources: [] })))).toEqual(wanted);
    }
  });

  test("that cannot be written are an error with the directory", async () => {
    const runOptions = { directory: join(home, "none"), countsOptions, wordBytesMax: 0 };
    for (const workerCount of [1, 2]) {
      const error = await countCorpus(
        { inputs, cutting: cuttings.plain(pattern), workerCount, runOptions },
        () => {},
      ).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(UserError);
      expect((error as UserError).message).toContain(`words cannot be written to "${join(home, "none")}"`);
    }
  });
});

describe("words of single inputs", () => {
  test("are separate on request, even if they fit into memory", async () => {
    for (const [turn, wordBytesMax] of [0, 1e12].entries()) {
      for (const workerCount of turns([1, 2, 7], 1 + turn)) {
        const { counter, runs } = await count(workerCount, wordBytesMax, new Set([0, 2]));
        const only = await countCorpus(
          { inputs: [inputs[2]!], cutting: cuttings.plain(pattern), workerCount: 1 },
          () => {},
        );
        const ofOne = await countCorpus(
          { inputs: [], cutting: cuttings.plain(pattern), workerCount: 1 },
          () => {},
        );
        const runsOfThird = runs.filter((run) => run.inputIndex === 2);
        expect(runsOfThird.every((run) => run.isInMemoryToo === wordBytesMax > 0)).toBe(true);
        const third = runsOfThird.flatMap((run) =>
          run.table === null
            ? sourcesOfSortedRuns([{ ...run, isInMemoryToo: false }])
            : [save(`${run.path}.counts`, run.table)],
        );
        expect(entriesOf(runToEnd(addUp({ counter: ofOne.counter, sources: third })))).toEqual(
          entriesOf(runToEnd(addUp({ counter: only.counter, sources: [] }))),
        );
        expect(entriesOf(runToEnd(addUp({ counter, sources: sourcesOfSortedRuns(runs) })))).toEqual(wanted);
      }
    }
  }, 600_000);
});

test("more sources than can be open are added up in rounds, and nothing is added twice", async () => {
  const { counter, runs, directory } = await count(1, 0);
  const part = save("few.counts", wordTableOf([["word", 5]]));
  const sources = [...sourcesOfSortedRuns(runs), ...Array.from({ length: 20 }, () => part)];
  const plain = entriesOf(runToEnd(addUp({ counter, sources })));
  for (const sourceCountMax of [2, 3, 7, 22, 23]) {
    const { runs, directory } = await count(1, 0);
    const scratch = { open: () => ({ directory, problem: null }) } as ScratchDirectory;
    const all = [...sourcesOfSortedRuns(runs), ...Array.from({ length: 20 }, () => part)];
    const few = runToEnd(reduceSources(all, { scratch, countsOptions }, sourceCountMax));
    expect(few.length).toBe(Math.min(sourceCountMax, all.length));
    // Intermediate runs are removed after they were added up, but not files that the user named.
    expect(readdirSync(directory).length).toBe(few.filter(({ path }) => dirname(path) === directory).length);
    expect(existsSync(part.path)).toBe(true);
    expect(entriesOf(runToEnd(addUp({ counter, sources: few })))).toEqual(plain);
  }
  expect(readdirSync(directory).length).toBe(runs.length);
});

test("two counts in one run may both have more sources than can be open", () => {
  const directory = mkdtempSync(join(home, "runs-"));
  const scratch = { open: () => ({ directory, problem: null }) } as ScratchDirectory;
  const counter = new SpillingCounter({}, "");
  const sums = ["one", "two"].map((word) => {
    const sources = [1, 2, 3, 4].map((count) =>
      save(`${word}-${count}.counts`, wordTableOf([[word, count]])),
    );
    return runToEnd(reduceSources(sources, { scratch, countsOptions }, 2));
  });
  expect(sums.map((sources) => entriesOf(runToEnd(addUp({ counter, sources }))))).toEqual([
    [["one", 10]],
    [["two", 10]],
  ]);
});
