import { host, programVersion } from "#runtime";

/**
 * Returns the digest that identifies the version of an image. It covers the kernel's code, which determines the memory
 * in the image, and the program's version, which determines the rest.
 */
export function imageDigest(kernelModules: readonly Uint8Array[]): Uint8Array {
  const hash = host.createSha256();
  for (const module of kernelModules) hash.update(module);
  return Buffer.from(hash.update(programVersion.build.version).digest("hex"), "hex").subarray(0, 16);
}
