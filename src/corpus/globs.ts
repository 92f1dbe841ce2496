import { globMatcher, pathsMatching } from "../runtime/host.ts";
import { isFile, statOf } from "../runtime/named-files.ts";
import { eachFileOnce, inByteOrder } from "./each-file-once.ts";

/**
 * The files that a glob names (`*`, `?`, `[]`, `**`), in byte order of their paths; hidden files are left out. Links are
 * followed, and each file is named once. A link that leads nowhere is named, so that reading it is an error.
 */
export function filesMatching(glob: string): ReturnType<typeof eachFileOnce> {
  const matching = inByteOrder([...pathsMatching(glob, glob.startsWith("/") ? "/" : ".")]);
  const leadsNowhere = (path: string) => statOf(path) === undefined;
  const files = eachFileOnce(matching.filter(isFile));
  return { ...files, paths: inByteOrder([...files.paths, ...matching.filter(leadsNowhere)]) };
}

/** Whether a file is meant, by its path below the directory. */
export type FileFilter = (pathBelow: string) => boolean;

/**
 * A filter of `--include` globs: without any, every file is meant. As in a .gitignore file, a glob with a slash describes
 * the path below the directory, and one without describes the name of a file at any depth.
 */
export function includeFilter(globs: readonly string[]): FileFilter {
  if (globs.length === 0) return () => true;
  const filters = globs.map((text) => {
    const matches = globMatcher(text.replace(/^\.?\//, ""));
    if (text.includes("/")) return matches;
    return (path: string) => matches(path.slice(path.lastIndexOf("/") + 1));
  });
  return (path) => filters.some((matches) => matches(path));
}
