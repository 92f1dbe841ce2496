import { json } from "#bytes";
import { files } from "#runtime";

/** The name of the record, which lists the files of a result. */
export const recordName = "training.json";

/** The name of the table of token counts next to the record (tokens-tsv.ts). */
export const tokensTsvName = "tokens.tsv";

export const readJson = (path: string): unknown => json.parse(files.readText(path), path);

/**
 * Returns the vocabulary sizes in the record of a training of several sizes; undefined if there is no such record.
 * Throws a UserError if the file is not JSON.
 */
export function readRecordedSizes(path: string): readonly number[] | undefined {
  if (!files.isFile(path)) return undefined;
  const record = readJson(path) as { options?: { sizes?: unknown } } | null;
  const sizes = record?.options?.sizes;
  return Array.isArray(sizes) && sizes.length > 0 && sizes.every(Number.isSafeInteger) ? sizes : undefined;
}

/**
 * Returns the files that a record lists; undefined if there is no record, or if it does not list itself. Throws a
 * UserError if the record is not JSON.
 */
export function readRecordedFiles(path: string): readonly string[] | undefined {
  if (!files.isFile(path)) return undefined;
  const listed = (readJson(path) as { files?: unknown } | null)?.files;
  return Array.isArray(listed) && listed.includes(recordName) ? listed : undefined;
}
