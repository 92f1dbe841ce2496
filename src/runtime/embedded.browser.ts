/* Replaces embedded.ts in the library for browsers. */

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
  // The build replaces these paths with the compressed files in base64. Browsers decompress only asynchronously by
  // themselves.
  const bytes = inflateSync(host.fromBase64(name.startsWith("kernel-text") ? textKernel : kernel));
  if (WebAssembly.validate(bytes)) return bytes;
  throw new UserError("this browser has no WebAssembly with SIMD and threads", {
    hint: "use a browser of 2023 or later",
  });
}
