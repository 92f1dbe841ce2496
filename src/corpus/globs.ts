import { inByteOrder } from "./directories.ts";

/** The files that a glob names (`*`, `?`, `[]`, `**`; hidden files are left out), in byte order of their paths. */
export function pathsMatching(glob: string): string[] {
  const isAbsolute = glob.startsWith("/");
  const options = { cwd: isAbsolute ? "/" : ".", absolute: isAbsolute, onlyFiles: true, dot: false };
  return inByteOrder([...new Bun.Glob(glob).scanSync(options)]);
}
