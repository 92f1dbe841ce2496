import { expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { wholeRange } from "../../src/corpus/input.ts";
import {
  type CountDocumentsOptions,
  countDocuments,
  type DocumentSink,
} from "../../src/pipeline/count-documents.ts";
import { put, scratch } from "../binary.ts";

const directory = scratch();
const token = "<|end|>";
const specialTokens = [new TextEncoder().encode(token)];
const threadCounts = [1, 2, 5];

/** Files with 0, 1, 2, … documents each, some of them lines of JSON, which the main thread may leave to workers. */
const documentCounts = Array.from({ length: 60 }, (_, i) => i % 7);
const paths = documentCounts.map((count, i) => {
  const texts = Array.from({ length: count }, (_, k) => `text ${k} `.repeat(1 + ((i * 31) % 900)));
  if (i % 3 > 0 || count === 0) return put(directory, `file-${i}.txt`, texts.join(token));
  const lines = texts.map((text) => `${JSON.stringify({ text })}\n`).join("");
  return put(directory, `file-${i}.jsonl${i % 2 ? ".zst" : ""}`, i % 2 ? Bun.zstdCompressSync(lines) : lines);
});
const inputs = findInputs(paths);

function jobOn(threadCount: number, sink: DocumentSink, given = inputs): Promise<void> {
  const options: CountDocumentsOptions = {
    inputs: given,
    ranges: given.map(wholeRange),
    specialTokens,
    threadCount,
  };
  return countDocuments(options, sink, () => {});
}

test("what tasks find comes in their order, with any number of threads", async () => {
  for (const threadCount of threadCounts) {
    const found: [number, number][] = [];
    await jobOn(threadCount, { endRange: (range, count) => found.push([range.inputIndex, count]) });
    expect(found).toEqual([...documentCounts.entries()]);
  }
});

test("an error of the sink ends the job, wherever the task was done", async () => {
  for (const threadCount of threadCounts) {
    for (const failing of [0, 17, 42, documentCounts.length - 1]) {
      const failure = new Error("the reader is gone");
      const endRange = ({ inputIndex }: { inputIndex: number }) => {
        if (inputIndex === failing) throw failure;
      };
      const told = await jobOn(threadCount, { endRange }).catch((error: unknown) => error);
      expect(told).toBe(failure);
    }
  }
});

test("an error of a task ends the job, with what was found before it", async () => {
  const path = put(directory, "shrinks.txt", "some text ".repeat(1000));
  const given = findInputs([...paths.slice(0, 5), path, ...paths.slice(5)]);
  truncateSync(path, 100);
  for (const threadCount of threadCounts) {
    const found: number[] = [];
    const running = jobOn(threadCount, { endRange: (_, count) => found.push(count) }, given);
    await expect(running).rejects.toThrow("shrank");
    expect(found).toEqual(documentCounts.slice(0, found.length));
    expect(found.length).toBeLessThan(6);
  }
});

test("one thread waits for the sink before it goes on", async () => {
  let isFull = false;
  let takenWhileFull = 0;
  const sink: DocumentSink = {
    endRange() {
      if (isFull) takenWhileFull++;
    },
    async drained() {
      isFull = true;
      await Bun.sleep(1);
      isFull = false;
    },
  };
  const large = findInputs([put(directory, "large.txt", `${"words ".repeat(1000)}${token}`.repeat(600))]);
  await jobOn(
    1,
    sink,
    [...large, ...large].map((input) => input),
  );
  expect(takenWhileFull).toBe(0);
});
