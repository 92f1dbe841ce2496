// The pages of arrays that are large.
import * as host from "#host";

/**
 * Zeroes an array. If the array has at least 1 MB of whole pages, and the system supports it, these pages are returned
 * to the system, and writing to them allocates new ones. Otherwise the array keeps its memory.
 */
export function release(array: Int32Array | Uint8Array): void {
  if (!advise(array, MADV_DONTNEED)) {
    array.fill(0);
    return;
  }
  const { address, start, end } = pagesOf(array);
  array.fill(0, 0, (start - address) / array.BYTES_PER_ELEMENT);
  array.fill(0, (end - address) / array.BYTES_PER_ELEMENT);
}

/**
 * Returns the whole pages of an array whose content is no longer needed to the system, if the array has at least 1 MB of
 * them and the system supports it.
 */
export function discard(array: Uint8Array): void {
  advise(array, MADV_DONTNEED);
}

/**
 * Asks the system to back a large, randomly accessed array with pages of 2 MB, where it has them. With pages of 4 KB,
 * most accesses miss the TLB in addition to the cache.
 */
export function requestHuge(array: Uint8Array): void {
  advise(array, MADV_HUGEPAGE);
}

/**
 * Calls madvise on the whole pages of an array. Returns false if the array is too small to be worthwhile, or if the
 * system does not support the advice.
 */
function advise(array: Int32Array | Uint8Array, advice: number): boolean {
  const libc = array.byteLength < worthwhileBytes ? null : host.openLibc("madvise");
  if (libc === null) return false;
  const { start, end } = pagesOf(array);
  return end - start >= worthwhileBytes && libc.madvise(BigInt(start), BigInt(end - start), advice) === 0;
}

/** Returns the address of an array in the process, and the bounds of the whole pages in it. */
function pagesOf(array: Int32Array | Uint8Array) {
  const address = host.addressOf(array);
  const start = Math.ceil(address / pageBytes) * pageBytes;
  return { address, start, end: Math.floor((address + array.byteLength) / pageBytes) * pageBytes };
}

/**
 * A multiple of every page size of Linux on x64 and arm64, except for huge pages, which the system splits if necessary.
 */
const pageBytes = 1 << 16;
const worthwhileBytes = 1 << 20;

const MADV_DONTNEED = 4;
const MADV_HUGEPAGE = 14;
