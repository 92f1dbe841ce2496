import { type PairKey, type TokenBytes, winsTie } from "../pairs.ts";
import type { PairCounts, Selection } from "../step-by-step.ts";

/** Compares the counts of all pairs for each merge. */
export function linearScan(counts: PairCounts, tokenBytes: TokenBytes): Selection {
  return { changed() {}, best: () => scan(counts, tokenBytes) };
}

function scan(counts: PairCounts, tokenBytes: TokenBytes): PairKey | undefined {
  let best: PairKey | undefined;
  let bestCount = 0;
  for (const [pair, count] of counts) {
    if (count < bestCount) continue;
    if (best === undefined || count > bestCount || winsTie(tokenBytes, pair, best)) {
      best = pair;
      bestCount = count;
    }
  }
  return best;
}
