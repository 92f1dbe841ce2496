import { statSync } from "node:fs";
import { inByteOrder } from "./directories.ts";
import { eachFileOnce } from "./each-file-once.ts";

/**
 * The files that a glob names (`*`, `?`, `[]`, `**`; hidden files are left out), in byte order of their paths. Links are
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
