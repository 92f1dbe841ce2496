import { build, createSha256 } from "#runtime";

/** What the image of a tokenizer is called in the tokenizer's directory, where other programs look for it. */
export const imageName = "tokenizer.image";

/** Every image begins so. */
export const imageMagic = "bpeimage";

/**
 * What an image is of: the code of the kernel, and the version of the program, which decides what is in the image beside the
 * kernel's memory. Of another version an image is made anew.
 */
export function imageDigest(kernelModules: readonly Uint8Array[]): Uint8Array {
  const hash = createSha256();
  for (const module of kernelModules) hash.update(module);
  return Buffer.from(hash.update(build.version).digest("hex"), "hex").subarray(0, 16);
}
