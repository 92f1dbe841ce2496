import { idWriters } from "#ids";
import { asOption, type Message, phrase, shell, UserError } from "#runtime";
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
    hint: "name a regular file; a pipe must have a name that ends in .bin, because a pipe can take only raw ids",
  });
}

/** Says how to write Parquet, the only format that stores fields of records, instead of another format. */
export const asParquet = (base: string): Message =>
  phrase`write Parquet: ${asOption("output", shell.quoted(base), "o")} ${asOption("ids-format", "parquet")}`;
