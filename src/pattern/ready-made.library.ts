import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";

/** Replaces ready-made.ts in the libraries, where patterns are compiled when they are needed. */
export const readReadyMade = (
  _directory: string,
  _sources: readonly string[],
  _options: CompileOptions,
): CompiledPattern | undefined => undefined;
