import { statSync } from "node:fs";
import { eachFileOnce, inByteOrder } from "./each-file-once.ts";

/**
 * The files that a glob names (`*`, `?`, `[]`, `**`), in byte order of their paths; hidden files are left out. Links are
 * followed, and each file is named once. A link that leads nowhere is named, so that reading it is an error.
 */
export function filesMatching(glob: string): ReturnType<typeof eachFileOnce> {
  const isAbsolute = glob.startsWith("/");
  const options = {
    cwd: isAbsolute ? "/" : ".",
    absolute: isAbsolute,
    onlyFiles: false,
    followSymlinks: true,
    dot: false,
  };
  const matching = inByteOrder([...new Bun.Glob(glob).scanSync(options)]);
  const leadsNowhere = (path: string) => statSync(path, { throwIfNoEntry: false }) === undefined;
  const files = eachFileOnce(matching.filter((path) => !leadsNowhere(path) && statSync(path).isFile()));
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
    const glob = new Bun.Glob(text.replace(/^\.?\//, ""));
    if (text.includes("/")) return (path: string) => glob.match(path);
    return (path: string) => glob.match(path.slice(path.lastIndexOf("/") + 1));
  });
  return (path) => filters.some((matches) => matches(path));
}
