import { afterEach, expect, test } from "bun:test";
import * as kernels from "../../../src/runtime/kernel.ts";
import * as kernelArrays from "../../../src/tokenizer/kernel-arrays.ts";

afterEach(kernelArrays.releaseMemory);

/** Returns a memory in which every byte is 7. */
function usedMemory(): WebAssembly.Memory {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true });
  new Uint8Array(memory.buffer).fill(7);
  return memory;
}

const memoryOf = ({ kernel }: kernelArrays.KernelArrays) => kernel.memory;

const start = 2 ** 18 + 2 ** 16;
const end = 2 ** 19;
const lowBytes = 2 ** 18;
const writtenLowBytes = 100_000;

function useUsedMemory(): WebAssembly.Memory {
  const memory = usedMemory();
  new Uint8Array(memory.buffer, writtenLowBytes, lowBytes - writtenLowBytes).fill(0);
  kernelArrays.useMemory(memory, { start, end, lowBytes, writtenLowBytes });
  return memory;
}

const areAll = (bytes: Uint8Array, byte: number) => bytes.every((each) => each === byte);

test("arrays that fit are copied to the part of the memory that is given", () => {
  const memory = useUsedMemory();
  const arrays = kernelArrays.put([Int32Array.of(1, 2, 3), Uint8Array.of(4)], end - start - 24);
  expect(memoryOf(arrays) === memory).toBe(true);
  expect([arrays.addresses, arrays.end]).toEqual([[start, start + 16], start + 24]);
  expect([...new Int32Array(memory.buffer, start, 3)]).toEqual([1, 2, 3]);
  expect(new Uint8Array(memory.buffer)[start + 16]).toBe(4);
  expect(arrays.areStillThere).toBe(true);
});

test("arrays that do not fit get a memory of their own, and so do all later ones", () => {
  const memory = useUsedMemory();
  const large = kernelArrays.put([Int32Array.of(1, 2, 3), Uint8Array.of(4)], end - start - 23);
  expect(memoryOf(large) === memory).toBe(false);
  expect(memoryOf(kernelArrays.put([], 0)) === memoryOf(large)).toBe(true);
  expect(areAll(new Uint8Array(memory.buffer, lowBytes), 7)).toBe(true);
});

test("the lent part of the memory is zero, each time", () => {
  const memory = useUsedMemory();
  const arrays = kernelArrays.put([Uint8Array.of(1)], 0);
  for (const byteCount of [2 ** 17, lowBytes, 2 ** 16]) {
    expect(kernelArrays.lendMemory(byteCount) === memory).toBe(true);
    expect(areAll(new Uint8Array(memory.buffer, 0, byteCount), 0)).toBe(true);
    new Uint8Array(memory.buffer, 0, byteCount).fill(9);
  }
  expect(arrays.areStillThere).toBe(false);
  expect(areAll(new Uint8Array(memory.buffer, lowBytes, start - lowBytes), 7)).toBe(true);
  expect(kernelArrays.lendMemory(lowBytes + 1) === memory).toBe(false);
});

test("a memory of its own is zero when it is lent, each time", () => {
  for (const byteCount of [2 ** 17, 2 ** 19, 2 ** 16]) {
    kernelArrays.put([new Uint8Array(1000).fill(1)], 0);
    const { buffer } = kernelArrays.lendMemory(byteCount);
    expect(areAll(new Uint8Array(buffer, 0, byteCount), 0)).toBe(true);
    new Uint8Array(buffer, 0, byteCount).fill(9);
  }
});

test("after the memory is released, arrays get another one", () => {
  const memory = useUsedMemory();
  const arrays = kernelArrays.put([Uint8Array.of(1)], 0);
  kernelArrays.releaseMemory();
  expect(arrays.areStillThere).toBe(false);
  expect(memoryOf(kernelArrays.put([], 0)) === memory).toBe(false);
  expect(kernelArrays.lendMemory(kernels.pageBytes) === memory).toBe(false);
});
