import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../errors.ts";
import { codeOf, refusal } from "../runtime/system-error.ts";
import { type Place, statOrNull } from "./output-place.ts";
import { hiddenNameBytes, longestKind, release, reserve } from "./staging-names.ts";

/** Makes the parents that a place lacks. The function returned removes those of them that are still empty. */
export function makeParents(place: Place): () => void {
  const outermost = mkdirSync(place.parent, { recursive: true });
  if (outermost === undefined) return () => {};
  return () => {
    try {
      for (let path = place.parent; path.length >= outermost.length; path = dirname(path)) rmdirSync(path);
    } catch {
      // Something else is in it.
    }
  };
}

/**
 * Checks before hours of work that the parent can take a new entry. It makes one, with the longest name that will be
 * needed, and removes it: permissions alone do not tell of quotas, read-only mounts and names that are too long.
 *
 * The caller holds the lock of the place. Without it another run would take the entry for a dead run's.
 */
export function checkParent(place: Place): void {
  const probe = reserve(place, longestKind);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
  } catch (error) {
    throw notWritable(place, error);
  } finally {
    release(probe);
  }
}

/** An error of the system as a UserError that names the place and its parent; other errors as they are. */
export function notWritable(place: Place, error: unknown): unknown {
  const hint =
    codeOf(error) === "ENAMETOOLONG"
      ? `choose a shorter one: a hidden name with ${hiddenNameBytes} bytes more stands beside it while it is written`
      : "an output is written beside its place and then renamed, so its parent directory must be writable";
  // A file system of the kernel's says so where it takes nothing new.
  if (codeOf(error) === "ENOENT" && statOrNull(place.parent) !== null) {
    return new UserError(`"${place.typed}" cannot be written: nothing new can be made in "${place.parent}"`, {
      hint,
    });
  }
  return refusal(`"${place.typed}" cannot be written: "${place.parent}"`, error, hint);
}

/** Runs `write`. An error of the system becomes a UserError that names the path and the reason. */
export function onPath<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw refusal(`"${path}" cannot be written`, error);
  }
}
