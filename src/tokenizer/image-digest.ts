import { host, programVersion } from "#runtime";

/** Identifies the version of an image by the kernel's code and the program's version. */
export function imageDigest(kernelModules: readonly Uint8Array[]): Uint8Array {
  const hash = host.createSha256();
  for (const module of kernelModules) hash.update(module);
  return Buffer.from(hash.update(programVersion.build.version).digest("hex"), "hex").subarray(0, 16);
}
