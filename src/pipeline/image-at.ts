import { roleTokensAt } from "../formats/model-files.ts";
import { tokenizerImage } from "../tokenizer/image.ts";
import { loadInWorker } from "./load-in-worker.ts";
import { imageFactsOf } from "./tokenizer-facts.ts";

/** The image of the tokenizer in a directory, as its files have it. */
export async function imageAt(directory: string): Promise<Uint8Array> {
  const parts = await loadInWorker({ path: directory, options: {}, isDecoded: true });
  return tokenizerImage(parts, imageFactsOf(parts, roleTokensAt(directory), directory, true));
}
