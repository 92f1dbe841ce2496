import { openLibc } from "./libc.ts";

/**
 * Zeroes an array and gives its memory back to the system at once. Writing to it takes memory anew.
 *
 * Why not a new array: an allocator keeps freed memory for some time, and then zeroes all of it before it hands it out
 * again, also what was only reserved address space. Where the system has no such call, the memory stays.
 */
export function giveBack(array: Int32Array): void {
  const { ptr } = require("bun:ffi") as typeof import("bun:ffi");
  const address = Number(ptr(array));
  const start = Math.ceil(address / pageBytes) * pageBytes;
  const end = Math.floor((address + array.byteLength) / pageBytes) * pageBytes;
  const isGiven = end - start >= worthwhileBytes && discardPages(start, end - start);
  if (!isGiven) {
    array.fill(0);
    return;
  }
  array.fill(0, 0, (start - address) / 4);
  array.fill(0, (end - address) / 4);
}

/** A multiple of every page size of Linux on x64 and arm64, except huge pages, which the system splits. */
const pageBytes = 1 << 16;
const worthwhileBytes = 1 << 20;

/** False where the system has no such call, or refuses. */
function discardPages(address: number, sizeBytes: number): boolean {
  const libc = openLibc("madvise");
  return libc?.madvise(BigInt(address), BigInt(sizeBytes), MADV_DONTNEED) === 0;
}

const MADV_DONTNEED = 4;
