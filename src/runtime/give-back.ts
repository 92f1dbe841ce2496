import { addressOf, openLibc } from "./libc.ts";

/**
 * Zeroes an array and gives its memory back to the system at once. Writing to it takes memory anew.
 *
 * Why not a new array: an allocator keeps freed memory for some time, and then zeroes all of it before it hands it out
 * again, also what was only reserved address space. Where the system has no such call, the memory stays.
 */
export function giveBack(array: Int32Array): void {
  const libc = array.byteLength < worthwhileBytes ? null : openLibc("madvise");
  if (libc === null) {
    array.fill(0);
    return;
  }
  const address = addressOf(array);
  const start = Math.ceil(address / pageBytes) * pageBytes;
  const end = Math.floor((address + array.byteLength) / pageBytes) * pageBytes;
  const isGiven =
    end - start >= worthwhileBytes && libc.madvise(BigInt(start), BigInt(end - start), MADV_DONTNEED) === 0;
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

const MADV_DONTNEED = 4;
