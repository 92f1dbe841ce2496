import {
  type Automaton,
  BeyondAutomaton,
  type CharacterClasses,
  divideIntoClasses,
  here,
} from "./automaton.ts";
import { type Backward, readBackwards } from "./backward.ts";
import { buildNfa, isLongLook, SymbolSets } from "./nfa.ts";
import { mapInner, type Node, nodesIn } from "./parse-pattern.ts";
import { columnAt, firstClassColumn, type ScanTables } from "./scan-tables.ts";
import {
  type CodePointSet,
  codePointRange,
  intersectionOf,
  lastCodePoint,
  setOf,
  unionOf,
} from "./unicode.ts";

/*
 * Looks ahead over many characters as looks at one, in a *shadow* of the text (docs/internals/pattern.md). The shadow has a
 * character for each character of the text, of the same length, and in the same sets of the pattern. Which one it is says
 * what the long looks come to there. For \d{1,3}(?=(?:\d{3})*(?!\d)) a shadow of "a 1234567" is "a 0210210": a digit says how many more
 * follow, modulo three, and the pattern is \d{1,3}(?=2|\D|\z).
 */

/**
 * ShadowTables: how a shadow is written, from right to left. Columns are those of the automaton that reads it.
 *
 *   ARRAY         TYPE          LENGTH            MEANING
 *   steps         Uint32Array   stateCount << 8   of state << 8 | column: state before << 16 | what stands in the shadow: an
 *                                                 ASCII byte, else a number of `replacements`; 0: the character itself
 *   replacements  Uint32Array   count * 4         at number << 2 | length - 1: the bytes, the first one lowest
 *   quiet         Uint16Array   256               the state before a character of the column whatever follows it;
 *                                                 `notQuiet`: it depends. Those that do not depend stay as they are
 *   live          Uint8Array    32                a byte b may begin a character that is not quiet if
 *                                                 live[b & 15] & live[16 + (b >> 4)] is not 0
 *
 * State 0 is that at the end of a text, and before an invalid byte.
 */
export type ShadowTables = {
  readonly steps: Uint32Array;
  readonly replacements: Uint32Array;
  readonly quiet: Uint16Array;
  readonly live: Uint8Array;
};

export const notQuiet = 0xffff;

/**
 * What may follow in a text: in a shadow not every sequence of symbols can stand. Numbers say what is possible at a position;
 * 0: everything, as where a text begins. next[possible * symbolCount + symbol] is what is possible behind the symbol, or -1:
 * the symbol is not possible.
 */
export type PossibleSymbols = { readonly count: number; readonly next: Int32Array };

type Look = Node & { kind: "look" };

/** So many things a character can say at most: there are ten digits. */
const meaningCountMax = 10;

/** In scripts of characters of one length, those that UTF-8 writes in one to four bytes. */
export const rangesOfLengths = [
  codePointRange(0, 0x7f),
  codePointRange(0x80, 0x7ff),
  [0x800, 0xd7ff, 0xe000, 0xffff],
  codePointRange(0x10000, 0x10ffff),
];

/** The looks ahead that need a shadow, but for those inside of others. */
export function longLooksIn(tree: Node): Look[] {
  const inOthers = new Set<Node>();
  return [...nodesIn(tree)].filter((node): node is Look => {
    if (node.kind !== "look" || node.behind || inOthers.has(node) || !isLongLook(node)) return false;
    for (const inner of nodesIn(node.body)) inOthers.add(inner);
    return true;
  });
}

/** The long looks of some splits as short ones. */
export class ShadowedLooks {
  /** The splits, for shadows. */
  readonly trees: readonly Node[];
  /** Sets of characters that an automaton of shadows has to tell apart. */
  readonly sets: readonly CodePointSet[];
  private readonly classes: CharacterClasses;
  private readonly setOfClass: readonly CodePointSet[];
  private readonly backward: Backward;
  /** All states of it, 0, 1, … */
  private readonly states: readonly number[];
  /** For each state the first one that means the same. */
  private readonly meaningOf: readonly number[];
  private readonly lineEnd: number;
  /** What a character of each class can mean. */
  private readonly meanings: readonly (readonly number[])[];
  /** For each class and length of its characters: those that stand in a shadow for its meanings; undefined: there are none. */
  private readonly spoken: readonly (readonly (readonly number[] | undefined)[])[];
  /** For each class and meaning: what stands in a shadow. */
  private readonly setsOfMeanings: readonly (readonly CodePointSet[])[];

  /**
   * @param saysStates a character says the state of the backward automaton, not only which looks hold: there is less to
   *   speculate about, and more to say
   */
  constructor(trees: readonly Node[], lineWise: boolean, saysStates: boolean) {
    const looks = trees.flatMap(longLooksIn);
    const sets = new SymbolSets();
    const lineEndSet = lineWise ? sets.idOf(codePointRange(10), false) : -1;
    for (const node of trees.flatMap((tree) => [...nodesIn(tree)])) {
      if (node.kind === "set") sets.idOf(node.set, false);
      if (node.kind === "wordBoundary") sets.idOf(node.word, false);
    }
    const bodies = looks.map(({ body }) => buildNfa(body, sets, true));
    const { classes, membership } = divideIntoClasses(sets.characters);
    const symbolSets = membership.map((row, set) => Uint8Array.from([...row, sets.holdsEdge[set] ? 1 : 0]));
    this.classes = classes;
    this.setOfClass = setsOfClasses(classes);
    this.lineEnd = membership[lineEndSet]?.indexOf(1) ?? -1;
    this.backward = readBackwards(bodies, symbolSets, this.lineEnd);
    const { stateCount, groupCount, isTrue } = this.backward;
    this.states = Array.from({ length: stateCount }, (_, state) => state);
    const truths = this.states.map((state) =>
      isTrue.slice(state * groupCount, (state + 1) * groupCount).join(),
    );
    this.meaningOf = saysStates ? this.states : truths.map((truth) => truths.indexOf(truth));
    this.meanings = this.setOfClass.map((_, c) => [
      ...new Set(this.states.map((state) => this.meaningOf[this.stateBefore(c, state)]!)),
    ]);
    if (this.meanings.some(({ length }) => length > meaningCountMax))
      throw new BeyondAutomaton("it looks ahead for too many things at once");
    this.spoken = this.meanings.map(({ length }, c) =>
      rangesOfLengths.map((range) =>
        length === 1 ? undefined : firstOf(intersectionOf(this.setOfClass[c]!, range), length),
      ),
    );
    this.setsOfMeanings = this.meanings.map(({ length }, c) =>
      length === 1
        ? [this.setOfClass[c]!]
        : Array.from({ length }, (_, k) => setOf(this.spoken[c]!.flatMap((points) => points?.[k] ?? []))),
    );
    this.sets = [...this.setOfClass, ...this.setsOfMeanings.flat()];
    const shortened = new Map<Node, Node>(looks.map((look, i) => [look, this.shortLook(look, i)]));
    this.trees = trees.map((tree) => withOthers(tree, shortened));
  }

  /** The look at the next character of a shadow; what it asks may depend on the one before. */
  private shortLook(look: Look, index: number): Node {
    const { groupCount, groupOf } = this.backward;
    const options = Array.from({ length: groupCount }, (_, group): Node => {
      const ahead: Node = {
        ...look,
        negated: false,
        body: { kind: "choice", options: this.askedOf(index, group) },
      };
      if (groupCount === 1) return ahead;
      const before: Node[] = [setNode(unionOf(this.setOfClass.filter((_, c) => groupOf[c] === group)))];
      if (groupOf.at(-1) === group) before.push({ kind: "start" });
      const behind: Node = { ...ahead, behind: true, body: { kind: "choice", options: before } };
      return { kind: "sequence", items: [behind, ahead] };
    });
    return { ...look, body: { kind: "choice", options } };
  }

  private askedOf(look: number, group: number): Node[] {
    const { isTrue, groupCount } = this.backward;
    const holds = (state: number) => isTrue[state * groupCount + group]![look]!;
    const sets = this.setsOfMeanings.flatMap((some, c) =>
      some.filter((_, k) => holds(this.meanings[c]![k]!)),
    );
    return [setNode(unionOf(sets)), ...(holds(0) ? [{ kind: "end" } as const] : [])];
  }

  private stateBefore(c: number, behind: number): number {
    return this.backward.next[behind * this.backward.symbolCount + c]!;
  }

  private isQuiet(c: number): boolean {
    return this.states.every((state) => this.stateBefore(c, state) === this.stateBefore(c, 0));
  }

  /** The class of each class of an automaton of shadows, and its meaning: -1 for a character that is in no shadow. */
  private meaningsIn({
    classCount,
    runStarts,
    runClasses,
  }: CharacterClasses): { c: number; meaning: number }[] {
    return Array.from({ length: classCount }, (_, symbol) => {
      const point = runStarts[runClasses.indexOf(symbol)]!;
      const c = classAt(this.classes, point);
      const meanings = this.meanings[c]!;
      const k = Math.max(...this.spoken[c]!.map((points) => points?.indexOf(point) ?? -1));
      return { c, meaning: meanings[meanings.length === 1 ? 0 : k] ?? -1 };
    });
  }

  /** What may follow in shadows, in the symbols of an automaton with these classes. */
  symbolsFor(classes: CharacterClasses): PossibleSymbols {
    const meant = this.meaningsIn(classes);
    // For each symbol the moves, from the state before it to one behind it.
    const moves = meant.map(({ c, meaning }) =>
      this.states.flatMap((behind) => {
        const before = this.stateBefore(c, behind);
        const isSaid = this.meanings[c]!.length === 1 || this.meaningOf[before] === meaning;
        return isSaid ? [{ before, behind }] : [];
      }),
    );
    const forgets = meant.map(({ c }) => c === this.lineEnd);
    return possibleSymbols(this.states, moves, forgets);
  }

  tablesFor(classes: CharacterClasses): ShadowTables {
    const { states, spoken, meanings } = this;
    const meant = this.meaningsIn(classes);
    const replacements = [0, 0, 0, 0];
    const numberOf = spoken.map((byLength, c) =>
      meanings[c]!.map((_, k) => {
        if (meanings[c]!.length === 1) return 0;
        replacements.push(...byLength.map((points) => packed(points?.[k])));
        return replacements.length / 4 - 1;
      }),
    );
    const steps = new Uint32Array(states.length << 8);
    const quiet = new Uint16Array(256);
    columnsOf(classes).forEach((symbol, column) => {
      const { c } = meant[symbol]!;
      quiet[column] = this.isQuiet(c) ? this.stateBefore(c, 0) : notQuiet;
      for (const state of states) {
        const before = this.stateBefore(c, state);
        const k = meanings[c]!.indexOf(this.meaningOf[before]!);
        const stands = column < firstClassColumn ? (spoken[c]![0]?.[k] ?? column) : numberOf[c]![k]!;
        steps[(state << 8) | column] = (before << 16) | stands;
      }
    });
    const live = this.setOfClass.filter((_, c) => !this.isQuiet(c));
    return { steps, replacements: Uint32Array.from(replacements), quiet, live: liveRows(unionOf(live)) };
  }

  /** Whether the looks come to the same where a text ends and the next one begins, wherever this automaton may cut. */
  isFreeOf(automaton: Automaton): boolean {
    const meant = this.meaningsIn(automaton.classes);
    return cutPairs(automaton).every(([last, symbol]) => {
      const before = meant[last]!.c;
      const behind = meant[symbol]!.c;
      return this.states.every(
        (state) => this.stateBefore(before, this.stateBefore(behind, state)) === this.stateBefore(before, 0),
      );
    });
  }
}

const setNode = (set: CodePointSet): Node => ({ kind: "set", set, text: null });

export const classAt = ({ runStarts, runClasses }: CharacterClasses, point: number) =>
  runClasses[runStarts.findLastIndex((start) => start <= point)]!;

export function setsOfClasses({ classCount, runStarts, runClasses }: CharacterClasses): CodePointSet[] {
  const ranges: number[][] = Array.from({ length: classCount }, () => []);
  for (const [run, start] of runStarts.entries())
    ranges[runClasses[run]!]!.push(start, (runStarts[run + 1] ?? lastCodePoint + 1) - 1);
  return ranges;
}

/** The first characters of a set; undefined for none at all. */
function firstOf(set: CodePointSet, count: number): number[] | undefined {
  const points: number[] = [];
  for (let i = 0; i < set.length; i += 2)
    for (let point = set[i]!; point <= set[i + 1]! && points.length < count; point++) points.push(point);
  if (points.length > 0 && points.length < count)
    throw new BeyondAutomaton("it looks ahead from a class of too few characters");
  return points.length === 0 ? undefined : points;
}

/**
 * What is possible at a position is a set of states of the backward automaton there. Behind a line's end (`forgets`) everything
 * is; and so it is behind an invalid byte, before which a text ends.
 */
function possibleSymbols(
  states: readonly number[],
  moves: readonly (readonly { before: number; behind: number }[])[],
  forgets: readonly boolean[],
): PossibleSymbols {
  const possible: (readonly number[])[] = [states];
  const ids = new Map([[states.join(), 0]]);
  const next: number[] = [];
  for (let id = 0; id < possible.length; id++) {
    if (id > 300) throw new BeyondAutomaton("what it looks ahead for has too many states");
    moves.forEach((some, symbol) => {
      const before = new Set(possible[id]!);
      const behind = [
        ...new Set(some.flatMap((move) => (before.has(move.before) ? [move.behind] : []))),
      ].sort((a, b) => a - b);
      const key = behind.join();
      if (behind.length > 0 && !forgets[symbol] && !ids.has(key)) ids.set(key, possible.push(behind) - 1);
      next.push(behind.length === 0 ? -1 : forgets[symbol] ? 0 : ids.get(key)!);
    });
    const atEnd = possible[id]!.includes(0) ? 0 : -1;
    next.push(atEnd, atEnd);
  }
  return { count: possible.length, next: Int32Array.from(next) };
}

/** The pairs of classes that an automaton may cut between. */
function cutPairs({
  stateCount,
  symbolCount,
  nextStates,
  actions,
  actionList,
}: Automaton): [number, number][] {
  const classCount = symbolCount - 2;
  const lastSymbols = Array.from({ length: stateCount }, () => new Set<number>());
  const pairs = new Map<number, [number, number]>();
  for (let state = 0; state < stateCount; state++)
    for (let c = 0; c < classCount; c++) lastSymbols[nextStates[state * symbolCount + c]!]?.add(c);
  for (let state = 0; state < stateCount; state++) {
    for (let c = 0; c < classCount; c++) {
      const { writes } = actionList[actions[state * symbolCount + c]!]!;
      if (!writes.some(({ from }) => from === here)) continue;
      for (const last of lastSymbols[state]!) pairs.set(last * symbolCount + c, [last, c]);
    }
  }
  return [...pairs.values()];
}

/** The class of each column of characters. */
export function columnsOf(classes: CharacterClasses): number[] {
  const ascii = Array.from({ length: firstClassColumn }, (_, point) => classAt(classes, point));
  return [...ascii, ...Array(classes.classCount).keys()];
}

/** The bytes of a character, the first one lowest. */
export function packed(point: number | undefined): number {
  if (point === undefined) return 0;
  return (
    new TextEncoder()
      .encode(String.fromCodePoint(point))
      .reduce((word, byte, i) => word | (byte << (8 * i)), 0) >>> 0
  );
}

const firstBytes = [0, 0xc0, 0xe0, 0xf0];

/** Rows of bytes with the same upper half: equal rows share a bit, and from the eighth on all do. */
export function liveRows(set: CodePointSet): Uint8Array {
  const isLive = new Uint8Array(256);
  rangesOfLengths.forEach((range, i) => {
    const members = intersectionOf(set, range);
    const leadOf = (point: number) => firstBytes[i]! | (point >> (6 * i));
    for (let r = 0; r < members.length; r += 2)
      isLive.fill(1, leadOf(members[r]!), leadOf(members[r + 1]!) + 1);
  });
  const live = new Uint8Array(32);
  const bits = new Map<string, number>();
  for (let high = 0; high < 16; high++) {
    const row = isLive.subarray(high << 4, (high + 1) << 4);
    if (!row.includes(1)) continue;
    const key = row.join();
    const bit = bits.get(key) ?? 1 << Math.min(7, bits.size);
    bits.set(key, bit);
    live[16 + high]! |= bit;
    for (let low = 0; low < 16; low++) live[low]! |= row[low]! * bit;
  }
  return live;
}

/** The tree with some nodes replaced. */
function withOthers(node: Node, others: ReadonlyMap<Node, Node>): Node {
  return others.get(node) ?? mapInner(node, (inner) => withOthers(inner, others));
}

/**
 * The shadow of [start, end): the twin of the kernel's writer. `endState` is the state at `end`: 0 where the text ends
 * there.
 */
export function shadowOf(
  { columnBlocks, columns, shadow }: ScanTables & { readonly shadow: ShadowTables },
  bytes: Uint8Array,
  start: number,
  end: number,
  endState = 0,
): Uint8Array {
  // The slice of a Buffer is no copy.
  const written = new Uint8Array(bytes.subarray(start, end));
  const found: { pos: number; column: number; length: number }[] = [];
  for (let pos = start, length = 1; pos < end; pos += length) {
    const at = bytes[pos]! < 0x80 ? bytes[pos]! | (1 << 8) : columnAt(bytes, pos, end, columnBlocks, columns);
    length = at >> 8;
    found.push({ pos: pos - start, column: at & 255, length });
  }
  let state = endState;
  for (const { pos, column, length } of found.reverse()) {
    if (shadow.quiet[column] !== notQuiet) {
      state = shadow.quiet[column]!;
      continue;
    }
    const step = shadow.steps[(state << 8) | column]!;
    state = step >>> 16;
    if (length === 1) written[pos] = step;
    else if ((step & 0xffff) > 0) {
      const packedBytes = shadow.replacements[((step & 0xffff) << 2) | (length - 1)]!;
      for (let i = 0; i < length; i++) written[pos + i] = packedBytes >>> (8 * i);
    }
  }
  return written;
}
