import { Cache } from "../cache/cache.ts";
import { CacheDirectory } from "../cache/directory.ts";
import type { RunOptions } from "../count/runs.ts";
import { ScratchDirectory } from "../publish/scratch-directory.ts";
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

/** The cache that was asked for, and where runs go then. */
export function openCache(
  options: ReturnType<typeof readCacheOptions>,
  countsOptions: CountsOptions,
  output: Output,
): { cache?: Cache; runOptions?: RunOptions } {
  if (options === undefined) return {};
  const directory = new CacheDirectory(options.path, output.warn);
  const scratch = new ScratchDirectory(directory.isWritable ? options.path : undefined);
  onStop(() => scratch.remove());
  const cache = new Cache(directory, {
    countsOptions,
    version: build.version,
    limitBytes: options.limitBytes,
    warn: output.warn,
    scratchPath: () => scratch.path,
  });
  return {
    cache,
    runOptions: { directory: scratch.path, countsOptions, wordBytesMax: Number.POSITIVE_INFINITY },
  };
}
