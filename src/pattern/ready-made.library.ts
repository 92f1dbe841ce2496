import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";

/** In the place of ready-made.ts in the libraries: patterns are compiled when they are needed. */
export const readReadyMade = (
  _directory: string,
  _sources: readonly string[],
  _options: CompileOptions,
): CompiledPattern | undefined => undefined;
