import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";

/** A file, or a folder, that was met and is not read. */
export type Skipped = {
  readonly path: string;
  /** Follows "is". */
  readonly reason: string;
};

/** Names the file that a path leads to, whatever the path; a file system without numbers for its files has no names. */
export function fileId(path: string): string | undefined {
  const { dev, ino } = statSync(path, { bigint: true });
  return ino === 0n ? undefined : `${dev} ${ino}`;
}

/**
 * Of several paths of one file one is left: its own, if it is among them and not only links to it are; else the first.
 * The order stays.
 */
export function eachFileOnce(paths: readonly string[]): { paths: string[]; skipped: Skipped[] } {
  const pathsById = Map.groupBy(paths, (path) => fileId(path) ?? path);
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
