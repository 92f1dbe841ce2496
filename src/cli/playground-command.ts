import { bytes } from "../bytes/quantities.ts";
import { readPlayground } from "../runtime/embedded.ts";
import type { Invocation } from "./arguments.ts";
import { lockOutputFile, writeChunks } from "./data-output.ts";
import type { Output } from "./output.ts";

/** `bpe playground`: the page to learn from, as one HTML file. */
export async function runPlayground(invocation: Invocation, output: Output): Promise<void> {
  const file = invocation.options.outputFile();
  await lockOutputFile(invocation, output, file);
  const page = readPlayground();
  await writeChunks(file, [page]);
  const record = { sizeBytes: page.length, output: file ?? "-" };
  output.succeed(`wrote a page of ${bytes(page.length)}: open it in a browser`, record);
}
