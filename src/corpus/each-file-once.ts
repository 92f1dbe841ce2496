import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { groupBy } from "../bytes/arrays.ts";

/** A file or folder that was found and is not read. */
export type Skipped = {
  readonly path: string;
  /** Follows "is" in a message. */
  readonly reason: string;
};

/**
 * Leaves one of several paths of the same file: its own path, if it is among them and the others are links to it; else
 * the first. The order stays.
 */
export function eachFileOnce(paths: readonly string[]): { paths: string[]; skipped: Skipped[] } {
  const pathsById = groupBy(paths, (path) => fileId(path) ?? path);
  if (pathsById.size === paths.length) return { paths: [...paths], skipped: [] };
  const kept = new Set<string>();
  const skipped: Skipped[] = [];
  for (const same of pathsById.values()) {
    const chosen = same.find((path) => same.length > 1 && realpathSync(path) === resolve(path)) ?? same[0]!;
    kept.add(chosen);
    for (const path of same) {
      if (path !== chosen) skipped.push({ path, reason: `the same file as "${chosen}"` });
    }
  }
  return { paths: paths.filter((path) => kept.has(path)), skipped };
}

/** Names the file that a path leads to, whatever the path; undefined where the file system does not number its files. */
export function fileId(path: string): string | undefined {
  const { dev, ino } = statSync(path, { bigint: true });
  return ino === 0n ? undefined : `${dev} ${ino}`;
}

/** Sorts paths by their bytes: an order that does not depend on language or operating system. */
export function inByteOrder(paths: readonly string[]): string[] {
  const keyed = paths.map((path) => ({ path, bytes: Buffer.from(path) }));
  return keyed.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ path }) => path);
}
