import { closeSync, openSync, statSync, unlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { writeAll } from "../runtime/file-calls.ts";
import { reasonNotRead, reasonOf } from "../runtime/system-error.ts";
import { ScratchDirectory } from "../store/scratch-directory.ts";
import { onStop } from "./stop.ts";

/**
 * Copies each path that is no regular file (a pipe, a device) to a file without a name. Returns the descriptors of these
 * files, open at their beginning, by path. So whoever reads them never waits: a pipe may have no writer, or a slow one, and
 * signals are served only while other threads do the waiting.
 */
export async function spoolPipes(paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const spooled = new Map<string, number>();
  const pipes = paths.filter(isPipe);
  if (pipes.length === 0) return spooled;
  const twice = pipes.find((path, i) => pipes.indexOf(path) < i);
  if (twice !== undefined) throw new UserError(`"${twice}" is named twice, and a pipe can be read once`);
  const scratch = new ScratchDirectory();
  const forget = onStop(() => scratch.remove());
  try {
    for (const path of pipes) spooled.set(path, await spool(path, join(scratch.path, "pipe")));
  } finally {
    forget();
    scratch.remove();
  }
  return spooled;
}

/** Neither a file nor a directory. A path that is missing is left to its reader. */
export function isPipe(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

async function spool(path: string, copyPath: string): Promise<number> {
  try {
    await copyPipe(path, copyPath);
    return openSync(copyPath, "r");
  } finally {
    unlinkSync(copyPath);
  }
}

/** Copies what comes from a pipe, until its end, to a new file. */
export async function copyPipe(path: string, copyPath: string): Promise<void> {
  const into = openSync(copyPath, "wx", 0o600);
  try {
    const from = await open(path, "r").catch((error) => {
      throw new UserError(`"${path}" cannot be read: ${reasonNotRead(error)}`);
    });
    try {
      const chunk = new Uint8Array(chunkSizeBytes);
      for (;;) {
        const { bytesRead } = await from.read(chunk, 0, chunk.length, null).catch((error) => {
          throw new UserError(`"${path}" cannot be read: ${reasonOf(error)}`);
        });
        if (bytesRead === 0) break;
        copy(chunk.subarray(0, bytesRead), into, path);
      }
    } finally {
      await from.close();
    }
  } finally {
    closeSync(into);
  }
}

const chunkSizeBytes = 1 << 20;

function copy(bytes: Uint8Array, into: number, path: string): void {
  try {
    writeAll(into, bytes);
  } catch (error) {
    throw new UserError(`"${path}" is a pipe, and cannot be copied to $TMPDIR: ${reasonOf(error)}`, {
      hint: "set TMPDIR to a directory with room, or write it to a file and name that",
    });
  }
}
