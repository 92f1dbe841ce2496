import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { bytesOf } from "../../../examples/learn.ts";
import { cutIntoRanges } from "../../../src/corpus/cut-into-ranges.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { type Range, wholeRange } from "../../../src/corpus/input.ts";
import * as tasks from "../../../src/corpus/task.ts";
import type { TaskTexts } from "../../../src/corpus/task-texts.ts";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { put, scratch } from "../../binary.ts";
import { inOrder, naiveWords } from "../../naive.ts";
import { places } from "../../rounds.ts";
import { countingTexts } from "../text/counting-texts.ts";
import { entriesOf } from "../words/generators.ts";

const directory = scratch();

const gpt2 = compiledPatterns.compile(patterns.gpt2.sources);
/** A pattern whose pretokens depend on where the document began. */
const sevens = compiledPatterns.compile(["(?s:.){1,7}"]);
const utf8 = (text: string) => new TextEncoder().encode(text);

type Settings = {
  specialTokens: string[];
  /** The requested size of a range, or of a chunk. */
  sizeBytes: number;
  pattern?: CompiledPattern;
  windowBytes?: number;
  /** Whether the file is mapped into memory, instead of read. */
  isMapped?: boolean;
};

/** Counts the file range by range, like workers. */
function countInRanges(path: string, settings: Settings) {
  const { specialTokens, sizeBytes: rangeSizeBytes, windowBytes, isMapped } = settings;
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

/** Counts a compressed file chunk by chunk, like workers. Chunks that continue each other share a `TaskTexts`. */
async function countInChunks(path: string, settings: Settings) {
  const inputs = findInputs([path]);
  const specialTokens = settings.specialTokens.map(utf8);
  const { sizeBytes: chunkSizeBytes, pattern = gpt2 } = settings;
  const cutting = { pattern, specialTokens, rangeSizeBytes: 1, chunkSizeBytes, probeSizeBytes: 16 };
  const counter = new WordCounter();
  const buffers = new tasks.ChunkBuffers();
  const plan: Omit<tasks.ChunkTask, "bytes">[] = [];
  let documentCount = 0;
  let texts: TaskTexts | undefined;
  for await (const chunk of tasks.planChunks(inputs[0]!, 0, cutting, buffers)) {
    texts ??= countingTexts({ inputs, pattern, specialTokens: settings.specialTokens }, counter);
    documentCount += runToEnd(texts.take(chunk))?.documentCount ?? 0;
    if (!chunk.continues) texts = undefined;
    // Overwrites the memory, which is allowed after its use.
    chunk.bytes.fill(0x78);
    buffers.give(chunk.bytes.buffer);
    plan.push(chunk);
  }
  return { words: entriesOf(counter.toWordTable()), plan, documentCount };
}

const text =
  "It's  a\ttest, isn't it?\n\n  日本語 текст ünï 12345 !!<|end|>\r\n<|end|><|end|> x<|end|><|endless|>'ll   'LL\u3000\u3000z  " +
  "aaaa aaaa\n\n\nThe end.<|end|> <|end|>";

describe.each([
  ["a file in ranges", (content: string) => put(directory, "text", content), countInRanges],
  ["a stream in chunks", (content: string) => put(directory, "text.gz", gzipSync(content)), countInChunks],
] as const)("%s", (_, put, countIn) => {
  test("of every size gives the words of the whole", async () => {
    const path = put(text.repeat(2));
    for (const [turn, specialTokens] of [
      [],
      ["<|end|>"],
      ["<|end|>", "<|endless|>"],
      ["a", "aa", " a"],
    ].entries()) {
      const whole = inOrder(naiveWords(text.repeat(2), specialTokens));
      for (const place of places(199, turn)) {
        const { words } = await countIn(path, { specialTokens, sizeBytes: place + 1 });
        expect(words).toEqual(whole);
      }
    }
  });

  test("has no gaps, and its documents are counted once", async () => {
    const path = put(text);
    for (let sizeBytes = 1; sizeBytes < 200; sizeBytes += 3) {
      const { plan, documentCount } = await countIn(path, { specialTokens: ["<|end|>"], sizeBytes });
      expect(documentCount).toBe(5);
      expectJoined(plan, utf8(text).length);
    }
  });

  test("adjacent overlapping special tokens are found from the left", async () => {
    const content = `x ${"ab".repeat(101)}a y`;
    const path = put(content);
    const whole = inOrder(naiveWords(content, ["aba", "bab"]));
    for (let sizeBytes = 1; sizeBytes < 100; sizeBytes++) {
      const { words } = await countIn(path, { specialTokens: ["aba", "bab"], sizeBytes });
      expect(words).toEqual(whole);
    }
  });
});

function expectJoined(plan: readonly (Range | Omit<tasks.ChunkTask, "bytes">)[], sizeBytes: number): void {
  expect(plan[0]!.startByte).toBe(0);
  expect(plan.at(-1)!.endByte).toBe(sizeBytes);
  for (const [i, range] of plan.entries()) {
    if ("endsInput" in range) expect(range.endsInput).toBe(i === plan.length - 1);
    if (i === 0) continue;
    expect(range.startByte).toBe(plan[i - 1]!.endByte);
    expect(range.startsInside).toBe(plan[i - 1]!.endsInside);
  }
}

test("windows of any size give the same words", () => {
  const path = put(directory, "windows", text.repeat(3));
  const specialTokens = ["<|end|>", "<|endless|>"];
  const whole = inOrder(naiveWords(text.repeat(3), specialTokens));
  for (let windowBytes = 1; windowBytes < 300; windowBytes += 7) {
    const { words } = countInRanges(path, { specialTokens, sizeBytes: 1000, windowBytes });
    expect(words).toEqual(whole);
  }
});

test("a mapped file gives the same words, wherever it is cut and whatever its last page contains", () => {
  const specialTokens = ["<|end|>", "<|endless|>"];
  const long = `${text.repeat(100)}${"x".repeat(40_000)} y ${text.repeat(400)}`;
  for (const fileBytes of [1, 4095, 4096, 4097, 8160, Buffer.byteLength(long)]) {
    const content = Buffer.from(long).subarray(-fileBytes).toString("utf8");
    const path = put(directory, "mapped", content);
    const whole = inOrder(naiveWords(content, specialTokens));
    for (const rangeSizeBytes of [1 << 20, 60_000, 5000]) {
      // From less than a page to more than the file.
      for (const windowBytes of [100, 1 << 14, 1 << 20]) {
        const settings = { specialTokens, sizeBytes: rangeSizeBytes, windowBytes };
        const { mapped, ...counted } = countInRanges(path, { ...settings, isMapped: true });
        const { mapped: _, ...read } = countInRanges(path, settings);
        expect(counted.words).toEqual(whole);
        expect(counted).toEqual(read);
        expect(mapped.length).toBeGreaterThan(0);
        // Reading the long word makes the window larger. Later ranges are still mapped in pieces of at most
        // `windowBytes`.
        expect(Math.max(...mapped.map(({ byteCount }) => byteCount))).toBeLessThanOrEqual(windowBytes);
        // If a word fills more than half of a mapped window, the rest of its range is read instead of mapped
        // (range-reader.ts). The long word of 40,000 bytes does not even fit into a window of 16 KB. So with that
        // window, the last mapping of a file of one range with this word does not reach the end of the file.
        const isWhole = fileBytes < 40_000 || windowBytes > 40_000;
        if (windowBytes > 100 && rangeSizeBytes === 1 << 20) {
          const { offsetByte, byteCount } = mapped.at(-1)!;
          expect(offsetByte + byteCount === fileBytes).toBe(isWhole);
        }
      }
    }
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
  const whole = countInRanges(path, { specialTokens: [], sizeBytes: 1000 });
  expect(whole.invalidByteCount).toBe(5);
  for (let sizeBytes = 1; sizeBytes < 16; sizeBytes++) {
    const parts = countInRanges(path, { specialTokens: [], sizeBytes });
    expect(parts.invalidByteCount).toBe(5);
    expect(parts.words).toEqual(whole.words);
  }
});

test("a pattern without safe cuts is cut at special tokens only", async () => {
  const path = put(directory, "sevens.gz", gzipSync(text));
  for (const specialTokens of [[], ["<|end|>"]]) {
    const whole = inOrder(
      naiveWords(text, specialTokens, (document) => (document.match(/.{1,7}/gsu) ?? []).map(bytesOf)),
    );
    for (let sizeBytes = 1; sizeBytes < 200; sizeBytes += 7) {
      const settings = { specialTokens, sizeBytes, pattern: sevens };
      const { words, plan } = await countInChunks(path, settings);
      expect(words).toEqual(whole);
      expect(plan.some((chunk) => chunk.endsInside)).toBe(false);
    }
  }
});

test("lines of JSON are cut between lines, in chunks of every size, and a wrong one is named by its number", async () => {
  const texts = Array.from({ length: 12 }, (_, n) => `${"word ".repeat(n)}it's <|end|>\n\u3000${n}`);
  const lines = texts.map((content, n) => JSON.stringify({ id: n, text: content }));
  const expected = new Map<string, number>();
  for (const content of texts) {
    for (const [word, count] of naiveWords(content, ["<|end|>"]))
      expected.set(word, (expected.get(word) ?? 0) + count);
  }
  const path = put(directory, "records.jsonl.gz", gzipSync(lines.join("\n")));
  const wrong = lines.with(9, "{}").join("\r\n");
  const wrongPath = put(directory, "wrong.jsonl.gz", gzipSync(wrong));
  for (let sizeBytes = 1; sizeBytes < 400; sizeBytes += 5) {
    const settings = { specialTokens: ["<|end|>"], sizeBytes };
    const { words, documentCount } = await countInChunks(path, settings);
    expect(words).toEqual(inOrder(expected));
    expect(documentCount).toBe(24);
    await expect(countInChunks(wrongPath, settings)).rejects.toThrow(
      /line 10 of ".*jsonl.gz": no field "text"/,
    );
  }
});
