import { loadCompiler, readReadyMade } from "#ready-made";
import { embeddedDirectory, exitCode, nearest, UserError } from "#runtime";
import type { CompileSteps } from "./automaton.ts";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";
import { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";

export type ResolvedPattern = {
  /** The main name of the pattern whose name was typed, or whose splits a file has; null if there is none. */
  readonly name: string | null;
  readonly sources: readonly string[];
  /** The expression for HF's engine from which `sources` were translated, if they were. */
  readonly huggingfaceSources?: readonly string[];
  readonly compiled: CompiledPattern;
  /** Whether `compiled` also cuts after each "\n". */
  readonly lineWise?: boolean;
};

/**
 * Returns the pattern compiled for whole texts. HF's trainer also cuts after line ends, so its pattern may be compiled
 * for lines, but HF's tokenizer does not cut there.
 */
export const forTexts = ({ sources, compiled, lineWise }: ResolvedPattern): CompiledPattern =>
  lineWise ? compile(sources) : compiled;

/**
 * Resolves the value of `--pattern`. A value of only letters, digits, `-`, `_` and `.` is a name, and any other value
 * is a regular expression. An expression for HF's engine is translated, so that `sources` always has the same dialect.
 */
export function resolve(
  text: string,
  options: CompileOptions & { readonly isForHuggingface?: boolean } = {},
): ResolvedPattern {
  const { isForHuggingface = false, lineWise = false } = options;
  const name = /^[A-Za-z0-9._-]+$/.test(text) ? nameFor(text) : null;
  const isForeign = name === null && isForHuggingface;
  const sources =
    name === null ? [isForeign ? loadCompiler().formOfHuggingface(text) : text] : named[name]!.sources;
  const compiled = compile(sources, options);
  return { name, sources, ...(isForeign && { huggingfaceSources: [text] }), compiled, lineWise };
}

const named: Readonly<Record<string, NamedPattern>> = patterns;

/** Returns the main name of a pattern, by any of its names. Throws a UserError for an unknown name. */
export function nameFor(text: string): PatternName {
  const nameOf = new Map(
    Object.entries(named).flatMap(([name, { aliases = [] }]) =>
      [name, ...aliases].map((alias) => [alias, name as PatternName]),
    ),
  );
  const name = nameOf.get(text);
  if (name !== undefined) return name;
  const names = [...nameOf.keys()].sort((a, b) => b.length - a.length);
  // For a name with an additional suffix, suggests the known name: `gpt-4o` for `gpt-4o-mini`.
  const near = names.find((known) => text.startsWith(known)) ?? nearest(text, names);
  const own = nameOf.get(near ?? "");
  const offered = near === own ? near : `${near} (${own})`;
  throw new UserError(`unknown pattern "${text}"`, {
    hint: `${near === undefined ? "" : `did you mean ${offered}? `}\`bpe train -p help\` lists the names`,
    exitCode: exitCode.usage,
  });
}

/** Compiles a pattern that is given as its splits, and finds its name if it has one. */
export function ofSources(sources: readonly string[], options: CompileOptions = {}): ResolvedPattern {
  const { lineWise = false } = options;
  return { name: namesOf(sources)[0] ?? null, sources, compiled: compile(sources, options), lineWise };
}

/** Describes a pattern by every name that has these splits, or else by its regular expressions. */
export function describe(sources: readonly string[]): string {
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

/**
 * Compiles splits, each of which cuts the pieces of the previous one; named patterns are precompiled in the executable.
 * Throws a UserError for a pattern that is invalid or cannot cut a text.
 */
export const compile = (
  sources: readonly string[],
  options: CompileOptions = {},
  steps?: CompileSteps,
): CompiledPattern =>
  readReadyMade(embeddedDirectory, sources, options) ?? loadCompiler().compileSplits(sources, options, steps);
