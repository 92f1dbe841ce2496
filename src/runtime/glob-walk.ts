import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import picomatch from "picomatch";

/*
 * Globs for Node, whose own are there from version 22 on only: `*`, `?`, `[]`, `{}` and `**`, as picomatch reads them.
 */

/** Whether a path is one that a glob names; a wildcard stands for the dot of a hidden name, too. */
export function globMatcher(glob: string): (path: string) => boolean {
  const matches = picomatch(glob, { dot: true });
  return (path) => matches(path);
}

/**
 * Paths below `cwd` that a glob names, directories and links among them, also links that lead nowhere; hidden ones are left
 * out. Links are followed, but not in a circle. Absolute for an absolute glob, which needs `cwd` "/".
 */
export function* pathsMatching(glob: string, cwd: string): Generator<string> {
  const parts = glob.split("/").filter((part) => part !== "");
  const isLiteral = (part: string) => !/[*?[\]{}()!\\+@]/.test(part);
  // What comes before the first wildcard is a directory, and may be hidden: its name was typed.
  let literalCount = parts.findIndex((part) => !isLiteral(part));
  if (literalCount < 0) literalCount = parts.length - 1;
  const base = parts.slice(0, literalCount).join("/");
  const isAny = parts.includes("**");
  const depthMax = isAny || /\{[^}]*\//.test(glob) ? Number.POSITIVE_INFINITY : parts.length - literalCount;
  const matches = picomatch(parts.slice(literalCount).join("/"), { dot: false });
  const prefix = glob.startsWith("/") ? "/" : "";
  for (const below of walk(join(cwd, base), depthMax, [])) {
    if (matches(below)) yield prefix + (base === "" ? below : `${base}/${below}`);
  }
}

/** All paths below a directory, relative to it. `above` are the real paths of the directories around it. */
function* walk(directory: string, depthMax: number, above: readonly string[]): Generator<string> {
  let entries: Dirent[];
  let real: string;
  try {
    real = realpathSync(directory);
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return;
  }
  if (above.includes(real)) return;
  for (const entry of entries) {
    yield entry.name;
    if (depthMax === 1 || entry.isFile() || !isDirectory(join(directory, entry.name))) continue;
    // Hidden ones match no wildcard.
    if (entry.name.startsWith(".")) continue;
    for (const below of walk(join(directory, entry.name), depthMax - 1, [...above, real]))
      yield `${entry.name}/${below}`;
  }
}

const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
