import { expect, test } from "bun:test";
import * as kernels from "../../../src/runtime/kernel.ts";
import { wordMemoryCount } from "../../../src/words/count-memory.ts";

test("a kernel is prepared once, and then used by all", async () => {
  await Promise.all([kernels.prepare(), kernels.prepare()]);
  const module = kernels.sharedModule();
  await kernels.prepare();
  expect(kernels.sharedModule()).toBe(module);
  expect(kernels.create().exports.memoryBytes()).toBeGreaterThan(0);
});

const gigabyte = 2 ** 30;
const anyText = Number.POSITIVE_INFINITY;

test("the memories of all threads together are less than three times the machine's, however many there are", () => {
  for (const machineGigabytes of [4, 16, 24, 64, 512]) {
    for (const threadCount of [1, 2, 7, 8, 24, 64, 96, 128]) {
      for (const isPerInput of [false, true]) {
        const count = wordMemoryCount(threadCount, isPerInput);
        const machineBytes = machineGigabytes * gigabyte;
        const sizeBytes = kernels.wholeMemoryBytes(anyText, count, machineBytes);
        const leastBytes = 2 ** 26;
        expect([sizeBytes >= leastBytes, sizeBytes <= 4 * gigabyte]).toEqual([true, true]);
        if (sizeBytes > leastBytes) expect(count * sizeBytes).toBeLessThan(3 * machineBytes);
      }
    }
  }
});

test("96 cores and 64 GB: each thread has a memory of 1 GB, or with a cache two of 512 MB", () => {
  const sizeOf = (isPerInput: boolean) =>
    kernels.wholeMemoryBytes(anyText, wordMemoryCount(96, isPerInput), 64 * gigabyte);
  expect([sizeOf(false), sizeOf(true)]).toEqual([gigabyte, gigabyte / 2]);
  expect(kernels.wholeMemoryBytes(anyText, wordMemoryCount(2), 24 * gigabyte)).toBe(4 * gigabyte);
});

test("a small text gets no more memory than usual", () => {
  expect(kernels.wholeMemoryBytes(1000, 3, 64 * gigabyte)).toBe(2 ** 28);
});
