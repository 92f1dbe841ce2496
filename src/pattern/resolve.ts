import { exitCode, UserError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { type CompiledPattern, type CompileOptions, compilePattern } from "./compile.ts";
import { type Dialect, fancyRegex } from "./dialect.ts";
import { type NamedPattern, patterns } from "./named-patterns.ts";
import { portableForm } from "./portable-source.ts";

export type ResolvedPattern = {
  /** null for a regular expression. */
  readonly name: string | null;
  readonly sources: readonly string[];
  /** What was typed for HF's engine, where `sources` are translated from it. */
  readonly huggingfaceSources?: readonly string[];
  readonly compiled: CompiledPattern;
};

/**
 * What the user means by `--pattern`: letters, digits, `-`, `_`, `.` only is a name, anything else a regex. One of another
 * dialect is translated here: all else knows `sources` in one meaning only.
 */
export function resolvePattern(
  text: string,
  options: CompileOptions & { readonly dialect?: Dialect } = {},
): ResolvedPattern {
  const { dialect = fancyRegex } = options;
  if (!/^[A-Za-z0-9._-]+$/.test(text)) {
    if (dialect === fancyRegex)
      return { name: null, sources: [text], compiled: compilePattern([text], options) };
    const sources = [portableForm(text, dialect)];
    return { name: null, sources, huggingfaceSources: [text], compiled: compilePattern(sources, options) };
  }
  const name = nameFor(text);
  const { sources } = named[name]!;
  return { name, sources, compiled: compilePattern(sources, options) };
}

const named: Readonly<Record<string, NamedPattern>> = patterns;

/** The pattern's own name for one of its names; of an unknown one, the error offers the nearest. */
function nameFor(text: string): string {
  const nameOf = new Map(
    Object.entries(named).flatMap(([name, { aliases = [] }]) =>
      [name, ...aliases].map((alias) => [alias, name]),
    ),
  );
  const name = nameOf.get(text);
  if (name !== undefined) return name;
  const names = [...nameOf.keys()].sort((a, b) => b.length - a.length);
  // `gpt-4o-mini` is a `gpt-4o`.
  const near = names.find((known) => text.startsWith(known)) ?? nearest(text, names);
  throw new UserError(`unknown pattern "${text}"`, {
    hint:
      near === undefined
        ? "`--pattern help` lists the names"
        : `did you mean ${nameOf.get(near)}? \`--pattern help\` lists the names`,
    exitCode: exitCode.usage,
  });
}
