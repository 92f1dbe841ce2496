import { chmodSync, lchownSync } from "node:fs";
import { dirname } from "node:path";

/** A user who is not this process's, as the system names none: `nobody`. */
export const otherUser = 65534;

/** Whether files can be given to another user here; if not, that is said once a test. */
export function canPlayOthers(): boolean {
  if (process.geteuid?.() === 0) return true;
  console.log("skipped: only root can play another user");
  return false;
}

/** Gives an existing entry to the other user; of a link, the link itself. */
export function giveAway(...paths: string[]): void {
  for (const path of paths) lchownSync(path, otherUser, otherUser);
}

/** Does something as the other user, who may pass through to `home`. */
export function asOther<T>(home: string, run: () => T): T {
  chmodSync(dirname(home), 0o711);
  process.setegid!(otherUser);
  process.seteuid!(otherUser);
  try {
    return run();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}

/** A pipe with a name, which nobody reads or writes. */
export function makePipe(path: string): string {
  if (!Bun.spawnSync(["mkfifo", path]).success) throw new Error(`no pipe can be made: ${path}`);
  return path;
}
