import { closeSync } from "node:fs";
import { type Check, fieldsOf, Mismatch, wholeNumber } from "../bytes/schema.ts";
import { openFound } from "./trusted-files.ts";

/** Thrown for a file of the cache that is not as it was written. */
export class Damaged extends Error {
  constructor(readonly path: string) {
    super(`${path} is damaged`);
  }
}

/** Parses JSON and checks it; throws `Damaged`. A checksum that fits does not say who wrote the file. */
export function parseChecked<T>(path: string, json: string, check: Check<T>): T {
  try {
    return check(JSON.parse(json), "");
  } catch (error) {
    if (error instanceof Mismatch || error instanceof SyntaxError) throw new Damaged(path);
    throw error;
  }
}

/** Opens a file for `read` and closes it. Adds the path to errors of the system, which those of reading lack. */
export function withFile<T>(path: string, read: (fd: number) => T): T {
  const fd = openFound(path);
  try {
    return read(fd);
  } catch (error) {
    throw naming(path, error);
  } finally {
    closeSync(fd);
  }
}

export function naming(path: string, error: unknown): unknown {
  return error instanceof Error && "code" in error ? Object.assign(error, { path }) : error;
}

/** `RangeStatistics` as the files of a cache hold them. */
export const statisticsCheck = fieldsOf({
  textBytes: wholeNumber(),
  documentCount: wholeNumber(),
  invalidByteCount: wholeNumber(),
  firstInvalidByte: wholeNumber(-1),
});
