import { fchmodSync, fchownSync, fstatSync, type Stats, statSync } from "node:fs";
import { isMine, isTrusted } from "./trusted-files.ts";

/** What is staged is its writer's alone until it takes its place. */
export const stagedFileMode = 0o600;
export const stagedDirectoryMode = 0o700;

/** Read, write and execute for owner, group and others: no bit that lends the owner's rights is ever given. */
const plainBits = 0o777;

/**
 * Gives what is staged, open as `fd`, the permissions with which it takes its place: those of what it replaces, or,
 * where that is null, what the umask leaves of `fullMode` (0o666 for files, 0o777 for directories).
 *
 * Owner and group are restored as far as the system lets us; files inside (`innerFds`) go with their directory. Of
 * another user's permissions nothing is taken that the umask forbids, and a group that cannot be restored leaves its
 * own successor what all others have. Where the file system knows no permissions, there is nothing to be done.
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
  const mode = former.mode & plainBits & (isMine(former) ? plainBits : allowed);
  attempt(() => fchmodSync(fd, hasGroup ? mode : withoutGroup(mode)));
  if (uid !== former.uid) attempt(() => fchownSync(fd, former.uid, hasGroup ? former.gid : gid));
  const now = fstatSync(fd);
  if (now.uid === uid && now.gid === gid) return;
  for (const inner of innerFds) attempt(() => fchownSync(inner, now.uid, now.gid));
}

/** What is replaced, if its permissions are to be taken over: not another user's where everybody may have put it. */
export function inherited(former: Stats | null, parent: string): Stats | null {
  return former !== null && isTrusted(former, statSync(parent)) ? former : null;
}

/** The group has what others have. */
const withoutGroup = (mode: number) => (mode & 0o707) | ((mode & 0o007) << 3);

function attempt(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}
