import { formatBytes } from "#bytes";
import { optionTables } from "#options";
import { usageError } from "#runtime";
import { dataOutput, embeddedPages, type Invocation, type Output, styling } from "#terminal";
import { teaching } from "./playground-options.ts";

/** `bpe playground`: writes the playground as one HTML file. */
export async function runPlayground(invocation: Invocation, output: Output): Promise<void> {
  const file = optionTables.readTyped(teaching, invocation.options).output;
  if (!invocation.options.has("output") && styling.isTerminal(1))
    throw usageError(
      "the playground is a page for a browser, so it is not written to the terminal",
      "write it to a file: bpe playground -o playground.html",
    );
  await dataOutput.lockFiles(output, file);
  const page = embeddedPages.readPlayground();
  await dataOutput.writeChunks(file, [page]);
  const record = { sizeBytes: page.length, output: file ?? "-" };
  output.succeed(`wrote a page of ${formatBytes(page.length)}: open it in a browser`, record);
}
