import { readReadyMade } from "#ready-made";
import { embeddedDirectory, exitCode, nearest, UserError } from "#runtime";
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
import { foreseen, foreseenLooks } from "./foreseen.ts";
import { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";
import { isLongLook } from "./nfa.ts";
import { canBeEmpty, nodesIn, parsePattern, parseSplit, type Split } from "./parse-pattern.ts";
import { portableForm } from "./portable-source.ts";
import { buildScanTables } from "./scan-tables.ts";

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
  const name = /^[A-Za-z0-9._-]+$/.test(text) ? nameFor(text) : null;
  const isForeign = name === null && dialect !== fancyRegex;
  const sources = name === null ? [isForeign ? formOfHuggingface(text) : text] : named[name]!.sources;
  const compiled = compilePattern(sources, options);
  return { name, sources, ...(isForeign && { huggingfaceSources: [text] }), compiled };
}

/** An expression of HF's engine in a form that all engines read alike, and that cuts as that engine does. */
export function formOfHuggingface(source: string): string {
  const form = canBeEmpty(parsePattern(source, oniguruma))
    ? withoutEmptyMatches(source, oniguruma)
    : undefined;
  return form ?? portableForm(source, oniguruma);
}

const named: Readonly<Record<string, NamedPattern>> = patterns;

/** The pattern's own name for one of its names; of an unknown one, the error offers the nearest. */
export function nameFor(text: string): PatternName {
  const nameOf = new Map(
    Object.entries(named).flatMap(([name, { aliases = [] }]) =>
      [name, ...aliases].map((alias) => [alias, name as PatternName]),
    ),
  );
  const name = nameOf.get(text);
  if (name !== undefined) return name;
  const names = [...nameOf.keys()].sort((a, b) => b.length - a.length);
  // `gpt-4o-mini` is a `gpt-4o`.
  const near = names.find((known) => text.startsWith(known)) ?? nearest(text, names);
  const own = nameOf.get(near ?? "");
  const offered = near === own ? near : `${near} (${own})`;
  throw new UserError(`unknown pattern "${text}"`, {
    hint: `${near === undefined ? "" : `did you mean ${offered}? `}\`--pattern help\` lists the names`,
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

/**
 * `sources` are splits in order, each cutting the pieces of the one before. Throws UserError for a pattern that is wrong
 * or no way to cut a text.
 */
export function compilePattern(
  sources: readonly string[],
  options: CompileOptions = {},
  steps = new CompileSteps(),
): CompiledPattern {
  const ready = readReadyMade(embeddedDirectory, sources, options);
  if (ready !== undefined) return ready;
  const { lineWise = false } = options;
  // Encoding feeds whole texts, so what is trained on lines has to do for them, too: `(?<=\s)^` matches in no line.
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

const takesNothingHint =
  "a pretokenizer matches one character at least: write + where there is *, or name a pattern (`--pattern help`)";

/**
 * As many splits as will do together. Those that look far ahead, or that ask for more than one thread after the other can do,
 * are foreseen, each with the splits behind it. Throws BeyondAutomaton.
 */
function automataOf(splits: readonly Split[], steps: CompileSteps): PatternTables[] {
  const areFar = splits.map(looksFar);
  const foresee = (some: readonly Split[]) => [foreseen(some, steps)];
  const foreseeLooks = (some: readonly Split[]) => [foreseenLooks(some, steps)];
  const automata: PatternTables[] = [];
  for (let from = 0; from < splits.length; ) {
    const next = areFar.indexOf(true, from + 1);
    const rest = splits.slice(from, next < 0 ? splits.length : next);
    const most = areFar[from]
      ? quieter(mostOf(rest, foresee), mostOf(rest, foreseeLooks))
      : (mostOf(rest, (some) => fuse(some, steps)) ?? mostOf(rest, foresee));
    // What no automaton can do is refused in the words of the one that can do most.
    automata.push(...(most?.made ?? foresee(rest.slice(0, 1))));
    from += most?.count ?? 1;
  }
  return automata;
}

type Most = { readonly made: PatternTables[]; readonly count: number } | undefined;

/** The one of two ways whose shadow leaves more characters as they are; the first one, if both are alike. */
function quieter(first: Most, second: Most): Most {
  const liveCount = ({ made }: NonNullable<Most>) =>
    made[0]!.shadow!.quiet.reduce((count, state) => count + (state === notQuiet ? 1 : 0), 0);
  if (first === undefined || second === undefined) return first ?? second;
  return second.count >= first.count && liveCount(second) < liveCount(first) ? second : first;
}

/**
 * What is made of the most splits, from the first one on; undefined where one alone is more than an automaton can do. What
 * does for some does for fewer. So twice as many are tried each time, then what is between: that takes as long as the splits
 * that are made, not as those that are left.
 */
function mostOf<T>(
  splits: readonly Split[],
  make: (some: readonly Split[]) => T,
): { readonly made: T; readonly count: number } | undefined {
  let most: { made: T; count: number } | undefined;
  let tooMany = splits.length + 1;
  for (let count = 1; count < tooMany; ) {
    const made = tried(() => make(splits.slice(0, count)));
    if (made === undefined) tooMany = count;
    else most = { made, count };
    const done = most?.count ?? 0;
    count = tooMany > splits.length ? Math.min(2 * done, splits.length) : (done + tooMany) >> 1;
    if (count <= done) break;
  }
  return most;
}

/** What is made; undefined where it is more than an automaton can do. */
function tried<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}

/** As few automata as will do: where two fuse, they are one. Throws BeyondAutomaton. */
function fuse(splits: readonly Split[], steps: CompileSteps): PatternTables[] {
  const fused: Built[] = [];
  for (const automaton of buildAutomata(splits, undefined, steps)) {
    const last = fused.pop();
    const both = last && tried(() => built(fuseAutomata(last.automaton, automaton, steps), steps));
    if (last !== undefined && both === undefined) fused.push(last);
    fused.push(both ?? built(automaton, steps));
  }
  return fused.map(({ tables }) => tables);
}

type Built = { readonly automaton: Automaton; readonly tables: PatternTables };

const built = (automaton: Automaton, steps: CompileSteps): Built => ({
  automaton,
  tables: buildScanTables(automaton, steps),
});

const looksFar = ({ tree }: Split) =>
  [...nodesIn(tree)].some((node) => node.kind === "look" && !node.behind && isLongLook(node));
