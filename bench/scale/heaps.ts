/*
 * Heaps' law: a text of n bytes has about V(n) = k n^e distinct words, with e < 1.
 *
 * For a real text, the exponent changes with the size. So an extrapolation also has two extreme cases, with the
 * smallest and the largest exponent between neighbouring points.
 */

export type Point = { readonly sizeBytes: number; readonly distinctWordCount: number };

export type Growth = {
  /** The point where extrapolation starts: the largest size measured. */
  readonly from: Point;
  /** The exponent of the best-fitting line (least squares in logarithms). */
  readonly exponent: number;
  /** The smallest exponent between neighbouring points. */
  readonly exponentLow: number;
  /** The largest exponent between neighbouring points. */
  readonly exponentHigh: number;
  /** The largest distance of a measured point from the line, as a share of the point. */
  readonly fitError: number;
};

export function growthOf(points: readonly Point[]): Growth {
  const x = points.map(({ sizeBytes }) => Math.log(sizeBytes));
  const y = points.map(({ distinctWordCount }) => Math.log(distinctWordCount));
  const meanX = mean(x);
  const meanY = mean(y);
  const exponent =
    sum(x.map((value, i) => (value - meanX) * (y[i]! - meanY))) / sum(x.map((value) => (value - meanX) ** 2));
  const errors = x.map((value, i) => Math.expm1(meanY + exponent * (value - meanX) - y[i]!));
  const slopes = x.slice(1).map((value, i) => (y[i + 1]! - y[i]!) / (value - x[i]!));
  return {
    from: points.at(-1)!,
    exponent,
    exponentLow: Math.min(...slopes),
    exponentHigh: Math.max(...slopes),
    fitError: Math.max(...errors.map(Math.abs)),
  };
}

/**
 * Returns the number of distinct words in a text of this size, if their number grows with this exponent from the
 * largest measured size.
 */
export function extrapolate({ from }: Growth, exponent: number, sizeBytes: number): number {
  return from.distinctWordCount * (sizeBytes / from.sizeBytes) ** exponent;
}

/**
 * Returns the relative error of extrapolating from the smaller half of the points to the largest one. It is positive if
 * the prediction is too high.
 */
export function continuationError(points: readonly Point[]): number {
  const growth = growthOf(points.slice(0, Math.ceil(points.length / 2)));
  const last = points.at(-1)!;
  return extrapolate(growth, growth.exponent, last.sizeBytes) / last.distinctWordCount - 1;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
