import { open } from "node:fs/promises";
import { usageError } from "../errors.ts";
import { refusal } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";
import { type Holder, heldError, isLock, isLockedHere, takeLock } from "../store/output-lock.ts";
import { type Place, pathOf } from "../store/output-place.ts";
import { checkOutputFile, placeOfFile, stageFile } from "../store/staged-file.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";
import { StreamWriter } from "./stream-writer.ts";

/** Takes a chunk. Await the promise before the next one: signals are served meanwhile, and memory stays bounded. */
type Put = (chunk: Uint8Array) => Promise<void>;

/** Writes data into a file that appears when it is whole, or to stdout if the path is undefined or `-`. */
export async function writeData<T>(path: string | undefined, make: (put: Put) => Promise<T>): Promise<T> {
  const throughStream = (out: StreamWriter) =>
    make((chunk) => {
      out.write(chunk);
      return out.drained() ?? nextTurn();
    });
  if (path === undefined || path === "-") return intoStream(new StreamWriter(), throughStream);
  if (placeOfFile(path) === null) return intoPipe(path, throughStream);
  const staged = stageFile(path);
  const forget = onStop(() => staged.discard());
  try {
    const made = await make((chunk) => {
      staged.write(chunk);
      return nextTurn();
    });
    staged.publish();
    return made;
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    forget();
  }
}

/** Writes chunks in the same way. */
export const writeChunks = (path: string | undefined, chunks: Iterable<Uint8Array>) =>
  writeData(path, async (put) => {
    for (const chunk of chunks) await put(chunk);
  });

/** Opens a named pipe, which waits for its reader, and writes into it. Signals are served meanwhile. */
export async function intoPipe<T>(path: string, write: (out: StreamWriter) => Promise<T>): Promise<T> {
  const file = await open(path, "w").catch((error) => {
    throw refusal(`"${path}" cannot be written`, error);
  });
  try {
    return await intoStream(new StreamWriter(file.fd, path), write);
  } finally {
    await file.close();
  }
}

export async function intoStream<T>(out: StreamWriter, write: (out: StreamWriter) => Promise<T>): Promise<T> {
  let made: T;
  try {
    made = await write(out);
  } catch (error) {
    // What came before a mistake in the input is written all the same.
    await out.end().catch(() => {});
    throw error;
  }
  await out.end();
  return made;
}

/**
 * Locks the places that this run will write, until its end. If another run holds one: waits for its end with `--wait`, else
 * a UserError that names it. A place that is null needs no lock.
 */
export async function lockOutputs(
  { options }: Invocation,
  output: Output,
  asked: readonly (Place | null)[],
): Promise<void> {
  const places = asked.filter((place) => place !== null);
  if (options.has("wait") && places.length === 0) {
    throw usageError("--wait is for a run that writes a file or directory", "name one: --output");
  }
  // All runs take their locks in one order, so that no two wait for each other.
  places.sort((a, b) => Buffer.compare(Buffer.from(pathOf(a)), Buffer.from(pathOf(b))));
  for (const place of places) await lockOne(place, options.has("wait"), output);
}

/** Checks that a file can be written, and locks it. `undefined` and `-` are stdout, which needs no lock. */
export async function lockOutputFile(
  invocation: Invocation,
  output: Output,
  path: string | undefined,
): Promise<void> {
  const isFile = path !== undefined && path !== "-";
  if (isFile) checkOutputFile(path);
  await lockOutputs(invocation, output, [isFile ? placeOfFile(path) : null]);
}

async function lockOne(place: Place, waits: boolean, output: Output): Promise<void> {
  let told = "";
  for (;;) {
    const got = takeLock(place);
    if (isLock(got)) {
      onStop(() => got.release());
      if (!got.isHeld)
        output.warn(`"${place.typed}": the file system has no locks, a second run is not kept away`);
      return;
    }
    if (!waits || isLockedHere(place)) throw heldError(place, got);
    if (nameOf(got) !== told) output.waitFor(place.typed, got);
    told = nameOf(got);
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  }
}

const pollIntervalMs = 100;

const nameOf = ({ host, pid, since }: Holder) => `${host} ${pid} ${since}`;
