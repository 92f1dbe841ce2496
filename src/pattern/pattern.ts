import type { Text } from "../bytes/text.ts";
import { exitCode, UserError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { compilePattern } from "./compile.ts";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";
import { type Dialect, fancyRegex } from "./dialect.ts";
import { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";
import { portableForm } from "./portable-source.ts";
import { columnAt, noSlot } from "./scan-tables.ts";
import { notQuiet, shadowOf } from "./shadow.ts";

export { compilePattern } from "./compile.ts";
export { type CompiledPattern, patternDigest } from "./compiled-pattern.ts";
export { type Dialect, fancyRegex, oniguruma } from "./dialect.ts";
export { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";
export { parsePattern } from "./parse-pattern.ts";
export {
  commonForm,
  describeLlamaCpp,
  exportForm,
  huggingfaceForm,
  llamaCppOf,
  mayLeaveGaps,
  type PatternExport,
  portableForm,
} from "./portable-source.ts";

/*
 * A pattern as the other modules use it: this file and what it passes on.
 */

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
 * Safe cuts: places where a document can be divided among readers that know nothing of each other. Position i is one
 * if, whatever was read before `from`, a pretoken ends at i and the automaton goes on as it would from the start of a
 * document. It is found by running the automaton from `from` in every state at once: i is safe if on the character at
 * i every state still alive
 *   - settles everything up to i: its last commit is a slot written right there, and
 *   - goes to the state that the start of a document goes to.
 * Text of one kind (digits only, Han only) may hold none. So the search has an end, and without a cut the parts are joined.
 *
 * The second condition matters for patterns that look left: with (?<=a)bc|[abc], all states settle an end before the "b" of
 * "abc", but behind it the pattern hopes for "bc", and at the start of a document it would not.
 *
 * The reader on the left scans the character *at* the cut as well, which settles its last pretoken, and then forgets
 * its state: at the cut the document goes on, so `finish` would be wrong.
 *
 * In a chain the cut of the first automaton serves: the others never see past a piece of it.
 *
 * With shadows, a cut is safe only at a quiet character (shadow.ts). The reader on the left reads that character, so its shadow
 * before the cut is that of the whole text. Runs of other characters are read up to a quiet one.
 *
 * Returns the first safe cut in [from, stop), or -1. Only bytes before `limit` are looked at; `limit > stop + 3` or the
 * document ends at `limit`.
 */
export function findSafeCut(
  compiled: CompiledPattern,
  text: Text,
  from: number,
  stop: number,
  limit: number,
): number {
  const tables = compiled.automata[0]!;
  const { stateCount, transitions, columnBlocks, columns, shadow } = tables;
  const { bytes } = text;
  const columnIn = (of: Uint8Array, at: number, end: number) =>
    of[at]! < 128 ? of[at]! | (1 << 8) : columnAt(of, at, end, columnBlocks, columns);
  let pos = from;
  while (pos < stop && (bytes[pos]! & 0xc0) === 0x80) pos++;

  let alive = Array.from({ length: stateCount }, (_, state) => state);
  while (pos < stop) {
    const runStart = pos;
    let found = columnIn(bytes, pos, limit);
    while (shadow?.quiet[found & 255] === notQuiet) {
      pos += found >> 8;
      if (pos >= stop) return -1;
      found = columnIn(bytes, pos, limit);
    }
    if (shadow !== undefined && pos > runStart) {
      const run = shadowOf({ ...tables, shadow }, bytes, runStart, pos, shadow.quiet[found & 255]);
      for (let at = 0, length = 1; at < run.length; at += length) {
        const inRun = columnIn(run, at, run.length);
        length = inRun >> 8;
        alive = [...new Set(alive.map((state) => transitions[(state << 8) + (inRun & 255)]! >>> 16))];
      }
    }
    const column = found & 255;
    const length = found >> 8;
    const freshState = transitions[column]! >>> 16;
    const next = new Set<number>();
    let isSafe = true;
    for (const state of alive) {
      const entry = transitions[(state << 8) + column]!;
      const slot = entry & 15;
      const commitCount = (entry >> 4) & 15;
      next.add(entry >>> 16);
      isSafe &&=
        commitCount > 0 && slot !== noSlot && slot === commitCount - 1 && entry >>> 16 === freshState;
    }
    if (isSafe) return pos;
    alive = [...next];
    pos += length;
  }
  return -1;
}
