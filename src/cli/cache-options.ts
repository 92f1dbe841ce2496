import { usageError } from "../errors.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import { type CacheChoice, openMemory } from "../pipeline/open-memory.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";

/** `--cache` and the options that need it; undefined without it. Looks at no file. */
export function readCacheOptions({
  options,
}: Invocation): (CacheChoice & { readonly ifChanged: boolean }) | undefined {
  const path = options.text("cache");
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
    limitBytes: options.sizeBytes("cache-limit", 0),
    ifChanged: options.has("if-changed"),
  };
}

/** The memory for counting and the cache asked for. What goes to disk for want of memory is removed when the run ends. */
export function openRunMemory(
  choice: CacheChoice | undefined,
  { pattern, budget, countsOptions }: RunOptions,
  output: Output,
): ReturnType<typeof openMemory> {
  const warn = (message: string) => output.warn(message);
  const opened = openMemory(choice, countsOptions, pattern.compiled, budget, warn);
  onStop(() => opened.memory.scratch.remove());
  return opened;
}

type RunOptions = {
  readonly pattern: ResolvedPattern;
  readonly budget: MemoryBudget;
  readonly countsOptions: CountsOptions;
};
