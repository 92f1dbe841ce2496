import { corpusInputs, type Input } from "#corpus";
import { machine } from "#runtime";
import type { TokenizerParts } from "#tokenizer";
import { type CountedIds, countIds } from "./encode-corpus.ts";

/** An encoded text: its path, its inputs, and how often each id occurs. */
export type CountedText = CountedIds & { readonly path: string; readonly inputs: readonly Input[] };

/** Encodes a text, and counts its tokens. */
export async function countTokensOf(
  parts: TokenizerParts,
  { path, inputs, workers }: Pick<CountedText, "path" | "inputs"> & { workers?: number | undefined },
  report: Parameters<typeof countIds>[1],
): Promise<CountedText> {
  const workerCount = workers ?? machine.defaultWorkerCount(corpusInputs.expectedTextBytes(inputs));
  return { path, inputs, ...(await countIds({ inputs, parts, workerCount }, report)) };
}
