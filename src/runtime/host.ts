/*
 * What the program has from Bun and not from JavaScript or Node's modules. The library for Node has host.node.ts in this
 * file's place (scripts/npm/compile.ts): it has the same names.
 * Only this file, its neighbour embedded.ts, and pattern/ready-made.ts may name Bun; src/cli is in no library.
 */
import { isAbsolute } from "node:path";
import type { WorkerThread } from "./worker-jobs.ts";

/** Who runs the program, for the records of a training. */
export const runtimeVersion: string = Bun.version;

/** A hash that finds damage, not malice. */
export const xxHash64 = (data: Uint8Array | string, seed = 0n): bigint => Bun.hash.xxHash64(data, seed);
export const xxHash32 = (text: string): number => Bun.hash.xxHash32(text);

export type Sha256 = {
  update(data: Uint8Array | string): Sha256;
  digest(encoding: "hex" | "base64"): string;
};

// Not those of node:crypto: to load it takes 4 ms.
export const createSha256 = (): Sha256 => new Bun.CryptoHasher("sha256");
export const createSha1 = (): Sha256 => new Bun.CryptoHasher("sha1");

/** Waits, and lets nothing else be served meanwhile. */
export const sleepSync = (ms: number): void => Bun.sleepSync(ms);

/** Calls it when timers, messages and signals were served. */
export const scheduleMacrotask = (callback: () => void): void => void setImmediate(callback);

/** Frees what nobody uses, at once, where the runtime can be told so. */
export const collectGarbage = (): void => void Bun.gc(true);

export const releaseMemory = (buffer: ArrayBuffer): void => void buffer.transfer(0);

export const toBase64 = (bytes: Uint8Array): string => bytes.toBase64();
export const fromBase64 = (text: string): Uint8Array => Uint8Array.fromBase64(text);

/**
 * Paths below `cwd` that a glob names, directories and links among them; hidden ones are left out. Links are followed. On
 * Windows they have "\\".
 */
export const pathsMatching = (glob: string, cwd: string): Iterable<string> =>
  new Bun.Glob(glob).scanSync({
    cwd,
    absolute: isAbsolute(glob),
    onlyFiles: false,
    followSymlinks: true,
    dot: false,
  });

/** Whether a path is one that a glob names; a wildcard stands for the dot of a hidden name, too. */
export function globMatcher(glob: string): (path: string) => boolean {
  const matcher = new Bun.Glob(glob);
  return (path) => matcher.match(path);
}

/**
 * For functions that run only while a tokenizer is loaded: the runtime does not compile them a third time. On two cores its
 * compiler takes that time from the threads that encode, and the third tier saves less.
 */
export function disableFtl(...functions: ((...args: never[]) => unknown)[]): void {
  const { noFTL } = require("bun:jsc") as typeof import("bun:jsc");
  for (const each of functions) noFTL(each as () => unknown);
}

/** Opens a worker of the library; its entry lies beside the module at `base`. */
export const openWorker = (base: string): WorkerThread =>
  new Worker(new URL("./worker.js", base).href) as WorkerThread;

/** The functions of the C library that we call, because neither Node nor Bun has them. */
const functions = {
  __errno_location: { args: [], returns: "ptr" },
  flock: { args: ["i32", "i32"], returns: "i32" },
  getpagesize: { args: [], returns: "i32" },
  /** In the form that a terminal's size needs. */
  ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
  madvise: { args: ["usize", "usize", "i32"], returns: "i32" },
  mmap: { args: ["usize", "usize", "i32", "i32", "i32", "i64"], returns: "usize" },
  munmap: { args: ["usize", "usize"], returns: "i32" },
  poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
  posix_fadvise: { args: ["i32", "i64", "i64", "i32"], returns: "i32" },
  sync_file_range: { args: ["i32", "i64", "i64", "u32"], returns: "i32" },
  /** In the form that renameat2 needs. */
  syscall: { args: ["i64", "i32", "ptr", "i32", "ptr", "u32"], returns: "i64" },
} as const;

type Name = keyof typeof functions;
type Symbols<Names extends Name> = ReturnType<
  typeof import("bun:ffi").dlopen<Pick<typeof functions, Names>>
>["symbols"];

const libraries = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

const opened = new Map<string, Symbols<Name> | null>();

/**
 * Some functions of the C library; null if we do not know the library. Called when they are needed, not at the start: the
 * first call takes half a millisecond.
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

/** The functions of Windows that we call, for the same reason, and the one of libuv, in our executable, that leads to them. */
const windowsFunctions = {
  "kernel32.dll": {
    GetLastError: { args: [], returns: "u32" },
    LockFileEx: { args: ["usize", "u32", "u32", "u32", "u32", "ptr"], returns: "i32" },
  },
  [process.execPath]: {
    /** The system's handle of a descriptor. */
    uv_get_osfhandle: { args: ["i32"], returns: "usize" },
  },
} as const;

type WindowsSymbols = {
  readonly GetLastError: () => number;
  readonly LockFileEx: (handle: bigint, ...rest: [number, number, number, number, Uint32Array]) => number;
  readonly uv_get_osfhandle: (fd: number) => bigint;
};

let openedWindows: WindowsSymbols | null | undefined;

/** These functions; null on other systems. */
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

/** The number of the error of the last call that failed, in this thread. */
export function errnoOf(libc: Symbols<"__errno_location">): number {
  const { read } = require("bun:ffi") as typeof import("bun:ffi");
  return read.i32(libc.__errno_location()!);
}

/** Where the bytes of an array are in the process. */
export function addressOf(array: ArrayBufferView): number {
  const { ptr } = require("bun:ffi") as typeof import("bun:ffi");
  return Number(ptr(array as Uint8Array));
}
