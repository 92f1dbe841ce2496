import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { checkSignature, signMachO, withSignature } from "../../scripts/sign-mach-o.ts";
import { put, scratch } from "../binary.ts";
import { machO } from "../release/executables.ts";

test("a signature has a hash for each page, of which the last may be short, and is at the end", () => {
  const code = machO({ codeBytes: 10_000 });
  const signed = withSignature(Buffer.from(code), "bpe");
  expect(checkSignature(signed)).toBe(3);
  expect(signed.length).toBe(10_000 + 20 + 88 + 4 + 3 * 32);
  const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  expect(signed.toString("hex", signed.length - 32)).toBe(sha256(code.subarray(8192, 10_000)));
  expect(signed.toString("hex", signed.length - 96, signed.length - 64)).toBe(
    sha256(signed.subarray(0, 4096)),
  );
  expect(signed.toString("latin1", 10_000 + 108, 10_000 + 112)).toBe("bpe\0");
});

test("the list and the code directory are laid out as macOS reads them", () => {
  const signature = withSignature(machO({ codeBytes: 10_000 }), "bpe").subarray(10_000);
  const numbers = (start: number, count: number) =>
    Array.from({ length: count }, (_, i) => signature.readUInt32BE(start + 4 * i));
  expect(numbers(0, 5)).toEqual([0xfade0cc0, 208, 1, 0, 20]);
  expect(numbers(20, 10)).toEqual([
    ...[0xfade0c02, 188, 0x20400, 0x20002, 92, 88, 0, 3, 10_000],
    0x20_02_00_0c, // a hash's size and kind, the platform, log2 of a page's size
  ]);
  expect(numbers(60, 6)).toEqual([0, 0, 0, 0, 0, 0]);
  // __TEXT: its offset, its size, and the flag of a main executable; 8 bytes each.
  expect(numbers(84, 6)).toEqual([0, 0, 0, 300, 0, 1]);
});

test("the load commands have the offset and the size of the signature, and its segment grows with it", () => {
  const signed = withSignature(machO({ codeBytes: 10_000, linkEditMemoryBytes: 12_288 }), "bpe");
  const commands = 32 + 2 * 72;
  expect([8, 12].map((pos) => signed.readUInt32LE(commands + pos))).toEqual([10_000, signed.length - 10_000]);
  const linkEdit = 32 + 72;
  const [memoryBytes, start, bytes] = [32, 40, 48].map((pos) => signed.readBigUInt64LE(linkEdit + pos));
  expect(start! + bytes!).toBe(BigInt(signed.length));
  expect(memoryBytes).toBe(12_288n);
  const large = withSignature(machO({ codeBytes: 20_000, linkEditMemoryBytes: 12_288 }), "bpe");
  expect(large.readBigUInt64LE(linkEdit + 32)).toBe(32_768n);
  expect(checkSignature(large)).toBe(5);
});

test("signing again gives the same bytes, and an older, longer signature is removed", () => {
  const signed = withSignature(machO({ codeBytes: 10_000 }), "a long name of a program");
  const again = withSignature(Buffer.from(signed), "bpe");
  expect(again.equals(withSignature(Buffer.from(again), "bpe"))).toBe(true);
  expect(again.length).toBe(signed.length - 21);
});

test("a byte that changes anywhere before the signature or in its hashes is noticed", () => {
  const signed = withSignature(machO({ codeBytes: 10_000 }), "bpe");
  for (const pos of [4, 1000, 4095, 4096, 8191, 9999, signed.length - 96, signed.length - 1]) {
    const changed = Buffer.from(signed);
    changed[pos]! ^= 1;
    expect(() => checkSignature(changed)).toThrow();
  }
  expect(() => checkSignature(signed.subarray(0, -1))).toThrow("not at the end");
  expect(() => checkSignature(Buffer.concat([signed, Buffer.alloc(1)]))).toThrow("not at the end");
});

test("a file that is not a macOS executable, or has no bytes left for a signature, is refused", () => {
  expect(() => withSignature(Buffer.alloc(100), "bpe")).toThrow("no Mach-O file");
  expect(() => withSignature(machO({ codeBytes: 1000, isUnsigned: true }), "bpe")).toThrow("no room");
  expect(() => withSignature(machO({ codeBytes: 1000, linkEditAddress: 0 }), "bpe")).toThrow("last segment");
});

test("the file on disk is signed, and truncated after the signature", () => {
  const code = machO({ codeBytes: 10_000 });
  const path = put(scratch(), "program", Buffer.concat([code, Buffer.alloc(5000)]));
  signMachO(path, "bpe");
  expect(readFileSync(path).equals(withSignature(Buffer.from(code), "bpe"))).toBe(true);
});
