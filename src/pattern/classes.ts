import { type CodePointSet, lastCodePoint } from "./ranges.ts";

/**
 * Character classes: the coarsest division of all code points that every set of a pattern is a union of. The
 * automaton reads classes, so its size depends on what the pattern tells apart and not on Unicode.
 *
 *   FIELD        MEANING
 *   classCount   classes are 0 .. classCount - 1
 *   runStarts    first code point of each run of one class, ascending; a run ends where the next begins
 *   runClasses   the class of each run
 *
 * The sets [a-z] and [x\n] give four classes: neither; only [a-z]; both ("x"); only [x\n] ("\n").
 */
export type CharacterClasses = {
  readonly classCount: number;
  readonly runStarts: readonly number[];
  readonly runClasses: readonly number[];
};

/** The classes of some sets; and for each set, which classes it holds (`membership[set][class]`, 0 or 1). */
export function divideIntoClasses(sets: readonly CodePointSet[]): {
  classes: CharacterClasses;
  membership: Uint8Array[];
} {
  const edges = edgesOf(sets);
  const inside = new Uint8Array(sets.length);
  const classOf = new Map<string, number>();
  const members: number[][] = sets.map(() => []);
  const runStarts: number[] = [];
  const runClasses: number[] = [];
  for (let edge = 0, codePoint = 0; codePoint <= lastCodePoint; codePoint = edges[edge]!.codePoint) {
    while (edge < edges.length && edges[edge]!.codePoint <= codePoint) inside[edges[edge++]!.set]! ^= 1;
    const signature = String.fromCharCode(...inside);
    let id = classOf.get(signature);
    if (id === undefined) {
      id = classOf.size;
      classOf.set(signature, id);
      for (let set = 0; set < sets.length; set++) members[set]!.push(inside[set]!);
    }
    if (runClasses.at(-1) !== id) {
      runStarts.push(codePoint);
      runClasses.push(id);
    }
    if (edge === edges.length) break;
  }
  return {
    classes: { classCount: classOf.size, runStarts, runClasses },
    membership: members.map((list) => Uint8Array.from(list)),
  };
}

/** Where code points enter or leave a set, ascending. */
function edgesOf(sets: readonly CodePointSet[]): { codePoint: number; set: number }[] {
  const edges: { codePoint: number; set: number }[] = [];
  sets.forEach((ranges, set) => {
    for (let i = 0; i < ranges.length; i += 2) {
      edges.push({ codePoint: ranges[i]!, set }, { codePoint: ranges[i + 1]! + 1, set });
    }
  });
  return edges.sort((a, b) => a.codePoint - b.codePoint);
}
