// The formulas of docs/eval.md: numbers in, numbers out. Sums go by ascending id, so that they do not depend on who counted.

/** Tokens of a text, by id. */
export type TokenCounts = Float64Array;

/**
 * Rényi entropy in bits of a distribution given by counts: log2(sum of p^alpha) / (1 - alpha); 0 without any count. `alpha` is
 * not 1. (Rényi 1961; TokEval's `compute_renyi_entropy`.)
 */
export function renyiEntropy(counts: TokenCounts, alpha: number): number {
  const total = sumOf(counts);
  if (total === 0) return 0;
  let sum = 0;
  for (let id = 0; id < counts.length; id++) if (counts[id]! > 0) sum += (counts[id]! / total) ** alpha;
  // One token alone gives -0.
  return Math.log2(sum) / (1 - alpha) + 0;
}

/** The entropy as a share of the largest one that as many different tokens could have; null for fewer than two. */
export function renyiEfficiency(counts: TokenCounts, alpha: number): number | null {
  const used = usedCount(counts);
  return used < 2 ? null : renyiEntropy(counts, alpha) / Math.log2(used);
}

/** How many different tokens occur. */
export function usedCount(counts: TokenCounts): number {
  let used = 0;
  for (let id = 0; id < counts.length; id++) if (counts[id]! > 0) used++;
  return used;
}

export function addCounts(sum: TokenCounts, counts: TokenCounts): void {
  for (let id = 0; id < counts.length; id++) sum[id]! += counts[id]!;
}

export function sumOf(counts: TokenCounts): number {
  let sum = 0;
  for (let id = 0; id < counts.length; id++) sum += counts[id]!;
  return sum;
}

/**
 * Gini coefficient of costs, each of equal weight: the sum of |a - b| over all pairs (a, b), in both orders, by 2 n^2 and their
 * mean. 0 is parity. Sorted ascending, that is the sum of (2i - n + 1) cost(i), by n times the sum of costs.
 */
export function gini(costs: readonly number[]): number {
  const sorted = costs.toSorted((a, b) => a - b);
  const count = sorted.length;
  const total = sorted.reduce((sum, cost) => sum + cost, 0);
  if (total === 0) return 0;
  const weighted = sorted.reduce((sum, cost, i) => sum + (2 * i - count + 1) * cost, 0);
  return weighted / (count * total);
}

/** null where there is nothing to divide by. */
export const ratio = (of: number, by: number): number | null => (by === 0 ? null : of / by);
