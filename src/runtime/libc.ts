/** The functions of the C library that we call, because neither Node nor Bun has them. */
const functions = {
  __errno_location: { args: [], returns: "ptr" },
  flock: { args: ["i32", "i32"], returns: "i32" },
  getpagesize: { args: [], returns: "i32" },
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
 * Some functions of the C library; null where it is none that we know. Called when they are needed, not at the start: the
 * first time takes half a millisecond.
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
