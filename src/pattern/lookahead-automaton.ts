import {
  type Action,
  type Automaton,
  BeyondAutomaton,
  type CharacterClasses,
  CompileSteps,
  divideIntoClasses,
  exploreSituations,
  fuseAutomata,
  here,
  Numbering,
  Unusable,
} from "./automaton.ts";
import { buildScanTables } from "./build-scan-tables.ts";
import { notQuiet, type PatternTables } from "./compiled-pattern.ts";
import { buildAutomata, buildLookAutomaton } from "./determinize.ts";
import { buildNfa, type Nfa, nfaOp, SymbolSets } from "./nfa.ts";
import type { Split } from "./parse-pattern.ts";
import { firstClassColumn } from "./scan-tables.ts";
import * as unicode from "./unicode.ts";

/*
 * Compiles a split with unbounded look-ahead, such as a+b|a, to a bimachine: two passes in opposite directions, as in
 * Frisch and Cardelli, "Greedy regular expression matching", ICALP 2004 (README.md). The first pass, from right to
 * left, computes for each position which instructions of the pattern lead to a match from there. In the second pass,
 * from left to right, a single thread follows the pattern. At a fork it takes the preferred branch among those that
 * lead to a match, so it never has to backtrack.
 *
 * The second pass reads the annotated text. Each of its symbols encodes the class of a character, and what matters of
 * the state that the first pass has after the character. Symbols that no state distinguishes are merged.
 */

/** A state of the second pass. */
type Situation = {
  /** The instruction after the last character. `gap`: no match covers that character. `none`: no pretoken is open. */
  readonly thread: number;
  /** The group of the previous symbol (see `Backward`). */
  readonly before: number;
  readonly breakBefore: "none" | "invalid byte" | "line";
};

const none = -1;
const gap = -2;
const symbolCountMax = 4000;
const noAction: Action = { commitCount: 0, writes: [] };
const endsHere: Action = { commitCount: 1, writes: [{ slot: 0, from: here }] };

/**
 * Builds a lookahead automaton for the first split, and fuses it with plain automata for the other splits. Throws
 * BeyondAutomaton and Unusable (automaton.ts).
 */
export function buildLookaheadAutomaton(splits: readonly Split[], steps = new CompileSteps()): PatternTables {
  return buildBimachine(splits, steps, (program, { backward, pairs, classes, lineEnd }) =>
    exploreSingleThread(program.startInstruction, classes, pairs, backward, lineEnd, steps),
  );
}

/**
 * Like `buildLookaheadAutomaton`, for a split in which only some alternatives look far ahead. Besides a class, a symbol
 * encodes only whether these alternatives lead to a match, so most characters are unchanged. For example, to group
 * digits from the right, only digits are annotated.
 */
export function buildPartialLookaheadAutomaton(
  splits: readonly Split[],
  steps = new CompileSteps(),
): PatternTables {
  return buildBimachine(
    splits,
    steps,
    (program, { backward, pairs, classes, lineEnd, symbolSets, roots }) => {
      const edge = backward.symbolCount - 1;
      const ofPairs = (valueAt: (symbol: number, after: number) => number, atEdge: number) =>
        Uint8Array.from([...pairs.map(({ c, after }) => valueAt(c, after)), 0, atEdge]);
      const holds = roots.map((root) => {
        const value = (symbol: number, after: number) => backward.holds(root, symbol, after);
        return [root, ofPairs(value, value(edge, -1))] as const;
      });
      const sets = symbolSets.map((row) => ofPairs((symbol) => row[symbol]!, row[edge]!));
      const lineEndPair = lineEnd < 0 ? -1 : pairs.findIndex(({ c }) => c === lineEnd);
      const threadProgram = {
        program,
        symbolSets: sets,
        symbolCount: pairs.length + 2,
        holds: new Map(holds),
      };
      return buildLookAutomaton(classes, lineEndPair, threadProgram, steps);
    },
    partsWithLooks,
  );
}

type Part = { readonly program: Nfa; readonly roots: readonly number[] };

/**
 * Finds the instructions that lead to a match only by a long lookaround (`roots`), and the part of the program that can
 * be reached from them. Throws BeyondAutomaton if that part has a look-behind, or if the program has an atomic group.
 */
function partsWithLooks(program: Nfa): Part {
  const { ops, first, second } = program;
  const isLook = (i: number) => ops[i] === nfaOp.look || ops[i] === nfaOp.lookNot;
  const onlyByLook = ops.map((op) => op !== nfaOp.match);
  for (let changed = true; changed; ) {
    changed = false;
    ops.forEach((op, i) => {
      if (!onlyByLook[i] || isLook(i)) return;
      if (onlyByLook[second[i]!] && (op !== nfaOp.fork || onlyByLook[first[i]!])) return;
      onlyByLook[i] = false;
      changed = true;
    });
  }
  const roots = ops.flatMap((_, i) => (onlyByLook[i] ? [i] : []));
  const isInPart = new Set<number>();
  const pending = [...roots];
  for (let i = pending.pop(); i !== undefined; i = pending.pop()) {
    if (isInPart.has(i)) continue;
    isInPart.add(i);
    const op = ops[i]!;
    if (op === nfaOp.lookbehind) throw new BeyondAutomaton("one of its look-aheads contains a look-behind");
    if (op === nfaOp.match) continue;
    if (op === nfaOp.fork || isLook(i)) pending.push(first[i]!);
    pending.push(second[i]!);
  }
  if (ops.includes(nfaOp.atomic)) throw new BeyondAutomaton("it never backtracks");
  return { program: { ...program, ops: ops.map((op, i) => (isInPart.has(i) ? op : nfaOp.match)) }, roots };
}

/** The input for building the second pass. */
type ForwardInput = {
  readonly backward: Backward;
  readonly pairs: readonly Pair[];
  readonly classes: CharacterClasses;
  readonly lineEnd: number;
  readonly symbolSets: readonly Uint8Array[];
  /**
   * A symbol encodes which of these instructions lead to a match. The list is empty if the first pass is for the whole
   * program.
   */
  readonly roots: readonly number[];
};

/**
 * Builds both passes: the first one for the program of the first split, or for the part of it that `partOf` selects,
 * and the second one by `buildForward`.
 */
function buildBimachine(
  [split, ...rest]: readonly Split[],
  steps: CompileSteps,
  buildForward: (program: Nfa, input: ForwardInput) => Automaton,
  partOf?: (program: Nfa) => Part,
): PatternTables {
  const { tree, isLinewise } = split!;
  const sets = new SymbolSets();
  const lineEndSet = isLinewise ? sets.idOf({ set: unicode.codePointRange(10), edge: false }) : -1;
  const program = buildNfa(tree, sets, true);
  const others = buildAutomata(rest, sets, steps);
  const { classes, membership } = divideIntoClasses(
    sets.items.map(({ set }) => set),
    steps,
  );
  const symbolSets = membership.map((row, set) => Uint8Array.from([...row, sets.items[set]!.edge ? 1 : 0]));
  const lineEnd = membership[lineEndSet]?.indexOf(1) ?? -1;
  const part = partOf?.(program);
  const backward = readBackwards(part?.program ?? program, symbolSets, lineEnd, steps);
  const valuesAt = (c: number, after: number) =>
    part?.roots.map((root) => backward.holds(root, c, after)).join("") ?? backward.relevantValues(c, after);
  const alphabet = new Numbering<Pair>(({ c, after }) => `${c} ${valuesAt(c, after)}`);
  const pairOf = Array.from({ length: backward.stateCount }, (_, state) =>
    Array.from({ length: classes.classCount }, (_, c) =>
      alphabet.idOf({ c, after: c === lineEnd ? 0 : state }),
    ),
  );
  const pairs = alphabet.items;
  if (pairs.length > symbolCountMax) throw new BeyondAutomaton("its look-aheads are too complex together");
  const exact = buildForward(program, {
    backward,
    pairs,
    classes,
    lineEnd,
    symbolSets,
    roots: part?.roots ?? [],
  });
  const whole = others.reduce(
    (before, other) => fuseAutomata(before, withSymbols(other, pairs), steps),
    exact,
  );
  const { automaton, symbolOf } = withFewerSymbols(whole, steps);
  const symbols = pairOf.map((row) => row.map((pair) => symbolOf[pair]!));
  return encodeSymbols(automaton, classes, symbols, backward, steps);
}

/** A class of characters, and the first pass's state after such a character. */
type Pair = { readonly c: number; readonly after: number };

function exploreSingleThread(
  startInstruction: number,
  classes: CharacterClasses,
  pairs: readonly Pair[],
  { groupOf, wayFrom }: Backward,
  lineEnd: number,
  steps: CompileSteps,
): Automaton {
  const edge = groupOf.length - 1;
  const edgeGroup = groupOf[edge]!;
  const start: Situation = { thread: none, before: edgeGroup, breakBefore: "none" };
  let canMatch = false;
  const automaton = exploreSituations(
    classes,
    pairs.length + 2,
    start,
    ({ thread, before, breakBefore }) => `${thread} ${before} ${breakBefore}`,
    (situation, symbol) => step(situation, pairs[symbol], symbol === pairs.length),
    steps,
  );
  if (!canMatch) throw new Unusable("matches no text at all");
  return automaton;

  /**
   * Advances by one symbol. If `pair` is undefined, the symbol is an invalid byte or the end. Returns undefined if the
   * symbol is impossible in this situation.
   */
  function step({ thread, before, breakBefore }: Situation, pair: Pair | undefined, isInvalid: boolean) {
    let action = thread === none ? noAction : endsHere;
    if (pair === undefined || breakBefore !== "none") {
      const isPossible = thread < 0 || wayFrom(thread, before, edge, -1) === itMatches;
      if (!isPossible) return undefined;
      if (pair === undefined) {
        const next: Situation = { thread: gap, before: edgeGroup, breakBefore: "invalid byte" };
        return { action, next: isInvalid ? next : start };
      }
      before = edgeGroup;
    } else if (thread >= 0) {
      const way = wayFrom(thread, before, pair.c, pair.after);
      if (way === noWay) return undefined;
      if (way !== itMatches) return { action: noAction, next: situationAfter(way, pair) };
    }
    const first = wayFrom(startInstruction, before, pair.c, pair.after);
    if (first === itMatches) throw new Unusable("can match the empty string");
    if (first !== noWay) canMatch = true;
    else if (thread === gap && breakBefore === "none") action = noAction;
    return { action, next: situationAfter(first === noWay ? gap : first, pair) };
  }

  function situationAfter(thread: number, { c }: Pair): Situation {
    return { thread, before: groupOf[c]!, breakBefore: c === lineEnd ? "line" : "none" };
  }
}

/** Turns an automaton that reads classes into one that reads pairs, and ignores the state in each pair. */
function withSymbols(automaton: Automaton, pairs: readonly Pair[]): Automaton {
  const symbols = pairs.map(({ c }) => c);
  symbols.push(automaton.symbolCount - 2, automaton.symbolCount - 1);
  return { ...automaton, symbolCount: symbols.length, ...withColumns(automaton, symbols) };
}

/** Gives an automaton new symbols, each with the entries of one of its old symbols. */
function withColumns(
  { stateCount, symbolCount, nextStates, actions }: Automaton,
  symbols: readonly number[],
) {
  const read = (of: Int32Array) =>
    Int32Array.from({ length: stateCount * symbols.length }, (_, i) => {
      const state = Math.floor(i / symbols.length);
      return of[state * symbolCount + symbols[i % symbols.length]!]!;
    });
  return { nextStates: read(nextStates), actions: read(actions) };
}

/**
 * Merges symbols that have equal entries in every state in which both are possible. `symbolOf` maps old symbols to new
 * ones.
 */
function withFewerSymbols(
  exact: Automaton,
  steps: CompileSteps,
): { automaton: Automaton; symbolOf: readonly number[] } {
  const { stateCount, symbolCount } = exact;
  const [nextStates, actions] = [exact.nextStates.slice(), exact.actions.slice()];
  const rows = Array.from({ length: stateCount }, (_, state) => state * symbolCount);
  const isLike = (a: number, b: number) =>
    nextStates[a]! < 0 ||
    nextStates[b]! < 0 ||
    (nextStates[a] === nextStates[b] && actions[a] === actions[b]);
  const areLike = (a: number, b: number) => {
    const different = rows.findIndex((row) => !isLike(row + a, row + b));
    steps.add(different < 0 ? stateCount : different);
    return different < 0;
  };
  /** The first symbol of each group of merged symbols. It gets the entries of all symbols of its group. */
  const symbols: number[] = [];
  const symbolOf = Array.from({ length: symbolCount - 2 }, (_, symbol) => {
    const like = symbols.findIndex((other) => areLike(symbol, other));
    if (like < 0) return symbols.push(symbol) - 1;
    for (const row of rows) {
      if (nextStates[row + symbol]! < 0) continue;
      nextStates[row + symbols[like]!] = nextStates[row + symbol]!;
      actions[row + symbols[like]!] = actions[row + symbol]!;
    }
    return like;
  });
  symbols.push(symbolCount - 2, symbolCount - 1);
  const ends = exact.actionList.findIndex(({ commitCount }) => commitCount > 0);
  // The entry of an impossible symbol ends a pretoken and continues as at the start of a text, so that it does not
  // prevent safe cuts.
  nextStates.forEach((next, entry) => {
    if (next >= 0) return;
    nextStates[entry] = Math.max(0, nextStates[entry % symbolCount]!);
    actions[entry] = ends;
  });
  const columns = withColumns({ ...exact, nextStates, actions }, symbols);
  return { automaton: { ...exact, symbolCount: symbols.length, ...columns }, symbolOf };
}

/**
 * For each length in UTF-8, from one to four bytes: the code point from which `encodeSymbols` first borrows characters.
 * Of the characters of three and four bytes, the first ones from there on are for private use, and rare.
 */
const rareCodePoints = [0, 0x80, 0xe000, 0xf0000];

/**
 * Encodes symbols as characters of the annotated text. Each has the same length in UTF-8 as the character of the text
 * in whose place it is written. If a class has the same symbol in every state, its characters represent themselves. The
 * characters of all other classes may represent any symbol. If these characters are too few, characters of the classes
 * with only one symbol are borrowed, rare ones first. Where a text contains a borrowed character, another character
 * that represents the symbol of its class replaces it.
 *
 * @param symbols `symbols[state][class]`: the symbol of a character of the class, if the first pass has the state after
 * it
 */
function encodeSymbols(
  automaton: Automaton,
  classes: CharacterClasses,
  symbols: readonly (readonly number[])[],
  backward: Backward,
  steps: CompileSteps,
): PatternTables {
  const setOfClass = setsOfClasses(classes);
  const symbolsOf = setOfClass.map((_, c) => [...new Set(symbols.map((row) => row[c]!))]);
  const plain = symbolsOf.map((some) => (some.length === 1 ? some[0] : undefined));
  const standIns = rangesByLength.map((range, i) => {
    const sets = setOfClass.map((set) => unicode.intersectionOf(set, range));
    return chooseStandIns(sets, symbolsOf, rareCodePoints[i]!);
  });
  const borrowed = new Map(
    standIns.flatMap(({ borrowed }) => [...borrowed].map(([symbol, point]) => [point, symbol])),
  );
  const setsOfSymbols = new Map<number, number[]>();
  for (const [point, symbol] of borrowed)
    setsOfSymbols.set(symbol, [...(setsOfSymbols.get(symbol) ?? []), point]);
  const borrowedSets = [...setsOfSymbols.values()].map((points) =>
    unicode.setOf(points.sort((a, b) => a - b)),
  );
  const all = divideIntoClasses([...setOfClass, ...borrowedSets]).classes;
  const firstPoints = setsOfClasses(all).map((set) => set[0]!);
  const classOf = firstPoints.map((point) => classAt(classes, point));
  const symbolOfClass = firstPoints.map((point, k) => borrowed.get(point) ?? plain[classOf[k]!] ?? 0);
  const encodedSymbols = [...symbolOfClass, automaton.symbolCount - 2, automaton.symbolCount - 1];
  const encodedAutomaton = {
    ...automaton,
    classes: all,
    symbolCount: encodedSymbols.length,
    ...withColumns(automaton, encodedSymbols),
  };
  const tables = buildScanTables(encodedAutomaton, steps);
  const isUnchanged = symbolOfClass.map(
    (_, k) => plain[classOf[k]!] !== undefined && !borrowed.has(firstPoints[k]!),
  );
  const quietStates = setOfClass.map((_, c) => {
    const before = symbols.map((_, state) => backward.next[state * backward.symbolCount + c]!);
    return new Set(before).size === 1 ? before[0]! : notQuiet;
  });
  const isQuiet = (k: number) => isUnchanged[k]! && quietStates[classOf[k]!] !== notQuiet;
  const annotationSteps = new Uint32Array(symbols.length << 8);
  const quiet = new Uint16Array(256);
  columnsOf(all).forEach((k, column) => {
    const c = classOf[k]!;
    const isByte = column < firstClassColumn;
    quiet[column] = isQuiet(k) ? quietStates[c]! : notQuiet;
    symbols.forEach((row, state) => {
      const symbol = row[c]!;
      const other = isByte ? standIns[0]!.characterOf.get(symbol)! : symbol + 1;
      const self = isByte ? column : 0;
      const before = backward.next[state * backward.symbolCount + c]!;
      annotationSteps[(state << 8) | column] = (before << 16) | (isUnchanged[k] ? self : other);
    });
  });
  const replacements = new Uint32Array(automaton.symbolCount << 2);
  standIns.forEach(({ characterOf }, i) => {
    for (const [symbol, point] of characterOf) replacements[((symbol + 1) << 2) | i] = packed(point);
  });
  const live = unicode.unionOf(setsOfClasses(all).filter((_, k) => !isQuiet(k)));
  return { ...tables, annotation: { steps: annotationSteps, replacements, quiet, live: liveRows(live) } };
}

/** The characters that represent symbols. */
type StandIns = {
  /** The code point that represents each symbol. */
  readonly characterOf: ReadonlyMap<number, number>;
  /** The entries of `characterOf` whose character does not represent itself. */
  readonly borrowed: ReadonlyMap<number, number>;
};

/** Chooses characters of one length. Throws BeyondAutomaton if there are fewer characters than symbols. */
function chooseStandIns(
  sets: readonly unicode.CodePointSet[],
  symbolsOf: readonly (readonly number[])[],
  from: number,
): StandIns {
  const characterOf = new Map<number, number>();
  const encoded = new Set<number>();
  const free: unicode.CodePointSet[] = [];
  sets.forEach((set, c) => {
    if (set.length === 0) return;
    const [symbol, ...more] = symbolsOf[c]!;
    if (more.length === 0) characterOf.set(symbol!, characterOf.get(symbol!) ?? set[0]!);
    else {
      free.push(set);
      for (const ownSymbol of symbolsOf[c]!) encoded.add(ownSymbol);
    }
  });
  const all = unicode.unionOf(sets);
  const own = unicode.unionOf(free);
  const others = unicode.intersectionOf(all, unicode.complementOf(own));
  const order = [
    own,
    unicode.intersectionOf(others, unicode.codePointRange(from, unicode.lastCodePoint)),
    others,
  ];
  const points = pointsOf(order, new Set(characterOf.values()));
  const borrowed = new Map<number, number>();
  for (const symbol of encoded) {
    if (characterOf.has(symbol)) continue;
    const { value: point } = points.next();
    if (point === undefined) throw new BeyondAutomaton("its look-aheads are too complex together");
    characterOf.set(symbol, point);
    borrowed.set(symbol, point);
  }
  return { characterOf, borrowed };
}

/** Yields the characters of the sets, each once, except those in `taken`. */
function* pointsOf(sets: readonly unicode.CodePointSet[], taken: Set<number>): Generator<number, undefined> {
  for (const set of sets)
    for (let i = 0; i < set.length; i += 2)
      for (let point = set[i]!; point <= set[i + 1]!; point++) {
        if (taken.has(point)) continue;
        taken.add(point);
        yield point;
      }
}

/** The characters whose UTF-8 has one, two, three and four bytes. */
const rangesByLength = [
  unicode.codePointRange(0, 0x7f),
  unicode.codePointRange(0x80, 0x7ff),
  [0x800, 0xd7ff, 0xe000, 0xffff],
  unicode.codePointRange(0x10000, 0x10ffff),
];

const classAt = ({ runStarts, runClasses }: CharacterClasses, point: number) =>
  runClasses[runStarts.findLastIndex((start) => start <= point)]!;

function setsOfClasses({ classCount, runStarts, runClasses }: CharacterClasses): unicode.CodePointSet[] {
  const ranges: number[][] = Array.from({ length: classCount }, () => []);
  for (const [run, start] of runStarts.entries())
    ranges[runClasses[run]!]!.push(start, (runStarts[run + 1] ?? unicode.lastCodePoint + 1) - 1);
  return ranges;
}

/** Returns the class of each column of a table. */
function columnsOf(classes: CharacterClasses): number[] {
  const ascii = Array.from({ length: firstClassColumn }, (_, point) => classAt(classes, point));
  return [...ascii, ...Array(classes.classCount).keys()];
}

/** Returns the bytes of a character in one number, the first byte lowest. */
function packed(point: number | undefined): number {
  if (point === undefined) return 0;
  return (
    new TextEncoder()
      .encode(String.fromCodePoint(point))
      .reduce((word, byte, i) => word | (byte << (8 * i)), 0) >>> 0
  );
}

const firstBytes = [0, 0xc0, 0xe0, 0xf0];

/**
 * Builds the table `live`, which marks the bytes that may begin a character of the set. A row has the 16 bytes with the
 * same upper half. Equal rows share a bit, and all distinct rows from the eighth on share the last bit.
 */
function liveRows(set: unicode.CodePointSet): Uint8Array {
  const isLive = new Uint8Array(256);
  rangesByLength.forEach((range, i) => {
    const members = unicode.intersectionOf(set, range);
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

/**
 * The automaton of the first pass, which reads from right to left. At each position, each instruction has a value: 1 if
 * some path from it matches, else 0. Inside an atomic group, the value is 0 if no path leaves the group. If paths leave
 * it, the value is 1 more than that of the instruction at which the *first* of these paths arrives. A value depends on
 * the character at the position, on the previous one (look-behinds of one character), and on the values at the next
 * position. So one pass from the right finds all values, and the vectors of values, which are finitely many, are the
 * states of an automaton. A state has the values of the instructions that follow a character, once for each group of
 * symbols that may precede the position.
 *
 *   FIELD       LENGTH                       MEANING
 *   next        stateCount * symbolCount     the state before a symbol, by the state after it and the symbol
 *   groupOf     symbolCount                  the group of a symbol: look-behinds do not distinguish its members
 *
 * Symbols are character classes, then the edge of the text. State 0 is the state at the end of a text.
 */
type Backward = {
  readonly symbolCount: number;
  readonly stateCount: number;
  readonly next: Int32Array;
  readonly groupOf: readonly number[];
  /** Returns the values in the state `after` that decide what the symbol leads to, as a key. */
  readonly relevantValues: (symbol: number, after: number) => string;
  /**
   * Follows the first matching path from an instruction, with the group `before` of the previous symbol. Returns the
   * instruction after the character that the path consumes, `itMatches` if the path consumes none, or `noWay` if there
   * is no such path. `after` is the first pass's state after the symbol; -1 if the text ends there.
   */
  readonly wayFrom: (instruction: number, before: number, symbol: number, after: number) => number;
  /** Returns 1 if an instruction leads to a match, else 0. The instruction must not depend on look-behinds. */
  readonly holds: (instruction: number, symbol: number, after: number) => number;
};

const itMatches = -1;
const noWay = -2;

const stateCountMax = 4000;
/** The maximum number of instructions that are evaluated, which take some tenths of a second. */
const evaluationCountMax = 1 << 24;

/**
 * Builds the first pass. `symbolSets[set][symbol]` is 1 if the set contains the symbol. A text ends after a character
 * of the class `lineEnd`, if that is not -1. Throws BeyondAutomaton if the pass needs too many states or steps.
 */
function readBackwards(
  program: Nfa,
  symbolSets: readonly Uint8Array[],
  lineEnd: number,
  steps: CompileSteps,
): Backward {
  const symbolCount = symbolSets[0]!.length;
  const { groupOf, memberOf } = groupsOf(program, symbolSets, symbolCount);
  const reader = new BackwardReader(program, symbolSets, groupOf, memberOf, steps);
  const states = new Numbering<readonly number[]>((vector) => vector.join());
  states.idOf(reader.stateBefore(undefined, symbolCount - 1));
  const next: number[] = [];
  for (let state = 0; state < states.items.length; state++) {
    if (state === stateCountMax) throw new BeyondAutomaton("its look-aheads have too many states");
    for (let symbol = 0; symbol < symbolCount; symbol++)
      next.push(states.idOf(reader.stateBefore(states.items[symbol === lineEnd ? 0 : state], symbol)));
  }
  return {
    symbolCount,
    stateCount: states.items.length,
    next: Int32Array.from(next),
    groupOf,
    relevantValues: (symbol, after) => reader.relevantValues(symbol, states.items[after]!),
    wayFrom: (instruction, before, symbol, after) =>
      reader.wayFrom(instruction, memberOf[before]!, symbol, states.items[after]),
    holds: (instruction, symbol, after) =>
      reader.wayFrom(instruction, memberOf[0]!, symbol, states.items[after]) === noWay ? 0 : 1,
  };
}

class BackwardReader {
  /** The instructions that follow a character. Only their values at the next position matter. */
  private readonly targets: readonly number[];
  private readonly targetIds: ReadonlyMap<number, number>;
  private readonly values: Int32Array;
  private evaluationCount = 0;
  /** For each symbol, the ids of the targets that it leads to. */
  private readonly seen: number[][] = [];

  constructor(
    private readonly program: Nfa,
    private readonly symbolSets: readonly Uint8Array[],
    private readonly groupOf: readonly number[],
    private readonly memberOf: readonly number[],
    private readonly steps: CompileSteps,
  ) {
    const { ops, second } = program;
    this.targets = [...new Set(ops.flatMap((op, i) => (op === nfaOp.take ? [second[i]!] : [])))];
    this.targetIds = new Map(this.targets.map((target, id) => [target, id]));
    this.values = new Int32Array(ops.length);
  }

  /** Returns the state before a symbol, given the state after it, which is undefined if the text ends there. */
  stateBefore(after: readonly number[] | undefined, symbol: number): number[] {
    const valuesAfter = after?.slice(this.groupOf[symbol]! * this.targets.length);
    return this.memberOf.flatMap((before) => {
      this.forget();
      return this.targets.map((instruction) => this.evaluate(instruction, before, symbol, valuesAfter));
    });
  }

  relevantValues(symbol: number, after: readonly number[]): string {
    this.seen[symbol] ??= this.targetsOf(symbol);
    const values = this.groupOf[symbol]! * this.targets.length;
    this.steps.add(this.seen[symbol].length);
    return this.seen[symbol].map((id) => after[values + id]).join("");
  }

  private targetsOf(symbol: number): number[] {
    const { ops, first, second } = this.program;
    const takes = (i: number) => ops[i] === nfaOp.take && this.symbolSets[first[i]!]![symbol] === 1;
    const ids = new Set(ops.flatMap((_, i) => (takes(i) ? [this.targetIds.get(second[i]!)!] : [])));
    return [...ids].sort((a, b) => a - b);
  }

  wayFrom(start: number, before: number, symbol: number, after: readonly number[] | undefined): number {
    const { ops, first, second } = this.program;
    const valuesAfter = after?.slice(this.groupOf[symbol]! * this.targets.length);
    const value = (instruction: number) => this.evaluate(instruction, before, symbol, valuesAfter);
    this.forget();
    if (value(start) === 0) return noWay;
    for (let i = start; ; ) {
      const op = ops[i]!;
      if (op === nfaOp.match) return itMatches;
      const isFirst = op === nfaOp.fork && value(first[i]!) > 0;
      i = isFirst ? first[i]! : second[i]!;
      if (op === nfaOp.take) return i;
    }
  }

  private forget(): void {
    this.values.fill(-1);
    this.steps.add(this.values.length >> 4);
  }

  /** Returns the value of an instruction at a position between two symbols. */
  private evaluate(i: number, before: number, symbol: number, after: readonly number[] | undefined): number {
    this.steps.add(1);
    if (++this.evaluationCount > evaluationCountMax)
      throw new BeyondAutomaton("its look-aheads take too long to compile");
    if (this.values[i]! >= 0) return this.values[i]!;
    const { program, symbolSets } = this;
    const a = program.first[i]!;
    const b = program.second[i]!;
    const on = (instruction: number) => this.evaluate(instruction, before, symbol, after);
    let value = 0;
    switch (program.ops[i]!) {
      case nfaOp.take:
        if (after !== undefined && symbolSets[a]![symbol] === 1) value = after[this.targetIds.get(b)!]!;
        break;
      case nfaOp.fork:
        value = on(a) || on(b);
        break;
      case nfaOp.lookahead:
        if (symbolSets[a]![symbol] === 1) value = on(b);
        break;
      case nfaOp.lookbehind:
        if (symbolSets[a]![before] === 1) value = on(b);
        break;
      case nfaOp.look:
        if (on(a) > 0) value = on(b);
        break;
      case nfaOp.lookNot:
        if (on(a) === 0) value = on(b);
        break;
      case nfaOp.atomic:
        value = Math.max(0, on(b) - 1);
        break;
      case nfaOp.leave:
        value = 1 + on(b);
        break;
      case nfaOp.match:
        value = 1;
        break;
    }
    this.values[i] = value;
    return value;
  }
}

/** Groups the symbols that no look-behind of one character distinguishes. `memberOf` has one member of each group. */
function groupsOf(
  { ops, first }: Nfa,
  symbolSets: readonly Uint8Array[],
  symbolCount: number,
): { groupOf: number[]; memberOf: number[] } {
  const left = [...new Set(ops.flatMap((op, i) => (op === nfaOp.lookbehind ? [first[i]!] : [])))];
  const groups = new Numbering<number>((symbol) => left.map((set) => symbolSets[set]![symbol]).join(""));
  const groupOf = Array.from({ length: symbolCount }, (_, symbol) => groups.idOf(symbol));
  return { groupOf, memberOf: groups.items };
}
