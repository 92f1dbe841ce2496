import type { NamedPattern, ResolvedPattern } from "../pattern/index.ts";
import { patterns } from "../pattern/index.ts";
import type { Output } from "./output.ts";

/** `--pattern help`: every name with its source and its regular expressions, in the order in which they cut. */
export function describePatterns(): string {
  const entries = Object.entries(patterns as Record<string, NamedPattern>);
  const described = entries.map(([name, { origin, sources }]) =>
    [`${name.padEnd(13)} ${origin}`, ...sources.map((source) => `    ${source}`)].join("\n"),
  );
  return `${described.join("\n")}\n\nAnything that is not a name is taken as a regular expression.\n`;
}

/** A pattern outside the compiler's dialect still works, but slowly: the user should know, and why. */
export function warnOfSlowPattern({ compiled }: ResolvedPattern, output: Output): void {
  if (compiled.kind !== "regexps") return;
  output.warn(`the pattern runs as a JavaScript regular expression, many times slower: ${compiled.reason}`);
}
