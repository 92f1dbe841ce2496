import { closeSync, openSync, rmSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { files, isWindows, systemError, UserError } from "#runtime";
import { ScratchDirectory } from "#store";
import { onStop } from "./stop.ts";

/**
 * Copies each pipe among the paths to an unnamed file. Returns the descriptors of these files by path. Reading a pipe
 * itself would block while its writer is slow or missing, and no signal would be handled meanwhile. Throws a UserError
 * for a pipe that is named twice, and for a device other than standard input, because it may never end.
 */
export async function spoolPipes(paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const spooled = new Map<string, number>();
  const pipes = paths.filter(isPipe);
  if (pipes.length === 0) return spooled;
  const twice = pipes.find((path, i) => pipes.indexOf(path) < i);
  if (twice !== undefined)
    throw new UserError(`"${twice}" is named twice, but a pipe can be read only once`, {
      hint: "write the data to a file, and name that file twice",
    });
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

/** Whether something is at the path that is neither a file nor a directory. */
export function isPipe(path: string): boolean {
  const stats = files.stat(path);
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

/** Copies a pipe to its end into a new file. The copy may use at most half of the free space of its file system. */
export async function copyPipe(path: string, copyPath: string): Promise<void> {
  const stats = files.stat(path);
  // Standard input is copied even if it is a device, because it may be a terminal.
  if (path !== "/dev/stdin" && (stats?.isCharacterDevice() || stats?.isBlockDevice())) {
    throw new UserError(`"${path}" is a device, and its data may never end`, {
      hint: "name a file or a pipe",
    });
  }
  const { bavail, bsize } = statfsSync(dirname(copyPath));
  let roomBytes = (bavail * bsize) / 2;
  const into = openSync(copyPath, "wx", 0o600);
  try {
    for await (const chunk of chunksOf(path)) {
      roomBytes -= chunk.length;
      if (roomBytes < 0) {
        throw new UserError(
          `${notCopied(path)}: the copy would take more than half of the free space there`,
          {
            hint: moreRoom,
          },
        );
      }
      copy(chunk, into, path);
    }
  } finally {
    closeSync(into);
  }
}

/** Yields a path's data to its end. The runtime's threads wait for the data, so signals are handled meanwhile. */
export async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  // Standard input has no path on Windows.
  if (isWindows && path === "/dev/stdin") return yield* Bun.stdin.stream();
  const fail = (error: unknown) => {
    throw files.readErrorOf(path, error);
  };
  const { open } = await import("node:fs/promises");
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
    files.writeAll(into, bytes);
  } catch (error) {
    throw systemError.refusal(notCopied(path), error, moreRoom);
  }
}

const notCopied = (path: string) =>
  `"${path}" is a pipe, and cannot be copied to the directory for temporary files`;

const moreRoom =
  "set TMPDIR to a directory with more free space, or write the data to a file and name that file";
