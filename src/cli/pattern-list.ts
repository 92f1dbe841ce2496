import type { NamedPattern } from "../pattern/pattern.ts";

/** `--pattern help`: every name with its source and its regular expressions, in the order in which they cut. */
export function describePatterns(patterns: Readonly<Record<string, NamedPattern>>): string {
  const described = Object.entries(patterns).map(([name, pattern]) => {
    const below = [alsoCalled(pattern), ...pattern.sources].filter((line) => line !== undefined);
    return [`${name.padEnd(13)} ${pattern.origin}`, ...below.map((line) => `    ${line}`)].join("\n");
  });
  return `${described.join("\n")}\n\nAnything that is not a name is taken as a regular expression.\n`;
}

/** The other names of a pattern; undefined if there are none. */
export function alsoCalled({ aliases = [] }: Partial<NamedPattern>): string | undefined {
  return aliases.length === 0 ? undefined : `also called ${aliases.join(", ")}`;
}
