import type { learning } from "#merge";
import type { Vocabulary } from "#tokenizer";

export type TrainingStatistics = {
  /** Number of pretokens in the corpus. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
  /** Number of bytes in all pretokens. */
  readonly byteCount: number;
  /** Number of tokens in all pretokens, after all merges. */
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
};

/** @internal */
export function statisticsOf(trained: Omit<learning.TrainedVocabulary, "statistics">): TrainingStatistics {
  const { pretokenCount: wordCount, distinctWordCount, countMs, mergeMs } = trained;
  const { mergeCount } = trained.vocabulary;
  const { tokensAfter } = trained.tokenCounts;
  const sizes = { byteCount: tokensAfter[0]!, tokenCount: tokensAfter[mergeCount]! };
  return { wordCount, distinctWordCount, mergeCount, ...sizes, countMs, mergeMs };
}

/** @internal Returns the bytes of both halves of each merge, in the order learned. */
export const mergeBytes = ({ mergeCount, left, right, tokenBytes }: Vocabulary) =>
  Array.from(
    { length: mergeCount },
    (_, m): [left: Uint8Array<ArrayBuffer>, right: Uint8Array<ArrayBuffer>] => [
      tokenBytes.copy(left[m]!),
      tokenBytes.copy(right[m]!),
    ],
  );
