import { renameSync, type Stats } from "node:fs";
import { exchange } from "../runtime/file-calls.ts";
import { codeOf } from "../runtime/system-error.ts";
import { recordMark } from "./kept-results.ts";
import { type Place, pathOf } from "./output-place.ts";
import { type HiddenPath, type Kind, release, reserve } from "./staging-names.ts";
import { whatStands } from "./standing-result.ts";

export type TakePlaceOptions = {
  /** Whether a later run has to find the former result, should this run die before it is kept. */
  readonly keepsFormer: boolean;
  /** Gives what is staged the permissions of what it replaces, null for nothing. */
  readonly settle: (former: Stats | null) => void;
  readonly exchangePaths?: typeof exchange;
};

/**
 * Moves what is at `staged` to its place. Returns where the former result is now, or null if there was none. Others may
 * publish at the same time; each of them leaves a complete result, so the loop looks again.
 */
export function takePlace(
  staged: HiddenPath,
  place: Place,
  { keepsFormer, settle, exchangePaths = exchange }: TakePlaceOptions,
): string | null {
  const path = pathOf(place);
  for (let attempt = 1; ; attempt++) {
    try {
      const standing = whatStands(place);
      settle(standing.kind === "absent" ? null : standing.stats);
      if (standing.kind === "result") {
        const formerKind: Kind = keepsFormer ? `keep-${recordMark(path)}` : "old";
        if (keepsFormer) staged.moveTo(formerKind);
        if (exchangePaths(staged.path, path)) return staged.path;
        staged.moveTo("new");
        return replaceInTwoSteps(staged.path, place, formerKind);
      }
      // Atomic if nothing or an empty directory is there. Refused if anything else came meanwhile.
      renameSync(staged.path, path);
      return null;
    } catch (error) {
      if (attempt === attemptsMax || !hasChanged.has(codeOf(error))) throw error;
    }
  }
}

/** Errors of a rename whose place has changed since it was looked at. */
const hasChanged = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR", "ENOENT"]);
/** An attempt fails only if another process publishes in between. So many in a row are no accident. */
const attemptsMax = 100;

/** For file systems without an exchange: between two renames, nothing is at the path. */
function replaceInTwoSteps(staged: string, place: Place, formerKind: Kind): string {
  const path = pathOf(place);
  const aside = reserve(place, formerKind);
  try {
    renameSync(path, aside);
    try {
      renameSync(staged, path);
    } catch (error) {
      renameSync(aside, path);
      throw error;
    }
  } finally {
    release(aside);
  }
  return aside;
}
