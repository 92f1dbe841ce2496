import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";
import * as compiler from "./compiler.ts";

/** Replaces ready-made.ts in the libraries, where patterns are compiled on first use. */
export const readReadyMade = (
  _directory: string,
  _sources: readonly string[],
  _options: CompileOptions,
): CompiledPattern | undefined => undefined;

export const loadCompiler = () => compiler;
