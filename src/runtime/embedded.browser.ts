/*
 * Replaces embedded.ts in the library for browsers. There are no files and no workers, the kernel is part of the script, and
 * a page uses no more memory than a small machine has.
 */

import { fromBase64 } from "#host";
import kernel from "../../dist/kernel/kernel.wasm" with { type: "file" };
import textKernel from "../../dist/kernel/kernel-text.wasm" with { type: "file" };
import { UserError } from "./errors.ts";

export {
  availableParallelism,
  embeddedDirectory,
  hasKernelAsserts,
  isEmbedded,
  startWorker,
  totalmem,
} from "./without-files.browser.ts";

export function readKernel(name: string): Uint8Array<ArrayBuffer> {
  // The build replaces these paths by the files' content in base64 (of the small-scale modules at small scale).
  const bytes = new Uint8Array(fromBase64(name.startsWith("kernel-text") ? textKernel : kernel));
  if (WebAssembly.validate(bytes)) return bytes;
  throw new UserError("this browser has no WebAssembly with SIMD and threads", {
    hint: "use a browser of 2023 or later",
  });
}
