import { cac } from "cac";
import type { NamedPattern } from "../pattern/pattern.ts";
import { type CommandSpec, commands } from "./command-table.ts";

/** Prints the help of one command, or of the program, on stdout. */
export function printHelp(command?: CommandSpec): void {
  const cli = cac("bpe");
  for (const spec of commands) {
    const described = cli
      .command(`${spec.name} ${spec.files}`, spec.description)
      .usage(`${spec.name} ${spec.files} ${spec.usage}`);
    for (const option of spec.options) {
      const flags = `${option.short === undefined ? "" : `-${option.short}, `}--${option.name}`;
      const value = option.value === undefined ? "" : ` <${option.value}>`;
      const standard = option.default === undefined ? "" : ` (default: ${option.default})`;
      described.option(flags + value, option.description + standard);
    }
    described.example(`  ${spec.example}`);
    if (spec === command) cli.matchedCommand = described;
  }
  cli.globalCommand.option("-V, --version", "show the versions of bpe and Bun, and the commit");
  cli.outputHelp();
}

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
