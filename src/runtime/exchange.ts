import { openLibc } from "./libc.ts";

/**
 * Exchanges what two absolute paths name, in one step: whoever looks sees the one or the other, never neither. False
 * where the kernel or the file system has no such call, or refuses; the caller's other way then meets the reason.
 *
 * `renameat2` is called through `syscall`, which every C library has, because glibc before 2.28 and musl before 1.2.6
 * lack a function of its own.
 */
export function exchange(path: string, otherPath: string): boolean {
  const number = callNumbers[process.arch];
  const call = number === undefined ? undefined : openLibc({ syscall: syscallType })?.syscall;
  if (number === undefined || call === undefined) return false;
  const { ptr } = require("bun:ffi") as typeof import("bun:ffi");
  const from = ptr(cString(path));
  const to = ptr(cString(otherPath));
  return call(number, ignoredDirectory, from, ignoredDirectory, to, RENAME_EXCHANGE) === 0n;
}

/** The C library's `syscall`, in the form that renameat2 needs. */
const syscallType = { args: ["i64", "i32", "ptr", "i32", "ptr", "u32"], returns: "i64" } as const;

/** The number of renameat2, from the kernel's tables for each processor. */
const callNumbers: Readonly<Record<string, bigint>> = { x64: 316n, arm64: 276n };
const RENAME_EXCHANGE = 2;
/** Absolute paths are looked up without a directory. */
const ignoredDirectory = -1;

const cString = (text: string) => Buffer.from(`${text}\0`);
