import { formatBytes } from "#bytes";
import { readTyped } from "#options";
import { usageError } from "#runtime";
import { type Invocation, isTerminal, lockFiles, type Output, readPlayground, writeChunks } from "#terminal";
import { teaching } from "./playground-options.ts";

/** `bpe playground`: writes the playground as one HTML file. */
export async function runPlayground(invocation: Invocation, output: Output): Promise<void> {
  const file = readTyped(teaching, invocation.options).output;
  if (!invocation.options.has("output") && isTerminal(1))
    throw usageError("the page is for a browser, not for the terminal", "bpe playground -o playground.html");
  await lockFiles(output, file);
  const page = readPlayground();
  await writeChunks(file, [page]);
  const record = { sizeBytes: page.length, output: file ?? "-" };
  output.succeed(`wrote a page of ${formatBytes(page.length)}: open it in a browser`, record);
}
