import { statSync } from "node:fs";
import * as host from "#host";
import { version } from "../../package.json";

/** Defined by builds; undefined when the sources run directly. */
declare const BPE_COMMIT: string | undefined;

export const build = {
  version,
  bunVersion: host.runtimeVersion,
  commit: typeof BPE_COMMIT === "undefined" ? "unknown" : BPE_COMMIT,
};

/**
 * Returns a unique name for the code of this program: its commit, if it was built from that commit without changes. For
 * a build with uncommitted changes, or outside a checkout, `commit` alone is not unique, so the executable's size and
 * modification time follow; undefined if the executable no longer exists. Also undefined when the sources run directly.
 */
export function codeIdentity(
  commit = typeof BPE_COMMIT === "undefined" ? undefined : BPE_COMMIT,
  executablePath = ownPath(),
): string | undefined {
  if (commit === undefined) return undefined;
  if (/^[0-9a-f]+$/.test(commit)) return commit;
  const stats = statSync(executablePath, { bigint: true, throwIfNoEntry: false });
  return stats && `${commit} ${stats.size} ${stats.mtimeNs}`;
}

/**
 * Returns a path of the running executable. On Linux, the path is valid even if the file was replaced since the start.
 */
const ownPath = () => (process.platform === "linux" ? "/proc/self/exe" : process.execPath);

/** Whether the first word of a command line is a request for the version. */
export const isVersionRequest = (word: string) => ["--version", "-v", "-V", "version"].includes(word);

export const versionLine = `bpe ${build.version} (Bun ${build.bunVersion}, commit ${build.commit})`;
