import { type CompiledPattern, patternDigest } from "../pattern/pattern.ts";
import type { MemoryBudget } from "../runtime/system-limits.ts";
import { build } from "../runtime/version.ts";
import { Cache } from "../store/cache.ts";
import { CacheDirectory, wordsVersion } from "../store/cache-directory.ts";
import { ScratchDirectory } from "../store/scratch-directory.ts";
import { type CountsOptions, formatVersion } from "../words/counts-format.ts";
import type { CountMemory } from "./count-memory.ts";

/** The cache that was asked for. */
export type CacheChoice = { readonly path: string; readonly limitBytes: number | undefined };

export type OpenCache = {
  readonly cache: Cache;
  readonly directory: CacheDirectory;
  /** The directory for files of this run. */
  readonly scratchPath: () => string;
  /** To be called at the end: removes what was used longest ago if the cache is over its limit. */
  readonly shrink: () => void;
};

/**
 * The memory for counting, with a directory for words that it has no room for, and the cache, if one was asked for. The
 * caller removes the directory (`memory.scratch`) in the end.
 */
export function openMemory(
  choice: CacheChoice | undefined,
  countsOptions: CountsOptions,
  pattern: CompiledPattern,
  budget: MemoryBudget,
  warn: (message: string) => void,
): { memory: CountMemory; cached?: OpenCache } {
  const directory = choice && new CacheDirectory(choice.path, warn);
  const scratch = new ScratchDirectory(directory?.isWritable ? directory.path : undefined);
  const memory = { budget, scratch, countsOptions };
  if (directory === undefined) return { memory };
  const scratchPath = () => scratch.path;
  const cache = new Cache(directory, {
    countsOptions,
    version: [build.version, build.bunVersion, wordsVersion, formatVersion, patternDigest(pattern)].join(" "),
    warn,
    nowMs: Date.now,
    scratchPath,
  });
  const limitBytes = choice?.limitBytes ?? Number.POSITIVE_INFINITY;
  return { memory, cached: { cache, directory, scratchPath, shrink: () => directory.shrinkTo(limitBytes) } };
}
