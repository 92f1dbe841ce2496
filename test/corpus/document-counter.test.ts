import { expect, test } from "bun:test";
import { DocumentCounter } from "../../src/corpus/document-counter.ts";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import type { Range } from "../../src/corpus/input.ts";
import { OpenFile } from "../../src/corpus/range-reader.ts";
import { compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { put, scratch } from "../binary.ts";
import { countingTexts } from "../text/counting-texts.ts";

const directory = scratch();

const token = "<|end|>";
const specialTokens = [new TextEncoder().encode(token)];

test("a document that begins right at a cut is counted once, with its words and without", () => {
  // A safe cut may stand right behind a special token: then a document begins there, and no range begins with it.
  const before = `one${token}`;
  const inputs = findInputs([put(directory, "cut", `${before} two and more`)]);
  const cutByte = before.length;
  const sizeBytes = inputs[0]!.sizeBytes;
  const ranges: Range[] = [
    { inputIndex: 0, startByte: 0, endByte: cutByte, startsInside: false, endsInside: true },
    { inputIndex: 0, startByte: cutByte, endByte: sizeBytes, startsInside: true, endsInside: false },
  ];
  const file = new OpenFile(inputs);
  const documents = new DocumentCounter(specialTokens);
  expect(ranges.map((range) => runToEnd(documents.count(file.of(0), range)))).toEqual([2, 0]);
  const pattern = compilePattern(patterns.gpt2.sources);
  const words = countingTexts({ inputs, pattern, specialTokens: [token] }, new WordCounter());
  const found = ranges.map((range) => runToEnd(words.take({ ...range, kind: "range", endsInput: false })));
  expect(found.map((findings) => findings?.documentCount)).toEqual([2, 0]);
  file.close();
  words.close();
});
