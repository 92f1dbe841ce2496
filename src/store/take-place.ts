import { renameSync, type Stats } from "node:fs";
import { exchange } from "../runtime/file-calls.ts";
import { codeOf } from "../runtime/system-error.ts";
import { recordMark } from "./kept-results.ts";
import { type Place, pathOf } from "./output-place.ts";
import { type HiddenPath, type Kind, release, reserve } from "./staging-names.ts";
import { whatStands } from "./standing-result.ts";

export type TakePlaceOptions = {
  /** Whether the former result is to be found by a later run, should this one die before it has its name. */
  readonly keepsFormer: boolean;
  /** Gives what is staged the permissions of what it replaces; null for nothing. */
  readonly settle: (former: Stats | null) => void;
  readonly exchangePaths?: typeof exchange;
};

/**
 * Makes the place name what stands at `staged`. Returns where the former result is now, or null if there was none.
 * Others may publish at the same time: each sees a whole result of someone's, and so the loop looks anew.
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
      // Atomic over nothing and over an empty directory; refused over anything else that came meanwhile.
      renameSync(staged.path, path);
      return null;
    } catch (error) {
      if (attempt === attemptsMax || !hasChanged.has(codeOf(error))) throw error;
    }
  }
}

/** What a rename says when the place is not what it was a moment ago. */
const hasChanged = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR", "ENOENT"]);
/** Each attempt fails only if another process published in between; so many in a row are no accident. */
const attemptsMax = 100;

/** Where there is no exchange: for the instant between two renames the path names nothing. */
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
