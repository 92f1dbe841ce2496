import type { NamedPattern, ResolvedPattern } from "../pattern/index.ts";
import { patterns } from "../pattern/index.ts";
import type { Output } from "./output.ts";

const named: Readonly<Record<string, NamedPattern>> = patterns;

/** `--pattern help`: every name with its source and its regular expressions, in the order in which they cut. */
export function describePatterns(): string {
  const described = Object.entries(named).map(([name, { origin, sources }]) => {
    const below = [otherNames(name), ...sources].filter((line) => line !== undefined);
    return [`${name.padEnd(13)} ${origin}`, ...below.map((line) => `    ${line}`)].join("\n");
  });
  return `${described.join("\n")}\n\nAnything that is not a name is taken as a regular expression.\n`;
}

/** What else the pattern is called; undefined for a regular expression, and where there is nothing else. */
export function otherNames(name: string | null): string | undefined {
  const { aliases = [] } = (name === null ? undefined : named[name]) ?? {};
  return aliases.length === 0 ? undefined : `also called ${aliases.join(", ")}`;
}

/** A pattern outside the compiler's dialect still works, but slowly: the user should know, and why. */
export function warnOfSlowPattern({ compiled }: ResolvedPattern, output: Output): void {
  if (compiled.kind !== "programs") return;
  output.warn(`the pattern runs on a backtracking matcher, many times slower: ${compiled.reason}`);
}
