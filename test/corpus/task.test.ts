import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { ChunkBuffers, type ChunkTask, planChunks } from "../../src/corpus/task.ts";
import { type CompiledPattern, compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import type { TaskTexts } from "../../src/text/task-texts.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { put, scratch } from "../binary.ts";
import { inOrder, naiveWords } from "../naive.ts";
import { countingTexts } from "../text/counting-texts.ts";
import { entriesOf } from "../words/generators.ts";

const directory = scratch();

const gpt2 = compilePattern(patterns.gpt2.sources);
const backtracking = compilePattern([`${patterns.gpt2.sources[0]}(?<!x(?!x)x)`]);
const utf8 = (text: string) => new TextEncoder().encode(text);

type Settings = { specialTokens: string[]; chunkSizeBytes: number; probeSizeBytes?: number };

/** Counts a compressed file chunk by chunk, as workers do: each range by a counter that knows nothing of the others. */
async function countInChunks(path: string, pattern: CompiledPattern, settings: Settings) {
  const inputs = findInputs([path]);
  const specialTokens = settings.specialTokens.map(utf8);
  const { chunkSizeBytes, probeSizeBytes = 16 } = settings;
  const cutting = { pattern, specialTokens, rangeSizeBytes: 1, chunkSizeBytes, probeSizeBytes };
  const counter = new WordCounter();
  const buffers = new ChunkBuffers();
  const chunks: Omit<ChunkTask, "bytes">[] = [];
  let documentCount = 0;
  let tasks: TaskTexts | undefined;
  for await (const chunk of planChunks(inputs[0]!, 0, cutting, buffers)) {
    tasks ??= countingTexts({ inputs, pattern, specialTokens: settings.specialTokens }, counter);
    documentCount += runToEnd(tasks.take(chunk))?.documentCount ?? 0;
    if (!chunk.continues) tasks = undefined;
    // Whoever is done with the memory may write over it.
    chunk.bytes.fill(0x78);
    buffers.give(chunk.bytes.buffer);
    chunks.push(chunk);
  }
  return { words: entriesOf(counter.toWordTable()), chunks, documentCount };
}

const text =
  "It's  a\ttest, isn't it?\n\n  日本語 текст ünï 12345 !!<|end|>\r\n<|end|><|end|> x<|end|><|endless|>'ll   'LL\u3000\u3000z  " +
  "aaaa aaaa\n\n\nThe end.<|end|> <|end|>";

test("a stream in chunks of every size gives the words of the whole", async () => {
  const path = put(directory, "text.gz", gzipSync(text.repeat(3)));
  for (const specialTokens of [[], ["<|end|>"], ["<|end|>", "<|endless|>"], ["a", "aa", " a"]]) {
    const whole = inOrder(naiveWords(text.repeat(3), specialTokens));
    for (let chunkSizeBytes = 1; chunkSizeBytes < 200; chunkSizeBytes++) {
      const { words } = await countInChunks(path, gpt2, { specialTokens, chunkSizeBytes });
      expect(words).toEqual(whole);
    }
  }
});

test("a run of overlapping special tokens is read from its left end whatever the chunks", async () => {
  const content = `x ${"ab".repeat(101)}a y`;
  const path = put(directory, "run.zst", zstdCompressSync(content));
  const whole = inOrder(naiveWords(content, ["aba", "bab"]));
  for (let chunkSizeBytes = 1; chunkSizeBytes < 100; chunkSizeBytes++) {
    const { words } = await countInChunks(path, gpt2, { specialTokens: ["aba", "bab"], chunkSizeBytes });
    expect(words).toEqual(whole);
  }
});

test("a pattern without safe cuts is cut at special tokens only", async () => {
  expect(backtracking.kind).toBe("programs");
  const path = put(directory, "backtracking.gz", gzipSync(text));
  for (const specialTokens of [[], ["<|end|>"]]) {
    const whole = inOrder(naiveWords(text, specialTokens));
    for (let chunkSizeBytes = 1; chunkSizeBytes < 200; chunkSizeBytes += 7) {
      const { words, chunks } = await countInChunks(path, backtracking, { specialTokens, chunkSizeBytes });
      expect(words).toEqual(whole);
      expect(chunks.some((chunk) => chunk.endsInside)).toBe(false);
    }
  }
});

test("chunks join without gaps, the last one ends the input, documents are counted once", async () => {
  const path = put(directory, "documents.gz", gzipSync(text));
  for (let chunkSizeBytes = 1; chunkSizeBytes < 200; chunkSizeBytes += 3) {
    const settings = { specialTokens: ["<|end|>"], chunkSizeBytes };
    const { chunks, documentCount } = await countInChunks(path, gpt2, settings);
    expect(documentCount).toBe(5);
    expect(chunks[0]!.startByte).toBe(0);
    expect(chunks.at(-1)!.endByte).toBe(utf8(text).length);
    for (const [i, chunk] of chunks.entries()) {
      expect(chunk.endsInput).toBe(i === chunks.length - 1);
      if (i > 0) expect(chunk.startByte).toBe(chunks[i - 1]!.endByte);
      if (i > 0) expect(chunk.startsInside).toBe(chunks[i - 1]!.endsInside);
    }
  }
});

test("what a file is packed in is told by its content, and other packers are named", () => {
  mkdirSync(join(directory, "packed"));
  const file = (name: string, content: string | Uint8Array) => put(join(directory, "packed"), name, content);
  const compressionOf = (path: string) => findInputs([path])[0]!.compression;
  expect(compressionOf(file("named.gz", "plain text"))).toBe("none");
  expect(compressionOf(file("plain.txt", gzipSync("x")))).toBe("gzip");
  expect(compressionOf(file("plain", zstdCompressSync("x")))).toBe("zstd");
  expect(() => findInputs([file("a.xz", Buffer.from("\xfd7zXZ\0", "latin1"))])).toThrow(/is packed by xz/);
  expect(() => findInputs([file("a.bz2", Buffer.from("BZh91AY&SY\xd5(", "latin1"))])).toThrow(/bzip2/);
});

test("UTF-16 and UTF-32 are refused, with a mark or without, packed or not", async () => {
  const utf16 = Buffer.from("Some text in English.", "utf16le");
  const swapped = Buffer.from(utf16).swap16();
  const cases: [string, Uint8Array, string][] = [
    ["le", Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), "UTF-16"],
    ["be", Buffer.concat([Buffer.from([0xfe, 0xff]), swapped]), "UTF-16"],
    ["le-unmarked", utf16, "UTF-16LE"],
    ["be-unmarked", swapped, "UTF-16BE"],
    ["wide", Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), utf16]), "UTF-32"],
  ];
  for (const [name, content, encoding] of cases) {
    const message = new RegExp(`is ${encoding}, not UTF-8`);
    expect(() => findInputs([put(directory, name, content)])).toThrow(message);
    const packed = put(directory, `${name}.gz`, gzipSync(content));
    await expect(countInChunks(packed, gpt2, { specialTokens: [], chunkSizeBytes: 100 })).rejects.toThrow(
      message,
    );
  }
  const marked = put(directory, "utf8", "\ufeffSome text");
  expect(findInputs([marked]).length).toBe(1);
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
  for (let chunkSizeBytes = 1; chunkSizeBytes < 400; chunkSizeBytes += 5) {
    const settings = { specialTokens: ["<|end|>"], chunkSizeBytes };
    const { words, documentCount } = await countInChunks(path, gpt2, settings);
    expect(words).toEqual(inOrder(expected));
    expect(documentCount).toBe(24);
    await expect(countInChunks(wrongPath, gpt2, settings)).rejects.toThrow(
      /jsonl.gz" line 10: no field "text"/,
    );
  }
});
