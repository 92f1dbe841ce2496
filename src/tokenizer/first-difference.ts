/**
 * @internal Returns the index of the first id that differs, or the length of the shorter list; -1 if both
 * lists are equal.
 */
export function firstDifference(given: ArrayLike<number>, canonical: ArrayLike<number>): number {
  const shorter = Math.min(given.length, canonical.length);
  let i = 0;
  while (i < shorter && given[i] === canonical[i]) i++;
  return i === shorter && given.length === canonical.length ? -1 : i;
}
