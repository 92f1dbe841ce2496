import type { MergeTuning } from "../../../src/merge/merge-tuning.ts";

/**
 * The gate: no pair without a record has a count of `gate` or more. A pair born below it gets no record, no list and
 * no place in the queue.
 *
 * Why that is right: counts only fall, and the gate only rises while records are kept. As long as the exact top of the
 * queue is at or above the gate, every pair that could beat it or tie with it has a record; so the top is the true
 * maximum. When it falls below, the text is indexed anew with a lower gate, and the loop goes on.
 *
 * The gate after merge k of K is a guess at the count of merge K: half the top count, times (k / K) ^ 1.7. On real
 * text it has never been too high; what it costs if it is, is one walk over the text.
 */
export function risenGate(
  gate: number,
  topCount: number,
  mergeCount: number,
  mergeCountMax: number,
  tuning: MergeTuning,
): number {
  if (tuning.gate !== "rising" || mergeCount < tuning.gateFromMerge) return gate;
  const share = tuning.gateShare * (mergeCount / mergeCountMax) ** tuning.gateExponent;
  return Math.max(gate, Math.floor(topCount * share));
}
