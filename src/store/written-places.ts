import { type BigIntStats, fstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { exitCode, files, type Message, phrase, UserError } from "#runtime";
import { inspectOutput } from "./existing-output.ts";
import { isWithin, pathOf, placeOf } from "./output-place.ts";
import * as trustedFiles from "./trusted-files.ts";

export type RunOutput = {
  /** How messages name the output, e.g. `--output "tokenizer"`. */
  readonly name: Message;
  /** A path, or an open descriptor as a number. */
  readonly path: string | number;
  /**
   * How the output is written. A file is replaced, and so is a directory that holds an earlier result. A log gets more
   * lines at its end. A cache is a directory into which only this program writes.
   */
  readonly kind: "file" | "directory" | "log" | "cache";
};

export type RunInput = {
  /** The path; `-` for standard input. */
  readonly path: string;
  /** How messages name the input, if not by its path. */
  readonly name?: Message;
  // `isStream`, `device` and `inode` are known for inputs that were already examined.
  readonly isStream?: boolean;
  readonly device?: number;
  readonly inode?: number;
};

/** An output, as it was before the run wrote anything. */
type Place = RunOutput & {
  /** The output's present or future path, with links resolved; empty for an open descriptor. */
  readonly real: string;
  /**
   * The identities (device and inode) of the file or directory and, if a directory is replaced, of the files and
   * directories in it.
   */
  readonly ids: ReadonlySet<string>;
  /** Like `ids`, but rounded to JavaScript numbers, as `device` and `inode` of an input are. */
  readonly looseIds: ReadonlySet<string>;
  /**
   * Whether writing can harm no input. This is so if the output is an open descriptor, and not that of a file that has
   * content.
   */
  readonly isHarmless: boolean;
};

/** Thrown if an output is where it must not be: for example, if it is an input of the run or contains one. */
export class MisplacedOutput extends UserError {
  constructor(
    message: Message,
    /** Whether the misplaced output is the log; if so, the log must not be written. */
    readonly isOfLog: boolean,
    hint: Message = "choose another path",
  ) {
    super(message, { hint, exitCode: exitCode.usage });
  }
}

/**
 * All outputs of a run, examined before the run writes anything. Outputs and inputs are compared by inode, so links,
 * hard links and mounts make no difference. Where there is no inode, for example because a file does not exist yet,
 * they are compared by real path.
 */
export class WrittenPlaces {
  private readonly places: readonly Place[];
  private readonly directories: readonly Place[];
  /**
   * The folders of inputs that were looked up, each with the output directory that equals or contains it; undefined if
   * there is none. Most inputs share a few folders, so few are looked up.
   */
  private readonly directoriesOfFolders = new Map<string, Place | undefined>();

  constructor(written: readonly RunOutput[]) {
    this.places = written.map(examine);
    this.directories = this.places.filter(isDirectory);
  }

  /**
   * Throws if writing an output could harm an input of the run, or if an output directory or a cache contains an input
   * other than standard input.
   */
  refuseOverlap(read: readonly RunInput[]): void {
    if (this.places.length === 0) return;
    for (const one of read) {
      const findDirectoryAround = this.around(one);
      if (findDirectoryAround !== undefined) throw isIn(findDirectoryAround, one);
      const same = this.places.find((place) => !place.isHarmless && isSame(place, one));
      if (same !== undefined) throw conflictOf(same, one);
    }
  }

  /**
   * Directories of outputs are caches, and directories that are replaced. Refuses a file, a log or a cache that is such
   * a directory of another output, or is in one. Also refuses a log that is itself another output. Standard output is
   * never refused.
   */
  refuseNesting(): void {
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
      if (same !== undefined) throw conflictOf(place, { name: same.name, path: "" });
    }
  }

  private around({ path, device }: RunInput): Place | undefined {
    if (path === "-" || this.directories.length === 0) return undefined;
    // An input that was already examined is in the folder where it was found. Any other path may be a link, so its real
    // path is looked up.
    const folder = dirname(device === undefined ? realPathOf(path) : path);
    const known = this.directoriesOfFolders;
    if (!known.has(folder)) known.set(folder, directoryAround(folder, this.directories));
    return known.get(folder);
  }
}

const isDirectory = ({ kind }: RunOutput) => kind === "directory" || kind === "cache";
const nameOfRead = ({ name, path }: RunInput): Message => name ?? files.nameOf(path);

function conflictOf(place: Place, read: RunInput): MisplacedOutput {
  if (place.kind === "cache") return isIn(place, read);
  const [what, isLog] = [nameOfRead(read), place.kind === "log"];
  if (isLog || typeof place.path === "number")
    return new MisplacedOutput(phrase`${place.name} would be written into ${what}`, isLog);
  return new MisplacedOutput(phrase`${place.name} would replace ${what}, which this run reads`, isLog);
}

const isIn = (place: Place, read: RunInput, isOfLog = false) =>
  new MisplacedOutput(
    phrase`${nameOfRead(read)} is ${read.path !== "-" && realPathOf(read.path) === place.real ? "also" : "in"} ${place.name}, which this run writes`,
    isOfLog,
    read.device === undefined ? undefined : "choose an output directory that contains no input",
  );

/** Returns the present or future real path of a file. */
export function realPathOf(path: string): string {
  try {
    return pathOf(placeOf(trustedFiles.followLinks(path)));
  } catch {
    // The error is reported when the file is opened.
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

/**
 * Returns the identity of a file. Returns null if there is no file, if writing cannot harm it (a terminal, /dev/null),
 * or if the file system has no inode numbers.
 */
const idOf = (stats: BigIntStats | null) =>
  stats === null || stats.isCharacterDevice() || stats.ino === 0n ? null : `${stats.dev} ${stats.ino}`;

const looseIdOf = ({ dev, ino }: BigIntStats) => `${Number(dev)} ${Number(ino)}`;

function examine(written: RunOutput): Place {
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

/**
 * Returns the paths of the files and directories in the result at this path. Returns none if it is not a result,
 * because then nothing in it would be replaced.
 */
function namesOfResult(path: string): string[] {
  try {
    const existing = inspectOutput(placeOf(path));
    const names = existing.kind === "result" ? existing.names : [];
    const directories = new Set(names.map(dirname).filter((name) => name !== "."));
    return [...names, ...directories].map((name) => join(path, name));
  } catch {
    return [];
  }
}

function isSame({ ids, looseIds, real }: Place, { path, isStream, device, inode }: RunInput): boolean {
  if (!isStream && device !== undefined && !looseIds.has(`${device} ${inode}`)) return false;
  const stats = statsOf(path === "-" ? 0 : path);
  const id = idOf(stats);
  if (id !== null) return ids.has(id);
  return path !== "-" && !stats?.isCharacterDevice() && real === realPathOf(path);
}

/**
 * Returns the output directory that is the folder or contains it; undefined if there is none. Inodes are compared, too,
 * because a mount gives a directory a second path.
 */
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
