import { type CodePointSet, lastCodePoint } from "./code-point-set.ts";

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

const edgeSetBits = 2 ** 20;
const maskBits = 31;

/** The classes of some sets; and for each set, which classes it holds (`membership[set][class]`, 0 or 1). */
export function divideIntoClasses(sets: readonly CodePointSet[]): {
  classes: CharacterClasses;
  membership: Uint8Array[];
} {
  const edges = edgesOf(sets);
  // One bit a set: whether the code point at hand is inside.
  const inside = new Int32Array(Math.ceil(sets.length / maskBits) || 1);
  const classOf = new Map<number | string, number>();
  const insideOfClass: Int32Array[] = [];
  const runStarts: number[] = [];
  const runClasses: number[] = [];
  let lastClass = -1;
  for (let edge = 0, codePoint = 0; codePoint <= lastCodePoint; ) {
    for (; edge < edges.length && edges[edge]! < (codePoint + 1) * edgeSetBits; edge++) {
      const set = edges[edge]! % edgeSetBits;
      inside[Math.floor(set / maskBits)]! ^= 1 << (set % maskBits);
    }
    const signature = inside.length === 1 ? inside[0]! : inside.join();
    let id = classOf.get(signature);
    if (id === undefined) {
      id = insideOfClass.push(inside.slice()) - 1;
      classOf.set(signature, id);
    }
    if (lastClass !== id) {
      runStarts.push(codePoint);
      runClasses.push(id);
      lastClass = id;
    }
    if (edge === edges.length) break;
    codePoint = Math.floor(edges[edge]! / edgeSetBits);
  }
  const membership = sets.map((_, set) =>
    Uint8Array.from(insideOfClass, (masks) => (masks[Math.floor(set / maskBits)]! >> (set % maskBits)) & 1),
  );
  return { classes: { classCount: insideOfClass.length, runStarts, runClasses }, membership };
}

/** Where code points enter or leave a set, ascending: code point * edgeSetBits + set, to be sorted as plain numbers. */
function edgesOf(sets: readonly CodePointSet[]): Float64Array {
  const edges = new Float64Array(sets.reduce((count, set) => count + set.length, 0));
  let count = 0;
  sets.forEach((ranges, set) => {
    for (let i = 0; i < ranges.length; i += 2) {
      edges[count++] = ranges[i]! * edgeSetBits + set;
      edges[count++] = (ranges[i + 1]! + 1) * edgeSetBits + set;
    }
  });
  return edges.sort();
}
