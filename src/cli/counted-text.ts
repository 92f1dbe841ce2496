import { findInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes, type Input, refuseOverwriting } from "../corpus/input.ts";
import { inspectFirstStream } from "../corpus/inspect-input.ts";
import { recordedReading } from "../formats/training-json.ts";
import { encodeCorpus } from "../pipeline/encode-corpus.ts";
import { defaultWorkerCount } from "../runtime/system-limits.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import type { Output } from "./output.ts";

const sampleTokens = 200;

/** A text that was encoded: how often each token occurs in it, by id, and its first tokens. */
export type CountedText = {
  readonly path: string;
  readonly inputs: readonly Input[];
  readonly textBytes: number;
  readonly idCount: number;
  readonly counts: Float64Array;
  readonly sample: readonly number[];
};

/** Encodes a text, and counts its tokens. */
export async function countTokens(
  parts: TokenizerParts,
  path: string,
  reportPath: string | undefined,
  output: Output,
): Promise<CountedText> {
  const options = { trained: recordedReading([parts.description.path]) };
  const inputs = await inspectFirstStream(findInputs([path], options), options);
  refuseOverwriting(inputs, [reportPath]);
  return countTokensOf(parts, { path, inputs }, output);
}

/** The same for files that are known. */
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
  const corpus = { inputs, parts, specialTokensAsText: false, workerCount };
  const { textBytes } = await encodeCorpus(corpus, sink, ({ bytesDone, bytesTotal }) =>
    output.progress({ stage: "encoding", done: bytesDone, total: bytesTotal, unit: "bytes" }),
  );
  return { path, inputs, textBytes, idCount, counts, sample };
}
