import { expect, spyOn, test } from "bun:test";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { type Range, wholeRange } from "../../../src/corpus/input.ts";
import type { RangeStatistics } from "../../../src/corpus/task-texts.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { Pretokens } from "../../../src/text/pretokens.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { put, scratch } from "../../binary.ts";
import { inOrder, naiveWords } from "../../naive.ts";
import { countingTexts } from "../text/counting-texts.ts";
import { entriesOf } from "../words/generators.ts";
import { chunksOf, stream } from "./made-chunks.ts";

const gpt2 = compiledPatterns.compile(patterns.gpt2.sources);
test("a range that arrives in pieces of any size gives the words of the whole", () => {
  const text =
    "It's  a\ttest!<|end|>\r\n<|end|><|end|> 日本語 12345 <|end|><|endless|>'ll   z  aaaa aaaa\n\n\nEnd.";
  const specialTokens = ["<|end|>", "<|endless|>"];
  const textBytes = Buffer.byteLength(text);
  const whole = inOrder(naiveWords(text, specialTokens));
  for (let sizeBytes = 1; sizeBytes < 60; sizeBytes++) {
    for (const windowBytes of [1, 100, 1 << 16]) {
      const counter = new WordCounter();
      const tasks = countingTexts({ inputs: [stream], pattern: gpt2, specialTokens, windowBytes }, counter);
      const statistics: (RangeStatistics | undefined)[] = [];
      for (const piece of chunksOf(Buffer.from(text), sizeBytes)) {
        statistics.push(runToEnd(tasks.take(piece)));
      }
      expect(statistics.pop()).toEqual({
        textBytes,
        documentCount: 4,
        invalidByteCount: 0,
        firstInvalidByte: -1,
      });
      expect(statistics.every((found) => found === undefined)).toBe(true);
      expect(entriesOf(counter.toWordTable())).toEqual(whole);
    }
  }
});

/** If each of millions of records had an object, garbage would grow faster than the collector frees it. */
test.skipIf(isSmallScale)("no record allocates an object", () => {
  const take = spyOn(Pretokens.prototype, "take");
  const inputs = findInputs([
    put(scratch(), "some.jsonl", '{"text":"abc"}\n{"text":""}\n{"text":"defghij"}\n'),
  ]);
  const texts = countingTexts({ inputs, pattern: gpt2 }, new WordCounter());
  runToEnd(texts.take({ kind: "range", endsInput: true, ...wholeRange(inputs[0]!, 0) }));
  texts.close();
  const parts = take.mock.calls.map(([part]) => part);
  take.mockRestore();
  expect(parts.length).toBe(3);
  expect(new Set(parts).size).toBe(1);
  expect(parts[0]!.end).toBe(10);
});

const directory = scratch();

const token = "<|end|>";

test("a document that begins exactly at a cut is counted once", () => {
  // A safe cut may directly follow a special token, so that a document begins at the cut. The range before the cut
  // counts this document, and the range after the cut does not.
  const before = `one${token}`;
  const inputs = findInputs([put(directory, "cut", `${before} two and more`)]);
  const cutByte = before.length;
  const sizeBytes = inputs[0]!.sizeBytes;
  const ranges: Range[] = [
    { inputIndex: 0, startByte: 0, endByte: cutByte, startsInside: false, endsInside: true },
    { inputIndex: 0, startByte: cutByte, endByte: sizeBytes, startsInside: true, endsInside: false },
  ];
  const tasks = ranges.map((range) => ({ ...range, kind: "range" as const, endsInput: false }));
  const pattern = compiledPatterns.compile(patterns.gpt2.sources);
  const words = countingTexts({ inputs, pattern, specialTokens: [token] }, new WordCounter());
  const found = tasks.map((task) => runToEnd(words.take(task)));
  expect(found.map((findings) => findings?.documentCount)).toEqual([2, 0]);
  words.close();
});
