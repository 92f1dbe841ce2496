import { mkdirSync, rmdirSync } from "node:fs";
import { UserError } from "../errors.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";
import type { Place } from "./output-place.ts";
import { hiddenNameBytes, longestKind, release, reserve } from "./staging-names.ts";

/**
 * Finds out before hours of work whether the parent can take a new entry: by making one, with the longest name that
 * will be needed, and removing it, because permissions alone do not tell of quotas, read-only mounts and long names.
 * To be done with the lock of the place: without it, another run takes the entry for what a dead one left.
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

export function notWritable(place: Place, error: unknown): unknown {
  if (error instanceof UserError || codeOf(error) === "") return error;
  const hint =
    codeOf(error) === "ENAMETOOLONG"
      ? `choose a shorter one: a hidden name with ${hiddenNameBytes} bytes more stands beside it while it is written`
      : "an output is written beside its place and then renamed, so its parent directory must be writable";
  return new UserError(`"${place.typed}" cannot be written: "${place.parent}": ${reasonOf(error)}`, { hint });
}
