import { closeSync } from "node:fs";
import { type Check, fieldsOf, Mismatch, wholeNumber } from "../bytes/schema.ts";
import { openFound } from "./trusted-files.ts";

/** Thrown where a file of the cache is not as it was written. */
export class Damaged extends Error {
  constructor(readonly path: string) {
    super(`${path} is damaged`);
  }
}

/** The JSON of the bytes, which `check` has to take: a checksum that fits does not say who wrote it. */
export function parseChecked<T>(path: string, json: string, check: Check<T>): T {
  try {
    return check(JSON.parse(json), "");
  } catch (error) {
    if (error instanceof Mismatch || error instanceof SyntaxError) throw new Damaged(path);
    throw error;
  }
}

/** Reads from a file. Errors of the system say of which: those of reading do not by themselves. */
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
