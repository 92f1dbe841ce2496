import { expect, test } from "bun:test";
import type { Input } from "../../src/corpus/input.ts";
import type { RangeStatistics } from "../../src/count/range-counter.ts";
import { TaskCounter } from "../../src/count/task-counter.ts";
import { compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { chunksOf } from "../corpus/made-chunks.ts";
import { inOrder, naiveWords } from "../naive.ts";
import { entriesOf } from "../words/generators.ts";

const gpt2 = compilePattern(patterns.gpt2.sources);
const stream: Input = {
  path: "-",
  isStream: true,
  compression: "none",
  format: "text",
  formatFrom: "name",
  isBinaryText: false,
  textField: "text",
  sizeBytes: 0,
  device: 0,
  inode: 0,
  modifiedMs: 0,
};

test("a range that comes in pieces of any size gives the words of the whole", () => {
  const text =
    "It's  a\ttest!<|end|>\r\n<|end|><|end|> 日本語 12345 <|end|><|endless|>'ll   z  aaaa aaaa\n\n\nEnd.";
  const specialTokens = ["<|end|>", "<|endless|>"];
  const textBytes = Buffer.byteLength(text);
  const whole = inOrder(naiveWords(text, specialTokens));
  for (let sizeBytes = 1; sizeBytes < 60; sizeBytes++) {
    for (const windowBytes of [1, 100, 1 << 16]) {
      const counter = new WordCounter();
      const tokens = specialTokens.map((token) => new TextEncoder().encode(token));
      const tasks = new TaskCounter(
        { inputs: [stream], pattern: gpt2, specialTokens: tokens, windowBytes },
        counter,
      );
      const statistics: (RangeStatistics | undefined)[] = [];
      for (const piece of chunksOf(Buffer.from(text), sizeBytes)) {
        statistics.push(runToEnd(tasks.count(piece)));
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
