import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trimZeros } from "../../scripts/trim-zeros.ts";
import { binary, scratch } from "../binary.ts";

const directory = scratch();

const page = 4096;
const [rodata, data, bssBytes] = [0x300, 0x450, 3 * page + 0x123];

/** Returns an executable laid out like Bun's: ".bss" is in the file, before the embedded files. */
function makeElf(change: (view: DataView) => void = () => {}): Buffer {
  const filesStart = Math.ceil((data + 0x80 + bssBytes) / page) * page;
  const filesEnd = filesStart + 0x234;
  const sections = [
    { type: 1, start: data, byteCount: 0x80 },
    { type: 1, start: filesStart, byteCount: filesEnd - filesStart },
    { type: 8, start: data + 0x80, byteCount: bssBytes },
  ];
  const bytes = Buffer.alloc(filesEnd + 64 * sections.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  bytes.write("\x7fELF\x02\x01", "latin1");
  const set = (pos: number, value: number) => view.setBigUint64(pos, BigInt(value), true);
  set(0x20, 64);
  set(0x28, filesEnd);
  view.setUint16(0x38, 3, true);
  view.setUint16(0x3c, sections.length, true);
  const segments = [
    { type: 1, flags: 4, start: 0, end: rodata },
    { type: 1, flags: 6, start: data, end: filesEnd },
    { type: 4, flags: 4, start: 0x200, end: 0x220 },
  ];
  for (const [i, { type, flags, start, end }] of segments.entries()) {
    const at = 64 + 56 * i;
    view.setUint32(at, type, true);
    view.setUint32(at + 4, flags, true);
    for (const [k, value] of [start, base + start, base + start, end - start, end - start, page].entries())
      set(at + 8 + 8 * k, value);
  }
  for (const [i, { type, start, byteCount }] of sections.entries()) {
    const at = filesEnd + 64 * i;
    view.setUint32(at + 4, type, true);
    for (const [k, value] of [base + start, start, byteCount].entries()) set(at + 16 + 8 * k, value);
  }
  for (let i = data; i < data + 0x80; i++) bytes[i] = i & 255;
  for (let i = filesStart; i < filesEnd; i++) bytes[i] = (7 * i) & 255;
  change(view);
  return bytes;
}
const base = 16 * page;

/** Returns the memory of the writable segments by address: the file's bytes, then zeros. */
function loaded(bytes: Buffer): Map<number, number> {
  const memory = new Map<number, number>();
  for (let at = 64; at < 64 + 56 * 3; at += 56) {
    const [offset, address, , fileBytes, memoryBytes] = [8, 16, 24, 32, 40].map((field) =>
      Number(bytes.readBigUint64LE(at + field)),
    ) as [number, number, number, number, number];
    if (bytes.readUint32LE(at) !== 1 || (bytes.readUint32LE(at + 4) & 2) === 0) continue;
    expect(offset % page).toBe(address % page);
    for (let i = 0; i < memoryBytes; i++) memory.set(address + i, i < fileBytes ? bytes[offset + i]! : 0);
  }
  return memory;
}

function trim(bytes: Buffer): { saved: number; after: Buffer } {
  const path = join(directory, "executable");
  writeFileSync(path, bytes);
  return { saved: trimZeros(path), after: readFileSync(path) };
}

test("an executable without its zeros has the same memory, and its sections the same bytes", () => {
  const before = makeElf();
  const { saved, after } = trim(before);
  expect(saved).toBe(3 * page);
  expect(after.length).toBe(before.length - saved);
  expect(loaded(after)).toEqual(loaded(before));
  const [sectionsBefore, sectionsAfter] = [before, after].map((bytes) => {
    const start = Number(bytes.readBigUint64LE(0x28));
    return [0, 64].map((at) => {
      const [offset, byteCount] = [24, 32].map((field) => Number(bytes.readBigUint64LE(start + at + field)));
      return bytes.subarray(offset!, offset! + byteCount!).toString("hex");
    });
  });
  expect(sectionsAfter).toEqual(sectionsBefore!);
  expect(trim(after).saved).toBe(0);
});

test("other files are left unchanged", () => {
  const others = [
    Buffer.from("#!/bin/sh\n"),
    makeElf((view) => view.setUint8(4, 1)),
    // Three executables: one without notes, one with a byte in .bss that is not zero, and one with a segment that is
    // not completely in the file.
    makeElf((view) => view.setUint32(64 + 112, 6, true)),
    makeElf((view) => view.setUint8(data + 0x80 + 5, 1)),
    makeElf((view) => view.setBigUint64(64 + 56 + 40, 1n << 20n, true)),
  ];
  for (const bytes of others) expect(trim(bytes)).toEqual({ saved: 0, after: bytes });
});

test.skipIf(process.platform !== "linux")("the executable has at most 118 MB, and no zeros to remove", () => {
  expect(statSync(binary).size).toBeLessThan(118e6);
  expect(trim(readFileSync(binary)).saved).toBe(0);
});
