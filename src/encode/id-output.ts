import { idWriters } from "#ids";
import { asOption, UserError } from "#runtime";
import { stagedFile } from "#store";

/** Refuses a file of ids whose name ends in neither .npy nor .bin. */
export function idOutputFile(path: string | undefined): string | undefined {
  const hint = "end the name in .npy or .bin, or leave out -o for decimal ids on stdout";
  if (path !== undefined) idWriters.checkFileName(path, asOption("output", `"${path}"`), hint);
  return path;
}

/** Refuses an output other than a regular file for .npy, whose head is rewritten at the end. */
export function checkHeadFits(path: string | undefined): void {
  if (path === undefined || !path.endsWith(".npy") || stagedFile.placeOfFile(path) !== null) return;
  throw new UserError(`"${path}" cannot be written: it is not a regular file`, {
    hint: "name a regular file; to write to a pipe, give the pipe a name that ends in .bin, a format without a header",
  });
}
