import {
  type Action,
  type Automaton,
  BeyondAutomaton,
  type CharacterClasses,
  CompileSteps,
  divideIntoClasses,
  exploreSituations,
  here,
  Numbering,
  type SlotWrite,
  Unusable,
} from "./automaton.ts";
import { buildNfa, type Nfa, nfaOp, SymbolSets } from "./nfa.ts";
import type { Split } from "./parse-pattern.ts";
import * as unicode from "./unicode.ts";

/** A state of the automaton: everything that matters about the text before a position. */
type Situation = {
  readonly levels: readonly Level[];
  /** The id, in the ThreadTable, of the set of threads of a run (an attempt to match) that begins at the position. */
  readonly startSet: number;
  /**
   * "invalid byte": the last byte was a pretoken by itself. "line": lines are documents, and a line ended after the
   * last symbol.
   */
  readonly breakBefore: "none" | "invalid byte" | "line";
};

/**
 * Builds an automaton for each split. All have the same classes, which distinguish the sets in `sets` and those of the
 * splits. Throws BeyondAutomaton and Unusable.
 */
export function buildAutomata(
  splits: readonly Split[],
  sets = new SymbolSets(),
  steps = new CompileSteps(),
): Automaton[] {
  const programs = splits.map(({ tree }) => buildNfa(tree, sets));
  // If lines are documents, the line feed is a class of its own.
  const newline = splits[0]?.isLinewise ? sets.idOf({ set: unicode.codePointRange(10), edge: false }) : -1;
  const { classes, membership } = divideIntoClasses(
    sets.items.map(({ set }) => set),
    steps,
  );
  const symbolCount = classes.classCount + 2;
  const symbolSets = membership.map((members, set) =>
    Uint8Array.from([...members, 0, sets.items[set]!.edge ? 1 : 0]),
  );
  const lineEnd = membership[newline]?.indexOf(1) ?? -1;
  return programs.map((program) =>
    explore(classes, lineEnd, buildThreadTable({ program, symbolSets, symbolCount }, steps), steps),
  );
}

/**
 * Builds the automaton of a program with long lookarounds. Its symbols encode whether the instructions of
 * `threadProgram.holds` lead to a match. Throws BeyondAutomaton and Unusable.
 */
export function buildLookAutomaton(
  classes: CharacterClasses,
  lineEnd: number,
  threadProgram: ThreadProgram,
  steps: CompileSteps,
): Automaton {
  return explore(classes, lineEnd, buildThreadTable(threadProgram, steps), steps);
}

/** Returns the automaton of one split. */
function explore(
  classes: CharacterClasses,
  lineEnd: number,
  threads: ThreadTable,
  steps: CompileSteps,
): Automaton {
  const { symbolCount } = threads;
  const invalid = symbolCount - 2;
  const end = symbolCount - 1;
  const textStartSet = threads.startSets[end]!;
  const start: Situation = { levels: freshLevels, startSet: textStartSet, breakBefore: "none" };
  if (!threads.accepts.includes(1)) throw new Unusable("matches no text at all");
  return exploreSituations(classes, symbolCount, start, situationKey, step, steps);

  function step(situation: Situation, symbol: number): { action: Action; next: Situation } {
    const { breakBefore } = situation;
    // Open pretokens end before this symbol if a break precedes it, or if it is `invalid` or `end`.
    const endsHere = breakBefore !== "none" || symbol === invalid || symbol === end;
    let { levels, startSet } = situation;
    let settled: readonly number[] = [];
    if (endsHere) {
      settled = breakBefore === "invalid byte" ? [here] : stepLevels(threads, levels, startSet, end).settled;
      levels = freshLevels;
      startSet = textStartSet;
    }
    if (symbol === end) return { action: actionOf(settled, []), next: start };
    if (symbol === invalid) {
      return {
        action: actionOf(settled, []),
        next: { levels: [], startSet: textStartSet, breakBefore: "invalid byte" },
      };
    }
    const result = stepLevels(threads, levels, startSet, symbol);
    if (!endsHere) settled = result.settled;
    return {
      action: actionOf(settled, result.levels),
      next: {
        levels: result.levels.map((level, slot) => ({ ...level, endSlot: slot })),
        startSet: symbol === lineEnd ? textStartSet : threads.startSets[symbol]!,
        breakBefore: symbol === lineEnd ? "line" : "none",
      },
    };
  }
}

/**
 * Returns the action that stores ends in the order of their pretokens: the settled ends, then the end that each level
 * has found, if it has found one.
 */
function actionOf(settled: readonly number[], levels: readonly Level[]): Action {
  const writes: SlotWrite[] = [];
  settled.forEach((from, slot) => {
    if (from !== slot) writes.push({ slot, from });
  });
  levels.forEach((level, index) => {
    const slot = settled.length + index;
    if (level.accepted !== "not" && level.endSlot !== slot) writes.push({ slot, from: level.endSlot });
  });
  return { commitCount: settled.length, writes };
}

function situationKey({ levels, startSet, breakBefore }: Situation): string {
  let key = `${breakBefore} ${startSet}`;
  for (const { threads, accepted } of levels) key += ` ${threads} ${accepted}`;
  return key;
}

/**
 * Matches one split without backtracking.
 *
 * A backtracking matcher that has found a match may read on for a better one, fail, and return to the first. Here
 * nothing is read again. When a match is found, a second run begins after it, as if the match were final, and both runs
 * read on. If the first run finds a better match, the second is dropped. If the first run dies, its match is settled
 * and the second run becomes the first. Such runs are *levels*: level j + 1 begins at the latest end that level j has
 * found.
 *
 * With the pattern abc|a|b, after "ab": level 0 began at 0, has matched [0, 1), and may still match "abc"; level 1
 * began at 1 and has consumed "b". If "c" follows, level 0 matches [0, 3) and level 1 is dropped; if not, [0, 1) and
 * [1, 2) are settled.
 */
type Level = {
  /** A set of the ThreadTable; `startThreads` if the run has read nothing. */
  readonly threads: number;
  /**
   * "not": no end was found. "gap": the end is one character after the start, and no match covers that character.
   * "match": the pattern matches up to the end.
   */
  readonly accepted: "not" | "gap" | "match";
  /** Where the position of the end is stored: `here` or a slot. Not used if no end was found. */
  readonly endSlot: number;
};

/**
 * Represents the threads of a run that has read nothing. The id of the set of these threads would be ambiguous, because
 * a run may have the same threads again later.
 */
const startThreads = -1;
const levelCountMax = 8;

const freshLevels: readonly Level[] = [{ threads: startThreads, accepted: "not", endSlot: here }];

/**
 * Advances the levels by one symbol. Levels after one that finds a better match, or is certain to find one, are
 * dropped. A run that starts before the symbol has the threads `startSet`. `settled` says where each settled end is
 * stored: in a slot, or `here`, which means the position before the symbol. Throws BeyondAutomaton and Unusable.
 */
function stepLevels(
  table: ThreadTable,
  levels: readonly Level[],
  startSet: number,
  symbol: number,
): { settled: number[]; levels: Level[] } {
  const isEnd = symbol === table.symbolCount - 1;
  const next: Level[] = [];
  for (const level of levels) {
    if (level.threads === startThreads) {
      const fresh = freshLevel(table, startSet, symbol);
      if (!isEnd) next.push(fresh);
      break;
    }
    const entry = level.threads * table.symbolCount + symbol;
    const threads = table.nextSets[entry]!;
    const accepts = table.accepts[entry] === 1;
    // This run is certain to find a better match, so the levels after its earlier match are obsolete.
    if (!isEnd && table.isSure[threads]) {
      next.push({ threads, accepted: "not", endSlot: here });
      break;
    }
    if (accepts || level.accepted === "not") {
      next.push({ threads, accepted: accepts ? "match" : "gap", endSlot: here });
      const fresh = freshLevel(table, startSet, symbol);
      if (!isEnd) next.push(fresh);
      break;
    }
    next.push({ threads, accepted: level.accepted, endSlot: level.endSlot });
  }
  if (next.length > 1) joinGaps(table, next);
  const settled = settle(table, next);
  if (next.length > levelCountMax) {
    throw new BeyondAutomaton("it can look ahead without a limit from several positions at once");
  }
  return { settled, levels: next };
}

function freshLevel(
  { nextSets, accepts, symbolCount }: ThreadTable,
  startSet: number,
  symbol: number,
): Level {
  const entry = startSet * symbolCount + symbol;
  if (accepts[entry] === 1) throw new Unusable("can match the empty string");
  return { threads: nextSets[entry]!, accepted: "not", endSlot: here };
}

/**
 * Joins adjacent gaps, because neighbouring characters that no match covers are one pretoken, as in HF's `Isolated`.
 */
function joinGaps({ isOver }: ThreadTable, levels: Level[]): void {
  for (let index = 0; index + 1 < levels.length; ) {
    const level = levels[index]!;
    const following = levels[index + 1]!;
    const bothAreGaps = level.accepted === "gap" && following.accepted === "gap";
    if (bothAreGaps && isOver[level.threads] && isOver[following.threads]) levels.splice(index, 1);
    else index++;
  }
}

/** Removes levels from the front while their ends are final, and returns these ends. */
function settle(table: ThreadTable, levels: Level[]): number[] {
  const settled: number[] = [];
  for (;;) {
    const front = levels[0];
    if (front === undefined || front.accepted === "not" || !table.isOver[front.threads]) return settled;
    // Adjacent gaps are joined, so a gap ends only where a match is certain to begin.
    const following = levels[1];
    if (front.accepted === "gap" && following !== undefined && !willMatch(table, following)) return settled;
    settled.push(front.endSlot);
    levels.shift();
  }
}

function willMatch({ isSure }: ThreadTable, level: Level): boolean {
  return level.accepted === "match" || (level.accepted === "not" && isSure[level.threads]!);
}

/**
 * ThreadTable: all sets of threads that a run of the pattern can reach, numbered, with their transitions. A thread is
 * an instruction of the Nfa that waits for the next character; a set has the preferred ones first.
 *
 *   ARRAY     TYPE         LENGTH                   MEANING
 *   nextSets  Int32Array   setCount * symbolCount   the set after (set, symbol)
 *   accepts   Uint8Array   setCount * symbolCount   1: the pattern matches up to the position before the symbol
 *   isOver    boolean[]    setCount                 no thread is left
 *   isSure    boolean[]    setCount                 the run will match, whatever follows, even if the text ends
 *   startSets Int32Array   symbolCount              the set of a run that begins after the symbol; after END: at the
 *                                                   start of the text
 *
 * A match stops the less preferred threads. The entries of INVALID are never used: all runs end before it.
 */
type ThreadTable = {
  readonly symbolCount: number;
  readonly nextSets: Int32Array;
  readonly accepts: Uint8Array;
  readonly isOver: readonly boolean[];
  readonly isSure: readonly boolean[];
  readonly startSets: Int32Array;
};

const setCountMax = 5000;
/** The maximum number of instructions that are followed, which takes some tenths of a second. */
const followCountMax = 1 << 25;

/**
 * Builds the table. `symbolSets[set][symbol]` is 1 if the program's set contains the symbol. Throws BeyondAutomaton.
 */
function buildThreadTable(threadProgram: ThreadProgram, steps: CompileSteps): ThreadTable {
  const { program: nfa, symbolSets, symbolCount } = threadProgram;
  const invalid = symbolCount - 2;
  const edge = symbolCount - 1;
  const contexts = new Contexts(nfa, symbolSets, edge);
  const threadSets = new Numbering<ThreadSet>(({ context, threads }) =>
    String.fromCharCode(context, ...threads),
  );
  const setAfter = (symbol: number, threads: readonly number[]) =>
    threadSets.idOf({ context: contexts.of(symbol === invalid ? edge : symbol, threads), threads });
  const nextSets: number[] = [];
  const accepts: number[] = [];
  const follower = new Follower(threadProgram, steps);

  const startSets = new Int32Array(symbolCount);
  for (let symbol = edge; symbol >= 0; symbol--) startSets[symbol] = setAfter(symbol, [nfa.startInstruction]);
  for (let set = 0; set < threadSets.items.length; set++) {
    if (set === setCountMax) throw new BeyondAutomaton("its automaton has too many states");
    const { context, threads } = threadSets.items[set]!;
    steps.add(threads.length * symbolCount);
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      const reached: number[] = [];
      const accepted = symbol !== invalid && follower.follow(threads, context, symbol, reached);
      accepts.push(accepted ? 1 : 0);
      nextSets.push(setAfter(symbol, reached));
    }
  }
  const table = { symbolCount, nextSets: Int32Array.from(nextSets), accepts: Uint8Array.from(accepts) };
  return {
    ...table,
    isOver: threadSets.items.map(({ threads }) => threads.length === 0),
    // Except for the start, an instruction of `holds` is reached only by a `take` that is also in `holds`. This `take`
    // was followed only because it leads to a match, so a thread at the instruction is sure to match.
    isSure: findSureSets(
      table,
      threadSets.items.map(({ threads }) =>
        threads.some((i) => i !== nfa.startInstruction && threadProgram.holds?.has(i)),
      ),
      steps,
    ),
    startSets,
  };
}

/** A program, and what threads need to follow it. */
export type ThreadProgram = {
  readonly program: Nfa;
  readonly symbolSets: readonly Uint8Array[];
  readonly symbolCount: number;
  /**
   * Has an entry for each instruction from which every path to a match passes a long lookaround: for each next symbol,
   * 1 if the instruction then leads to a match, else 0.
   */
  readonly holds?: ReadonlyMap<number, Uint8Array>;
};

/** Follows the threads of a program over one symbol at a time. */
class Follower {
  /** For each instruction, the stamp of the last call of `follow` that followed it. */
  private readonly followedAt: Int32Array;
  /** For each instruction, the stamp of the last call of `follow` that reached it by a `take`. */
  private readonly reachedAt: Int32Array;
  /** The number of calls of `follow`. */
  private stamp = 0;
  private followCount = 0;

  constructor(
    private readonly threadProgram: ThreadProgram,
    private readonly steps: CompileSteps,
  ) {
    const { length } = threadProgram.program.ops;
    this.followedAt = new Int32Array(length);
    this.reachedAt = new Int32Array(length);
  }

  /**
   * Appends the threads after `symbol` to `reached`. Returns whether the pattern matches up to the position before the
   * symbol.
   */
  follow(threads: readonly number[], context: number, symbol: number, reached: number[]): boolean {
    this.stamp++;
    const before = this.followCount;
    const accepts = threads.some((thread) => this.followOne(thread, context, symbol, reached));
    this.steps.add(this.followCount - before);
    return accepts;
  }

  /**
   * Follows all paths from an instruction to instructions that take a character. Returns true once a path reaches a
   * match.
   */
  private followOne(instruction: number, context: number, symbol: number, reached: number[]): boolean {
    const { stamp } = this;
    const { program: nfa, symbolSets, holds } = this.threadProgram;
    if (this.followedAt[instruction] === stamp || holds?.get(instruction)?.[symbol] === 0) return false;
    if (++this.followCount > followCountMax)
      throw new BeyondAutomaton("its automaton takes too long to build");
    this.followedAt[instruction] = stamp;
    const a = nfa.first[instruction]!;
    const b = nfa.second[instruction]!;
    switch (nfa.ops[instruction]!) {
      case nfaOp.take:
        if (symbolSets[a]![symbol] === 1 && this.reachedAt[b] !== stamp) {
          this.reachedAt[b] = stamp;
          reached.push(b);
        }
        return false;
      case nfaOp.fork:
        return this.followOne(a, context, symbol, reached) || this.followOne(b, context, symbol, reached);
      case nfaOp.lookahead:
        return symbolSets[a]![symbol] === 1 && this.followOne(b, context, symbol, reached);
      case nfaOp.lookbehind:
        return symbolSets[a]![context] === 1 && this.followOne(b, context, symbol, reached);
      case nfaOp.match:
        return true;
      case nfaOp.look:
      case nfaOp.lookNot:
        // The lookaround leads to a match here: `holds` has decided that already.
        return this.followOne(b, context, symbol, reached);
      default:
        throw new Error("bug: a body of a look in a pattern's program");
    }
  }
}

/**
 * Threads, preferred ones first. `context` is the previous symbol, or one that represents all symbols that the threads
 * do not distinguish from it (`Contexts.of`).
 */
type ThreadSet = { readonly context: number; readonly threads: readonly number[] };

type ThreadEntries = Pick<ThreadTable, "symbolCount" | "nextSets" | "accepts">;

/** Finds how threads depend on the previous symbol. */
class Contexts {
  /** For each instruction, the sets of the look-behinds that are tested before the next character. */
  private readonly setsOf: (readonly number[])[] = [];

  constructor(
    private readonly nfa: Nfa,
    private readonly symbolSets: readonly Uint8Array[],
    private readonly edge: number,
  ) {}

  /** Returns the representative of the symbols that the threads do not distinguish from this one. */
  of(symbol: number, threads: readonly number[]): number {
    const sets = threads.flatMap((thread) => this.setsFrom(thread));
    if (sets.length === 0) return this.edge;
    for (let other = 0; ; other++) {
      if (sets.every((set) => this.symbolSets[set]![other] === this.symbolSets[set]![symbol])) return other;
    }
  }

  private setsFrom(thread: number): readonly number[] {
    const known = this.setsOf[thread];
    if (known !== undefined) return known;
    const { ops, first, second } = this.nfa;
    const sets = new Set<number>();
    const seen = new Set<number>();
    const pending = [thread];
    for (let i = pending.pop(); i !== undefined; i = pending.pop()) {
      if (seen.has(i)) continue;
      seen.add(i);
      const op = ops[i]!;
      if (op === nfaOp.take || op === nfaOp.match) continue;
      if (op === nfaOp.lookbehind) sets.add(first[i]!);
      if (op === nfaOp.fork) pending.push(first[i]!);
      pending.push(second[i]!);
    }
    const found = [...sets];
    this.setsOf[thread] = found;
    return found;
  }
}

/**
 * Finds the largest collection of thread sets in which each set matches at the end of the text, and on every character
 * either matches or leads to a set of the collection. The sets in `areKnown` belong to it without a check.
 */
function findSureSets(
  { symbolCount, nextSets, accepts }: ThreadEntries,
  areKnown: readonly (boolean | undefined)[],
  steps: CompileSteps,
): boolean[] {
  const setCount = nextSets.length / symbolCount;
  const classCount = symbolCount - 2;
  const isSure = Array.from(
    { length: setCount },
    (_, set) => areKnown[set] || accepts[set * symbolCount + symbolCount - 1] === 1,
  );
  for (let changed = true; changed; ) {
    changed = false;
    steps.add(setCount);
    for (let set = 0; set < setCount; set++) {
      if (!isSure[set] || areKnown[set]) continue;
      for (let entry = set * symbolCount; entry < set * symbolCount + classCount; entry++) {
        if (accepts[entry] === 1 || isSure[nextSets[entry]!]) continue;
        isSure[set] = false;
        changed = true;
        break;
      }
    }
  }
  return isSure;
}
