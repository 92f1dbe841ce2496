import { usageError } from "../errors.ts";
import type { CacheChoice } from "../open-memory.ts";
import type { Invocation } from "./arguments.ts";
import { sizeBytes } from "./option-values.ts";

/** `--cache` and the options that need it; undefined without it. Looks at no file. */
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
