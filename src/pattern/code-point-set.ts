/**
 * A set of code points, as ranges: `[first, last, first, last, …]`, both inclusive, ascending, no two ranges touching.
 * So equal sets are equal arrays. [a-cx] is [97, 99, 120, 120].
 */
export type CodePointSet = readonly number[];

export const lastCodePoint = 0x10ffff;
export const emptySet: CodePointSet = [];
export const fullSet: CodePointSet = [0, lastCodePoint];

export function isFull(set: CodePointSet): boolean {
  return set.length === 2 && set[0] === 0 && set[1] === lastCodePoint;
}

export function codePointRange(first: number, last: number = first): CodePointSet {
  return [first, last];
}

/** Sweeps over all firsts and all lasts, each sorted by itself: a code point is in the union while any range is open. */
export function unionOf(sets: readonly CodePointSet[]): CodePointSet {
  if (sets.length === 1) return sets[0]!;
  const bounds = sets.flat();
  const rangeCount = bounds.length / 2;
  const firsts = new Uint32Array(rangeCount);
  const lasts = new Uint32Array(rangeCount);
  for (let range = 0; range < rangeCount; range++) {
    firsts[range] = bounds[2 * range]!;
    lasts[range] = bounds[2 * range + 1]!;
  }
  firsts.sort();
  lasts.sort();
  const union: number[] = [];
  for (let range = 0, start = 0; range < rangeCount; range++) {
    // Behind the range'th last, as many ranges have ended as have begun: none is open.
    if (range + 1 < rangeCount && firsts[range + 1]! <= lasts[range]! + 1) continue;
    union.push(firsts[start]!, lasts[range]!);
    start = range + 1;
  }
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

/** The set of some code points, ascending, each once. */
export function setOf(codePoints: readonly number[]): CodePointSet {
  const set: number[] = [];
  for (const codePoint of codePoints) appendRange(set, codePoint, codePoint);
  return set;
}

export function contains(set: CodePointSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (set[2 * middle + 1]! < codePoint) low = middle + 1;
    else high = middle;
  }
  return low < set.length / 2 && set[2 * low]! <= codePoint;
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
