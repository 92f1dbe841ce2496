import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { isWindows, systemError, UserError } from "#runtime";

/** Where an output is written. */
export type Place = {
  /** The path as the user typed it, for messages. */
  readonly typed: string;
  /** The real path of the parent directory, with links resolved. */
  readonly parent: string;
  /** The output's name in `parent`. */
  readonly name: string;
};

/** Whether a typed path is the directory or is inside it. Links are not followed. */
export const isWithin = (path: string, directory: string) =>
  withSeparator(path).startsWith(withSeparator(directory));

/** Returns the absolute path with a separator at its end, which a root has already. */
function withSeparator(path: string): string {
  const whole = resolve(path);
  return whole.endsWith(sep) ? whole : `${whole}${sep}`;
}

export const pathOf = (place: Place) => join(place.parent, place.name);

/** Returns the place of a path. Its parent need not exist. */
export function placeOf(typed: string): Place {
  const plain = typed.replace(/(?<=.)\/+$/, "");
  const isName = ![".", "..", "/", ""].includes(basename(plain));
  const whole = isName ? plain : realPath(typed);
  return { typed, parent: realParent(dirname(whole)), name: basename(whole) };
}

/**
 * Returns the real path of an output's parent directory, whose last parts need not exist. Tries again if another run
 * creates or removes a part of the path meanwhile.
 */
function realParent(path: string): string {
  for (let attempt = 1; ; attempt++) {
    try {
      return realParentOnce(path);
    } catch (error) {
      if (error instanceof UserError || attempt === attemptsMax)
        throw systemError.refusal(`"${path}"`, error);
    }
  }
}

const attemptsMax = 100;

function realParentOnce(path: string): string {
  const missing: string[] = [];
  let part = path;
  while (statOrNull(part) === null) {
    if (lstatOrNull(part)?.isSymbolicLink())
      throw new UserError(`"${part}" is a broken symbolic link`, {
        hint: "create its target, or remove the link",
      });
    const parent = dirname(part);
    if (parent === part)
      throw new UserError(`there is no drive or share "${part}"`, { hint: "name one that exists" });
    missing.unshift(basename(part));
    part = parent;
  }
  return resolve(realpathSync(part), ...missing);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw systemError.refusal(`"${path}"`, error);
  }
}

/**
 * Returns the stats of the entry itself, without following a link; null if the system finds no entry (ENOENT). Errors
 * name the path `typed`.
 */
export function lstatOrNull(path: string, typed = path): Stats | null {
  return orNull(path, typed, lstatSync);
}

export function statOrNull(path: string, typed = path): Stats | null {
  return orNull(path, typed, statSync);
}

function orNull(path: string, typed: string, look: (path: string) => Stats): Stats | null {
  try {
    return look(path);
  } catch (error) {
    if (systemError.codeOf(error) === "ENOENT") return null;
    throw systemError.refusal(`"${typed}"`, error);
  }
}

/** Returns the first of NAME.ENDING, NAME.ENDING-2, … that does not exist. */
export function freePath(place: Place, ending: string): string {
  const path = `${pathOf(place)}.${ending}`;
  if (lstatOrNull(path) === null) return path;
  for (let n = 2; ; n++) if (lstatOrNull(`${path}-${n}`) === null) return `${path}-${n}`;
}

/**
 * Returns the sorted relative paths of a directory's entries. In place of a subdirectory that `holdsOurs` accepts,
 * returns the entries of the subdirectory, unless it is empty.
 */
export function namesBelow(path: string, holdsOurs: (directory: string) => boolean = () => true): string[] {
  return readdirSync(path)
    .flatMap((name) => {
      const inner = join(path, name);
      const isSearched = holdsOurs(name) && lstatOrNull(inner)?.isDirectory() === true;
      const names = isSearched ? readdirSync(inner) : [];
      return names.length === 0 ? [name] : names.map((each) => `${name}/${each}`);
    })
    .sort();
}

/** Returns the names in a directory; an empty list if the directory cannot be read. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/**
 * Removes a file or directory of our own, with its content, and follows no link. Never throws: what cannot be removed
 * stays. On Linux, a directory is emptied through its descriptor, so nobody can substitute another directory meanwhile.
 */
export function removeQuietly(path: string): void {
  try {
    remove(path);
  } catch {}
}

function remove(path: string): void {
  const fd = openDirectory(path);
  if (fd === null) {
    unlinkSync(path);
    return;
  }
  try {
    const inside = insideOf(fd, path);
    for (const name of readdirSync(inside)) removeQuietly(`${inside}/${name}`);
  } finally {
    closeSync(fd);
  }
  rmdirSync(path);
}

/** Returns a path to an open directory. On Linux, this path stays valid if the directory is renamed. */
export const insideOf = (fd: number, path: string) =>
  process.platform === "linux" ? `/proc/self/fd/${fd}` : path;

/** Opens a directory; null for an entry of another kind, such as a link. Throws if there is no entry. */
export function openDirectory(path: string): number | null {
  // Windows has no flag that opens only directories, so the kind is checked first.
  if (isWindows && !lstatSync(path).isDirectory()) return null;
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!["ENOTDIR", "ELOOP"].includes(systemError.codeOf(error))) throw error;
    return null;
  }
}
