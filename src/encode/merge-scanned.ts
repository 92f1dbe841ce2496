import type { EncodingModel } from "./model.ts";
import { findPair, noRank } from "./pairs.ts";

/**
 * Merges a short word in place: ids[0 .. symbolCount) are its symbols, ranks[i] is the rank of symbols i and i + 1, both
 * filled in. Quadratic, and the fastest way for the few bytes that words have. Returns the number of ids left.
 */
export function mergeScanned(
  ids: Int32Array,
  symbolCount: number,
  ranks: Int32Array,
  { mergedIds, pairs }: EncodingModel,
): number {
  let best = noRank;
  let bestPos = 0;
  for (let i = 0; i + 1 < symbolCount; i++) {
    const rank = ranks[i]!;
    if (rank < best) {
      best = rank;
      bestPos = i;
    }
  }
  let count = symbolCount;
  while (best !== noRank) {
    const merged = mergedIds[best]!;
    ids[bestPos] = merged;
    count--;
    for (let i = bestPos + 1; i < count; i++) {
      ids[i] = ids[i + 1]!;
      ranks[i] = ranks[i + 1]!;
    }
    if (bestPos > 0) ranks[bestPos - 1] = findPair(pairs, ids[bestPos - 1]!, merged);
    if (bestPos + 1 < count) ranks[bestPos] = findPair(pairs, merged, ids[bestPos + 1]!);
    best = noRank;
    for (let i = 0; i + 1 < count; i++) {
      const rank = ranks[i]!;
      if (rank < best) {
        best = rank;
        bestPos = i;
      }
    }
  }
  return count;
}
