/*
 * Replaces embedded.browser.ts where the engine does not compile WebAssembly from bytes, as in Cloudflare's Workers.
 * There, the kernel's modules are files next to the script, which imports them already compiled.
 */

import kernel from "../../dist/kernel/kernel.wasm" with { type: "file" };
import textKernel from "../../dist/kernel/kernel-text.wasm" with { type: "file" };

export {
  availableParallelism,
  embeddedDirectory,
  hasKernelAsserts,
  isEmbedded,
  startWorker,
  totalmem,
} from "./without-files.browser.ts";

/** A bundler resolves these imports to compiled modules; TypeScript sees them as paths. */
export const readKernel = (name: string): WebAssembly.Module =>
  (name.startsWith("kernel-text") ? textKernel : kernel) as unknown as WebAssembly.Module;
