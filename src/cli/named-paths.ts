import { existsSync } from "node:fs";
import { usageError } from "../errors.ts";

/** A path, and the name that stands before it: `[NAME=]PATH`. */
export type Named = { readonly name: string | null; readonly path: string };

/** Reads `[NAME=]PATH`. What exists as it is typed is a path; a NAME holds no slash. */
export function readNamed(what: string, typed: string): Named {
  const [, name, path] = /^([^=/]*)=(.*)$/s.exec(typed) ?? [];
  if (name === undefined || path === undefined || existsSync(typed)) return { name: null, path: typed };
  if (name === "" || path === "") {
    throw usageError(
      `${what}: "${typed}" has no ${name === "" ? "name" : "path"}`,
      "NAME=PATH, or a path alone",
    );
  }
  return { name, path };
}

/**
 * A name for each: the one given; of the others the short one, or the path where two would have the same, or where one is
 * `taken`.
 */
export function uniqueNames<T extends Named>(
  all: readonly T[],
  shortName: (path: string) => string,
  taken: { has(name: string): boolean } = new Set(),
): Map<T, string> {
  const names = all.map(({ name, path }) => name ?? shortName(path));
  const isFree = (name: string) => !taken.has(name) && names.filter((other) => other === name).length === 1;
  return new Map(all.map((one, i) => [one, one.name ?? (isFree(names[i]!) ? names[i]! : one.path)]));
}
