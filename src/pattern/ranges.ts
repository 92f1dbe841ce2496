/**
 * A set of code points, as ranges: `[first, last, first, last, …]`, both inclusive, ascending, no two ranges touching.
 * So equal sets are equal arrays. [a-cx] is [97, 99, 120, 120].
 */
export type CodePointSet = readonly number[];

export const lastCodePoint = 0x10ffff;
export const emptySet: CodePointSet = [];
export const fullSet: CodePointSet = [0, lastCodePoint];

export function codePointRange(first: number, last: number = first): CodePointSet {
  return [first, last];
}

export function unionOf(sets: readonly CodePointSet[]): CodePointSet {
  if (sets.length === 1) return sets[0]!;
  const ranges: [first: number, last: number][] = [];
  for (const set of sets) for (let i = 0; i < set.length; i += 2) ranges.push([set[i]!, set[i + 1]!]);
  ranges.sort((a, b) => a[0] - b[0]);
  const union: number[] = [];
  for (const [first, last] of ranges) appendRange(union, first, last);
  return union;
}

export function complementOf(set: CodePointSet): CodePointSet {
  const complement: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) complement.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= lastCodePoint) complement.push(next, lastCodePoint);
  return complement;
}

export function intersectionOf(a: CodePointSet, b: CodePointSet): CodePointSet {
  return complementOf(unionOf([complementOf(a), complementOf(b)]));
}

export function codePointCountOf(set: CodePointSet): number {
  let count = 0;
  for (let i = 0; i < set.length; i += 2) count += set[i + 1]! - set[i]! + 1;
  return count;
}

/** Adds a range that begins at or after the first code point of the last one. */
export function appendRange(ranges: number[], first: number, last: number): void {
  const end = ranges.length - 1;
  if (end > 0 && ranges[end]! + 1 >= first) ranges[end] = Math.max(ranges[end]!, last);
  else ranges.push(first, last);
}
