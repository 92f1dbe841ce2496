import type { TextKernel } from "#runtime";

/** A window of a text: src/kernel/text/cut-windows.ts as JavaScript sees it. */
export type CutWindow = {
  /** Its text, then its holes, then its barred positions. */
  readonly bytes: Uint8Array;
  readonly textBytes: number;
  readonly holeCount: number;
  readonly barredCount: number;
};

/**
 * Makes a window of a part of a text; `startsText`: that begins the text. Returns undefined if there is no memory for it. A text
 * that the kernel has begun is forgotten.
 */
export function makeWindow(kernel: TextKernel, text: Uint8Array, startsText: boolean): CutWindow | undefined {
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
 * Returns the first bytes of text that follows a safe cut as the pattern sees them, valid until the next call; undefined if there is
 * no memory for them.
 */
export function makeFollowing(kernel: TextKernel, text: Uint8Array): Uint8Array | undefined {
  const size = putText(kernel, text) ? kernel.exports.makeFollowing(text.length) : -1;
  return size < 0 ? undefined : bytesAt(kernel, kernel.exports.followingAddress(), size);
}

function putText(kernel: TextKernel, text: Uint8Array): boolean {
  const address = kernel.exports.windowAddress(text.length);
  if (address !== 0) bytesAt(kernel, address, text.length).set(text);
  return address !== 0;
}

const pairBytes = 8;

const bytesAt = ({ memory }: TextKernel, address: number, byteCount: number) =>
  new Uint8Array(memory.buffer, address >>> 0, byteCount);
