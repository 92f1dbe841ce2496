import { expect, test } from "bun:test";
import { crc32, gzipSync, zstdCompressSync } from "node:zlib";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { runTasks } from "../../../src/jobs/run-tasks.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { runSliced } from "../../../src/runtime/slices.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { addUp } from "../../../src/words/add-up.ts";
import {
  type CountOptions,
  canSlice,
  countCorpus,
  startCounting,
  type ThreadWords,
} from "../../../src/words/count-corpus.ts";
import { slicedWordsFor } from "../../../src/words/count-parts.ts";
import type { SortedRun, SortedRunOptions } from "../../../src/words/sorted-run.ts";
import { SumOfParts } from "../../../src/words/sum-of-parts.ts";
import { put, scratch } from "../../binary.ts";
import { turns } from "../../rounds.ts";
import { entriesOf } from "./generators.ts";

const directory = scratch();

const text = "it's the same word after word after word, 12345 times.\n".repeat(60_000);
const inputs = findInputs([put(directory, "corpus", text)]);
const pattern = compiledPatterns.compile(patterns.gpt2.sources);
const options: CountOptions = { inputs, cutting: cuttings.plain(pattern), workerCount: 1 };

async function failureOf(failing: CountOptions): Promise<unknown> {
  return countCorpus(failing, () => {}).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("progress never falls, and ends with all bytes", async () => {
  for (const workerCount of [1, 2]) {
    const done: number[] = [];
    await countCorpus({ ...options, workerCount }, (bytesDone) => done.push(bytesDone));
    expect(done.toSorted((a, b) => a - b)).toEqual(done);
    expect(done.at(-1)).toBe(text.length);
  }
});

test("many small files are counted as one corpus", async () => {
  const names = Array.from({ length: 300 }, (_, i) => put(directory, `file-${i}`, `word word${i}`));
  const small = findInputs(names);
  for (const workerCount of [1, 2, 7]) {
    const { counter, statistics } = await countCorpus({ ...options, inputs: small, workerCount }, () => {});
    expect([counter.words.pretokenCount, statistics.length]).toEqual([900, 300]);
    expect(statistics.every((found) => found.documentCount === 1)).toBe(true);
  }
});

test("streams are shared among any number of workers, even if they cannot be cut", async () => {
  const varied = Array.from({ length: 4000 }, (_, n) => `word${n % 97} it's\n${n} 漢字<|end|>`).join(" ");
  const names = [gzipSync(varied), varied, zstdCompressSync(varied.slice(0, 9999)), gzipSync("")].map(
    (content, n) => put(directory, `varied-${n}`, content),
  );
  const uncut = compiledPatterns.compile(["(?s:.){1,7}"]);
  const token = "<|end|>";
  for (const [turn, [used, specialTokens]] of (
    [
      [pattern, [token]],
      [uncut, []],
    ] as const
  ).entries()) {
    const counts: unknown[] = [];
    for (const workerCount of [1, ...turns([2, 7], turn)]) {
      const cutting = cuttings.plain(used, specialTokens);
      const settings = { cutting, workerCount, rangeSizeBytes: 20_000, chunkSizeBytes: 3000 };
      const { counter, statistics } = await countCorpus({ inputs: findInputs(names), ...settings }, () => {});
      counts.push([entriesOf(counter.words.toWordTable()), statistics]);
    }
    for (const other of counts.slice(1)) expect(other).toEqual(counts[0]);
  }
}, 600_000);

test("an error in a worker fails the run with its message and its exit code", async () => {
  const shrunk = inputs.map((input) => ({ ...input, sizeBytes: input.sizeBytes + 1 }));
  for (const workerCount of [1, 2]) {
    const error = await failureOf({ ...options, inputs: shrunk, workerCount });
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toContain(
      `shrank (it ended at byte ${text.length} of ${text.length + 1})`,
    );
    expect((error as UserError).exitCode).toBe(1);
  }
});

test("a worker's bug fails the run with its reason", async () => {
  const { automata } = compiledPatterns.compile([" ?\\w+|\\W"]);
  const broken = { automata: [{ ...automata[0]!, columns: null as unknown as Uint8Array }] };
  const error = await failureOf({
    ...options,
    cutting: cuttings.plain(broken),
    workerCount: 2,
    rangeSizeBytes: text.length, // So no cut is searched for, and a worker is the first to use the pattern.
  });
  expect(error).not.toBeInstanceOf(UserError);
  expect((error as Error).message).toContain("null");
});

test("statistics of an input do not depend on the order of its ranges", async () => {
  const content = Buffer.from("some words \xff and more \xff words", "latin1");
  const given = findInputs([put(directory, "invalid", content)], { binary: "text" });
  const middle = content.indexOf(" and");
  const whole = { inputIndex: 0, startsInside: false, endsInside: false };
  const ranges = [
    { ...whole, startByte: middle, endByte: content.length, startsInside: true },
    { ...whole, startByte: 0, endByte: middle, endsInside: true },
  ];
  const { statistics } = await countCorpus({ ...options, inputs: given, ranges }, () => {});
  expect(statistics).toEqual([
    {
      textBytes: content.length,
      documentCount: 1,
      invalidByteCount: 2,
      firstInvalidByte: content.indexOf(0xff),
    },
  ]);
});

test("checksums of inputs are those of their text, however it is cut", async () => {
  const text = `${"some words, and more; ".repeat(3000)}\u00e9\u00df end`;
  const records = [text.slice(0, 5000), text.slice(5000)].map((part) => JSON.stringify({ text: part }));
  const files = {
    "plain.txt": text,
    "copy.txt.gz": gzipSync(text),
    "lines.jsonl": `${records.join("\n")}\n`,
    "list.json": `[ ${records.join(", ")} ]`,
    "empty.txt": "",
  };
  const paths = Object.entries(files).map(([name, content]) => put(directory, `sums-${name}`, content));
  const found = new Set<string>();
  for (const normalization of [null, "NFC"] as const) {
    for (const [rangeSizeBytes, workerCount] of [
      [100, 1],
      [7000, 2],
      [1e6, 1],
    ] as const) {
      const sizes = { rangeSizeBytes, workerCount, chunkSizeBytes: 900 };
      const cutting = cuttings.plain(pattern, [], normalization);
      const inputs = findInputs(paths);
      const { statistics } = await countCorpus({ ...options, ...sizes, cutting, inputs }, () => {});
      found.add(JSON.stringify(statistics.map(({ crc32 }) => crc32)));
    }
  }
  const sum = crc32(text);
  expect([...found]).toEqual([JSON.stringify([sum, sum, sum, sum, 0])]);
});

test("parts of inputs have no checksums", async () => {
  const path = put(directory, "part", "some words");
  const ranges = [{ inputIndex: 0, startByte: 0, endByte: 4, startsInside: false, endsInside: true }];
  const { statistics } = await countCorpus({ ...options, inputs: findInputs([path]), ranges }, () => {});
  expect(statistics[0]!.crc32).toBeUndefined();
});

/**
 * Inputs with many distinct words. Words with numbers occur in one input only, the others in all. The last input also
 * has a word of 64 KB.
 */
const manyWords = ["0", "1", "2"].map((part) => {
  const words = Array.from(
    { length: 45_000 },
    (_, i) => `w${part}${i}${i % 5 ? "" : "x".repeat(i % 40)} and so on`,
  );
  return put(directory, `many-${part}`, `${words.join(" ")}${part === "2" ? ` ${"y".repeat(1 << 16)}` : ""}`);
});
const many: CountOptions = {
  ...options,
  cutting: cuttings.plain(pattern),
  inputs: findInputs(manyWords),
  rangeSizeBytes: 100_000,
};

test("words that threads add up in slices are those that one thread counts", async () => {
  const { counter } = await countCorpus(many, () => {});
  const wanted = entriesOf(counter.words.toWordTable());
  for (const workerCount of turns([3, 8], 0)) {
    const done: number[] = [];
    const counted = await countCorpus({ ...many, workerCount, slicedWordsLeast: 100_000 }, (_, words) =>
      done.push(words!),
    );
    const { counter, slices, runs } = counted;
    expect([slices.length, runs.length, counter.words.distinctWordCount]).toEqual([workerCount, 0, 0]);
    expect(done.at(-1)).toBe(wanted.length);
    const parts = { counter, slices, sources: [] };
    expect(entriesOf(await runSliced(addUp(parts)))).toEqual(wanted);
    const sum = await runSliced(SumOfParts.of(parts));
    expect((await runSliced(sum.totals())).wordCount).toBe(wanted.length);
    sum.release();
  }
}, 600_000);

test("slices need many words, and memory for them; sorted runs are added up in another way", () => {
  const tables = { distinctWordCount: 1 << 16, tableBytes: 1e6, wordTableBytes: 1e5 };
  const rest = { words: { tables }, runs: [] } as unknown as ThreadWords;
  const roomOf = (wordBytesMax: number) => ({ wordBytesMax }) as SortedRunOptions;
  const least = 2 << 16;
  expect(canSlice([rest, rest], least)).toBe(true);
  expect(canSlice([rest, rest], least + 1)).toBe(false);
  expect(canSlice([rest, rest])).toBe(false);
  expect(canSlice([rest], 1)).toBe(false);
  expect(canSlice([rest, rest], least, roomOf(6.4e6))).toBe(true);
  expect(canSlice([rest, rest], least, roomOf(6.4e6 - 1))).toBe(false);
  const runs = [{} as SortedRun];
  expect(canSlice([rest, rest, { ...rest, runs }], least)).toBe(false);
});

test("slices are used with eight threads on eight cores, and with enough words for each", () => {
  expect([7, 8, 20, 64].map((threads) => slicedWordsFor(threads, 64))).toEqual([Infinity, 1e6, 1e6, 3.2e6]);
  expect([7, 8, 16].map((cores) => slicedWordsFor(64, cores))).toEqual([Infinity, 3.2e6, 3.2e6]);
});

test("one thread adds up few words, or words that do not fit in a slice", async () => {
  const few = await countCorpus({ ...options, workerCount: 2, slicedWordsLeast: 100_000 }, () => {});
  expect([few.slices.length, few.counter.words.pretokenCount]).toEqual([0, 60_000 * 14]);
  // With two workers, each has to add up a slice, by hash, of some 450,000 words. But a slice's memory of 256 MB can
  // store only 393,000 words of up to 7 bytes.
  const numbers = Array.from({ length: 900_000 }, (_, i) => i).join(" ");
  const inputs = findInputs([put(directory, "numbers", numbers)]);
  const asked = { ...options, inputs, workerCount: 2, textBytesMax: 1, slicedWordsLeast: 1 };
  const { counter, slices } = await countCorpus(asked, () => {});
  expect([slices.length, counter.words.distinctWordCount]).toEqual([0, 900_000]);
}, 600_000);

test("a worker that fails in its slice fails the run with its reason", async () => {
  const inputs = many.inputs;
  const setup = {
    inputs,
    cutting: many.cutting,
    kernelModule: kernels.sharedModule(),
    liftingModel: undefined,
    countedPerInput: undefined,
  };
  const run = runTasks(
    {
      name: "counting",
      start: startCounting,
      setupOf: ({ index }) => ({
        ...setup,
        name: `${index}`,
        distinctWordCounts: new Float64Array(9),
        memoryCount: 9,
      }),
      sink: { endTask() {} },
      inputs,
      cutting: undefined,
      aheadBytes: 1e6,
      threadCount: 3,
      mainWorks: false,
      mayTakeLong: () => false,
      commonOf: () => ({ buffers: [], json: "{broken" }),
    },
    () => {},
  );
  await expect(run).rejects.toThrow("JSON");
});
