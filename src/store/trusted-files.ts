import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { systemError, UserError } from "#runtime";
import { lstatOrNull } from "./output-place.ts";

/* In directories that others may write to, files with our names may be anyone's: pipes, links, false content. */

/** If everybody may write to the directory, only this user, root and the directory's owner are trusted. */
export function isTrusted(entry: Stats, directory: Stats): boolean {
  return !isOpenToAll(directory) || isOwnOrRoots(entry) || entry.uid === directory.uid;
}

export const isOpenToAll = ({ mode }: Stats) => (mode & 0o002) !== 0;
const isOwnOrRoots = (stats: Stats) => isOwn(stats) || stats.uid === 0;

export const isOwn = ({ uid }: Stats) => uid === (process.geteuid?.() ?? uid);

/** Whether only this user and root can have created the entries of a directory. */
const isClosed = (directory: Stats) => isOwnOrRoots(directory) && (directory.mode & 0o022) === 0;

/** Thrown for a file with one of our names that must not be used. */
export class Untrusted extends UserError {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`"${path}" is not used: ${reason}`, {
      hint: "remove it if you have permission, or choose a directory that only you can write to",
    });
  }
}

/** Throws `Untrusted` unless it is a regular file of a trusted user. */
export function open(path: string, access = constants.O_RDONLY): number {
  const fd = openWithoutLink(path, access);
  try {
    checkTrusted(path, fstatSync(fd));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openWithoutLink(path: string, access: number): number {
  try {
    return openSync(path, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const reason = untrustedByCode[systemError.codeOf(error)];
    throw reason === undefined ? error : new Untrusted(path, reason);
  }
}

/** The errors of opening a link, a socket, or a directory for writing. */
const untrustedByCode: Readonly<Record<string, string>> = {
  ELOOP: "it is a symbolic link",
  EISDIR: "it is a directory",
  ENXIO: "it is not a regular file",
};

function checkTrusted(path: string, stats: Stats): void {
  if (stats.isDirectory()) throw new Untrusted(path, "it is a directory");
  if (!stats.isFile()) throw new Untrusted(path, "it is not a regular file");
  checkOwner(path, stats);
}

/** Throws `Untrusted` unless `isTrusted`. */
export function checkOwner(path: string, stats: Stats): void {
  if (isTrusted(stats, statSync(dirname(path)))) return;
  throw new Untrusted(
    path,
    `it belongs to another user (uid ${stats.uid}), and everybody may write to its directory`,
  );
}

export function readTrusted(path: string): Buffer {
  const fd = open(path);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** A link itself is removed. Throws `Untrusted` if the owner is not trusted. */
export function remove(path: string): void {
  const stats = lstatOrNull(path);
  if (stats === null) return;
  checkOwner(path, stats);
  unlinkSync(path);
}

/** A link's creator decides which file is written, so others' links are refused, except in closed directories. */
export function followLinks(path: string): string {
  let found = path;
  for (let n = 0; n < linksMax; n++) {
    const stats = lstatOrNull(found);
    if (!stats?.isSymbolicLink()) break;
    const parent = realpathSync(dirname(found));
    // Others can also create a second name (a hard link) of a link.
    const isTrustedLink = isOwnOrRoots(stats) && stats.nlink === 1;
    if (!isTrustedLink && !isClosed(statSync(parent))) {
      throw new Untrusted(found, "it is a symbolic link that another user may have put there");
    }
    const target = readlinkSync(found);
    found = isAbsolute(target) ? target : `${parent}/${target}`;
  }
  return found;
}

/** The maximum number of links that are followed, as in the system itself. */
const linksMax = 40;

/** Opening a pipe or a device does not block. Throws `Untrusted` for a file of an untrusted user. */
export function openToAppend(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants;
  const access = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;
  const found = followLinks(path);
  // /dev/stderr may lead to a name that is not a path, such as "pipe:[4711]".
  const isNameless = found !== path && !existsSync(found) && existsSync(path);
  const fd = isNameless ? openSync(path, access) : openSync(found, access | O_NOFOLLOW, 0o666);
  try {
    if (!isNameless) checkAppended(found, fstatSync(fd));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function checkAppended(path: string, stats: Stats): void {
  checkOwner(path, stats);
  if (stats.isFile() && stats.nlink > 1 && !isClosed(statSync(dirname(path)))) {
    throw new Untrusted(path, "it has a second hard link, and another user may have made this one");
  }
}

/** A staged output is private to its writer until it is published. */
export const stagedFileMode = 0o600;
export const stagedDirectoryMode = 0o700;

/** Without set-user-ID and set-group-ID, which are never set. */
const plainBits = 0o777;

/** Gives the output the permissions of what it replaces, or `fullMode` masked by the umask. */
export function settlePermissions(
  fd: number,
  fullMode: number,
  former: Stats | null,
  innerFds: readonly number[] = [],
): void {
  const allowed = ~process.umask();
  if (former === null) {
    attempt(() => fchmodSync(fd, fullMode & allowed));
    return;
  }
  const { uid, gid } = fstatSync(fd);
  const hasGroup = gid === former.gid || attempt(() => fchownSync(fd, uid, former.gid));
  const mode = former.mode & plainBits & (isOwn(former) ? plainBits : allowed);
  // Another group than the former one gets the permissions of others.
  attempt(() => fchmodSync(fd, hasGroup ? mode : withoutGroup(mode)));
  if (uid !== former.uid) attempt(() => fchownSync(fd, former.uid, hasGroup ? former.gid : gid));
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return;
  for (const inner of innerFds) attempt(() => fchownSync(inner, now.uid, now.gid));
}

/** Returns null if an untrusted user may have created the replaced file. */
export function formerToInherit(former: Stats | null, parent: string): Stats | null {
  return former !== null && isTrusted(former, statSync(parent)) ? former : null;
}

const withoutGroup = (mode: number) => (mode & 0o707) | ((mode & 0o007) << 3);

function attempt(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}
