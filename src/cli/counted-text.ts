import { expectedTextBytes, type Input } from "../corpus/input.ts";
import { encodeCorpus } from "../pipeline/encode-corpus.ts";
import { defaultWorkerCount } from "../runtime/system-limits.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { Output } from "./output.ts";

/** A text that was encoded: how often each token occurs in it, by id, and its first tokens. */
export type CountedText = {
  readonly path: string;
  readonly inputs: readonly Input[];
  readonly textBytes: number;
  readonly idCount: number;
  readonly counts: Float64Array;
  readonly sample: readonly number[];
};

const sampleTokens = 200;

/** Counts the tokens of a text. */
export async function countTokensOf(
  parts: TokenizerParts,
  { path, inputs, workers }: Pick<CountedText, "path" | "inputs"> & { workers?: number | undefined },
  output: Output,
): Promise<CountedText> {
  const counts = new Float64Array(parts.tokens.idLimit);
  const sample: number[] = [];
  let idCount = 0;
  const sink = {
    write(ids: Uint16Array | Uint32Array) {
      for (let i = 0; i < ids.length; i++) counts[ids[i]!]!++;
      if (sample.length < sampleTokens) sample.push(...ids.subarray(0, sampleTokens - sample.length));
      idCount += ids.length;
    },
    endInput() {},
  };
  const workerCount = workers ?? defaultWorkerCount(expectedTextBytes(inputs));
  const corpus = { inputs, parts, workerCount };
  const { textBytes } = await encodeCorpus(corpus, sink, ({ bytesDone, bytesTotal }) =>
    output.progress({ stage: "encoding", done: bytesDone, total: bytesTotal, unit: "bytes" }),
  );
  return { path, inputs, textBytes, idCount, counts, sample };
}
