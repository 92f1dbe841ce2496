import { closeSync, fstatSync, readFileSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { xxHash64 } from "../runtime/host.ts";
import { recordName } from "../vocabulary/formats/training-json.ts";
import { lstatOrNull, namesIn, type Place, pathOf, statOrNull } from "./output-place.ts";
import { whatStands } from "./standing-result.ts";
import { isTrusted, openFound, readFound } from "./trusted-files.ts";

/**
 * Former results that `--keep N` leaves beside their place, each named by the start of the run that made it:
 *
 *   NAME.20261120T020000Z      and, of another that began in the same second, NAME.20261120T020000Z-2
 *
 * The name is for people. Clocks go wrong, so the `generation` in the records tells which is older: it is one more than
 * that of every result that stood there or was kept when the run wrote its record.
 */
const keptName = /^\.(\d{8}T\d{6}Z)(?:-(\d+))?$/;

/** Moves a former result to its name among the kept ones. Returns its new path. */
export function keepResult(path: string, place: Place): string {
  const first = `${pathOf(place)}.${stampOf(path)}`;
  let kept = first;
  for (let n = 2; lstatOrNull(kept) !== null; n++) kept = `${first}-${n}`;
  renameSync(path, kept);
  return kept;
}

/** The places of all kept results, the latest first. Whatever is no result of ours is left out. */
export function keptPlaces(place: Place): Place[] {
  const found: { place: Place; stamp: string; n: number; generation: number }[] = [];
  const parent = statOrNull(place.parent);
  for (const name of namesIn(place.parent)) {
    if (!name.startsWith(`${place.name}.`)) continue;
    const [, stamp, n] = keptName.exec(name.slice(place.name.length)) ?? [];
    if (stamp === undefined) continue;
    const kept = { ...place, name };
    const stats = lstatOrNull(pathOf(kept));
    // Results of another user would count, and push ours out.
    if (parent === null || stats === null || !isTrusted(stats, parent) || !isResult(kept)) continue;
    found.push({ place: kept, stamp, n: Number(n ?? 1), generation: generationOf(pathOf(kept)) });
  }
  found.sort(
    (a, b) => b.generation - a.generation || (a.stamp === b.stamp ? b.n - a.n : a.stamp < b.stamp ? 1 : -1),
  );
  return found.map(({ place }) => place);
}

/** Whether a result of ours stands at the place. */
export function isResult(place: Place): boolean {
  try {
    return whatStands(place).kind === "result";
  } catch {
    return false;
  }
}

/** The generation of the next result: one more than any that stands at the place or is kept beside it. */
export function nextGeneration(place: Place): number {
  const places = [place, ...keptPlaces(place)];
  return 1 + Math.max(...places.map((each) => generationOf(pathOf(each))));
}

/** The generation of a result; 0 if it has none. */
function generationOf(path: string): number {
  try {
    const { generation } = readRecord(path).record;
    return Number.isSafeInteger(generation) && generation! > 0 && generation! < generationMax
      ? generation!
      : 0;
  } catch {
    return 0;
  }
}

/** No counting gets this far: a larger number is forged or damaged. */
const generationMax = 2 ** 40;

/** When the run of a result started, to the second; if its record does not say it, when the record was written. */
function stampOf(path: string): string {
  const { record, writtenAt } = readRecord(path);
  const told = typeof record.startedAt === "string" ? stamp(new Date(record.startedAt)) : "";
  return keptName.test(`.${told}`) ? told : stamp(writtenAt);
}

const stamp = (time: Date) =>
  Number.isNaN(time.getTime()) ? "" : time.toISOString().replaceAll(/[-:]|\.\d+/g, "");

type Told = { readonly startedAt?: unknown; readonly generation?: number };

function readRecord(path: string): { record: Told; writtenAt: Date } {
  const fd = openFound(join(path, recordName));
  try {
    const record = JSON.parse(readFileSync(fd, "utf8")) as Told | null;
    return { record: record ?? {}, writtenAt: fstatSync(fd).mtime };
  } finally {
    closeSync(fd);
  }
}

/**
 * The mark in a hidden name (staging-names.ts), made from the result's record. It tells a former result from the one that
 * replaces it. No two records are equal: each has its times.
 */
export function recordMark(path: string): string {
  const bytes = readFound(join(path, recordName));
  return xxHash64(bytes).toString(16).padStart(16, "0").slice(0, 8);
}

/** Whether a result is the former one that its hidden name was made for. */
export function isMarked(path: string): boolean {
  try {
    return basename(path).endsWith(`.keep-${recordMark(path)}`);
  } catch {
    return false;
  }
}
