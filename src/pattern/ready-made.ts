import { deserialize } from "bun:jsc";
import { readFileSync } from "node:fs";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";

/** Reads a precompiled pattern. Returns undefined if there is none, as when the program runs from its sources. */
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

/** The compiler, loaded when a pattern is not precompiled. */
export const loadCompiler = () => require("./compiler.ts") as typeof import("./compiler.ts");
