/**
 * The time that an algorithm of the ladder (run.ts) takes to learn `mergeCount` merges from `wordCount` distinct words.
 * `kind` says how the time is known:
 *
 *   measured    the run made this number of merges
 *   estimated   the run was stopped earlier; the time assumes that it had continued at the same pace
 *   exceeded    the run was stopped so early that only a lower bound of the time is known: `ms`
 */
export type Point = {
  readonly wordCount: number;
  readonly mergeCount: number;
  readonly ms: number;
  readonly kind: "measured" | "estimated" | "exceeded";
};

export type Timing = {
  readonly checkpoints: readonly { readonly mergeCount: number; readonly ms: number }[];
  readonly end: { readonly mergeCount: number; readonly ms: number };
  readonly isStopped: boolean;
};

/**
 * Returns the time for `mergeCount` merges. A stopped run is extrapolated at its pace since the last checkpoint, if any.
 * Returns undefined if the words give fewer merges, or if the run passed this number without a checkpoint.
 */
export function timeAt(timing: Timing, wordCount: number, mergeCount: number): Point | undefined {
  const { checkpoints, end, isStopped } = timing;
  const passed = [...checkpoints, end].find((point) => point.mergeCount === mergeCount);
  if (passed !== undefined) return { wordCount, mergeCount, ms: passed.ms, kind: "measured" };
  if (!isStopped || end.mergeCount > mergeCount) return undefined;
  const last = checkpoints.findLast((point) => point.mergeCount < end.mergeCount);
  // The pace before the first checkpoint is no basis for an estimate: the first merges are the costliest by far.
  if (last === undefined) return { wordCount, mergeCount, ms: end.ms, kind: "exceeded" };
  const msPerMerge = (end.ms - last.ms) / (end.mergeCount - last.mergeCount);
  const ms = end.ms + msPerMerge * (mergeCount - end.mergeCount);
  return { wordCount, mergeCount, ms, kind: "estimated" };
}

/** Returns the exponent e for which ms = c * size^e fits best; undefined for fewer than two measured points. */
export function fitExponent(
  points: readonly Point[],
  sizeOf: (point: Point) => number,
): { exponent: number; pointCount: number } | undefined {
  const measured = points.filter((point) => point.kind === "measured");
  if (measured.length < 2) return undefined;
  const x = measured.map((point) => Math.log(sizeOf(point)));
  const y = measured.map((point) => Math.log(point.ms));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(x);
  const meanY = mean(y);
  const covariance = mean(x.map((value, i) => (value - meanX) * (y[i]! - meanY)));
  const variance = mean(x.map((value) => (value - meanX) ** 2));
  return { exponent: covariance / variance, pointCount: measured.length };
}
