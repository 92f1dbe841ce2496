import { usageError } from "../errors.ts";
import { type Holder, heldError, isLock, isLockedHere, takeLock } from "../store/output-lock.ts";
import { type Place, pathOf } from "../store/output-place.ts";
import { checkOutputFile, placeOfFile } from "../store/staged-file.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";

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
