import { closeSync } from "node:fs";
import { openFound } from "../publish/trust.ts";

/** Thrown where a file of the cache is not as it was written. */
export class Damaged extends Error {
  constructor(readonly path: string) {
    super(`${path} is damaged`);
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
