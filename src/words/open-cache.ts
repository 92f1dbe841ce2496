import type { Input } from "#corpus";
import type { Report } from "#jobs";
import type { RequestedTraining } from "#options";
import { patternDigest } from "#pattern";
import { type Message, programVersion } from "#runtime";
import { ScratchDirectory } from "#store";
import { Cache } from "./cache.ts";
import * as cacheDirectory from "./cache-directory.ts";
import { CacheDirectory } from "./cache-directory.ts";
import { identify } from "./count-with-cache.ts";
import * as countsFormat from "./counts-format.ts";
import { type CutSettings, countsOptionsOf } from "./cut-settings.ts";

export type OpenCache = {
  readonly cache: Cache;
  readonly directory: CacheDirectory;
  /** Hashes inputs whose contents may be in the cache or among `others`. */
  readonly identify: (
    inputs: readonly Input[],
    report: Report,
    others: readonly cacheDirectory.EntryId[],
  ) => Promise<void>;
  /** Returns the directory for files of this run. */
  readonly scratchPath: () => string;
  /** Removes the least recently used files if the cache exceeds its limit. Call it at the end. */
  readonly shrink: () => void;
};

/** Opens the cache, and a directory for words that do not fit into memory, inside the cache if possible. */
export function openCache(
  path: string,
  { cacheLimit = Number.POSITIVE_INFINITY }: Pick<RequestedTraining, "cacheLimit">,
  cutting: CutSettings,
  warn: (message: Message) => void,
): { scratch: ScratchDirectory; cached: OpenCache } {
  const directory = new CacheDirectory(path, warn);
  const scratch = new ScratchDirectory(directory.isWritable ? directory.path : undefined);
  const digest = patternDigest(cutting.pattern.compiled);
  const scratchPath = () => scratch.path;
  const cache = new Cache(directory, {
    countsOptions: countsOptionsOf(cutting),
    version: [
      programVersion.build.version,
      programVersion.build.bunVersion,
      cacheDirectory.wordsVersion,
      countsFormat.formatVersion,
      digest,
    ].join(" "),
    warn,
    nowMs: Date.now,
    scratchPath,
  });
  const identifyInputs: OpenCache["identify"] = (inputs, report, others) =>
    identify(cache, inputs, report, others);
  const shrink = () => directory.shrinkTo(cacheLimit);
  return { scratch, cached: { cache, directory, identify: identifyInputs, scratchPath, shrink } };
}
