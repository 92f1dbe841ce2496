import { fchmodSync, fchownSync, fstatSync, type Stats, statSync } from "node:fs";
import { isMine, isTrusted } from "./trusted-files.ts";

/** What is staged is private to its writer until it takes its place. */
export const stagedFileMode = 0o600;
export const stagedDirectoryMode = 0o700;

/** Read, write and execute for owner, group and others. Set-user-ID and set-group-ID are never given. */
const plainBits = 0o777;

/**
 * Gives what is staged, open as `fd`, the permissions of what it replaces. If it replaces nothing (null), it gets what
 * the umask leaves of `fullMode` (0o666 for files, 0o777 for directories).
 *
 * Owner and group are restored as far as the system allows it, also those of the files inside (`innerFds`). Permissions
 * that another user gave are limited by the umask. If the group cannot be restored, the new group gets the permissions
 * of others. Nothing happens on a file system without permissions.
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

/** What is replaced, if its permissions are taken over: not if an untrusted user may have put it there. */
export function inherited(former: Stats | null, parent: string): Stats | null {
  return former !== null && isTrusted(former, statSync(parent)) ? former : null;
}

/** The group gets the permissions of others. */
const withoutGroup = (mode: number) => (mode & 0o707) | ((mode & 0o007) << 3);

function attempt(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}
