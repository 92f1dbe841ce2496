import { expectedTextBytes, type Input } from "#corpus";
import { defaultWorkerCount } from "#runtime";
import type { TokenizerParts } from "#tokenizer";
import { type CountedIds, countIds } from "./encode-corpus.ts";

/** A text that was encoded. */
export type CountedText = CountedIds & { readonly path: string; readonly inputs: readonly Input[] };

/** Encodes a text on all threads, and counts its tokens. */
export async function countTokensOf(
  parts: TokenizerParts,
  { path, inputs, workers }: Pick<CountedText, "path" | "inputs"> & { workers?: number | undefined },
  report: Parameters<typeof countIds>[1],
): Promise<CountedText> {
  const workerCount = workers ?? defaultWorkerCount(expectedTextBytes(inputs));
  return { path, inputs, ...(await countIds({ inputs, parts, workerCount }, report)) };
}
