import { readFileSync } from "node:fs";
import { kernelPaths } from "./embedded.ts";

export { availableParallelism, totalmem } from "node:os";

/** The kernel's code for this processor. In a browser, kernel-file.browser.ts has it. */
export function readModule(): Uint8Array<ArrayBuffer> {
  const { path, testPath, baselinePath } = kernelPaths;
  const isTest = testPath !== undefined && process.env.NODE_ENV === "test";
  const chosen = !WebAssembly.validate(simdProbe) ? baselinePath : isTest ? testPath : path;
  try {
    return new Uint8Array(readFileSync(chosen));
  } catch (error) {
    throw new Error(`the kernel is not built ("${chosen}"): npm run build`, { cause: error });
  }
}

/** A module that is valid if the engine has SIMD: (func (result v128) i32.const 0 i8x16.splat) */
const simdProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic, version
  ...[1, 5, 1, 96, 0, 1, 123], // type: () -> v128
  ...[3, 2, 1, 0], // one function
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11], // its code
);
