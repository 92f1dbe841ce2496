import { build, host } from "#runtime";
import * as imageFile from "./image-name.ts";

/**
 * Identifies the version of an image by the kernel's code, which determines the memory in it, and the program's
 * version, which determines the rest. An image of another version is refused; Python then compiles a new one.
 */
export function imageDigest(kernelModules: readonly Uint8Array[]): Uint8Array {
  const hash = host.createSha256();
  for (const module of kernelModules) hash.update(module);
  return Buffer.from(hash.update(build.version).digest("hex"), "hex").subarray(0, 16);
}

/**
 * Whether `image` was compiled by another build than `own`, by the version and the digest in their heads (image.ts).
 */
export const isImageOfOtherBuild = (image: Uint8Array, own: Uint8Array): boolean =>
  Buffer.from(image.subarray(0, 8)).toString("latin1") === imageFile.magic &&
  [
    [8, 12],
    [16, 32],
  ].some(([from, to]) => Buffer.compare(image.subarray(from, to), own.subarray(from, to)) !== 0);
