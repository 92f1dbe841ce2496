import { type CompileOptions, compilePattern } from "./compile.ts";
import { patterns } from "./named-patterns.ts";
import type { ResolvedPattern } from "./resolve.ts";

/** The pattern of these splits, as a file states them; its name where it has one. */
export function patternOfSources(sources: readonly string[], options: CompileOptions = {}): ResolvedPattern {
  return { name: namesOf(sources)[0] ?? null, sources, compiled: compilePattern(sources, options) };
}

/** A pattern as people call it: by its name, or all of its names, or by its regular expressions. */
export function describePattern(sources: readonly string[]): string {
  const names = namesOf(sources);
  if (names.length > 0) return names.join("/");
  return sources.map((source) => JSON.stringify(source)).join(", then ");
}

function namesOf(sources: readonly string[]): string[] {
  const text = JSON.stringify(sources);
  return Object.entries(patterns).flatMap(([name, named]) =>
    JSON.stringify(named.sources) === text ? [name] : [],
  );
}
