import { accessSync, constants, type Stats, statSync } from "node:fs";
import { systemError, UserError } from "#runtime";
import { inspectOutput } from "./existing-output.ts";
import { type Place, pathOf, placeOf } from "./output-place.ts";
import * as stagedFile from "./staged-file.ts";

/**
 * Checks that a result may be written at the path. There may be nothing, an empty directory, or an earlier result that
 * can be replaced. Changes nothing, and does not check write permission in the parent.
 */
export function checkDirectory(path: string): void {
  const place = placeOf(path);
  const existing = inspectOutput(place);
  if (existing.kind !== "absent") checkReplaceable(place, existing.stats);
}

/**
 * Checks that a directory and files may be written, and returns their places. A device or a pipe has no place, because
 * it is written directly.
 */
export function check(directory: string | undefined, files: readonly string[]): Place[] {
  if (directory !== undefined) checkDirectory(directory);
  for (const file of files) stagedFile.checkOutputFile(file);
  const places = [directory === undefined ? null : placeOf(directory), ...files.map(stagedFile.placeOfFile)];
  return places.filter((place) => place !== null);
}

const stickyBit = 0o1000;

/**
 * Throws a UserError unless the directory can be replaced. The user must have permission to empty the directory. In a
 * sticky parent such as /tmp, the user must also be root, or own the directory or its parent.
 */
function checkReplaceable(place: Place, { uid }: Stats): void {
  const parent = statSync(place.parent);
  const user = process.getuid?.() ?? 0;
  const isSticky = (parent.mode & stickyBit) !== 0;
  if (isSticky && user !== 0 && ![parent.uid, uid].includes(user)) {
    throw new UserError(`"${place.typed}" cannot be replaced: it belongs to another user`, {
      hint: "choose another output",
    });
  }
  try {
    accessSync(pathOf(place), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw systemError.refusal(`"${place.typed}" cannot be replaced`, error);
  }
}
