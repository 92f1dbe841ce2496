import { type BigIntStats, fstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { exitCode, nameOf, UserError } from "#runtime";
import { inspectOutput } from "./existing-output.ts";
import { isWithin, pathOf, placeOf } from "./output-place.ts";
import { followLinks } from "./trusted-files.ts";

/** Something that a run writes. */
export type Written = {
  /** What messages call it, e.g. `--output "tokenizer"`. */
  readonly name: string;
  /** A number is an open descriptor. */
  readonly path: string | number;
  /** A file is replaced; a directory too, with all that is in it. A log is appended to. In a cache only this program writes. */
  readonly kind: "file" | "directory" | "log" | "cache";
};

/** Something that a run reads. */
export type Read = {
  /** `-` is standard input. */
  readonly path: string;
  /** What messages call it; without one, its path says it. */
  readonly name?: string;
  // Of an input that was looked at already.
  readonly isStream?: boolean;
  readonly device?: number;
  readonly inode?: number;
};

/** What is written, as it was before the run wrote anything. */
type Place = Written & {
  /** Where it is, or will be, with links resolved. */
  readonly real: string;
  /** The file or directory, and what is in a directory that is replaced. */
  readonly ids: ReadonlySet<string>;
  /** The same, as inputs have it: a number of a file may have lost digits there. */
  readonly looseIds: ReadonlySet<string>;
  /** Standard output does no harm unless it goes behind the text of a file. */
  readonly isHarmless: boolean;
};

/** Thrown where an output is what the run reads, or lies in another output. */
export class MisplacedOutput extends UserError {
  constructor(
    message: string,
    /** Whether the log may not be written. */
    readonly isOfLog: boolean,
    hint = "name another place",
  ) {
    super(message, { hint, exitCode: exitCode.usage });
  }
}

/**
 * All that a run writes, looked at before it writes anything. No part of it may be what the same run reads, by whatever name:
 * files are compared by their numbers, so links, hard links and mounts make no difference.
 */
export class WrittenPlaces {
  private readonly places: readonly Place[];
  private readonly directories: readonly Place[];
  /** The directory of this run that a folder is, or lies in. Most inputs share a few folders. */
  private readonly directoriesOfFolders = new Map<string, Place | undefined>();

  constructor(written: readonly Written[]) {
    this.places = written.map(look);
    this.directories = this.places.filter(isDirectory);
  }

  /** Refuses outputs that would replace, or be written into, something that the run reads. */
  keepFrom(read: readonly Read[]): void {
    if (this.places.length === 0) return;
    for (const one of read) {
      const around = this.around(one);
      if (around !== undefined) throw isIn(around, one);
      const same = this.places.find((place) => !place.isHarmless && isSame(place, one));
      if (same !== undefined) throw spoils(same, one);
    }
  }

  /** Refuses outputs in a directory that is replaced or is a cache, and a log that is another output. */
  keepApart(): void {
    for (const place of this.places.filter(({ kind, path }) => kind !== "directory" && path !== 1)) {
      const { name, path, real, kind } = place;
      const [others, directories] = [this.places, this.directories].map((some) =>
        some.filter((other) => other !== place),
      );
      const own = { name, path: `${path}` };
      const around =
        directories!.find((other) => isSame(other, own)) ?? directoryAround(dirname(real), directories!);
      if (around !== undefined) throw isIn(around, own, kind === "log");
      if (kind !== "log") continue;
      const same = others!.find((other) => isSame(other, own));
      if (same !== undefined) throw spoils(place, { name: same.name, path: "" });
    }
  }

  private around({ path, device }: Read): Place | undefined {
    if (path === "-" || this.directories.length === 0) return undefined;
    // An input is in the folder where it was found; a path that was typed may lead anywhere.
    const folder = dirname(device === undefined ? realPathOf(path) : path);
    const known = this.directoriesOfFolders;
    if (!known.has(folder)) known.set(folder, directoryAround(folder, this.directories));
    return known.get(folder);
  }
}

const isDirectory = ({ kind }: Written) => kind === "directory" || kind === "cache";
const nameOfRead = ({ name, path }: Read) => name ?? nameOf(path);

function spoils(place: Place, read: Read): MisplacedOutput {
  if (place.kind === "cache") return isIn(place, read);
  const [what, isLog] = [nameOfRead(read), place.kind === "log"];
  if (isLog || typeof place.path === "number")
    return new MisplacedOutput(`${place.name} would be written into ${what}`, isLog);
  return new MisplacedOutput(`${place.name} would replace ${what}, which this run reads`, isLog);
}

const isIn = (place: Place, read: Read, isOfLog = false) =>
  new MisplacedOutput(
    `${nameOfRead(read)} is in ${place.name}, which this run writes`,
    isOfLog,
    read.device === undefined
      ? undefined
      : "choose an output outside the corpus, or select files with --include",
  );

/** Where a file that a path names is, or will be. */
export function realPathOf(path: string): string {
  try {
    return pathOf(placeOf(followLinks(path)));
  } catch {
    // Whoever opens it says what is wrong.
    return resolve(path);
  }
}

function statsOf(path: string | number): BigIntStats | null {
  try {
    return typeof path === "number" ? fstatSync(path, { bigint: true }) : statSync(path, { bigint: true });
  } catch {
    return null;
  }
}

/** Null for what nothing can spoil (a terminal, /dev/null), and where the file system does not number its files. */
const idOf = (stats: BigIntStats | null) =>
  stats === null || stats.isCharacterDevice() || stats.ino === 0n ? null : `${stats.dev} ${stats.ino}`;

const looseIdOf = ({ dev, ino }: BigIntStats) => `${Number(dev)} ${Number(ino)}`;

function look(written: Written): Place {
  const { path, kind } = written;
  const isOpen = typeof path === "number";
  const stats = statsOf(path);
  const within = kind === "directory" && !isOpen ? namesOfResult(path).map(statsOf) : [];
  const all = [stats, ...within].filter((one) => one !== null && idOf(one) !== null) as BigIntStats[];
  return {
    ...written,
    real: isOpen ? "" : realPathOf(path),
    ids: new Set(all.map((one) => idOf(one)!)),
    looseIds: new Set(all.map(looseIdOf)),
    isHarmless: isOpen && !(stats?.isFile() && stats.size > 0n),
  };
}

/** The files and directories of a result that stands there. Nothing else would be replaced. */
function namesOfResult(path: string): string[] {
  try {
    const standing = inspectOutput(placeOf(path));
    const names = standing.kind === "result" ? standing.names : [];
    const directories = new Set(names.map(dirname).filter((name) => name !== "."));
    return [...names, ...directories].map((name) => join(path, name));
  } catch {
    return [];
  }
}

function isSame({ ids, looseIds, real }: Place, { path, isStream, device, inode }: Read): boolean {
  if (!isStream && device !== undefined && !looseIds.has(`${device} ${inode}`)) return false;
  const stats = statsOf(path === "-" ? 0 : path);
  const id = idOf(stats);
  if (id !== null) return ids.has(id);
  return path !== "-" && !stats?.isCharacterDevice() && real === realPathOf(path);
}

/** The directory that a folder is, or lies in. A mount gives a directory a second path, so the numbers are compared, too. */
function directoryAround(folder: string, directories: readonly Place[]): Place | undefined {
  let at = realFolder(folder);
  const named = directories.find(({ real }) => isWithin(at, real));
  if (named !== undefined) return named;
  for (; ; at = dirname(at)) {
    const id = idOf(statsOf(at));
    const found = directories.find(({ ids }) => id !== null && ids.has(id));
    if (found !== undefined || dirname(at) === at) return found;
  }
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return realPathOf(path);
  }
}
