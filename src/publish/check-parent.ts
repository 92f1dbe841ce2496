import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../errors.ts";
import { codeOf, reasonOf } from "../system-error.ts";
import { type Place, statOrNull } from "./place.ts";
import { release, reserve } from "./staging-names.ts";

/**
 * Finds out before hours of work whether the parent, or the part of it that exists, can take a new entry: by making
 * one and removing it, because permissions alone do not tell of quotas, read-only mounts and long names.
 */
export function checkParent(place: Place): void {
  let parent = place.parent;
  while (statOrNull(parent) === null) parent = dirname(parent);
  const probe = reserve({ ...place, parent }, "new");
  try {
    mkdirSync(probe);
    rmdirSync(probe);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw new UserError(`"${place.typed}" cannot be written: "${parent}": ${reasonOf(error)}`, {
      hint: "an output is written beside its place and then renamed, so its parent directory must be writable",
    });
  } finally {
    release(probe);
  }
}
