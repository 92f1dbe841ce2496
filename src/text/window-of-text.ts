import type { kernels } from "#runtime";

/** A part of a text, prepared for the search for safe cuts (src/kernel/text/cut-windows.ts). */
export type CutWindow = {
  /**
   * The normalized text of the window, then its holes (ranges whose content depends on text outside the window), then
   * the ranges of its barred positions (at which no cut is made). A range is two u32: start and end.
   */
  readonly bytes: Uint8Array;
  readonly textBytes: number;
  readonly holeCount: number;
  readonly barredCount: number;
};

/**
 * Makes a window of `text`, which is a whole text or a part of one. `startsText` says whether the whole text begins
 * with `text`. Returns undefined if memory runs out. If the kernel was in the middle of another text, that text is
 * lost.
 */
export function makeWindow(
  kernel: kernels.TextKernel,
  text: Uint8Array,
  startsText: boolean,
): CutWindow | undefined {
  const { exports } = kernel;
  if (!putText(kernel, text) || exports.makeWindow(text.length, Number(startsText)) === 0) return undefined;
  const [textBytes, holeCount, barredCount] = [
    exports.madeWindowBytes() >>> 0,
    exports.holeCount() >>> 0,
    exports.barredCount() >>> 0,
  ];
  const parts = [
    bytesAt(kernel, exports.madeWindowAddress(), textBytes),
    bytesAt(kernel, exports.holesAddress(), pairBytes * holeCount),
    bytesAt(kernel, exports.barredAddress(), pairBytes * barredCount),
  ];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let size = 0;
  for (const part of parts) {
    bytes.set(part, size);
    size += part.length;
  }
  return { bytes, textBytes, holeCount, barredCount };
}

/**
 * Normalizes `text`, the first bytes after a safe cut. The scanner needs them to decide where the last pretoken before
 * the cut ends. Returns undefined if memory runs out. The result is valid until the next call of the kernel.
 */
export function makeFollowing(kernel: kernels.TextKernel, text: Uint8Array): Uint8Array | undefined {
  const size = putText(kernel, text) ? kernel.exports.makeFollowing(text.length) : -1;
  return size < 0 ? undefined : bytesAt(kernel, kernel.exports.followingAddress(), size);
}

/** Copies a text to the kernel's memory. Returns false if memory runs out. */
export function putText(kernel: kernels.TextKernel, text: Uint8Array): boolean {
  const address = kernel.exports.windowAddress(text.length);
  if (address !== 0) bytesAt(kernel, address, text.length).set(text);
  return address !== 0;
}

const pairBytes = 8;

const bytesAt = ({ memory }: kernels.TextKernel, address: number, byteCount: number) =>
  new Uint8Array(memory.buffer, address >>> 0, byteCount);
