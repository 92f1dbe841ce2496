import { statSync } from "node:fs";
import { runtimeVersion } from "#host";
import { version } from "../../package.json";

/** Defined by build.ts; undefined when the sources are run as they are. */
declare const BPE_COMMIT: string | undefined;

export const build = {
  version,
  bunVersion: runtimeVersion,
  commit: typeof BPE_COMMIT === "undefined" ? "unknown" : BPE_COMMIT,
};

/**
 * A name for the code of this program that no other code has: its commit, if nothing was changed after it; else the commit
 * with the size and the time of the executable. Undefined for sources that are run as they are.
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

/** The file that runs, even if another one has taken its place meanwhile. */
const ownPath = process.platform === "linux" ? "/proc/self/exe" : process.execPath;

/** Whether the first word of a command line asks for it. */
export const isVersionRequest = (word: string) => ["--version", "-v", "-V", "version"].includes(word);

export const versionLine = `bpe ${build.version} (Bun ${build.bunVersion}, commit ${build.commit})`;
