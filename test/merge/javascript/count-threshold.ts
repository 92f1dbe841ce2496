import type { MergeTuning } from "../../../src/merge/merge-tuning.ts";

/**
 * The threshold: no pair without a record has a count of `threshold` or more. A pair born below it gets no record, no list and
 * no place in the queue.
 *
 * Why that is right: counts only fall, and the threshold only rises while records are kept. As long as the exact top of the
 * queue is at or above the threshold, every pair that could beat it or tie with it has a record; so the top is the true
 * maximum. When it falls below, the text is indexed anew with a lower threshold, and the loop goes on.
 *
 * The threshold after merge k of K is a guess at the count of merge K: half the top count, times (k / K) ^ 1.7. On real
 * text it has never been too high; what it costs if it is, is one walk over the text.
 */
export function raisedThreshold(
  threshold: number,
  topCount: number,
  mergeCount: number,
  mergeCountMax: number,
  tuning: MergeTuning,
): number {
  if (tuning.threshold !== "rising" || mergeCount < tuning.thresholdFromMerge) return threshold;
  const share = tuning.thresholdShare * (mergeCount / mergeCountMax) ** tuning.thresholdExponent;
  return Math.max(threshold, Math.floor(topCount * share));
}
