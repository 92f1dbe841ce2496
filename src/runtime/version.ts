import { version } from "../../package.json";

/** Put in by build.ts; absent when the sources are run as they are. */
declare const BPE_COMMIT: string | undefined;

export const build = {
  version,
  bunVersion: Bun.version,
  commit: typeof BPE_COMMIT === "undefined" ? "unknown" : BPE_COMMIT,
};

export const versionLine = `bpe ${build.version} (Bun ${build.bunVersion}, commit ${build.commit})`;
