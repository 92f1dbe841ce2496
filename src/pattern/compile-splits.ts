import { exitCode, UserError } from "#runtime";
import { type Automaton, BeyondAutomaton, CompileSteps, fuseAutomata, Unusable } from "./automaton.ts";
import { buildScanTables } from "./build-scan-tables.ts";
import {
  type CompiledPattern,
  type CompileOptions,
  notQuiet,
  type PatternTables,
} from "./compiled-pattern.ts";
import { buildAutomata } from "./determinize.ts";
import { oniguruma } from "./dialect.ts";
import { withoutEmptyMatches } from "./empty-matches.ts";
import { buildLookaheadAutomaton, buildPartialLookaheadAutomaton } from "./lookahead-automaton.ts";
import { isLongLook } from "./nfa.ts";
import { canBeEmpty, type Node, nodesIn, parsePattern, parseSplit, type Split } from "./parse-pattern.ts";
import { portableForm } from "./portable-source.ts";

/**
 * Compiles splits, each of which cuts the pieces of the previous one. Throws a UserError if they cannot be compiled.
 */
export function compileSplits(
  sources: readonly string[],
  { lineWise = false }: CompileOptions = {},
  steps = new CompileSteps(),
): CompiledPattern {
  // A pattern for training on lines must also be valid for whole texts, which encoding reads. For example,
  // `a|(?<=\n)(?=b)` can match the empty string in a whole text, but not within a line.
  if (lineWise) compileSplits(sources);
  const splits = sources.map((source) => parseSplit(source, lineWise));
  try {
    return { automata: automataOf(splits, steps) };
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof BeyondAutomaton)) throw error;
    throw refusal(error, splits, sources);
  }
}

/** Translates an expression for HF's engine to a portable one with the same cuts. */
export function formOfHuggingface(source: string): string {
  const form = canBeEmpty(parsePattern(source, oniguruma))
    ? withoutEmptyMatches(source, oniguruma)
    : undefined;
  return form ?? portableForm(source, oniguruma);
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
  const { message, part, hint = simplerHint(splits) } = error;
  const what =
    part === undefined
      ? message
      : `${message.replace(/\bit\b/, () => `\`${part}\``)}, which is not supported`;
  return new UserError(`pattern: ${what}: ${of}`, { hint, exitCode: exitCode.usage });
}

/**
 * Hints name only repetitions with at least this count, because smaller counts rarely decide the size of an automaton.
 */
const namedCountLeast = 16;

function simplerHint(splits: readonly Split[]): string {
  const counted = splits
    .flatMap(({ tree }) => [...nodesIn(tree)])
    .flatMap((node) => (node.kind === "repeat" ? [{ text: node.text, count: countOf(node) }] : []))
    .filter(({ count }) => count >= namedCountLeast);
  if (counted.length === 0) return "write the pattern in a simpler way, or with smaller counts";
  const { text } = counted.reduce((a, b) => (b.count > a.count ? b : a));
  return `write the pattern with smaller counts; the largest is that of \`${text}\``;
}

/** Returns about how often compiling a repetition copies its body. */
const countOf = ({ min, max }: Node & { readonly kind: "repeat" }) => (Number.isFinite(max) ? max : min);

const takesNothingHint =
  "let the pattern match at least one character (+ instead of *), or name a pattern (`bpe train -p help`)";

/**
 * Builds automata, each for one or more consecutive splits. A split that looks far ahead, or that a plain automaton
 * cannot express, becomes a lookahead automaton. Throws BeyondAutomaton if a split fits neither kind of automaton, and
 * Unusable if a split cannot cut a text.
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
 * Returns `second` if it covers at least as many splits as `first` and annotates fewer columns (kinds of characters),
 * else `first`. If one is undefined, returns the other.
 */
function fewerAnnotated(first: LongestPrefix, second: LongestPrefix): LongestPrefix {
  const liveCount = ({ made }: NonNullable<LongestPrefix>) =>
    made[0]!.annotation!.quiet.reduce((count, state) => count + (state === notQuiet ? 1 : 0), 0);
  if (first === undefined || second === undefined) return first ?? second;
  return second.count >= first.count && liveCount(second) < liveCount(first) ? second : first;
}

/**
 * Returns the result of `make` for the longest prefix of the splits for which it succeeds; undefined if it fails for
 * the first split alone. Assumes that `make` then also succeeds for all shorter prefixes.
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

/** Returns the result of `make`; undefined if it throws BeyondAutomaton. */
function tryBuild<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}

/**
 * Builds a plain automaton for each split, and fuses neighbours where possible. Throws BeyondAutomaton if that is
 * impossible for a split, and Unusable if a split cannot cut a text.
 */
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
