import { expect, test } from "bun:test";
import type { Input } from "../../src/corpus/inputs.ts";
import type { PieceTask } from "../../src/corpus/tasks.ts";
import type { RangeFindings } from "../../src/count/range-counter.ts";
import { TaskCounter } from "../../src/count/task-counter.ts";
import { compilePattern, patterns } from "../../src/pattern/index.ts";
import { WordCounter } from "../../src/words/counter.ts";
import { naiveWords } from "../naive.ts";

const gpt2 = compilePattern(patterns.gpt2.sources);
const stream: Input = {
  path: "-",
  isStream: true,
  compression: "none",
  format: "text",
  textField: "text",
  sizeBytes: 0,
  device: 0,
  inode: 0,
  modifiedMs: 0,
};

/** A text in pieces of the sizes given, none of which ends at a cut. */
function piecesOf(text: string, sizeBytes: number): PieceTask[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: PieceTask[] = [];
  for (let startByte = 0; startByte < bytes.length; startByte += sizeBytes) {
    const endByte = Math.min(bytes.length, startByte + sizeBytes);
    const isLast = endByte === bytes.length;
    pieces.push({
      kind: "piece",
      inputIndex: 0,
      startByte,
      endByte,
      startsInside: false,
      endsInside: false,
      endsInput: isLast,
      goesOn: !isLast,
      bytes: bytes.slice(startByte, endByte),
      inputBytes: endByte - startByte,
    });
  }
  return pieces;
}

test("a range that comes in pieces of any size gives the words of the whole", () => {
  const text =
    "It's  a\ttest!<|end|>\r\n<|end|><|end|> 日本語 12345 <|end|><|endless|>'ll   z  aaaa aaaa\n\n\nEnd.";
  const specialTokens = ["<|end|>", "<|endless|>"];
  const textBytes = Buffer.byteLength(text);
  const whole = [...naiveWords(text, specialTokens)].sort();
  for (let sizeBytes = 1; sizeBytes < 60; sizeBytes++) {
    for (const windowBytes of [1, 100, 1 << 16]) {
      const counter = new WordCounter();
      const tokens = specialTokens.map((token) => new TextEncoder().encode(token));
      const tasks = new TaskCounter(
        { inputs: [stream], pattern: gpt2, specialTokens: tokens, windowBytes },
        counter,
      );
      const findings: (RangeFindings | undefined)[] = [];
      for (const piece of piecesOf(text, sizeBytes)) {
        const work = tasks.count(piece);
        let step = work.next();
        while (!step.done) step = work.next();
        findings.push(step.value);
      }
      expect(findings.pop()).toEqual({
        textBytes,
        documentCount: 4,
        invalidByteCount: 0,
        firstInvalidByte: -1,
      });
      expect(findings.every((found) => found === undefined)).toBe(true);
      const { bytes, starts, counts, wordCount } = counter.toWordTable();
      const words = Array.from({ length: wordCount }, (_, w) => [
        Buffer.from(bytes.subarray(starts[w]!, starts[w + 1]!)).toString("latin1"),
        counts[w]!,
      ]).sort() as [string, number][];
      expect(words).toEqual(whole);
    }
  }
});
