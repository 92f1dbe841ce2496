import type { Input } from "../corpus/inputs.ts";
import type { CacheChoice } from "../open-memory.ts";
import { usageError } from "./arguments.ts";
import type { Output } from "./output.ts";
import type { Invocation } from "./run.ts";
import { sizeBytes } from "./sizes.ts";

/** What `--cache` and the options that need it say; undefined without it. Looks at no file. */
export function readCacheOptions({
  options,
}: Invocation): (CacheChoice & { readonly ifChanged: boolean }) | undefined {
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

/** Streams cannot be known before they are read: said once. */
export function tellOfStreams(inputs: readonly Input[], output: Output): void {
  const stream = inputs.find((input) => input.isStream);
  if (stream === undefined) return;
  output.warn(`--cache keeps nothing of streams: "${stream.path}" is counted anew in each run`);
}
