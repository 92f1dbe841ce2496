import { deserialize } from "bun:jsc";
import { readFileSync } from "node:fs";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";

/**
 * Reads a precompiled pattern from its file, whose name is a hash of its sources and options. Returns undefined if
 * there is no such file, as for a pattern without a name, or when the program runs from source code.
 */
export function readReadyMade(
  directory: string,
  sources: readonly string[],
  options: CompileOptions,
): CompiledPattern | undefined {
  try {
    const compressed = readFileSync(`${directory}/${readyMadeName(sources, options)}`);
    return deserialize(Bun.zstdDecompressSync(compressed)) as CompiledPattern;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}

export const readyMadeName = (sources: readonly string[], { lineWise = false }: CompileOptions) =>
  `${Bun.hash(JSON.stringify([sources, lineWise])).toString(16)}.tables`;

/** Returns the compiler. It is loaded on first use, because most runs with a precompiled pattern do not need it. */
export const loadCompiler = () => require("./compiler.ts") as typeof import("./compiler.ts");
