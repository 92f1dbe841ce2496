import { build, createSha256 } from "#runtime";

/** The file name of an image in the tokenizer's directory, where other programs look for it. */
export const imageName = "tokenizer.image";

/** The first bytes of every image. */
export const imageMagic = "bpeimage";

/**
 * Identifies the version of an image by the kernel's code, which determines the memory in it, and the
 * program's version, which determines the rest. An image of another version is compiled again.
 */
export function imageDigest(kernelModules: readonly Uint8Array[]): Uint8Array {
  const hash = createSha256();
  for (const module of kernelModules) hash.update(module);
  return Buffer.from(hash.update(build.version).digest("hex"), "hex").subarray(0, 16);
}
