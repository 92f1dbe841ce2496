import { Cache } from "../cache/cache.ts";
import { CacheDirectory } from "../cache/directory.ts";
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
  return { path, limitBytes: limit === undefined ? undefined : sizeBytes("--cache-limit", limit, 0) };
}

/** The memory for counting, with a place for what it has no room for, and the cache that was asked for. */
export function openMemory(
  options: ReturnType<typeof readCacheOptions>,
  countsOptions: CountsOptions,
  budget: MemoryBudget,
  output: Output,
): { memory: CountMemory; cache?: Cache } {
  const directory = options && new CacheDirectory(options.path, output.warn);
  const scratch = new ScratchDirectory(directory?.isWritable ? options?.path : undefined);
  onStop(() => scratch.remove());
  const memory = { budget, scratch, countsOptions };
  if (directory === undefined) return { memory };
  const cache = new Cache(directory, {
    countsOptions,
    version: build.version,
    limitBytes: options?.limitBytes,
    warn: output.warn,
    scratchPath: () => scratch.path,
  });
  return { memory, cache };
}
