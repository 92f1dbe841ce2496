import { exitCode, UserError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { AutomatonSplitter } from "./automaton-splitter.ts";
import { ChainSplitter } from "./chain-splitter.ts";
import { compilePattern } from "./compile.ts";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";
import { type Dialect, fancyRegex } from "./dialect.ts";
import { MatcherSplitter } from "./matcher-splitter.ts";
import { type NamedPattern, patterns } from "./named-patterns.ts";
import { portableForm } from "./portable-source.ts";
import { ScriptSplitter } from "./script-splitter.ts";
import type { Splitter } from "./splitter.ts";

/*
 * A pattern as the other rooms use it: this file and what it passes on.
 */
export { boundlessPattern, compileBoundless } from "./boundless-pattern.ts";
export { compilePattern } from "./compile.ts";
export { type CompiledPattern, patternDigest } from "./compiled-pattern.ts";
export { type Dialect, fancyRegex, oniguruma } from "./dialect.ts";
export { mayLeaveGaps } from "./gaps.ts";
export { describeLlamaCpp } from "./llama-cpp.ts";
export { PatternLimit } from "./matcher-program.ts";
export { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";
export { parsePattern } from "./parse-pattern.ts";
export { exportForm, huggingfaceForm, type PatternExport, portableForm } from "./portable-source.ts";
export { findSafeCut } from "./safe-cut.ts";
export { isLetter } from "./script-cut.ts";
export type { Splitter } from "./splitter.ts";

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

export function createSplitter(compiled: CompiledPattern): Splitter {
  if (compiled.kind === "programs") return new MatcherSplitter(compiled.programs, compiled.lineWise);
  if (compiled.kind === "scripts") return new ScriptSplitter(compiled);
  const [first, second] = compiled.automata;
  return second === undefined ? new AutomatonSplitter(first!) : new ChainSplitter(compiled.automata);
}
