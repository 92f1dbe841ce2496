import type { Ops } from "./operators.ts";

/**
 * The operators for texts that end behind every line feed: what a formula says of a text with them, it says of each of its lines.
 * So a formula need not know of lines. A contraction or a group of digits never reaches over a line feed.
 */
export function lineWise<Mask>(ops: Ops<Mask>, lineFeed: Mask): Ops<Mask> {
  const { and, or, not } = ops;
  const inLine = not(lineFeed);
  return {
    and,
    or,
    not,
    none: ops.none,
    every: ops.every,
    contractions: ops.contractions,
    prev: (mask) => ops.prev(and(mask, inLine)),
    last: (run) => and(ops.last(run), inLine),
    span(start, hold) {
      const before = ops.span(start, and(hold, inLine));
      return or(before, and(hold, lineFeed, or(start, ops.prev(before))));
    },
    before(where, run, target, atEnd) {
      const ends = and(run, lineFeed, atEnd);
      const found = ops.before(and(where, inLine), and(run, inLine), or(target, ends), atEnd);
      return or(found, and(where, ends));
    },
  };
}
