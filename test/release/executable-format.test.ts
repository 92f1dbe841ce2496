import { expect, test } from "bun:test";
import { executableFormat } from "../../scripts/release/executable-format.ts";
import { withSignature } from "../../scripts/sign-mach-o.ts";
import { elf, machO, pe } from "./executables.ts";

test("an ELF file's machine and loader are read", () => {
  expect(executableFormat(elf(0x3e, "/lib/ld-musl-x86_64.so.1"))).toEqual({
    kind: "ELF",
    machine: "x64",
    loader: "/lib/ld-musl-x86_64.so.1",
  });
  expect(executableFormat(elf(0xb7))).toEqual({ kind: "ELF", machine: "arm64" });
  expect(() => executableFormat(elf(0x28))).toThrow("machine 0x28");
});

test("a Mach-O file is accepted only with a signature that fits", () => {
  const bytes = withSignature(machO({ codeBytes: 5000, processor: 0x100000c }), "bpe");
  expect(executableFormat(bytes)).toEqual({ kind: "Mach-O", machine: "arm64" });
  bytes[4500]! ^= 1;
  expect(() => executableFormat(bytes)).toThrow("page 1 is not what was signed");
  const library = withSignature(machO({ codeBytes: 5000, type: 6 }), "bpe");
  expect(() => executableFormat(library)).toThrow("not a Mach-O executable");
});

test("a PE file has to be an executable for the console, without a signature", () => {
  const bytes = pe(0x8664);
  expect(executableFormat(bytes)).toEqual({ kind: "PE", machine: "x64" });
  for (const [pos, reason] of [
    [101, "not a PE file"],
    [122, "not a PE executable"],
    [124, "not a PE file of 64 bits"],
    [192, "not a PE file for the console"],
    [268, "a signature that does not fit"],
    [275, "a signature that does not fit"],
  ] as const) {
    const changed = Buffer.from(bytes);
    changed[pos]! ^= 2;
    expect(() => executableFormat(changed)).toThrow(reason);
  }
});
