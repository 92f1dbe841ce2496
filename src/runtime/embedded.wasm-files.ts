/*
 * Replaces embedded.browser.ts where the engine compiles no bytes, as in Cloudflare's Workers: modules of the kernel are files
 * next to the script, which it imports as compiled modules.
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

/** The loader of the script resolves these imports; their types are paths. */
export const readKernel = (name: string): WebAssembly.Module =>
  (name.startsWith("kernel-text") ? textKernel : kernel) as unknown as WebAssembly.Module;
