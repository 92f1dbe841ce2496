/**
 * The C library, for what neither Node's nor Bun's file functions have; null where there is none that we know. Loaded
 * when it is asked for, not at the start: it takes half a millisecond.
 */
export function openLibc<Symbols extends Parameters<typeof import("bun:ffi").dlopen>[1]>(symbols: Symbols) {
  if (process.platform !== "linux") return null;
  const { dlopen } = require("bun:ffi") as typeof import("bun:ffi");
  for (const library of libraries) {
    try {
      return dlopen(library, symbols).symbols;
    } catch {}
  }
  return null;
}

const libraries = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
