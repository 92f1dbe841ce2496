import { countNoun, groupDigits } from "#bytes";
import { percent } from "./axes.ts";

/**
 * How well vocabularies of each size compress a corpus: k merges count as a vocabulary of `baseSize + k` tokens, and
 * cut the corpus into `tokensAfter[k]` tokens. `tokensAfter[0]` is the number of bytes in the corpus's pretokens.
 */
export type Compression = {
  readonly baseSize: number;
  readonly tokensAfter: Float64Array;
};

/** A vocabulary size and the mean bytes per token at that size. */
export type CurvePoint = { readonly size: number; readonly bytesPerToken: number };

/** The compression curve that a page shows. */
export type Curve = {
  /**
   * Ascending sizes, equally spaced on a log scale (`of`), or the known ones (`through`). The last is the chosen size.
   */
  readonly points: readonly CurvePoint[];
  /** The sizes that a table shows: the chosen one, and smaller ones for comparison, among them all `smallerSizes`. */
  readonly table: readonly CurvePoint[];
  /** An estimate for twice the chosen size; null if there is none. */
  readonly doubled: CurvePoint | null;
  readonly smallerSizes: readonly number[];
};

const pointsOnCurve = 48;

export function of(compression: Compression, smallerSizes: readonly number[] = []): Curve {
  const { baseSize, tokensAfter } = compression;
  const last = baseSize + tokensAfter.length - 1;
  const at = (size: number) => curvePoint(compression, size);
  return {
    points: curveSizes(baseSize, last).map(at),
    table: tableSizes(baseSize, last, smallerSizes).map(at),
    doubled: estimateDoubled(compression),
    smallerSizes,
  };
}

export function curvePoint({ baseSize, tokensAfter }: Compression, size: number): CurvePoint {
  return { size, bytesPerToken: tokensAfter[0]! / tokensAfter[size - baseSize]! };
}

/** Returns sizes equally spaced on a log scale, including the first and the last. */
function curveSizes(first: number, last: number): number[] {
  const sizes = new Set<number>();
  for (let i = 0; i < pointsOnCurve; i++) {
    sizes.add(Math.round(first * (last / first) ** (i / (pointsOnCurve - 1))));
  }
  return [...sizes];
}

const halvingsMax = 5;

/**
 * Returns all of `smaller`, and at most five sizes greater than `first`: the last size, its half, its quarter and so
 * on. If the last size is below four times `first`, then `first` is included, and the difference of the last size to
 * `first` is halved instead of the size itself.
 */
function tableSizes(first: number, last: number, smaller: readonly number[]): number[] {
  const base = last < 4 * first ? first : 0;
  const sizes = new Set(base === first ? [...smaller, first] : smaller);
  let more = last - base;
  for (let i = 0; i < halvingsMax && base + more > first; i++) {
    sizes.add(base + more);
    more = Math.floor(more / 2);
  }
  return sizes.size === 0 ? [last] : [...sizes].sort((a, b) => a - b);
}

/** Returns the curve through known points. Its table has the last point, and others at least a factor of 1.8 apart. */
export function through(points: readonly CurvePoint[]): Curve {
  const table: CurvePoint[] = [];
  for (const point of points.toReversed())
    if (table.length === 0 || point.size * 1.8 <= table[0]!.size) table.unshift(point);
  return { points, table, doubled: null, smallerSizes: [] };
}

/**
 * Estimates bytes per token at twice the size. The gain of each doubling is assumed to be the gain of the previous
 * doubling, times a constant factor of at most 1. The last two doublings determine this factor. Returns null if the
 * curve is too short or does not rise.
 */
export function estimateDoubled(compression: Compression): CurvePoint | null {
  const { baseSize, tokensAfter } = compression;
  const size = baseSize + tokensAfter.length - 1;
  const [half, quarter] = [Math.floor(size / 2), Math.floor(size / 4)];
  if (quarter < baseSize) return null;
  const [whole, atHalf, atQuarter] = [size, half, quarter].map(
    (size) => curvePoint(compression, size).bytesPerToken,
  );
  const lastGain = whole! - atHalf!;
  const formerGain = atHalf! - atQuarter!;
  if (lastGain <= 0 || formerGain <= 0) return null;
  return { size: 2 * size, bytesPerToken: whole! + lastGain * Math.min(1, lastGain / formerGain) };
}

const worthDoubling = 0.05;
const worthKeeping = 0.02;

/** How `sizeVerdict` judges. By this rule 16,000 to 64,000 tokens are good for English (docs/size-and-pattern.md). */
export const sizeRule = `A size is called good here if twice as many tokens would save less than ${100 * worthDoubling} % of the text's tokens, and the last doubling saved at least ${100 * worthKeeping} %. Each doubling also doubles the embedding of a model.`;

/**
 * Says whether a vocabulary of `size` tokens is small, good or large for the text of the curve: "32,000 tokens are a
 * good size for the training text: …". Returns null if the curve is too short, or does not rise.
 */
export function sizeVerdict(size: number, { points, table, doubled }: Curve): string | null {
  const { bytesPerToken, size: last } = points.at(-1)!;
  const half = table.find(({ size }) => size === Math.floor(last / 2));
  if (doubled === null || half === undefined) return null;
  const saves = 1 - bytesPerToken / doubled.bytesPerToken;
  const saved = 1 - half.bytesPerToken / bytesPerToken;
  const of = (verdict: string) => `${countNoun(size, "token")} are ${verdict} for the training text`;
  const twice = `${groupDigits(doubled.size)} would save`;
  const less = `half as many would need ${percent(bytesPerToken / half.bytesPerToken - 1)} more`;
  if (saves >= worthDoubling) return `${of("few")}: ${twice} about ${percent(saves)} of its tokens.`;
  if (saved < worthKeeping) return `${of("many")}: ${less}.`;
  return `${of("a good size")}: ${twice} only about ${percent(saves)}, ${less}.`;
}
