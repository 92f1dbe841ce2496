import { closeSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { keepResult, keptPlaces } from "./kept-results.ts";
import { lstatOrNull, type Place, pathOf } from "./output-place.ts";
import { insideOf, openDirectory } from "./remove-quietly.ts";
import { release, reserve } from "./staging-names.ts";
import { whatStands } from "./standing-result.ts";

/** Where former results are now; null for none. */
export type FormerResults = {
  /** The one that was replaced, if someone wrote into it while that happened. */
  readonly leftPath: string | null;
  /** The one that was replaced, if it was to be kept. */
  readonly keptPath: string | null;
};

/** The replaced result goes or is kept, and of the kept ones the oldest go. `keepCount` undefined leaves those alone. */
export function settleFormer(
  former: string | null,
  place: Place,
  keepCount: number | undefined,
): FormerResults {
  const isKept = former !== null && keepCount !== undefined && keepCount > 0;
  const keptPath = isKept ? keepResult(former, place) : null;
  const leftPath = isKept || former === null ? null : removeFormer(former, place);
  if (keepCount !== undefined) for (const old of keptPlaces(place).slice(keepCount)) removeKept(old, place);
  return { leftPath, keptPath };
}

/** Out of sight first: a run that dies now leaves what the next one removes, and no half of a kept result. */
function removeKept(old: Place, place: Place): void {
  const hidden = reserve(place, "new");
  try {
    renameSync(pathOf(old), hidden);
    removeFormer(hidden, place);
  } finally {
    release(hidden);
  }
}

/**
 * Removes a former result, file by file, so that what anyone put into it since is not lost: then it is left beside the
 * place, and the value says where.
 */
function removeFormer(former: string, place: Place): string | null {
  try {
    const standing = whatStands({ ...place, parent: dirname(former), name: basename(former) });
    if (standing.kind === "result") removeFiles(former, standing.names);
    rmdirSync(former);
    return null;
  } catch {
    const leftPath = freePath(place, "old");
    renameSync(former, leftPath);
    return leftPath;
  }
}

function removeFiles(directory: string, names: readonly string[]): void {
  const fd = openDirectory(directory);
  if (fd === null) return;
  try {
    for (const name of names) unlinkSync(join(insideOf(fd, directory), name));
  } finally {
    closeSync(fd);
  }
}

/** The first of NAME.new, NAME.new-2, … that names nothing. */
export function freePath(place: Place, ending: string): string {
  const path = `${pathOf(place)}.${ending}`;
  if (lstatOrNull(path) === null) return path;
  for (let n = 2; ; n++) if (lstatOrNull(`${path}-${n}`) === null) return `${path}-${n}`;
}
