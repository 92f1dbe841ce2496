import { renameSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { isMarked, isResult, keepResult } from "./kept-results.ts";
import { lstatOrNull, namesIn, type Place, pathOf } from "./output-place.ts";
import { removeQuietly } from "./remove-quietly.ts";
import { isMine } from "./trusted-files.ts";

/**
 * What stands beside an output while it is made, hidden:
 *
 *   .NAME.bpe-HOST-RUN.new    the output being written; after an exchange, the old one being removed
 *   .NAME.bpe-HOST-RUN.old    the old one, set aside where the file system has no exchange
 *   .NAME.bpe-HOST-RUN.keep-MARK
 *                             where the old one is to be kept: the new one, whole, until it takes its place, then the
 *                             old one. MARK is the old one's, so what stands there can be told.
 *
 * HOST is a hash of the host's name, RUN a random number of this process; each, like MARK, has 8 hexadecimal digits.
 * The name says nothing about whether its run lives. The lock of the place does: whoever has it knows that all the
 * others of this host are dead (some file servers keep locks for each host apart, hence HOST).
 */
export type Kind = "new" | "old" | `keep-${string}`;

/** The kind with the longest name. */
export const longestKind: Kind = "keep-00000000";

const hash8 = (text: string) => Bun.hash.xxHash32(text).toString(16).padStart(8, "0");
const host = hash8(hostname());
const run = hash8(crypto.randomUUID());

const hiddenName = (place: Place, kind: Kind, ofRun = run) => `.${place.name}.bpe-${host}-${ofRun}.${kind}`;
const hiddenPath = (place: Place, kind: Kind) => join(place.parent, hiddenName(place, kind));

/** What a hidden name has beside NAME, in bytes. */
export const hiddenNameBytes = hiddenName({ typed: "", parent: "", name: "" }, longestKind).length;

/** What this process is staging now. */
const live = new Set<string>();

/** Reserves the path of something staged until `release`. */
export function reserve(place: Place, kind: Kind): string {
  const path = hiddenPath(place, kind);
  if (live.has(path)) throw writtenTwice(place);
  live.add(path);
  return path;
}

export function release(path: string): void {
  live.delete(path);
}

export const writtenTwice = (place: Place) =>
  new UserError(`"${place.typed}" would be written twice by one run`);

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

/** Places whose lock this process holds. */
const locked = new Set<string>();
export const markLocked = (place: Place) => locked.add(pathOf(place));
export const unmarkLocked = (place: Place) => locked.delete(pathOf(place));
export const isLockedHere = (place: Place) => locked.has(pathOf(place));

/**
 * Mends what dead runs left beside the place, as far as it is this user's. A run that died between setting the old
 * output aside and putting the new one in its place left the path naming nothing: there the old one is put back, which
 * harms no run that lives. The rest is done only with the lock of the place, or with what this run left itself: an old
 * output that was to be kept gets its name, and everything else is removed.
 */
export function mendLeftOvers(place: Place): void {
  for (const name of namesIn(place.parent)) {
    const [, ofRun, kind] = leftOver.exec(name) ?? [];
    if (ofRun === undefined || name !== hiddenName(place, kind as Kind, ofRun)) continue;
    const path = join(place.parent, name);
    const stats = lstatOrNull(path);
    if (live.has(path) || stats === null || !isMine(stats)) continue;
    const isFormer = kind === "old" || (kind !== "new" && isMarked(path));
    if (isFormer && lstatOrNull(pathOf(place)) === null && isResult({ ...place, name })) {
      renameSync(path, pathOf(place));
    } else if (ofRun !== run && !isLockedHere(place)) continue;
    else if (isFormer && kind !== "old") keepResult(path, place);
    else removeQuietly(path);
  }
}

const leftOver = /-([0-9a-f]{8})\.(new|old|keep-[0-9a-f]{8})$/;
