import { deserialize, serialize } from "bun:jsc";
import { readFileSync } from "node:fs";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";
import { javascriptSource } from "./javascript-source.ts";
import { buildFourByteTables } from "./scan-tables.ts";

/**
 * Reads a precompiled pattern. `build.ts` compiles the named patterns and embeds each in the executable, as a file
 * named after its sources. Reading one takes a millisecond, compiling it ten (the compiler's code is cold). When the
 * program runs from its sources, there is no such file, and the caller compiles the pattern; both give the same tables
 * (tested).
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

/**
 * The name and the bytes of a precompiled pattern's file. Only its first automaton has four-byte tables: the scan of
 * the others uses none.
 */
export function readyMadeFile(
  sources: readonly string[],
  options: CompileOptions,
  compiled: CompiledPattern,
): { name: string; bytes: Uint8Array } {
  const automata = compiled.automata.map((tables, i) => ({
    ...tables,
    fourBytes: (i === 0 ? buildFourByteTables(tables) : undefined) ?? null,
  }));
  // Level 19 compresses 13.3 MB of tables to 0.3 MB, and decompressing one file takes 0.2 ms.
  const tables = new Uint8Array(serialize({ automata, javascript: javascriptSource(sources) }));
  const bytes = Bun.zstdCompressSync(tables, { level: 19 });
  return { name: readyMadeName(sources, options), bytes };
}

const readyMadeName = (sources: readonly string[], { lineWise = false }: CompileOptions) =>
  `${Bun.hash(JSON.stringify([sources, lineWise])).toString(16)}.tables`;
