/*
 * Bun's own functions, for code that is also part of the libraries. In the library for Node, host.node.ts replaces this
 * file; in the library for browsers, host.browser.ts does.
 */
import { isAbsolute } from "node:path";
import type { WorkerThread } from "./worker-jobs.ts";

/** The runtime's version, which records, pages and `bpe --version` show. */
export const runtimeVersion: string = Bun.version;

/** A hash that detects accidental damage, but not a deliberate change. */
export const xxHash64 = (data: Uint8Array | string, seed = 0n): bigint => Bun.hash.xxHash64(data, seed);
/** Returns the CRC-32 of earlier data followed by `data`. `before` is the CRC-32 of the earlier data. */
export const crc32 = ((data, before) => Bun.hash.crc32(data, before)) as Crc32 | undefined;
export const xxHash32 = (text: string): number => Bun.hash.xxHash32(text);

export type Crc32 = (data: Uint8Array, before: number) => number;

export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex" | "base64"): string;
};

/** Whether `createSha256` works, which it does not in browsers. */
export const hasSha256: boolean = true;
// Bun's hasher instead of node:crypto, which takes 4 ms to load.
export const createSha256 = (): Sha256 => new Bun.CryptoHasher("sha256");
export const createSha1 = (): Sha256 => new Bun.CryptoHasher("sha1");

/** Blocks the thread; the event loop does not run meanwhile. */
export const sleepSync = (ms: number): void => Bun.sleepSync(ms);

/** Calls `callback` after the event loop has handled timers, messages and signals. */
export const scheduleMacrotask = (callback: () => void): void => void setImmediate(callback);

/** Collects garbage at once, if the runtime has a call for that. */
export const collectGarbage = (): void => void Bun.gc(true);

export const releaseMemory = (buffer: ArrayBuffer): void => void buffer.transfer(0);

export const toBase64 = (bytes: Uint8Array): string => bytes.toBase64();
export const fromBase64 = (text: string): Uint8Array => Uint8Array.fromBase64(text);

/**
 * Returns the paths below `cwd` that match a glob, including directories. Links are followed, and wildcards match no
 * hidden names. On Windows, the paths contain "\\".
 */
export const pathsMatching = (glob: string, cwd: string): Iterable<string> =>
  new Bun.Glob(glob).scanSync({
    cwd,
    absolute: isAbsolute(glob),
    onlyFiles: false,
    followSymlinks: true,
    dot: false,
  });

/** Returns a function that tells whether a path matches a glob. A wildcard also matches the dot of a hidden name. */
export function globMatcher(glob: string): (path: string) => boolean {
  const matcher = new Bun.Glob(glob);
  return (path) => matcher.match(path);
}

/**
 * Keeps JavaScriptCore's third compiler tier (FTL) from compiling these functions. They have loops that run only for a
 * short time: on two cores, FTL would take more time from other threads than its code saves.
 */
export function disableFtl(...functions: ((...args: never[]) => unknown)[]): void {
  const { noFTL } = require("bun:jsc") as typeof import("bun:jsc");
  for (const function_ of functions) noFTL(function_ as () => unknown);
}

/** Starts a worker of the library. Its entry is next to the module at `base`. */
export const openWorker = (base: string): WorkerThread =>
  new Worker(new URL("./worker.js", base).href) as WorkerThread;

/** The functions of the C library that neither Node nor Bun offers. */
const functions = {
  __errno_location: { args: [], returns: "ptr" },
  flock: { args: ["i32", "i32"], returns: "i32" },
  getpagesize: { args: [], returns: "i32" },
  /** Declared with the arguments of the request for a terminal's size. */
  ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
  madvise: { args: ["usize", "usize", "i32"], returns: "i32" },
  mmap: { args: ["usize", "usize", "i32", "i32", "i32", "i64"], returns: "usize" },
  munmap: { args: ["usize", "usize"], returns: "i32" },
  poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
  posix_fadvise: { args: ["i32", "i64", "i64", "i32"], returns: "i32" },
  sync_file_range: { args: ["i32", "i64", "i64", "u32"], returns: "i32" },
  /** Declared with the arguments of renameat2. */
  syscall: { args: ["i64", "i32", "ptr", "i32", "ptr", "u32"], returns: "i64" },
} as const;

type Name = keyof typeof functions;
type Symbols<Names extends Name> = ReturnType<
  typeof import("bun:ffi").dlopen<Pick<typeof functions, Names>>
>["symbols"];

const libraries = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

const opened = new Map<string, Symbols<Name> | null>();

/**
 * Loads functions of the C library; returns null if the library or a function is not found, or the system is not Linux.
 * Do not call it at the start of the program, because the first call takes half a millisecond.
 */
export function openLibc<Names extends Name>(...names: readonly Names[]): Symbols<Names> | null {
  const key = names.join();
  let symbols = opened.get(key);
  if (symbols === undefined) {
    symbols = load(names);
    opened.set(key, symbols);
  }
  return symbols as Symbols<Names> | null;
}

function load(names: readonly Name[]): Symbols<Name> | null {
  if (process.platform !== "linux") return null;
  const { dlopen } = require("bun:ffi") as typeof import("bun:ffi");
  const wanted = Object.fromEntries(names.map((name) => [name, functions[name]])) as typeof functions;
  for (const library of libraries) {
    try {
      return dlopen(library, wanted).symbols;
    } catch {}
  }
  return null;
}

/**
 * Functions of Windows that neither Node nor Bun offers, and the function of libuv that turns a descriptor into a
 * handle. Our executable contains libuv.
 */
const windowsFunctions = {
  "kernel32.dll": {
    GetLastError: { args: [], returns: "u32" },
    LockFileEx: { args: ["usize", "u32", "u32", "u32", "u32", "ptr"], returns: "i32" },
  },
  [process.execPath]: {
    uv_get_osfhandle: { args: ["i32"], returns: "usize" },
  },
} as const;

type WindowsSymbols = {
  readonly GetLastError: () => number;
  readonly LockFileEx: (handle: bigint, ...rest: [number, number, number, number, Uint32Array]) => number;
  readonly uv_get_osfhandle: (fd: number) => bigint;
};

let openedWindows: WindowsSymbols | null | undefined;

/** Loads the functions of Windows; null on other systems, or if one is missing. */
export function openWindows(): WindowsSymbols | null {
  if (openedWindows === undefined) openedWindows = process.platform === "win32" ? loadWindows() : null;
  return openedWindows;
}

function loadWindows(): WindowsSymbols | null {
  const { dlopen } = require("bun:ffi") as typeof import("bun:ffi");
  try {
    const symbols = Object.entries(windowsFunctions).map(
      ([library, functions]) => dlopen(library, functions).symbols,
    );
    return Object.assign({}, ...symbols) as WindowsSymbols;
  } catch {
    return null;
  }
}

/** Returns the error number of the last failed call in this thread. */
export function errnoOf(libc: Symbols<"__errno_location">): number {
  const { read } = require("bun:ffi") as typeof import("bun:ffi");
  return read.i32(libc.__errno_location()!);
}

/** Returns the address of an array's bytes in the process. */
export function addressOf(array: ArrayBufferView): number {
  const { ptr } = require("bun:ffi") as typeof import("bun:ffi");
  return Number(ptr(array as Uint8Array));
}
