/**
 * @internal Returns the index of the first id that differs. If one list begins with the other, returns the
 * length of the shorter one; if they are equal, -1.
 */
export function firstDifference(given: ArrayLike<number>, canonical: ArrayLike<number>): number {
  const shorter = Math.min(given.length, canonical.length);
  let i = 0;
  while (i < shorter && given[i] === canonical[i]) i++;
  return i === shorter && given.length === canonical.length ? -1 : i;
}
