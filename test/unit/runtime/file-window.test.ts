import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { FileWindow } from "../../../src/runtime/file-window.ts";
import { put, scratch } from "../../binary.ts";

const directory = scratch();
const pageBytes = Number(Bun.spawnSync(["getconf", "PAGESIZE"]).stdout.toString());
const startByte = 3 << 16;
const sizeBytes = Math.max(1 << 16, 16 * pageBytes);

function open(content: Uint8Array) {
  const memory = new WebAssembly.Memory({ initial: 64, maximum: 64, shared: true });
  const fd = openSync(put(directory, "file", content), "r");
  const window = new FileWindow(memory, startByte, sizeBytes);
  const bytes = new Uint8Array(memory.buffer, startByte, sizeBytes);
  return { memory, fd, window, bytes };
}

const content = Uint8Array.from({ length: 5 * pageBytes + 100 }, (_, i) => 1 + (i % 251));
const zeros = (byteCount: number) => new Uint8Array(byteCount);

test("a part of a file is at the window's start, followed by zeros after the file's end", () => {
  const { memory, fd, window, bytes } = open(content);
  const before = new Uint8Array(memory.buffer, 0, startByte).fill(7);
  const following = new Uint8Array(memory.buffer, startByte + sizeBytes).fill(9);
  expect(window.canMap(fd)).toBe(true);
  expect(window.map(fd, 0, 3 * pageBytes)).toBe(true);
  expect(bytes.slice(0, 3 * pageBytes)).toEqual(content.slice(0, 3 * pageBytes));
  expect(window.map(fd, 4 * pageBytes, pageBytes + 100)).toBe(true);
  expect(bytes.slice(0, pageBytes + 100)).toEqual(content.slice(4 * pageBytes));
  expect(bytes.slice(pageBytes + 100)).toEqual(zeros(sizeBytes - pageBytes - 100));
  window.clear();
  expect(before.every((byte) => byte === 7)).toBe(true);
  expect(following.every((byte) => byte === 9)).toBe(true);
  closeSync(fd);
});

test("nothing of a longer part remains after a shorter one is mapped", () => {
  const { fd, window, bytes } = open(content);
  window.canMap(fd);
  window.map(fd, 0, content.length);
  window.map(fd, pageBytes, 10);
  expect(bytes.slice(0, pageBytes)).toEqual(content.slice(pageBytes, 2 * pageBytes));
  // Memory that is not mapped can be written, but a leftover mapping could not.
  bytes.fill(1, pageBytes);
  window.clear();
  expect(bytes.slice(0, pageBytes)).toEqual(zeros(pageBytes));
  expect(bytes.slice(pageBytes).every((byte) => byte === 1)).toBe(true);
  closeSync(fd);
});

test("after clearing, the memory is zero and writable again", () => {
  const { fd, window, bytes } = open(content);
  bytes.fill(1);
  window.clear();
  expect(bytes[0]).toBe(1);
  window.canMap(fd);
  window.map(fd, 0, content.length);
  window.clear();
  expect(bytes.slice(0, 6 * pageBytes)).toEqual(zeros(6 * pageBytes));
  bytes.fill(2);
  window.clear();
  expect(bytes.every((byte) => byte === 2)).toBe(true);
  closeSync(fd);
});

test("a part that does not fit, with the page after it, is not mapped", () => {
  const { fd, window, bytes } = open(new Uint8Array(2 * sizeBytes).fill(5));
  window.canMap(fd);
  expect(window.map(fd, 0, sizeBytes - pageBytes)).toBe(true);
  expect(bytes[sizeBytes - pageBytes]).toBe(0);
  expect(window.map(fd, 0, sizeBytes - pageBytes + 1)).toBe(false);
  bytes.fill(1);
  expect(window.map(fd, 0, 3 * pageBytes)).toBe(true);
  expect(window.map(fd, 1, pageBytes)).toBe(false); // not the start of a page
  bytes.fill(1);
  closeSync(fd);
});

test("failures to map are reported", () => {
  const { window, bytes } = open(content);
  const fd = openSync(directory, "r");
  expect(window.canMap(fd)).toBe(false);
  bytes.fill(1);
  closeSync(fd);
});

test("a page starts at the expected address", () => {
  const { fd, window } = open(content);
  window.canMap(fd);
  expect([0, pageBytes - 1, pageBytes, 2 ** 40 + 1].map((offset) => window.pageStart(offset))).toEqual([
    0,
    0,
    pageBytes,
    2 ** 40,
  ]);
  closeSync(fd);
});

test("memory with a mapped file may be collected", async () => {
  for (let round = 0; round < 20; round++) {
    const { fd, window } = open(content);
    window.canMap(fd);
    window.map(fd, 0, content.length);
    closeSync(fd);
    Bun.gc(true);
    await Bun.sleep(1);
  }
});
