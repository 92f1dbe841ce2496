import { expectedTextBytes, type Input } from "#corpus";
import { type CountedIds, countIds } from "#encoding";
import { defaultWorkerCount } from "#runtime";
import type { TokenizerParts } from "#tokenizer";
import type { Output } from "./output.ts";

/** A text that was encoded. */
export type CountedText = CountedIds & { readonly path: string; readonly inputs: readonly Input[] };

export async function countTokensOf(
  parts: TokenizerParts,
  { path, inputs, workers }: Pick<CountedText, "path" | "inputs"> & { workers?: number | undefined },
  output: Output,
): Promise<CountedText> {
  const workerCount = workers ?? defaultWorkerCount(expectedTextBytes(inputs));
  return { path, inputs, ...(await countIds({ inputs, parts, workerCount }, output.encoding)) };
}
