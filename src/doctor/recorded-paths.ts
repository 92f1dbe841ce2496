import { isAbsolute, resolve } from "node:path";
import { asOption, files, phrase, usageError, withForwardSlashes } from "#runtime";

/** Returns where a recorded path is now, or undefined if nothing is there. */
export type FindPath = (recorded: string) => string | undefined;

/**
 * Makes `find`, which finds the paths of a record. A relative path starts from the directory of the recorded run or, if
 * nothing is there, from the current directory. `moved` maps old paths, or folders above them, to new ones.
 * `checkMoved` throws a usage error if an entry of `moved` was not used.
 */
export function pathFinder(
  workingDirectory: string,
  moved: Readonly<Record<string, string>>,
): { readonly find: FindPath; readonly checkMoved: () => void } {
  const absolute = (path: string) => withForwardSlashes(resolve(workingDirectory, path));
  const pairs = Object.entries(moved)
    .map(([before, after]) => ({ before, from: absolute(before), to: after, hasMatched: false }))
    .sort((a, b) => b.from.length - a.from.length);
  const isThere = (path: string) => files.stat(path) !== undefined;
  return {
    find(recorded) {
      const full = absolute(recorded);
      for (const pair of pairs) {
        const isWhole = recorded === pair.before || (recorded !== "-" && full === pair.from);
        const below = pair.from === "/" ? "/" : `${pair.from}/`;
        if (!isWhole && (recorded === "-" || !full.startsWith(below))) continue;
        pair.hasMatched = true;
        const place = isWhole ? pair.to : `${pair.to.replace(/\/+$/, "")}/${full.slice(below.length)}`;
        return isThere(place) ? place : undefined;
      }
      if (recorded === "-") return undefined;
      if (resolve(recorded) === full || isAbsolute(recorded)) return isThere(recorded) ? recorded : undefined;
      return [full, recorded].find(isThere);
    },
    checkMoved() {
      const unused = pairs.find(({ hasMatched }) => !hasMatched);
      if (unused === undefined) return;
      throw usageError(
        phrase`${asOption("input", `"${unused.before}=${unused.to}"`)}: training.json has no input "${unused.before}"`,
        "write OLD as in the inputs of training.json, or a folder above it",
      );
    },
  };
}
