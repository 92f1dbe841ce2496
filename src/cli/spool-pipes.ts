import { closeSync, openSync, rmSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../errors.ts";
import { writeAll } from "../runtime/file-calls.ts";
import { statOf, unreadable } from "../runtime/named-files.ts";
import { refusal } from "../runtime/system-error.ts";
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
  const stats = statOf(path);
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

async function spool(path: string, copyPath: string): Promise<number> {
  try {
    await copyPipe(path, copyPath);
    return openSync(copyPath, "r");
  } finally {
    rmSync(copyPath, { force: true });
  }
}

/** Copies what comes from a pipe, until its end, to a new file: at most half of what its file system has free. */
export async function copyPipe(path: string, copyPath: string): Promise<void> {
  const stats = statOf(path);
  // A terminal may be standard input.
  if (path !== "/dev/stdin" && (stats?.isCharacterDevice() || stats?.isBlockDevice())) {
    throw new UserError(`"${path}" is a device, and may have no end`, { hint: "name a file or a pipe" });
  }
  const { bavail, bsize } = statfsSync(dirname(copyPath));
  let roomBytes = (bavail * bsize) / 2;
  const into = openSync(copyPath, "wx", 0o600);
  try {
    for await (const chunk of chunksOf(path)) {
      roomBytes -= chunk.length;
      if (roomBytes < 0) {
        throw new UserError(`${notCopied(path)}: it fills more than half of what is free there`, {
          hint: moreRoom,
        });
      }
      copy(chunk, into, path);
    }
  } finally {
    closeSync(into);
  }
}

/** What comes from a path, until its end. The runtime's threads wait for it, so signals are served meanwhile. */
export async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  const fail = (error: unknown) => {
    throw unreadable(path, error);
  };
  const from = await open(path, "r").catch(fail);
  try {
    const chunk = new Uint8Array(chunkSizeBytes);
    for (;;) {
      const { bytesRead } = await from.read(chunk, 0, chunk.length, null).catch(fail);
      if (bytesRead === 0) return;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await from.close();
  }
}

const chunkSizeBytes = 1 << 20;

function copy(bytes: Uint8Array, into: number, path: string): void {
  try {
    writeAll(into, bytes);
  } catch (error) {
    throw refusal(notCopied(path), error, moreRoom);
  }
}

const notCopied = (path: string) => `"${path}" is a pipe, and cannot be copied to $TMPDIR`;
const moreRoom = "set TMPDIR to a directory with room, or write it to a file and name that";
