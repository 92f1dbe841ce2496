/** Given ids [start, end) correspond to canonical ids [canonicalStart, canonicalEnd). */
export type RecodedSpan = {
  readonly start: number;
  readonly end: number;
  readonly canonicalStart: number;
  readonly canonicalEnd: number;
};
