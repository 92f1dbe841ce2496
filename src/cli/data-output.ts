import { open } from "node:fs/promises";
import { UserError, usageError } from "../errors.ts";
import type { ByteSink } from "../runtime/file-calls.ts";
import { refusal } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";
import { type Holder, heldError, isLock, isLockedHere, takeLock } from "../store/output-lock.ts";
import { type Place, pathOf } from "../store/output-place.ts";
import { checkOutputFile, placeOfFile, writeStaged } from "../store/staged-file.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";
import { StreamWriter } from "./stream-writer.ts";

/** Writes data into a file that appears when it is whole, into a named pipe, or to stdout: no path, or `-`. */
export async function writeData<T>(
  path: string | undefined,
  make: (out: ByteSink) => Promise<T>,
): Promise<T> {
  if (path === undefined || path === "-") return throughStream(new StreamWriter(), make);
  if (placeOfFile(path) !== null) return writeStaged(path, onStop, make);
  // Opening a named pipe waits for its reader. Signals are served meanwhile.
  const file = await open(path, "w").catch((error) => {
    throw refusal(`"${path}" cannot be written`, error);
  });
  try {
    return await throughStream(new StreamWriter(file.fd, path), make);
  } finally {
    await file.close();
  }
}

async function throughStream<T>(out: StreamWriter, make: (out: ByteSink) => Promise<T>): Promise<T> {
  let made: T;
  try {
    made = await make(out);
  } catch (error) {
    // What came before a mistake in the input is written all the same.
    await out.end().catch(() => {});
    throw error;
  }
  await out.end();
  return made;
}

/** To be awaited between chunks: signals are served meanwhile, and memory stays bounded. */
export const taken = (out: ByteSink): Promise<void> => out.drained?.() ?? nextTurn();

/** Writes chunks in the same way. */
export const writeChunks = (path: string | undefined, chunks: Iterable<Uint8Array>) =>
  writeData(path, async (out) => {
    for (const chunk of chunks) {
      out.write(chunk);
      await taken(out);
    }
  });

/** The head of an .npy file is rewritten at the end, which only a regular file allows. */
export function checkHeadFits(path: string | undefined): void {
  if (path === undefined || !path.endsWith(".npy") || placeOfFile(path) !== null) return;
  throw new UserError(`"${path}" cannot be written: it is not a regular file`, {
    hint: "name a file, or write the ids without a head into a pipe whose name ends in .bin",
  });
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
