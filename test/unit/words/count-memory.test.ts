import { expect, test } from "bun:test";
import { join } from "node:path";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { MemoryBudget } from "../../../src/runtime/machine.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { train } from "../../../src/training/train.ts";
import { settle, settleCutting } from "../../../src/training/training.ts";
import { countWords } from "../../../src/words/count-words.ts";
import { openMemory } from "../../../src/words/open-memory.ts";
import { put, scratch } from "../../binary.ts";
import { entriesOf } from "./generators.ts";

const home = scratch();

/** Counts a text with `compiled` as the compiled form of `source`. Returns the words. */
async function count(source: string, compiled: CompiledPattern) {
  const path = put(home, "text", "one two");
  const cutting = settleCutting({}, {});
  const pattern = { name: null, sources: [source], compiled };
  const asked = { cache: join(home, "cache") };
  const { memory, cached } = await openMemory(
    asked,
    { ...cutting, pattern },
    new MemoryBudget(1e12),
    () => {},
  );
  const corpus = { inputs: findInputs([path]), cutting: cuttings.plain(compiled), workerCount: 1, memory };
  const { words, keepRest } = await countWords({ ...corpus, cache: cached!.cache }, () => {});
  await keepRest?.();
  memory.scratch.remove();
  return entriesOf(words).map(([word]) => word);
}

test("a corrected pattern does not reuse older counts, whatever version and commit the program has", async () => {
  const wrong = compiledPatterns.compile([" ?\\w|\\s"]);
  const right = compiledPatterns.compile([" ?\\w+|\\s"]);
  const source = " ?\\w+|\\s";
  expect(await count(source, wrong)).toEqual([" t", "e", "n", "o", "w"]);
  expect(await count(source, right)).toEqual([" two", "one"]);
  expect(await count(source, right)).toEqual([" two", "one"]);
});

test("merging does not begin if the budget is too small", async () => {
  const asked: string[] = [];
  class NoRoom extends MemoryBudget {
    override check(what: string, neededBytes: number): void {
      asked.push(what);
      if (neededBytes > 0) throw new Error("no room");
    }
  }
  const stages: string[] = [];
  const inputs = findInputs([put(home, "words", "one two one two")]);
  const settled = settle({ vocabSize: [{ isMore: false, count: 300 }] }, {});
  const { memory } = await openMemory({}, settled, new NoRoom(1e12), () => {});
  const training = train(settled, { inputs, workerCount: 1, memory }, ({ stage }) => stages.push(stage));
  expect(training).rejects.toThrow("no room");
  await training.catch(() => {});
  expect(asked).toEqual(["training"]);
  expect(stages).not.toContain("merging");
  memory.scratch.remove();
});
