import { statSync } from "node:fs";
import { version } from "../../package.json";

/** Put in by build.ts; absent when the sources are run as they are. */
declare const BPE_COMMIT: string | undefined;

export const build = {
  version,
  bunVersion: Bun.version,
  commit: typeof BPE_COMMIT === "undefined" ? "unknown" : BPE_COMMIT,
};

/**
 * What tells the code of this program from that of every other one; undefined where nothing does. A commit does, if nothing
 * was changed after it; an executable that was built otherwise, by its size and the time when it was written; but not
 * sources that are run as they are.
 */
export function codeIdentity(
  commit = typeof BPE_COMMIT === "undefined" ? undefined : BPE_COMMIT,
  executablePath = ownPath,
): string | undefined {
  if (commit === undefined) return undefined;
  if (/^[0-9a-f]+$/.test(commit)) return commit;
  const stats = statSync(executablePath, { bigint: true, throwIfNoEntry: false });
  return stats && `${commit} ${stats.size} ${stats.mtimeNs}`;
}

/** The file that runs, also where another one has taken its place meanwhile. */
const ownPath = process.platform === "linux" ? "/proc/self/exe" : process.execPath;

export const versionLine = `bpe ${build.version} (Bun ${build.bunVersion}, commit ${build.commit})`;
