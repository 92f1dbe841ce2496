import { expect, spyOn, test } from "bun:test";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { wholeRange } from "../../src/corpus/input.ts";
import { compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import { KernelPretokens } from "../../src/text/pretokens.ts";
import type { RangeStatistics } from "../../src/text/task-texts.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { put, scratch } from "../binary.ts";
import { chunksOf, stream } from "../corpus/made-chunks.ts";
import { inOrder, naiveWords } from "../naive.ts";
import { entriesOf } from "../words/generators.ts";
import { countingTexts } from "./counting-texts.ts";

const gpt2 = compilePattern(patterns.gpt2.sources);
test("a range that comes in pieces of any size gives the words of the whole", () => {
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

/** What millions of short records leave is more than the collector is in time for. */
test("no record makes an object of its own", () => {
  const take = spyOn(KernelPretokens.prototype, "take");
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
