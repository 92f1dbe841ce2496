import { expect, test } from "bun:test";
import * as memoryPages from "../../../src/runtime/memory-pages.ts";
import { isHuge } from "./huge-pages.ts";

test("huge pages are requested for an array, whose content stays, and are released like others", () => {
  const memory = new WebAssembly.Memory({ initial: 128, maximum: 128, shared: true });
  const array = new Uint8Array(memory.buffer, 1 << 20, 4 << 20).fill(3);
  memoryPages.requestHuge(array);
  // Huge pages are requested from the first address in the array on that is a multiple of 64 KB.
  expect(isHuge(array.subarray(1 << 16))).not.toBe(false);
  expect(isHuge(new Uint8Array(memory.buffer, 6 << 20))).not.toBe(true);
  expect(array.every((byte) => byte === 3)).toBe(true);
  memoryPages.release(new Int32Array(memory.buffer, 1 << 20, 1 << 20));
  expect(array.every((byte) => byte === 0)).toBe(true);
});

test("for an array smaller than a page, the system is not called", () => {
  const memory = new WebAssembly.Memory({ initial: 128, maximum: 128, shared: true });
  const array = new Uint8Array(memory.buffer, 0, 1 << 19).fill(3);
  memoryPages.requestHuge(array);
  expect(isHuge(array)).not.toBe(true);
});

test.if(process.platform === "linux")(
  "discarded pages are zeros again; smaller arrays keep their bytes",
  () => {
    const memory = new WebAssembly.Memory({ initial: 128, maximum: 128, shared: true });
    const bytes = new Uint8Array(memory.buffer).fill(3);
    memoryPages.discard(bytes.subarray(1 << 20, 4 << 20));
    memoryPages.discard(bytes.subarray(6 << 20, (6 << 20) + 1000));
    const zeros = bytes.reduce((count, byte) => count + Number(byte === 0), 0);
    expect(zeros).toBe(3 << 20);
    expect(bytes.subarray(1 << 20, 4 << 20).every((byte) => byte === 0)).toBe(true);
  },
);
