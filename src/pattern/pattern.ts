import { readReadyMade } from "#ready-made";
import { asOption, embeddedDirectory, exitCode, nearest, phrase, UserError } from "#runtime";
import { type Automaton, BeyondAutomaton, CompileSteps, fuseAutomata, Unusable } from "./automaton.ts";
import {
  type CompiledPattern,
  type CompileOptions,
  notQuiet,
  type PatternTables,
} from "./compiled-pattern.ts";
import { buildAutomata } from "./determinize.ts";
import { type Dialect, fancyRegex, oniguruma } from "./dialect.ts";
import { withoutEmptyMatches } from "./empty-matches.ts";
import { buildLookaheadAutomaton, buildPartialLookaheadAutomaton } from "./lookahead-automaton.ts";
import { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";
import { isLongLook } from "./nfa.ts";
import { canBeEmpty, nodesIn, parsePattern, parseSplit, type Split } from "./parse-pattern.ts";
import { portableForm } from "./portable-source.ts";
import { buildScanTables } from "./scan-tables.ts";

export type ResolvedPattern = {
  /** The name of a named pattern; null for a regular expression. */
  readonly name: string | null;
  readonly sources: readonly string[];
  /** The expression for HF's engine from which `sources` were translated, if they were. */
  readonly huggingfaceSources?: readonly string[];
  readonly compiled: CompiledPattern;
  /** Whether `compiled` is for lines: it then also cuts after each line end. */
  readonly lineWise?: boolean;
};

/** The pattern compiled for whole texts. HF's trainer cuts after line ends, too; its tokenizer does not. */
export const compiledForTexts = ({ sources, compiled, lineWise }: ResolvedPattern): CompiledPattern =>
  lineWise ? compilePattern(sources) : compiled;

/**
 * Resolves the value of `--pattern`. A value of only letters, digits, `-`, `_` and `.` is a name, any other a regex. A
 * regex in another dialect is translated here, so that `sources` has one dialect everywhere else.
 */
export function resolvePattern(
  text: string,
  options: CompileOptions & { readonly dialect?: Dialect } = {},
): ResolvedPattern {
  const { dialect = fancyRegex, lineWise = false } = options;
  const name = /^[A-Za-z0-9._-]+$/.test(text) ? nameFor(text) : null;
  const isForeign = name === null && dialect !== fancyRegex;
  const sources = name === null ? [isForeign ? formOfHuggingface(text) : text] : named[name]!.sources;
  const compiled = compilePattern(sources, options);
  return { name, sources, ...(isForeign && { huggingfaceSources: [text] }), compiled, lineWise };
}

/** Translates an expression for HF's engine to one that all engines read alike and that cuts in the same places. */
export function formOfHuggingface(source: string): string {
  const form = canBeEmpty(parsePattern(source, oniguruma))
    ? withoutEmptyMatches(source, oniguruma)
    : undefined;
  return form ?? portableForm(source, oniguruma);
}

const named: Readonly<Record<string, NamedPattern>> = patterns;

/** The main name of a pattern, by any of its names. Throws a UserError that suggests the closest name. */
export function nameFor(text: string): PatternName {
  const nameOf = new Map(
    Object.entries(named).flatMap(([name, { aliases = [] }]) =>
      [name, ...aliases].map((alias) => [alias, name as PatternName]),
    ),
  );
  const name = nameOf.get(text);
  if (name !== undefined) return name;
  const names = [...nameOf.keys()].sort((a, b) => b.length - a.length);
  // For a name with a suffix, the name itself is suggested: `gpt-4o` for `gpt-4o-mini`.
  const near = names.find((known) => text.startsWith(known)) ?? nearest(text, names);
  const own = nameOf.get(near ?? "");
  const offered = near === own ? near : `${near} (${own})`;
  throw new UserError(`unknown pattern "${text}"`, {
    hint: phrase`${near === undefined ? "" : `did you mean ${offered}? `}\`${asOption("pattern", "help")}\` lists the names`,
    exitCode: exitCode.usage,
  });
}

/** Compiles the pattern with these splits, which come from a file, and finds its name if it has one. */
export function patternOfSources(sources: readonly string[], options: CompileOptions = {}): ResolvedPattern {
  const { lineWise = false } = options;
  return { name: namesOf(sources)[0] ?? null, sources, compiled: compilePattern(sources, options), lineWise };
}

/** Describes a pattern in a message: by all names with these splits, or else by its regular expressions. */
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

/**
 * Compiles splits, each of which cuts the pieces of the previous one. Throws a UserError for a pattern that is invalid
 * or cannot cut a text.
 */
export function compilePattern(
  sources: readonly string[],
  options: CompileOptions = {},
  steps = new CompileSteps(),
): CompiledPattern {
  const ready = readReadyMade(embeddedDirectory, sources, options);
  if (ready !== undefined) return ready;
  const { lineWise = false } = options;
  // A pattern for training on lines must also be valid for whole texts, which encoding reads: `(?<=\s)^` matches in no
  // line.
  if (lineWise) compilePattern(sources);
  const splits = sources.map((source) => parseSplit(source, lineWise));
  try {
    return { automata: automataOf(splits, steps) };
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof BeyondAutomaton)) throw error;
    throw refusal(error, splits, sources);
  }
}

function refusal(
  error: Unusable | BeyondAutomaton,
  splits: readonly Split[],
  sources: readonly string[],
): UserError {
  const of = sources.join(" , ");
  if (error instanceof Unusable || splits.some(({ tree }) => canBeEmpty(tree))) {
    const what = error instanceof Unusable ? error.message : "can match the empty string";
    return new UserError(`pattern: it ${what}: ${of}`, { hint: takesNothingHint, exitCode: exitCode.usage });
  }
  const { message, part, hint = "write it in a simpler way, or with smaller counts" } = error;
  const what =
    part === undefined
      ? message
      : `${message.replace(/\bit\b/, () => `\`${part}\``)}, which is not supported`;
  return new UserError(`pattern: ${what}: ${of}`, { hint, exitCode: exitCode.usage });
}

const takesNothingHint = phrase`a pretokenizer matches one character at least: write + where there is *, or name a pattern (\`${asOption("pattern", "help")}\`)`;

/**
 * Builds as few automata as possible, each for several consecutive splits. Splits that look far ahead, or that a plain
 * automaton cannot express, are built as lookahead automata, together with the splits after them. Throws
 * BeyondAutomaton.
 */
function automataOf(splits: readonly Split[], steps: CompileSteps): PatternTables[] {
  const areFar = splits.map(looksFar);
  const buildWhole = (some: readonly Split[]) => [buildLookaheadAutomaton(some, steps)];
  const buildPartial = (some: readonly Split[]) => [buildPartialLookaheadAutomaton(some, steps)];
  const automata: PatternTables[] = [];
  for (let from = 0; from < splits.length; ) {
    const next = areFar.indexOf(true, from + 1);
    const rest = splits.slice(from, next < 0 ? splits.length : next);
    const most = areFar[from]
      ? fewerAnnotated(longestPrefix(rest, buildWhole), longestPrefix(rest, buildPartial))
      : (longestPrefix(rest, (some) => fuse(some, steps)) ?? longestPrefix(rest, buildWhole));
    // If no automaton is possible, this throws the error of the most powerful construction.
    automata.push(...(most?.made ?? buildWhole(rest.slice(0, 1))));
    from += most?.count ?? 1;
  }
  return automata;
}

type LongestPrefix = { readonly made: PatternTables[]; readonly count: number } | undefined;

/**
 * Chooses the construction that annotates fewer kinds of characters; the first one if both annotate the same number.
 */
function fewerAnnotated(first: LongestPrefix, second: LongestPrefix): LongestPrefix {
  const liveCount = ({ made }: NonNullable<LongestPrefix>) =>
    made[0]!.annotation!.quiet.reduce((count, state) => count + (state === notQuiet ? 1 : 0), 0);
  if (first === undefined || second === undefined) return first ?? second;
  return second.count >= first.count && liveCount(second) < liveCount(first) ? second : first;
}

/**
 * The result of `make` for the longest prefix of the splits for which it succeeds; undefined if it fails for the first
 * split alone. If it succeeds for a prefix, it does for all shorter ones. So a galloping search doubles the length,
 * then bisects: its time depends on the splits that are used, not on those that are left.
 */
function longestPrefix<T>(
  splits: readonly Split[],
  make: (some: readonly Split[]) => T,
): { readonly made: T; readonly count: number } | undefined {
  let most: { made: T; count: number } | undefined;
  let tooMany = splits.length + 1;
  for (let count = 1; count < tooMany; ) {
    const made = tryBuild(() => make(splits.slice(0, count)));
    if (made === undefined) tooMany = count;
    else most = { made, count };
    const done = most?.count ?? 0;
    count = tooMany > splits.length ? Math.min(2 * done, splits.length) : (done + tooMany) >> 1;
    if (count <= done) break;
  }
  return most;
}

/** The result of `make`; undefined if it is beyond an automaton. */
function tryBuild<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}

/** Builds an automaton for each split, and fuses neighbours where possible. Throws BeyondAutomaton. */
function fuse(splits: readonly Split[], steps: CompileSteps): PatternTables[] {
  const fused: Built[] = [];
  for (const automaton of buildAutomata(splits, undefined, steps)) {
    const last = fused.pop();
    const both = last && tryBuild(() => build(fuseAutomata(last.automaton, automaton, steps), steps));
    if (last !== undefined && both === undefined) fused.push(last);
    fused.push(both ?? build(automaton, steps));
  }
  return fused.map(({ tables }) => tables);
}

type Built = { readonly automaton: Automaton; readonly tables: PatternTables };

const build = (automaton: Automaton, steps: CompileSteps): Built => ({
  automaton,
  tables: buildScanTables(automaton, steps),
});

const looksFar = ({ tree }: Split) =>
  [...nodesIn(tree)].some((node) => node.kind === "look" && !node.behind && isLongLook(node));
