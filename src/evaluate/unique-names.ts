import type { kinds } from "#options";

/**
 * Gives each item a name: the given one, if there is one. Otherwise this is the short name or, if another item has the
 * same name, the path.
 */
export function uniqueNames<T extends kinds.Named>(
  all: readonly T[],
  shortName: (path: string) => string,
): Map<T, string> {
  const names = all.map(({ name, path }) => name ?? shortName(path));
  const isFree = (name: string) => names.filter((other) => other === name).length === 1;
  return new Map(all.map((one, i) => [one, one.name ?? (isFree(names[i]!) ? names[i]! : one.path)]));
}
