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

/*
 * In a directory that others may write to, a file with one of our names may be anyone's: a pipe that blocks its reader,
 * a link to a file that an attacker wants to destroy, a file with false content. The functions here that open such a
 * file follow no untrusted link, do not block, and check the open descriptor.
 */

/**
 * Whether the owner of an entry is trusted in its directory. If everybody may write to the directory, only this user,
 * root and the directory's owner are trusted. Otherwise every owner is trusted, because the directory's owner decides
 * who may write there.
 */
export function isTrusted(entry: Stats, directory: Stats): boolean {
  return !isOpenToAll(directory) || isOwnOrRoots(entry) || entry.uid === directory.uid;
}

export const isOpenToAll = ({ mode }: Stats) => (mode & 0o002) !== 0;
const isOwnOrRoots = (stats: Stats) => isOwn(stats) || stats.uid === 0;

export const isOwn = ({ uid }: Stats) => uid === (process.geteuid?.() ?? uid);

/** Whether only this user and root can have created the entries of a directory. */
const isClosed = (directory: Stats) => isOwnOrRoots(directory) && (directory.mode & 0o022) === 0;

/**
 * Thrown for a file that must not be used, because an untrusted user may have put it there, or because it is not a
 * regular file.
 */
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

/** Opens a file with one of our names. Throws `Untrusted` if it is not a regular file or its owner is not trusted. */
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

/** What the system's errors mean when a link is opened, a directory is opened for writing, or a socket is opened. */
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

/** Throws `Untrusted` if the file's owner is not trusted in the file's directory (`isTrusted`). */
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

/**
 * Removes a file with one of our names, if it exists. If it is a link, the link itself is removed. Throws `Untrusted`
 * if its owner is not trusted.
 */
export function remove(path: string): void {
  const stats = lstatOrNull(path);
  if (stats === null) return;
  checkOwner(path, stats);
  unlinkSync(path);
}

/**
 * Follows the links of a path that is to be written, or that an earlier run may have written. The target need not
 * exist. A link's creator decides which file is used, so a link is followed only if nobody but this user and root can
 * have created it. Throws `Untrusted` for any other link.
 */
export function followLinks(path: string): string {
  let found = path;
  for (let n = 0; n < linksMax; n++) {
    const stats = lstatOrNull(found);
    if (!stats?.isSymbolicLink()) break;
    const parent = realpathSync(dirname(found));
    // Another user can give a trusted link a second name (a hard link) in this directory. So a link is trusted only if
    // it has one name.
    const isTrustedLink = isOwnOrRoots(stats) && stats.nlink === 1;
    if (!isTrustedLink && !isClosed(statSync(parent))) {
      throw new Untrusted(found, "it is a symbolic link that another user may have put there");
    }
    const target = readlinkSync(found);
    found = isAbsolute(target) ? target : `${parent}/${target}`;
  }
  return found;
}

/** The maximum number of links that are followed, as on Linux. */
const linksMax = 40;

/**
 * Opens a file to append to it, and creates it if it is missing. The path may lead to a pipe or a device, so opening
 * does not block. Throws `Untrusted` for a file that an untrusted user may have created.
 */
export function openToAppend(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants;
  const access = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;
  const found = followLinks(path);
  // /dev/stderr may lead to a name that is not a path, such as "pipe:[4711]". Then `path` itself is opened.
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

/** The permissions of a staged output, which is private to its writer until it is published. */
export const stagedFileMode = 0o600;
export const stagedDirectoryMode = 0o700;

/**
 * Read, write and execute for owner, group and others. An output never gets the set-user-ID and set-group-ID bits of
 * what it replaces.
 */
const plainBits = 0o777;

/**
 * Gives the staged output, open as `fd`, the permissions of `former`, the file or directory that it replaces. If
 * `former` is another user's, its permissions are first masked by the umask. Owner and group are restored as far as the
 * system allows, also for the files and directories inside (`innerFds`). If `former` is null, the output gets
 * `fullMode` masked by the umask, and keeps its owner and group.
 */
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
  // If the output could not be given the former group, its group gets only the permissions that everybody has.
  attempt(() => fchmodSync(fd, hasGroup ? mode : withoutGroup(mode)));
  if (uid !== former.uid) attempt(() => fchownSync(fd, former.uid, hasGroup ? former.gid : gid));
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return;
  for (const inner of innerFds) attempt(() => fchownSync(inner, now.uid, now.gid));
}

/**
 * Returns the stats of the replaced file or directory if its permissions are to be inherited. Returns null if nothing
 * is replaced, or if an untrusted user may have created what is replaced.
 */
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
