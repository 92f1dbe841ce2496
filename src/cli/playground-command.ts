import { bytes } from "../bytes/quantities.ts";
import { usageError } from "../errors.ts";
import { readTyped } from "../options/option.ts";
import { lockFiles, writeChunks } from "./data-output.ts";
import { readPlayground } from "./embedded-pages.ts";
import type { Invocation } from "./invocation.ts";
import { isTerminal, type Output } from "./output.ts";
import { teaching } from "./playground-options.ts";

/** `bpe playground`: the page to learn from, as one HTML file. */
export async function runPlayground(invocation: Invocation, output: Output): Promise<void> {
  const file = readTyped(teaching, invocation.options).output;
  if (!invocation.options.has("output") && isTerminal(1))
    throw usageError("the page is for a browser, not for the terminal", "bpe playground -o playground.html");
  await lockFiles(output, file);
  const page = readPlayground();
  await writeChunks(file, [page]);
  const record = { sizeBytes: page.length, output: file ?? "-" };
  output.succeed(`wrote a page of ${bytes(page.length)}: open it in a browser`, record);
}
