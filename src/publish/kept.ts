import { readFileSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { recordName } from "../vocabulary/formats/training.ts";
import { lstatOrNull, namesIn, type Place, pathOf } from "./place.ts";
import { whatStands } from "./result.ts";

/**
 * Former results that `--keep N` leaves beside their place, each named by the start of the run that made it:
 *
 *   NAME.20261120T020000Z      and, of another that began in the same second, NAME.20261120T020000Z-2
 */
const keptName = /^\.(\d{8}T\d{6}Z)(?:-(\d+))?$/;

/** Gives a former result, wherever it stands, its name among the kept ones; its new path. */
export function keepResult(path: string, place: Place): string {
  const first = `${pathOf(place)}.${stampOf(path)}`;
  let kept = first;
  for (let n = 2; lstatOrNull(kept) !== null; n++) kept = `${first}-${n}`;
  renameSync(path, kept);
  return kept;
}

/** The places of all kept results, the latest first. What is not a result of ours is none, whatever its name. */
export function keptPlaces(place: Place): Place[] {
  const found: { name: string; stamp: string; n: number }[] = [];
  for (const name of namesIn(place.parent)) {
    if (!name.startsWith(`${place.name}.`)) continue;
    const [, stamp, n] = keptName.exec(name.slice(place.name.length)) ?? [];
    if (stamp !== undefined) found.push({ name, stamp, n: Number(n ?? 1) });
  }
  found.sort((a, b) => (a.stamp === b.stamp ? b.n - a.n : a.stamp < b.stamp ? 1 : -1));
  return found.map(({ name }) => ({ ...place, name })).filter(isResult);
}

function isResult(place: Place): boolean {
  try {
    return whatStands(place).kind === "result";
  } catch {
    return false;
  }
}

/** The start that a result's record tells, to the second; of one without, when the record was written. */
function stampOf(path: string): string {
  const recordPath = join(path, recordName);
  const { startedAt } = JSON.parse(readFileSync(recordPath, "utf8")) as { startedAt?: unknown };
  const told = typeof startedAt === "string" ? new Date(startedAt) : statSync(recordPath).mtime;
  const start = Number.isNaN(told.getTime()) ? statSync(recordPath).mtime : told;
  return start.toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/**
 * What tells a former result from the one that replaces it, under the same hidden name: see `staging-names.ts`. No two
 * records are equal, each has its times.
 */
export function recordMark(path: string): string {
  const bytes = readFileSync(join(path, recordName));
  return Bun.hash.xxHash64(bytes).toString(16).padStart(16, "0").slice(0, 8);
}

/** Whether it is the former result that its hidden name was made for. */
export function isMarked(path: string): boolean {
  try {
    return basename(path).endsWith(`.keep-${recordMark(path)}`);
  } catch {
    return false;
  }
}
