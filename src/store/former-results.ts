import { closeSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { keepResult, keptPlaces } from "./kept-results.ts";
import { lstatOrNull, type Place, pathOf } from "./output-place.ts";
import { insideOf, openDirectory } from "./remove-quietly.ts";
import { release, reserve } from "./staging-names.ts";
import { whatStands } from "./standing-result.ts";

/** Where a former result is now; null if there is none. */
export type FormerResults = {
  /** The replaced result, if someone wrote into it meanwhile. */
  readonly leftPath: string | null;
  /** The replaced result, if it was to be kept. */
  readonly keptPath: string | null;
};

/** Removes or keeps the replaced result, and removes the oldest kept ones. Without `keepCount` these stay. */
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

/** Hides it first. If the run dies now, the next one removes it, and nobody sees half a kept result. */
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
 * Removes a former result, file by file. If someone put a file into it meanwhile, it is left beside the place instead.
 * Returns its path then, else null.
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
    const inside = insideOf(fd, directory);
    const inner = names
      .filter((name) => name.includes("/"))
      .map((name) => name.split("/") as [string, string]);
    for (const name of names) if (!name.includes("/")) unlinkSync(join(inside, name));
    for (const each of new Set(inner.map(([first]) => first))) {
      const innerNames = inner.filter(([first]) => first === each).map(([, name]) => name);
      removeFiles(join(inside, each), innerNames);
      rmdirSync(join(inside, each));
    }
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
