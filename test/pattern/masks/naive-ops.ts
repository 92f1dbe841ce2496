import type { Contractions, Count, Ops } from "../../../src/pattern/mask-formulas.ts";

/** The operators in a few obvious lines: a mask is an array with a boolean for each character of a text. */
export function naiveOps(characters: readonly string[]): Ops<boolean[]> {
  const indices = characters.map((_, i) => i);
  const { length } = characters;
  const not = (mask: boolean[]) => mask.map((is) => !is);
  /** First index behind the run that i is in. */
  const runEnd = (run: boolean[], i: number) => {
    while (i < length && run[i]) i++;
    return i;
  };
  return {
    none: indices.map(() => false),
    not,
    and: (...masks) => indices.map((i) => masks.every((mask) => mask[i])),
    or: (...masks) => indices.map((i) => masks.some((mask) => mask[i])),
    prev: (mask) => indices.map((i) => i > 0 && mask[i - 1]!),
    last: (run) => indices.map((i) => run[i]! && i + 1 < length && !run[i + 1]),
    span(start, hold) {
      const spans: boolean[] = [];
      for (const i of indices) spans.push(hold[i]! && (start[i]! || (i > 0 && spans[i - 1]!)));
      return spans;
    },
    before: (where, run, target, atEnd) =>
      indices.map((i) => {
        if (!where[i]) return false;
        const end = runEnd(run, i);
        return end === length ? atEnd[i]! : target[end]!;
      }),
    every({ value }: Count, run) {
      const firsts: boolean[] = [];
      let size = 0;
      for (const i of indices) {
        firsts.push(run[i]! && (size === 0 || (value > 0 && size % value === 0)));
        size = run[i] ? size + 1 : 0;
      }
      return firsts;
    },
    contractions(apostrophes, fold, apart): Contractions<boolean[]> {
      const [first, inside, behind] = [0, 1, 2].map(() => indices.map(() => false)) as [
        boolean[],
        boolean[],
        boolean[],
      ];
      for (const i of indices) {
        if (!apostrophes[i] || (apart[i] && behind[i])) continue;
        const rest = characters.slice(i + 1, i + 3).join("");
        const found = /^(?:[sdmt]|re|ve|ll)/u.exec(fold[i] ? rest.toLowerCase().replace(/^ſ/, "s") : rest);
        if (found === null) continue;
        first[i] = true;
        const end = i + 1 + found[0].length;
        inside.fill(true, i + 1, end);
        if (end < length) behind[end] = true;
      }
      return { first, inside, behind };
    },
  };
}
