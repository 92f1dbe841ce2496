import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { writeAll } from "../runtime/file-calls.ts";
import { reasonOf, refusal, userErrorOf } from "../runtime/system-error.ts";
import { isOurs } from "./cache-names.ts";
import { isOpenToAll, isTrusted, readFound, Untrusted } from "./trusted-files.ts";

/**
 * The directory of a cache. Several runs may use it at once without a lock: every file is written elsewhere, in the
 * directory of its run, and renamed to a name that says what is in it. So a name never stands for anything else, and two
 * runs that write the same name write the same file. Only the index is overwritten; what it loses is hashed again.
 *
 * Nothing is flushed to the device. What a power failure leaves half written is found by its checksums, and counted again.
 */
export class CacheDirectory {
  /** False where files can only be read: then nothing is kept. */
  isWritable = true;
  /** Files that this run needs: `shrinkTo` does not remove them. */
  private readonly used = new Set<string>();
  private readonly stats: Stats;
  private hasToldOfOthers = false;
  /** Files that were named in a warning. */
  private readonly untrusted = new Set<string>();

  constructor(
    readonly path: string,
    private readonly warn: (message: string) => void,
  ) {
    try {
      mkdirSync(path, { recursive: true });
      readdirSync(path);
      this.stats = statSync(path);
    } catch (error) {
      throw refusal(`--cache "${path}" cannot be used`, error, "name a directory of its own for the cache");
    }
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** Keeps nothing from now on, and warns once. */
  giveUp(error: unknown): void {
    if (userErrorOf(error) === undefined) throw error;
    if (!this.isWritable) return;
    this.isWritable = false;
    this.warn(`the cache "${this.path}" cannot be written: ${reasonOf(error)}; nothing more is kept in it`);
  }

  pathOf(name: string): string {
    return join(this.path, name);
  }

  /** The names in it. Where everybody may write, files of ours by untrusted users are left out, with one warning. */
  names(): string[] {
    const names = readdirSync(this.path);
    const { stats } = this;
    if (!isOpenToAll(stats)) return names;
    const trusted = names.filter((name) => {
      const found = isOurs(name) ? lstatOrUndefined(this.pathOf(name)) : undefined;
      return found === undefined || isTrusted(found, stats);
    });
    const leftOutCount = names.length - trusted.length;
    if (leftOutCount > 0 && !this.hasToldOfOthers) {
      this.hasToldOfOthers = true;
      this.warn(
        `in the cache "${this.path}", to which everybody may write, ${leftOutCount} files are other users' and not used`,
      );
    }
    return trusted;
  }

  /** The content of a small file; empty if it is missing, or not trusted, which is a warning once. */
  read(name: string): Buffer {
    try {
      return readFound(this.pathOf(name));
    } catch (error) {
      if (error instanceof Untrusted && !this.untrusted.has(name)) {
        this.untrusted.add(name);
        this.warn(error.message);
      }
      return Buffer.alloc(0);
    }
  }

  /** Warns that a file is damaged, and removes it. */
  setAside(name: string, remedy: string): void {
    this.warn(`"${this.pathOf(name)}" is damaged: ${remedy}`);
    this.remove(name);
  }

  /** Writes a whole file. A full disk or the like is no error: nothing is kept from then on. */
  write(name: string, temporaryPath: string, partsOf: () => readonly Uint8Array[]): void {
    this.attempt(() => {
      const fd = openSync(temporaryPath, "w");
      try {
        for (const part of partsOf()) writeAll(fd, part);
      } finally {
        closeSync(fd);
      }
      renameSync(temporaryPath, this.pathOf(name));
      this.used.add(name);
    });
  }

  /** Runs `change`, unless an earlier change failed. */
  attempt(change: () => void): void {
    if (!this.isWritable) return;
    try {
      change();
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** Marks a file as needed by this run. */
  need(name: string): void {
    this.used.add(name);
  }

  /** The same for a file that was there already, and sets its time of last use. */
  touch(name: string): void {
    this.need(name);
    if (!this.isWritable) return;
    const now = Date.now() / 1000;
    try {
      lutimesSync(this.pathOf(name), now, now);
    } catch {}
  }

  /** Removes a file, if possible: nothing depends on it. */
  remove(name: string): void {
    if (!this.isWritable) return;
    try {
      rmSync(this.pathOf(name), { force: true });
    } catch {}
  }

  /** The regular files among these, the last used first. */
  filesOf(names: readonly string[]): CachedFile[] {
    const files = names.flatMap((name): CachedFile[] => {
      const stats = lstatOrUndefined(this.pathOf(name));
      return stats?.isFile() ? [{ name, sizeBytes: stats.size, usedMs: stats.mtimeMs }] : [];
    });
    return files.sort((a, b) => b.usedMs - a.usedMs);
  }

  /** Removes the files used longest ago until the cache has at most `limitBytes`, or only files that this run needs. */
  shrinkTo(limitBytes: number): void {
    if (!this.isWritable) return;
    const files = this.filesOf(this.names().filter(isOurs));
    let sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    for (const file of files.toReversed()) {
      if (sizeBytes <= limitBytes) return;
      if (this.used.has(file.name)) continue;
      this.remove(file.name);
      sizeBytes -= file.sizeBytes;
    }
    if (sizeBytes > limitBytes) {
      this.warn(
        `what this run needs of the cache "${this.path}" is larger than --cache-limit: ${sizeBytes} bytes`,
      );
    }
  }
}

type CachedFile = { readonly name: string; readonly sizeBytes: number; readonly usedMs: number };

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
