import type { Text } from "#bytes";
import { host } from "#runtime";

/**
 * Makes a text of `capacityBytes` bytes plus padding. The new text may take over the memory of the previous text that
 * this function made, together with its content. So the caller may still copy bytes from the previous text, but must
 * not use it afterwards.
 */
export type TextMaker = (capacityBytes: number) => Text;

/**
 * Frees the memory of an unused array at once, because the next garbage collection may be far away. The collector is
 * left to free a small array, an array in shared memory and, in browsers, any array.
 */
export function releaseText({ buffer, byteLength }: Uint8Array | Int32Array): void {
  if (byteLength > releasedBytesLeast && buffer instanceof ArrayBuffer) host.releaseMemory(buffer);
}

const releasedBytesLeast = 1 << 18;
