import { renameSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { isMarked, keepResult } from "./kept.ts";
import { lstatOrNull, namesIn, type Place, pathOf } from "./place.ts";

/**
 * What stands beside an output while it is made, hidden, and named after its process, so that a later run can tell
 * what a dead one left:
 *
 *   .NAME.bpe-HOST-PID.new    the output being written; after an exchange, the old one being removed
 *   .NAME.bpe-HOST-PID.old    the old one, set aside where the file system has no exchange
 *   .NAME.bpe-HOST-PID.keep-MARK
 *                             where the old one is to be kept: the new one, whole, until it takes its place, then the
 *                             old one. MARK is the old one's, so what stands there can be told.
 *
 * HOST is part of it because a process id says nothing about processes of other machines and containers.
 */
export type Kind = "new" | "old" | `keep-${string}`;

/** What this process is staging now: its own id alone does not tell its work from that of a dead one. */
const live = new Set<string>();

/** Reserves the path of something staged until `release`. */
export function reserve(place: Place, kind: Kind): string {
  const path = hiddenPath(place, kind);
  if (live.has(path)) throw new UserError(`"${place.typed}" would be written twice by one run`);
  live.add(path);
  return path;
}

const hiddenPath = (place: Place, kind: Kind) =>
  join(place.parent, `.${place.name}.${owner(process.pid)}.${kind}`);

export function release(path: string): void {
  live.delete(path);
}

/** What this process has under a hidden name. */
export class HiddenPath {
  path: string;

  constructor(
    private readonly place: Place,
    kind: Kind,
  ) {
    this.path = reserve(place, kind);
  }

  /** Gives it another hidden name: what a later run would find tells it what this one was about to do. */
  moveTo(kind: Kind): void {
    const path = hiddenPath(this.place, kind);
    if (path === this.path) return;
    reserve(this.place, kind);
    renameSync(this.path, path);
    release(this.path);
    this.path = path;
  }

  release(): void {
    release(this.path);
  }
}

/** Places whose lock this process holds: what stands beside them, and is not live, is a dead run's. */
const locked = new Set<string>();
export const markLocked = (place: Place) => locked.add(pathOf(place));
export const unmarkLocked = (place: Place) => locked.delete(pathOf(place));

const host = hostname().replaceAll(/[^\w]/g, "").slice(0, 24);
export const owner = (pid: number | string) => `bpe-${host}-${pid}`;

/**
 * Removes what dead processes left beside the place. A process that died between setting the old output aside and
 * putting the new one in its place left the path naming nothing: there the old one is put back. One that was to keep
 * the old one and died before it had its name: there it is given it.
 */
export function removeStale(place: Place): void {
  for (const name of namesIn(place.parent)) {
    if (!name.startsWith(`.${place.name}.`)) continue;
    const [, pid, kind] =
      /^(\d+)\.(new|old|keep-[0-9a-f]{8})$/.exec(name.slice(`.${place.name}.${owner("")}`.length)) ?? [];
    if (pid === undefined || name !== `.${place.name}.${owner(pid)}.${kind}`) continue;
    const path = join(place.parent, name);
    if (isAtWork(Number(pid), path, locked.has(pathOf(place)))) continue;
    const isFormer = kind === "old" || (kind !== "new" && isMarked(path));
    if (isFormer && lstatOrNull(pathOf(place)) === null) renameSync(path, pathOf(place));
    else if (isFormer && kind !== "old") keepResult(path, place);
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
