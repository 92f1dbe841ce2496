import { Cache } from "../cache/cache.ts";
import { CacheDirectory } from "../cache/directory.ts";
import type { Input } from "../corpus/inputs.ts";
import type { CountMemory } from "../count/memory.ts";
import { ScratchDirectory } from "../publish/scratch-directory.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import { build } from "../runtime/version.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { usageError } from "./arguments.ts";
import type { Output } from "./output.ts";
import type { Invocation } from "./run.ts";
import { sizeBytes } from "./sizes.ts";
import { onStop } from "./stop.ts";

/** What `--cache` and the options that need it say; undefined without it. Looks at no file. */
export function readCacheOptions({ options }: Invocation) {
  const path = options.get("cache")?.[0];
  const limit = options.get("cache-limit")?.[0];
  if (path === undefined) {
    for (const name of ["cache-limit", "if-changed"]) {
      if (options.has(name)) throw usageError(`--${name} needs --cache`, "e.g. --cache cache");
    }
    return undefined;
  }
  if (path === "") throw usageError("--cache is empty", "name a directory, e.g. --cache cache");
  if (options.has("ranges")) {
    throw usageError("--cache does not go with --ranges: it keeps the words of whole files");
  }
  return {
    path,
    limitBytes: limit === undefined ? undefined : sizeBytes("--cache-limit", limit, 0),
    ifChanged: options.has("if-changed"),
  };
}

export type OpenCache = {
  readonly cache: Cache;
  readonly directory: CacheDirectory;
  /** Where files of this run go. */
  readonly scratchPath: () => string;
  /** To be called when nothing more is kept: what was used longest ago makes room. */
  readonly shrink: () => void;
};

/** The memory for counting, with a place for what it has no room for, and the cache that was asked for. */
export function openMemory(
  options: ReturnType<typeof readCacheOptions>,
  countsOptions: CountsOptions,
  budget: MemoryBudget,
  output: Output,
): { memory: CountMemory; cached?: OpenCache } {
  const directory = options && new CacheDirectory(options.path, output.warn);
  const scratch = new ScratchDirectory(directory?.isWritable ? options?.path : undefined);
  onStop(() => scratch.remove());
  const memory = { budget, scratch, countsOptions };
  if (directory === undefined) return { memory };
  const scratchPath = () => scratch.path;
  const cache = new Cache(directory, {
    countsOptions,
    version: Object.values(build).join(" "),
    warn: output.warn,
    nowMs: Date.now,
    scratchPath,
  });
  const limitBytes = options?.limitBytes ?? Number.POSITIVE_INFINITY;
  return { memory, cached: { cache, directory, scratchPath, shrink: () => directory.shrinkTo(limitBytes) } };
}

/** Streams cannot be known before they are read: said once. */
export function tellOfStreams(inputs: readonly Input[], output: Output): void {
  const stream = inputs.find((input) => input.isStream);
  if (stream === undefined) return;
  output.warn(`--cache keeps nothing of streams: "${stream.path}" is counted anew in each run`);
}
