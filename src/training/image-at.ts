import { modelFiles } from "#formats";
import { loadInWorker } from "#jobs";
import { tokenizerImage } from "#tokenizer";
import { imageFactsOf } from "./tokenizer-facts.ts";

/** Compiles the files of the tokenizer in a directory into an image. */
export async function imageAt(directory: string): Promise<Uint8Array> {
  const parts = await loadInWorker({ path: directory, options: {}, isDecoded: true });
  return tokenizerImage(parts, imageFactsOf(parts, modelFiles.roleTokensAt(directory), directory, true));
}
