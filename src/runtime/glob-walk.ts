import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import picomatch from "picomatch";

/*
 * Globs for Node, whose own are there from version 22 on only: `*`, `?`, `[]`, `{}` and `**`, as picomatch reads them.
 */

/** Whether a path is one that a glob names; a wildcard stands for the dot of a hidden name, too. */
export function globMatcher(glob: string): (path: string) => boolean {
  const matches = matcherOf(glob, true);
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
  const matches = matcherOf(parts.slice(literalCount).join("/"), false);
  const prefix = glob.startsWith("/") ? "/" : "";
  const entersHidden = parts.slice(literalCount).some((part) => part.startsWith("."));
  for (const below of walk(join(cwd, base), { depthMax, entersHidden }, [])) {
    if (glob.endsWith("/") && !isDirectory(join(cwd, base, below))) continue;
    if (matches(below)) yield prefix + (base === "" ? below : `${base}/${below}`);
  }
}

/** picomatch knows the shell's `[!a]` as `[^a]` only. */
const matcherOf = (glob: string, dot: boolean) => picomatch(glob.replaceAll(/(?<!\\)\[!/g, "[^"), { dot });

type Limits = {
  readonly depthMax: number;
  /** Wildcards match no hidden names, so hidden directories are entered only if one is named. */
  readonly entersHidden: boolean;
};

/** All paths below a directory, relative to it. `above` are the real paths of the directories around it. */
function* walk(
  directory: string,
  { depthMax, entersHidden }: Limits,
  above: readonly string[],
): Generator<string> {
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
    if (entry.name.startsWith(".") && !entersHidden) continue;
    const limits = { depthMax: depthMax - 1, entersHidden };
    for (const below of walk(join(directory, entry.name), limits, [...above, real]))
      yield `${entry.name}/${below}`;
  }
}

const isDirectory = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
