import { bytes } from "../bytes/quantities.ts";
import { roleTokensAt } from "../formats/model-files.ts";
import { imaging } from "../options/command-tables.ts";
import { readTyped } from "../options/option.ts";
import { imageFactsOf } from "../pipeline/tokenizer-facts.ts";
import { tokenizerImage } from "../tokenizer/image.ts";
import type { Invocation } from "./arguments.ts";
import { lockOutputFile, writeChunks } from "./data-output.ts";
import type { Output } from "./output.ts";
import { openTokenizer, readBesideTokenizer } from "./tokenizer-options.ts";

/** `bpe image`: what encodes in the process of another program, as one file. */
export async function runImage(invocation: Invocation, output: Output): Promise<void> {
  const path = invocation.files[0]!;
  const file = readTyped(imaging, invocation.options).output;
  await lockOutputFile(invocation, output, file);
  const beside = readBesideTokenizer(invocation.options);
  const opened = await openTokenizer({ path, ...beside }, true, output);
  // The image has both ways of reading special tokens.
  const { specialTokensAsText: _, ...parts } = opened;
  const isAsItIs = beside.pattern === undefined && beside.specialTokens.length === 0;
  const image = tokenizerImage(parts, imageFactsOf(parts, roleTokensAt(path), path, isAsItIs));
  await writeChunks(file, [image]);
  output.succeed(`wrote an image of ${bytes(image.length)}`, {
    sizeBytes: image.length,
    output: file ?? "-",
  });
}
