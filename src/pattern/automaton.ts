import { classCountMax } from "./scan-tables.ts";
import * as unicode from "./unicode.ts";

/**
 * The streaming automaton of a sequence of splits, which reads symbols one by one and never backtracks. It keeps
 * pending boundaries in slots: slot 0 has the end of the first pretoken that is not yet settled (final), slot 1 the end
 * of the next one, and so on. A transition on the symbol at offset i
 *   1. writes i into slots (or moves a slot), then
 *   2. commits: the first `commitCount` slots are settled, and slot commitCount becomes slot 0.
 *
 *   ARRAY         LENGTH                     MEANING
 *   nextStates    stateCount * symbolCount   state after (state, symbol); -1: the symbol is impossible there
 *   actions       stateCount * symbolCount   the action of the transition, an index of `actionList`
 *
 * Symbols: the character classes, then INVALID (one byte that is not part of valid UTF-8), then END. While a lookahead
 * automaton is built, its symbols are pairs of a class and a state, instead of classes (lookahead-automaton.ts). A
 * document begins in state 0, and END leads back there.
 */
export type Automaton = {
  readonly classes: CharacterClasses;
  readonly symbolCount: number;
  readonly stateCount: number;
  readonly nextStates: Int32Array;
  readonly actions: Int32Array;
  readonly actionList: readonly Action[];
};

export type Action = { readonly commitCount: number; readonly writes: readonly SlotWrite[] };
/**
 * Writes a position into `slot`. `from` is `here` (the position of the symbol), or the slot whose position is copied.
 * Slots are numbered as before the commits.
 */
export type SlotWrite = { readonly slot: number; readonly from: number };
export const here = -1;

/** Returns a key of an action; equal actions have equal keys. */
function actionKey({ commitCount, writes }: Action): string {
  return `${commitCount} ${writes.map(({ slot, from }) => `${slot}=${from}`).join()}`;
}

/** Numbers items from 0. Items with equal keys have the same id. */
export class Numbering<T> {
  readonly items: T[] = [];
  private readonly ids = new Map<string, number>();
  private readonly keyOf: (item: T) => string;

  constructor(keyOf: (item: T) => string) {
    this.keyOf = keyOf;
  }

  idOf(item: T): number {
    const key = this.keyOf(item);
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.items.push(item) - 1;
      this.ids.set(key, id);
    }
    return id;
  }
}

/**
 * Thrown if a valid pattern cannot be compiled to an automaton. `part` is the source of the construct at fault, or
 * undefined for the whole pattern; the message calls it "it".
 */
export class BeyondAutomaton extends Error {
  constructor(
    message: string,
    readonly hint?: string,
    public part?: string,
  ) {
    super(message);
  }
}

/** The maximum number of compile steps, which take some seconds. */
const stepCountMax = 1 << 26;

/** Counts the steps of compiling all splits of a pattern, including those of failed attempts. */
export class CompileSteps {
  count = 0;

  /** Adds steps. Throws BeyondAutomaton once there are too many. */
  add(count: number): void {
    this.count += count;
    if (this.count > stepCountMax) throw new BeyondAutomaton("it takes too long to compile");
  }
}

/** Thrown if a pattern cannot cut a text, because it can match the empty string, or never matches. */
export class Unusable extends Error {}

/**
 * Character classes: the coarsest partition of all code points such that every set of a pattern is a union of classes.
 *
 *   FIELD        MEANING
 *   classCount   classes are 0 .. classCount - 1
 *   runStarts    first code point of each run of one class, ascending; a run ends where the next begins
 *   runClasses   the class of each run
 *
 * The sets [a-z] and [x\n] give four classes: neither; only [a-z]; both ("x"); only [x\n] ("\n").
 */
export type CharacterClasses = {
  readonly classCount: number;
  readonly runStarts: readonly number[];
  readonly runClasses: readonly number[];
};

const edgeSetBits = 2 ** 20;
const maskBits = 31;

/**
 * Divides the code points into classes that distinguish the given sets. `membership[set][class]` is 1 if the set
 * contains the class, else 0. Throws BeyondAutomaton if there are too many classes or steps.
 */
export function divideIntoClasses(
  sets: readonly unicode.CodePointSet[],
  steps = new CompileSteps(),
): { classes: CharacterClasses; membership: Uint8Array[] } {
  const edges = edgesOf(sets);
  // One bit per set: whether the current code point is in it.
  const inside = new Int32Array(Math.ceil(sets.length / maskBits) || 1);
  const classOf = new Map<number | string, number>();
  const insideOfClass: Int32Array[] = [];
  const runStarts: number[] = [];
  const runClasses: number[] = [];
  let lastClass = -1;
  for (let edge = 0, codePoint = 0; codePoint <= unicode.lastCodePoint; ) {
    for (; edge < edges.length && edges[edge]! < (codePoint + 1) * edgeSetBits; edge++) {
      const set = edges[edge]! % edgeSetBits;
      inside[Math.floor(set / maskBits)]! ^= 1 << (set % maskBits);
    }
    steps.add(inside.length);
    const signature = inside.length === 1 ? inside[0]! : inside.join();
    let id = classOf.get(signature);
    if (id === undefined) {
      if (insideOfClass.length === classCountMax)
        throw new BeyondAutomaton("it distinguishes too many kinds of characters");
      id = insideOfClass.push(inside.slice()) - 1;
      classOf.set(signature, id);
    }
    if (lastClass !== id) {
      runStarts.push(codePoint);
      runClasses.push(id);
      lastClass = id;
    }
    if (edge === edges.length) break;
    codePoint = Math.floor(edges[edge]! / edgeSetBits);
  }
  const membership = sets.map((_, set) =>
    Uint8Array.from(insideOfClass, (masks) => (masks[Math.floor(set / maskBits)]! >> (set % maskBits)) & 1),
  );
  return { classes: { classCount: insideOfClass.length, runStarts, runClasses }, membership };
}

/**
 * Returns the edges of all ranges of the sets, ascending: the first code point of a range, and the one after its last.
 * An edge is stored as code point * edgeSetBits + index of the set.
 */
function edgesOf(sets: readonly unicode.CodePointSet[]): Float64Array {
  const edges = new Float64Array(sets.reduce((count, set) => count + set.length, 0));
  let count = 0;
  sets.forEach((ranges, set) => {
    for (let i = 0; i < ranges.length; i += 2) {
      edges[count++] = ranges[i]! * edgeSetBits + set;
      edges[count++] = (ranges[i + 1]! + 1) * edgeSetBits + set;
    }
  });
  return edges.sort();
}

const stateCountMax = 4000;
/** The cost, in compile steps, of following one symbol from one situation (what a state of an automaton represents). */
const situationSteps = 32;
/** The next state of an impossible symbol. */
const impossible = -1;
const noAction: Action = { commitCount: 0, writes: [] };

/**
 * Builds the automaton of all situations that can be reached from `start`, by following every symbol from each of them.
 * `step` returns undefined for an impossible symbol. Throws BeyondAutomaton if there are too many states or steps.
 */
export function exploreSituations<Situation>(
  classes: CharacterClasses,
  symbolCount: number,
  start: Situation,
  keyOf: (situation: Situation) => string,
  step: (situation: Situation, symbol: number) => { action: Action; next: Situation } | undefined,
  steps: CompileSteps,
): Automaton {
  const situations = new Numbering(keyOf);
  const actions = new Numbering(actionKey);
  const nextStates: number[] = [];
  const actionIds: number[] = [];
  situations.idOf(start);
  for (let state = 0; state < situations.items.length; state++) {
    if (situations.items.length > stateCountMax)
      throw new BeyondAutomaton("its automaton has too many states");
    steps.add(situationSteps * symbolCount);
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      const stepped = step(situations.items[state]!, symbol);
      const next = symbol === symbolCount - 1 ? start : stepped?.next;
      nextStates.push(stepped === undefined ? impossible : situations.idOf(next!));
      actionIds.push(actions.idOf(stepped?.action ?? noAction));
    }
  }
  const whole = {
    classes,
    symbolCount,
    stateCount: situations.items.length,
    nextStates: Int32Array.from(nextStates),
    actions: Int32Array.from(actionIds),
    actionList: actions.items,
  };
  // Reduces the number of states: drops writes that are never committed, then joins equal states.
  return joinEqualStates(dropIdleWrites(whole, steps), steps);
}

/**
 * Returns the live slots of each state, as a bit mask. A slot is live if some continuation commits the position that it
 * holds.
 */
function liveSlotsOf(automaton: Automaton, steps: CompileSteps): Int32Array {
  const { stateCount, symbolCount, actions, actionList } = automaton;
  const liveSlots = new Int32Array(stateCount);
  for (let changed = true; changed; ) {
    changed = false;
    steps.add(stateCount * symbolCount);
    for (let state = stateCount - 1; state >= 0; state--) {
      let live = liveSlots[state]!;
      for (let entry = state * symbolCount; entry < (state + 1) * symbolCount; entry++) {
        live |= usedBefore(usedAfter(automaton, liveSlots, entry), actionList[actions[entry]!]!);
      }
      if (live === liveSlots[state]) continue;
      liveSlots[state] = live;
      changed = true;
    }
  }
  return liveSlots;
}

function dropIdleWrites(automaton: Automaton, steps: CompileSteps): Automaton {
  const { actions, actionList } = automaton;
  const liveSlots = liveSlotsOf(automaton, steps);
  const kept = new Numbering<Action>(actionKey);
  const keptActions = actions.map((action, entry) => {
    const { commitCount, writes } = actionList[action]!;
    const used = usedAfter(automaton, liveSlots, entry);
    return kept.idOf({ commitCount, writes: writes.filter(({ slot }) => (used >> slot) & 1) });
  });
  return { ...automaton, actions: keptActions, actionList: kept.items };
}

/**
 * Returns a bit mask of the slots that an entry of the tables (a state and a symbol) commits, or that are live after
 * it. Slots are numbered as before the commits. Returns 0 if the symbol is impossible.
 */
function usedAfter(
  { nextStates, actions, actionList }: Automaton,
  liveSlots: Int32Array,
  entry: number,
): number {
  if (nextStates[entry] === impossible) return 0;
  const { commitCount } = actionList[actions[entry]!]!;
  return ((1 << commitCount) - 1) | (liveSlots[nextStates[entry]!]! << commitCount);
}

function usedBefore(usedAfter: number, { writes }: Action): number {
  let used = usedAfter;
  for (const { slot } of writes) used &= ~(1 << slot);
  for (const { slot, from } of writes) if ((usedAfter >> slot) & 1 && from !== here) used |= 1 << from;
  return used;
}

/** Joins equal states by Moore's algorithm. */
function joinEqualStates(automaton: Automaton, steps: CompileSteps): Automaton {
  const { stateCount, symbolCount, nextStates, actions } = automaton;
  let blockOf = new Int32Array(stateCount);
  for (let blockCount = 1; ; ) {
    steps.add(2 * stateCount * symbolCount);
    const blocks = new Map<string, number>();
    const refined = new Int32Array(stateCount);
    const signature = new Array<number>(2 * symbolCount + 1);
    for (let state = 0; state < stateCount; state++) {
      signature[2 * symbolCount] = blockOf[state]!;
      for (let symbol = 0; symbol < symbolCount; symbol++) {
        const entry = state * symbolCount + symbol;
        signature[2 * symbol] = actions[entry]!;
        signature[2 * symbol + 1] = blockOf[nextStates[entry]!] ?? 0xffff;
      }
      const key = String.fromCharCode(...signature);
      let block = blocks.get(key);
      if (block === undefined) {
        block = blocks.size;
        blocks.set(key, block);
      }
      refined[state] = block;
    }
    blockOf = refined;
    if (blocks.size === blockCount) break;
    blockCount = blocks.size;
  }

  const blockCount = Math.max(...blockOf) + 1;
  const joinedNext = new Int32Array(blockCount * symbolCount);
  const joinedActions = new Int32Array(blockCount * symbolCount);
  for (let state = 0; state < stateCount; state++) {
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      const from = state * symbolCount + symbol;
      const to = blockOf[state]! * symbolCount + symbol;
      joinedNext[to] = blockOf[nextStates[from]!] ?? impossible;
      joinedActions[to] = actions[from]!;
    }
  }
  return { ...automaton, stateCount: blockCount, nextStates: joinedNext, actions: joinedActions };
}

/*
 * Fuses two splits into one automaton. The first split cuts a document into pieces, and the second one cuts each piece
 * as if it were a document. But the first one may settle the end of a piece only some characters after that end.
 *
 * A slot of the first automaton holds a position that may or may not become the end of a piece. So the second automaton
 * runs several times at once, with a *run* for each case:
 *
 *   run 0       no slot is the end of a piece: the run continues in the current piece
 *   run k + 1   slots 0 to k are ends of pieces: the run began at slot k
 *
 * When the first automaton commits k slots, runs 0 to k - 1 are known to be wrong and are dropped. Ends that all
 * remaining runs share are settled. The slots of the fused automaton hold the ends of all runs, each run's in order. So
 * two runs must not have different positions in one slot.
 *
 * gpt2 before [0-9]{3} reads "a  12": after the second space, run 0 has both spaces in one piece, and run 1 has an end
 * between them. "1" shows that run 1 is right.
 */
type Run = {
  /** Slots 0 to endCount - 1 are the ends of this run. The slots of the second automaton follow. */
  readonly endCount: number;
  /** The state of the second automaton. */
  readonly state: number;
};

type Situation = { readonly firstState: number; readonly runs: readonly Run[] };

type Step = { readonly action: Action; readonly next: Situation };

/** Fuses automata with the same classes. Throws BeyondAutomaton if that is impossible. */
export function fuseAutomata(first: Automaton, second: Automaton, steps = new CompileSteps()): Automaton {
  const { classes, symbolCount } = first;
  const end = symbolCount - 1;
  const firstLive = liveSlotsOf(first, steps);
  const secondLive = liveSlotsOf(second, steps);
  const start: Situation = { firstState: 0, runs: [{ endCount: 0, state: 0 }] };
  return exploreSituations(classes, symbolCount, start, situationKey, step, steps);

  function step({ firstState, runs }: Situation, symbol: number): Step | undefined {
    const entry = firstState * symbolCount + symbol;
    if (first.nextStates[entry]! < 0) return undefined;
    const { commitCount, writes } = first.actionList[first.actions[entry]!]!;
    let moved = runs.map(movedRun);
    for (const slot of slotsWrittenHere(writes)) {
      if (slot >= moved.length)
        throw new BeyondAutomaton(
          "it cannot be matched in one pass: it decides the ends of pretokens out of order",
        );
      // The piece of run `slot` may end here, so a run starts for that case.
      const { ends } = read(moved[slot]!, end);
      moved = [...moved.slice(0, slot + 1), { ends, slots: [], state: 0 }];
    }
    if (symbol !== end) moved = moved.map((run) => read(run, symbol));
    const firstNext = first.nextStates[entry]!;
    const live = firstLive[firstNext]!;
    const next = moved.slice(commitCount).filter((_, run) => (~live & ((1 << run) - 1)) === 0);
    return { action: actionOf(next), next: { firstState: firstNext, runs: withoutSettled(next) } };
  }

  function movedRun({ endCount, state }: Run): MovedRun {
    const slotCount = 32 - Math.clz32(secondLive[state]!);
    const slots = Array.from({ length: slotCount }, (_, slot) => endCount + slot);
    return { ends: Array.from({ length: endCount }, (_, slot) => slot), slots, state };
  }

  /** Advances a run by one symbol. */
  function read({ ends, slots, state }: MovedRun, symbol: number): MovedRun {
    const entry = state * symbolCount + symbol;
    const { commitCount, writes } = second.actionList[second.actions[entry]!]!;
    const written = slots.slice();
    for (const slot of slotsWrittenHere(writes)) written[slot] = here;
    return {
      ends: [...ends, ...written.slice(0, commitCount)],
      slots: written.slice(commitCount),
      state: second.nextStates[entry]!,
    };
  }

  function actionOf(runs: readonly MovedRun[]): Action {
    const positions: number[] = [];
    for (const { ends, slots, state } of runs) {
      const isLive = (slot: number) => slot < 0 || ((secondLive[state]! >> slot) & 1) === 1;
      [...ends, ...slots].forEach((position, slot) => {
        if (!isLive(slot - ends.length)) return;
        if ((positions[slot] ?? position) !== position)
          throw new BeyondAutomaton(
            "it cannot be matched in one pass: it has to remember too many possible ends of pretokens",
          );
        positions[slot] = position;
      });
    }
    const writes: SlotWrite[] = [];
    positions.forEach((from, slot) => {
      if (from !== slot) writes.push({ slot, from });
    });
    return { commitCount: settledCount(runs), writes };
  }
}

/** A run within a step. Positions are `here`, or slots of the fused automaton before the step. */
type MovedRun = {
  readonly ends: readonly number[];
  readonly slots: readonly number[];
  readonly state: number;
};

/** Returns the number of ends that all runs share. */
function settledCount(runs: readonly MovedRun[]): number {
  return Math.min(...runs.map(({ ends }) => ends.length));
}

function withoutSettled(runs: readonly MovedRun[]): Run[] {
  const settled = settledCount(runs);
  return runs.map(({ ends, state }) => ({ endCount: ends.length - settled, state }));
}

function slotsWrittenHere(writes: readonly SlotWrite[]): number[] {
  if (writes.some(({ from }) => from !== here))
    throw new BeyondAutomaton("it cannot be matched in one pass: it reorders the possible ends of pretokens");
  return writes.map(({ slot }) => slot);
}

function situationKey({ firstState, runs }: Situation): string {
  return `${firstState} ${runs.map(({ endCount, state }) => `${endCount},${state}`).join(" ")}`;
}
