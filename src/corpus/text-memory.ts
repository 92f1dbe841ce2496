import type { Text } from "#bytes";
import { host } from "#runtime";

/**
 * Makes a text of `capacityBytes` bytes plus padding. The memory may be that of the function's previous text, with its
 * bytes; the caller may only copy from that text.
 */
export type TextMaker = (capacityBytes: number) => Text;

/** Frees memory at once, because the next garbage collection may be far away. */
export function releaseText({ buffer, byteLength }: Uint8Array | Int32Array): void {
  if (byteLength > releasedBytesLeast && buffer instanceof ArrayBuffer) host.releaseMemory(buffer);
}

const releasedBytesLeast = 1 << 18;
