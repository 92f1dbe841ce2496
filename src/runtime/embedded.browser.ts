/*
 * Replaces embedded.ts in the library for browsers, where there are no files and no workers, and the kernel is part of
 * the script.
 */

import { inflateSync } from "fflate";
import * as host from "#host";
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
  // The build replaces the imported paths with the content of the files, compressed and in base64. They are not
  // decompressed by the browser itself, which can do that only asynchronously.
  const bytes = inflateSync(host.fromBase64(name.startsWith("kernel-text") ? textKernel : kernel));
  if (WebAssembly.validate(bytes)) return bytes;
  throw new UserError("this browser has no WebAssembly with SIMD and threads", {
    hint: "use a browser of 2023 or later",
  });
}
