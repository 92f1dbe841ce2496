import { expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { UserError } from "../../src/errors.ts";
import { type CompiledPattern, compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { type CountOptions, countCorpus } from "../../src/pipeline/count-corpus.ts";
import { plainCutting } from "../../src/text/cutting.ts";
import { put, scratch } from "../binary.ts";
import { entriesOf } from "../words/generators.ts";

const directory = scratch();

const text = "it's the same word after word after word, 12345 times.\n".repeat(60_000);
const inputs = findInputs([put(directory, "corpus", text)]);
const pattern = compilePattern(patterns.gpt2.sources);
const options: CountOptions = { inputs, cutting: plainCutting(pattern), workerCount: 1 };

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

test("what comes in pieces is shared among any number of workers, also where it cannot be cut", async () => {
  const varied = Array.from({ length: 4000 }, (_, n) => `word${n % 97} it's\n${n} 漢字<|end|>`).join(" ");
  const names = [gzipSync(varied), varied, zstdCompressSync(varied.slice(0, 9999)), gzipSync("")].map(
    (content, n) => put(directory, `varied-${n}`, content),
  );
  const uncut = compilePattern([`${patterns.gpt2.sources[0]}(?<!x(?!x)x)`]);
  expect(uncut.kind).toBe("programs");
  const token = "<|end|>";
  for (const [used, specialTokens] of [
    [pattern, [token]],
    [uncut, []],
  ] as const) {
    const counts: unknown[] = [];
    for (const workerCount of [1, 2, 7]) {
      const cutting = plainCutting(used, specialTokens);
      const settings = { cutting, workerCount, rangeSizeBytes: 20_000, chunkSizeBytes: 3000 };
      const { counter, statistics } = await countCorpus({ inputs: findInputs(names), ...settings }, () => {});
      counts.push([entriesOf(counter.words.toWordTable()), statistics]);
    }
    expect(counts[1]).toEqual(counts[0]);
    expect(counts[2]).toEqual(counts[0]);
  }
}, 600_000);

test("what a worker meets fails the run with its message and its exit code", async () => {
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

test("a worker's bug fails the run with its reason and its place", async () => {
  const matched = structuredClone(compilePattern(["(a)\\1| ?\\w+|\\W"])) as { programs: readonly object[] };
  const broken = { ...matched, programs: [{ ...matched.programs[0], ops: null }] };
  const error = await failureOf({
    ...options,
    cutting: plainCutting(broken as unknown as CompiledPattern),
    workerCount: 2,
    rangeSizeBytes: text.length, // so that no cut is looked for, and a worker is the first to use the pattern
  });
  expect(error).not.toBeInstanceOf(UserError);
  expect((error as Error).message).toMatch(/null.* at byte \d+ of ".*corpus"/);
});

test("statistics of an input do not depend on the order in which its ranges are given", async () => {
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
