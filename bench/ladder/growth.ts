/** A time on the ladder; estimated where the run was stopped before it. */
export type Point = {
  readonly wordCount: number;
  readonly mergeCount: number;
  readonly ms: number;
  readonly isEstimate: boolean;
};

/** What one run of a rung said: the time at each checkpoint that it passed, and where it ended. */
export type Timing = {
  readonly checkpoints: readonly { readonly mergeCount: number; readonly ms: number }[];
  readonly end: { readonly mergeCount: number; readonly ms: number };
  readonly isStopped: boolean;
};

/**
 * The time for `mergeCount` merges. A run that was stopped before goes on at the pace that it had since its last
 * checkpoint; undefined if it had none, or if the words give fewer merges.
 */
export function timeAt(timing: Timing, wordCount: number, mergeCount: number): Point | undefined {
  const { checkpoints, end, isStopped } = timing;
  const passed = [...checkpoints, end].find((point) => point.mergeCount === mergeCount);
  if (passed !== undefined) return { wordCount, mergeCount, ms: passed.ms, isEstimate: false };
  if (!isStopped || end.mergeCount > mergeCount) return undefined;
  const last = checkpoints.findLast((point) => point.mergeCount < end.mergeCount) ?? { mergeCount: 0, ms: 0 };
  if (end.mergeCount === last.mergeCount) return undefined;
  const msPerMerge = (end.ms - last.ms) / (end.mergeCount - last.mergeCount);
  const ms = end.ms + msPerMerge * (mergeCount - end.mergeCount);
  return { wordCount, mergeCount, ms, isEstimate: true };
}

/** The e of ms = c * size^e that fits best (least squares in logarithms); undefined below two measured points. */
export function fitExponent(
  points: readonly Point[],
  sizeOf: (point: Point) => number,
): { exponent: number; pointCount: number } | undefined {
  const measured = points.filter((point) => !point.isEstimate);
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
