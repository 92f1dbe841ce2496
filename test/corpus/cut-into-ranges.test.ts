import { expect, test } from "bun:test";
import { cutIntoRanges } from "../../src/corpus/cut-into-ranges.ts";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { type Range, wholeRange } from "../../src/corpus/input.ts";
import { compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { put, scratch } from "../binary.ts";
import { inOrder, naiveWords } from "../naive.ts";
import { countingTexts } from "../text/counting-texts.ts";
import { entriesOf } from "../words/generators.ts";

const directory = scratch();

const gpt2 = compilePattern(patterns.gpt2.sources);
const utf8 = (text: string) => new TextEncoder().encode(text);

type Settings = {
  specialTokens: string[];
  rangeSizeBytes: number;
  windowBytes?: number;
  /** The file is mapped, not read. */
  isMapped?: boolean;
};

/** Counts the file range by range, as workers do, and gives the words with their counts and the plan. */
function countInRanges(path: string, settings: Settings) {
  const { specialTokens, rangeSizeBytes, windowBytes, isMapped } = settings;
  const inputs = findInputs([path]);
  const tokens = specialTokens.map(utf8);
  const plan = [
    ...cutIntoRanges(inputs[0]!, wholeRange(inputs[0]!, 0), {
      pattern: gpt2,
      specialTokens: tokens,
      rangeSizeBytes,
      probeSizeBytes: 32,
    }),
  ].filter((range) => range !== undefined);
  const counter = new WordCounter();
  const { window } = counter;
  const mapped: { offsetByte: number; byteCount: number }[] = [];
  const map = window.map.bind(window);
  window.map = (fd, offsetByte, byteCount) => {
    const isDone = map(fd, offsetByte, byteCount);
    if (isDone) mapped.push({ offsetByte, byteCount });
    return isDone;
  };
  const mappedBytesLeast = isMapped ? inputs[0]!.sizeBytes : undefined;
  const tasks = countingTexts(
    { inputs, pattern: gpt2, specialTokens, windowBytes, mappedBytesLeast },
    counter,
  );
  let documentCount = 0;
  let invalidByteCount = 0;
  for (const range of plan) {
    const found = runToEnd(tasks.take({ ...range, kind: "range", endsInput: false }))!;
    documentCount += found.documentCount;
    invalidByteCount += found.invalidByteCount;
  }
  tasks.close();
  return { words: entriesOf(counter.toWordTable()), plan, documentCount, invalidByteCount, mapped };
}

const text =
  "It's  a\ttest, isn't it?\n\n  日本語 текст ünï 12345 !!<|end|>\r\n<|end|><|end|> x<|end|><|endless|>'ll   'LL\u3000\u3000z  " +
  "aaaa aaaa\n\n\nThe end.<|end|> <|end|>";

test("a file cut at every possible size gives the words of the whole", () => {
  const path = put(directory, "text", text);
  for (const specialTokens of [[], ["<|end|>"], ["<|end|>", "<|endless|>"], ["a", "aa", " a"]]) {
    const whole = inOrder(naiveWords(text, specialTokens));
    for (let rangeSizeBytes = 1; rangeSizeBytes < 200; rangeSizeBytes++) {
      const { words } = countInRanges(path, { specialTokens, rangeSizeBytes });
      expect(words).toEqual(whole);
    }
  }
});

test("windows of any size give the same words", () => {
  const path = put(directory, "windows", text.repeat(3));
  const specialTokens = ["<|end|>", "<|endless|>"];
  const whole = inOrder(naiveWords(text.repeat(3), specialTokens));
  for (let windowBytes = 1; windowBytes < 300; windowBytes += 7) {
    const { words } = countInRanges(path, { specialTokens, rangeSizeBytes: 1000, windowBytes });
    expect(words).toEqual(whole);
  }
});

test("a file that is mapped gives the same words, wherever it is cut and whatever its last page holds", () => {
  const specialTokens = ["<|end|>", "<|endless|>"];
  const long = `${text.repeat(100)}${"x".repeat(40_000)} y ${text.repeat(400)}`;
  for (const sizeBytes of [1, 4095, 4096, 4097, 8160, Buffer.byteLength(long)]) {
    const content = Buffer.from(long).subarray(-sizeBytes).toString("utf8");
    const path = put(directory, "mapped", content);
    const whole = inOrder(naiveWords(content, specialTokens));
    for (const rangeSizeBytes of [1 << 20, 60_000, 5000]) {
      // From windows in which no page has room to one that holds all, a long word among it.
      for (const windowBytes of [100, 1 << 14, 1 << 20]) {
        const settings = { specialTokens, rangeSizeBytes, windowBytes };
        const { mapped, ...counted } = countInRanges(path, { ...settings, isMapped: true });
        const { mapped: _, ...read } = countInRanges(path, settings);
        expect(counted.words).toEqual(whole);
        expect(counted).toEqual(read);
        expect(mapped.length).toBeGreaterThan(0);
        // A window that has grown for the long word is mapped no larger than before.
        expect(Math.max(...mapped.map(({ byteCount }) => byteCount))).toBeLessThanOrEqual(windowBytes);
        // The long word fills half a window of 16 KB: there the file is read.
        const isWhole = sizeBytes < 40_000 || windowBytes > 40_000;
        if (windowBytes > 100 && rangeSizeBytes === 1 << 20) {
          const { offsetByte, byteCount } = mapped.at(-1)!;
          expect(offsetByte + byteCount === sizeBytes).toBe(isWhole);
        }
      }
    }
  }
});

test("ranges join without gaps and documents are counted once", () => {
  const path = put(directory, "documents", text);
  for (let rangeSizeBytes = 1; rangeSizeBytes < 200; rangeSizeBytes += 3) {
    const { plan, documentCount } = countInRanges(path, { specialTokens: ["<|end|>"], rangeSizeBytes });
    expect(documentCount).toBe(5);
    expectJoined(plan, utf8(text).length);
  }
});

function expectJoined(plan: Range[], sizeBytes: number): void {
  expect(plan[0]!.startByte).toBe(0);
  expect(plan.at(-1)!.endByte).toBe(sizeBytes);
  for (const [i, range] of plan.entries()) {
    if (i === 0) continue;
    expect(range.startByte).toBe(plan[i - 1]!.endByte);
    expect(range.startsInside).toBe(plan[i - 1]!.endsInside);
  }
}

test("a run of overlapping special tokens is read from its left end wherever the file is cut", () => {
  const path = put(directory, "run", `x ${"ab".repeat(101)}a y`);
  const content = `x ${"ab".repeat(101)}a y`;
  const whole = inOrder(naiveWords(content, ["aba", "bab"]));
  for (let rangeSizeBytes = 1; rangeSizeBytes < 100; rangeSizeBytes++) {
    const { words } = countInRanges(path, { specialTokens: ["aba", "bab"], rangeSizeBytes });
    expect(words).toEqual(whole);
  }
});

test("invalid bytes are counted once, wherever the file is cut", () => {
  const content = Buffer.concat([
    utf8("a b "),
    Buffer.from([0xff, 0x20, 0xc3, 0x28, 0xe2, 0x82]),
    utf8(" c"),
    Buffer.from([0x80]),
  ]);
  const path = put(directory, "invalid", content);
  const whole = countInRanges(path, { specialTokens: [], rangeSizeBytes: 1000 });
  expect(whole.invalidByteCount).toBe(5);
  for (let rangeSizeBytes = 1; rangeSizeBytes < 16; rangeSizeBytes++) {
    const parts = countInRanges(path, { specialTokens: [], rangeSizeBytes });
    expect(parts.invalidByteCount).toBe(5);
    expect(parts.words).toEqual(whole.words);
  }
});
