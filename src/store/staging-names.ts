import { renameSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { xxHash32 } from "../runtime/host.ts";
import { isMarked, isResult, keepResult } from "./kept-results.ts";
import { lstatOrNull, namesIn, type Place, pathOf } from "./output-place.ts";
import { removeQuietly } from "./remove-quietly.ts";
import { isMine } from "./trusted-files.ts";

/**
 * Hidden names beside an output while it is written:
 *
 *   .NAME.bpe-HOST-RUN.new    the output that is being written; after an exchange, the old one that is being removed
 *   .NAME.bpe-HOST-RUN.old    the old one, set aside where the file system has no exchange
 *   .NAME.bpe-HOST-RUN.keep-MARK
 *                             if the old one is to be kept: the new one, complete, until it takes its place; then the
 *                             old one. MARK is made from the old one's record and tells which of the two it is.
 *
 * HOST is a hash of the host's name, RUN a random number of this process. Like MARK they have 8 hexadecimal digits. The
 * name does not say whether its run lives, but the lock of the place does: its holder knows that all other runs of this
 * host are dead. (Some file servers keep locks per host, hence HOST.)
 */
export type Kind = "new" | "old" | `keep-${string}`;

/** The kind with the longest name. */
export const longestKind: Kind = "keep-00000000";

const hash8 = (text: string) => xxHash32(text).toString(16).padStart(8, "0");
const host = hash8(hostname());
const run = hash8(crypto.randomUUID());

const hiddenName = (place: Place, kind: Kind, ofRun = run) => `.${place.name}.bpe-${host}-${ofRun}.${kind}`;
const hiddenPath = (place: Place, kind: Kind) => join(place.parent, hiddenName(place, kind));

/** How much longer than NAME a hidden name is, in bytes. */
export const hiddenNameBytes = hiddenName({ typed: "", parent: "", name: "" }, longestKind).length;

/** Paths that this process is staging now. */
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

/** A file or directory of this process under a hidden name. */
export class HiddenPath {
  path: string;

  constructor(
    private readonly place: Place,
    kind: Kind,
  ) {
    this.path = reserve(place, kind);
  }

  /** Renames it. The name tells a later run what this one was about to do, should it die. */
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
 * Mends what dead runs of this user left beside the place. If a run died between moving the old output aside and putting
 * the new one in its place, nothing is at the path: the old one is put back, which harms no run that lives. The rest needs
 * the lock of the place, except for what this run left itself: an old output that was to be kept gets its name, and
 * everything else is removed.
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
