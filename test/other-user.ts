import { chmodSync, lchownSync } from "node:fs";
import { dirname } from "node:path";

/** The user id of `nobody`, which plays another user. */
export const otherUser = 65534;

/** Whether this process can give files to another user. If not, prints that. */
export function canPlayOthers(): boolean {
  if (process.geteuid?.() === 0) return true;
  console.log("skipped: only root can play another user");
  return false;
}

/** Gives entries to the other user. A link itself is changed, not its target. */
export function giveAway(...paths: string[]): void {
  for (const path of paths) lchownSync(path, otherUser, otherUser);
}

/** Runs a function as the other user, who gets access to `home`. */
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

/** Makes a named pipe without a reader or a writer. Returns its path. */
export function makePipe(path: string): string {
  if (!Bun.spawnSync(["mkfifo", path]).success) throw new Error(`no pipe can be made: ${path}`);
  return path;
}
