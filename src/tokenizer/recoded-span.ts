/** A span of given ids [start, end), and the canonical ids [canonicalStart, canonicalEnd) that take their place. */
export type RecodedSpan = {
  readonly start: number;
  readonly end: number;
  readonly canonicalStart: number;
  readonly canonicalEnd: number;
};
