import { build, createSha256 } from "#runtime";

/** The image's name in the tokenizer's directory, where other programs look for it. */
export const imageName = "tokenizer.image";

/** The first bytes of every image. */
export const imageMagic = "bpeimage";

/**
 * Identifies the version of an image: the kernel's code, and the program's version, which determines
 * everything besides the kernel's memory. An image of another version is compiled again.
 */
export function imageDigest(kernelModules: readonly Uint8Array[]): Uint8Array {
  const hash = createSha256();
  for (const module of kernelModules) hash.update(module);
  return Buffer.from(hash.update(build.version).digest("hex"), "hex").subarray(0, 16);
}
