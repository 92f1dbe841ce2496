import { readdirSync, renameSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { lstatOrNull, type Place, pathOf } from "./place.ts";

/**
 * What stands beside an output while it is made, hidden, and named after its process, so that a later run can tell
 * what a dead one left:
 *
 *   .NAME.bpe-HOST-PID.new    the output being written; after an exchange, the old one being removed
 *   .NAME.bpe-HOST-PID.old    the old one, set aside where the file system has no exchange
 *
 * HOST is part of it because a process id says nothing about processes of other machines and containers.
 */
type Kind = "new" | "old";

/** What this process is staging now: its own id alone does not tell its work from that of a dead one. */
const live = new Set<string>();

/** Reserves the path of something staged until `release`. */
export function reserve(place: Place, kind: Kind): string {
  const path = join(place.parent, `.${place.name}.${owner(process.pid)}.${kind}`);
  if (live.has(path)) throw new UserError(`"${place.typed}" would be written twice by one run`);
  live.add(path);
  return path;
}

export function release(path: string): void {
  live.delete(path);
}

/** Places whose lock this process holds: what stands beside them, and is not live, is a dead run's. */
const locked = new Set<string>();
export const markLocked = (place: Place) => locked.add(pathOf(place));
export const unmarkLocked = (place: Place) => locked.delete(pathOf(place));

const host = hostname().replaceAll(/[^\w]/g, "").slice(0, 24);
export const owner = (pid: number | string) => `bpe-${host}-${pid}`;

/**
 * Removes what dead processes left beside the place. A process that died between setting the old output aside and
 * putting the new one in its place left the path naming nothing: there the old one is put back.
 */
export function removeStale(place: Place): void {
  for (const name of namesIn(place.parent)) {
    if (!name.startsWith(`.${place.name}.`)) continue;
    const [, pid, kind] = /^(\d+)\.(new|old)$/.exec(name.slice(`.${place.name}.${owner("")}`.length)) ?? [];
    if (pid === undefined || name !== `.${place.name}.${owner(pid)}.${kind}`) continue;
    const path = join(place.parent, name);
    if (isAtWork(Number(pid), path, locked.has(pathOf(place)))) continue;
    if (kind === "old" && lstatOrNull(pathOf(place)) === null) renameSync(path, pathOf(place));
    else removeQuietly(path);
  }
}

/**
 * Removes something staged. What cannot be removed is left to the next run: whoever discards has another error to
 * tell, or a signal to obey.
 */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}

/** A parent that may be written but not listed keeps what is stale. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** A process id may be that of another process by now; the lock is sure, where it is had. */
function isAtWork(pid: number, path: string, isLocked: boolean): boolean {
  if (isLocked || pid === process.pid) return live.has(path);
  return isAlive(pid);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
