/**
 * A place where given ids differ from the canonical ids of the same text: the given ids [start, end), and the canonical
 * ids [canonicalStart, canonicalEnd) that take their place.
 */
export type RecodedSpan = {
  readonly start: number;
  readonly end: number;
  readonly canonicalStart: number;
  readonly canonicalEnd: number;
};
