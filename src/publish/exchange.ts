/**
 * Exchanges what two absolute paths name, in one step: whoever looks sees the one or the other, never neither. False
 * where the kernel or the file system has no such call, or refuses; the caller's other way then meets the reason.
 *
 * Neither Node's nor Bun's file functions have `renameat2`. It is called through `syscall`, which every C library has,
 * because glibc before 2.28 and musl before 1.2.6 lack a function of its own.
 */
export function exchange(path: string, otherPath: string): boolean {
  const number = callNumbers[process.arch];
  if (process.platform !== "linux" || number === undefined) return false;
  // Loaded here, not at the top: a run that replaces nothing does without it.
  const { dlopen, ptr } = require("bun:ffi") as typeof import("bun:ffi");
  for (const library of libraries) {
    const call = openSyscall(dlopen, library);
    if (call === null) continue;
    const from = ptr(cString(path));
    const to = ptr(cString(otherPath));
    return call(number, ignoredDirectory, from, ignoredDirectory, to, RENAME_EXCHANGE) === 0n;
  }
  return false;
}

/** The C library's `syscall`, in the form that renameat2 needs; null where there is no library of that name. */
function openSyscall(dlopen: typeof import("bun:ffi").dlopen, library: string) {
  try {
    const type = { args: ["i64", "i32", "ptr", "i32", "ptr", "u32"], returns: "i64" } as const;
    return dlopen(library, { syscall: type }).symbols.syscall;
  } catch {
    return null;
  }
}

/** The number of renameat2, from the kernel's tables for each processor. */
const callNumbers: Readonly<Record<string, bigint>> = { x64: 316n, arm64: 276n };
const RENAME_EXCHANGE = 2;
/** Absolute paths are looked up without a directory. */
const ignoredDirectory = -1;
const libraries = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

const cString = (text: string) => Buffer.from(`${text}\0`);
