import { type ClassSystem, casedClasses, deepseekClasses, plainClasses } from "./class-systems.ts";
import { type Boundaries, deepseek, gpt2, modern, modernCased } from "./formulas.ts";
import type { Count, Ops } from "./operators.ts";

/** Patterns that have one formula. */
export type Family = {
  readonly classes: ClassSystem;
  /** Each option with texts and the number of pretokens that one of them, at least, has where the option is on. */
  readonly options: Readonly<Record<string, readonly (readonly [string, number])[]>>;
  /** Classes that the formula asks for with an option only. */
  readonly classesOfOptions?: Readonly<Record<string, string>>;
  boundaries<Mask>(
    ops: Ops<Mask>,
    classes: Masks<Mask>,
    options: Masks<Mask>,
    digitCount: Count,
  ): Boundaries<Mask>;
};

export type Masks<Mask> = Readonly<Record<string, Mask>>;

const modernOptions = {
  contractions: [["'sa", 2]],
  fold: [
    ["'Sa", 2],
    ["a'S", 1],
  ],
  slashes: [["!\r/", 1]],
  endJoins: [["\r ", 1]],
} as const;

/** In the order of their numbers in the kernel; each has two loops there, for texts as they are and for texts of lines. */
export const families: Readonly<Record<string, Family>> = {
  gpt2: {
    classes: plainClasses,
    options: { contractions: [["'s", 1]], digitsFirst: [[" 1", 2]] },
    boundaries: gpt2,
  },
  modern: {
    classes: plainClasses,
    options: modernOptions,
    classesOfOptions: { slash: "slashes" },
    boundaries: modern,
  },
  modernCased: {
    classes: casedClasses,
    options: { ...modernOptions, suffixes: [["a's", 1]] },
    classesOfOptions: { slash: "slashes" },
    boundaries: modernCased,
  },
  deepseek: { classes: deepseekClasses, options: {}, boundaries: deepseek },
};

/** A family's formula, with the operators given; `lines`: a text ends behind every line feed. */
export function boundariesOf<Mask>(
  family: Family,
  lines: boolean,
  ops: Ops<Mask>,
  classes: Masks<Mask>,
  options: Masks<Mask>,
  digitCount: Count,
): Boundaries<Mask> {
  if (!lines) return family.boundaries(ops, classes, options, digitCount);
  const lineFeed = classes.lineFeed!;
  const { begin, hard } = family.boundaries(lineWise(ops, lineFeed), classes, options, digitCount);
  return { begin: ops.or(begin, ops.prev(lineFeed)), hard };
}

/**
 * The operators for texts that end behind every line feed: what a formula says of a text with them, it says of each of its lines.
 * So a formula need not know of lines. A contraction or a group of digits never reaches over a line feed.
 */
function lineWise<Mask>(ops: Ops<Mask>, lineFeed: Mask): Ops<Mask> {
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
