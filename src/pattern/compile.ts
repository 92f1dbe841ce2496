import { exitCode, UserError } from "../errors.ts";
import { embeddedDirectory } from "../runtime/embedded.ts";
import { withFewerAtomics } from "./atomic.ts";
import {
  type Action,
  type Automaton,
  BeyondAutomaton,
  exploreSituations,
  here,
  joinCompatibleStates,
  liveSlotsOf,
  type SlotWrite,
  Unusable,
} from "./automaton.ts";
import type { CompiledPattern, CompileOptions, PatternTables } from "./compiled-pattern.ts";
import { buildAutomata } from "./determinize.ts";
import { foreseen } from "./foreseen.ts";
import { canBeEmpty, type Node, parseSplit } from "./parse-pattern.ts";
import { readReadyMade } from "./ready-made.ts";
import { buildScanTables } from "./scan-tables.ts";
import { longLooksIn, ShadowedLooks } from "./shadow.ts";

/**
 * `sources` are splits in order, each cutting the pieces of the one before. Throws UserError for a pattern that is wrong
 * or no way to cut a text.
 */
export function compilePattern(sources: readonly string[], options: CompileOptions = {}): CompiledPattern {
  const ready = readReadyMade(embeddedDirectory, sources, options);
  if (ready !== undefined) return ready;
  const lineWise = options.lineWise ?? false;
  // Encoding feeds whole texts, so what is trained on lines has to do for them, too: `(?<=\s)^` matches in no line.
  if (lineWise) compilePattern(sources);
  const trees = sources.map(parseSplit);
  try {
    return { automata: automataOf(trees.map(withFewerAtomics), lineWise) };
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof BeyondAutomaton)) throw error;
    throw refusal(error, trees, sources);
  }
}

function refusal(
  error: Unusable | BeyondAutomaton,
  trees: readonly Node[],
  sources: readonly string[],
): UserError {
  const of = sources.join(" , ");
  if (error instanceof Unusable || trees.some(canBeEmpty)) {
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
 * As many splits as will do together: those before one that looks far ahead may not cut where it matters to the looks. One that
 * is too much alone is foreseen. Throws BeyondAutomaton.
 */
function automataOf(trees: readonly Node[], lineWise: boolean): PatternTables[] {
  if (trees.length === 0) return [];
  let automata = trees.some(looksFar) ? undefined : tried(trees, lineWise);
  if (automata !== undefined) return automata;
  let count = 0;
  for (let more: PatternTables[] | undefined; count < trees.length; count++) {
    more = tried(trees.slice(0, count + 1), lineWise);
    if (more === undefined) break;
    automata = more;
  }
  const [first] = trees;
  automata ??= [foreseen(first!, lineWise)];
  return [...automata, ...automataOf(trees.slice(Math.max(1, count)), lineWise)];
}

const looksFar = (tree: Node) => longLooksIn(tree).length > 0;

/** The automata of some splits; undefined where they ask for more than one thread after the other can do. */
function tried(trees: readonly Node[], lineWise: boolean): PatternTables[] | undefined {
  try {
    return trees.some(looksFar) ? overShadows(trees, lineWise) : fuse(trees, lineWise);
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}

/** All splits as one automaton of shadows. Throws BeyondAutomaton. */
function overShadows(trees: readonly Node[], lineWise: boolean): PatternTables[] {
  let reason: unknown;
  for (const saysStates of [true, false]) {
    try {
      const shadow = new ShadowedLooks(trees, lineWise, saysStates);
      const automata = buildAutomata(shadow.trees, { lineWise, shadow });
      if (!automata.slice(0, trees.findLastIndex(looksFar)).every((first) => shadow.isFreeOf(first)))
        throw new BeyondAutomaton("it looks ahead over its own cuts");
      const automaton = joinCompatibleStates(automata.reduce(fuseAutomata));
      return [{ ...buildScanTables(automaton), shadow: shadow.tablesFor(automaton.classes) }];
    } catch (error) {
      if (!(error instanceof BeyondAutomaton)) throw error;
      reason = error;
    }
  }
  throw reason;
}

/** As few automata as will do: where two fuse, they are one. Throws BeyondAutomaton. */
function fuse(trees: readonly Node[], lineWise: boolean): PatternTables[] {
  const fused: Built[] = [];
  for (const automaton of buildAutomata(trees, { lineWise })) {
    const last = fused.pop();
    const both = last && fusedOf(last.automaton, automaton);
    if (last !== undefined && both === undefined) fused.push(last);
    fused.push(both ?? built(automaton));
  }
  return fused.map(({ tables }) => tables);
}

type Built = { readonly automaton: Automaton; readonly tables: PatternTables };

const built = (automaton: Automaton): Built => ({ automaton, tables: buildScanTables(automaton) });

function fusedOf(first: Automaton, second: Automaton): Built | undefined {
  try {
    return built(fuseAutomata(first, second));
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}

/*
 * Two splits as one automaton, where the first one decides late. It cuts a document into pieces, the second one cuts each
 * piece as if it were a document.
 *
 * A slot of the first automaton holds a position that may or may not become the end of a piece. So the second automaton runs
 * several times at once, a *run* for each case:
 *
 *   run 0       no slot is the end of a piece: the run goes on in the piece at hand
 *   run k + 1   slots 0 to k are ends of pieces: the run began at slot k
 *
 * When the first automaton commits k slots, runs 0 to k - 1 were wrong and are dropped. What all runs agree on is settled. The
 * slots of the whole hold the ends of all runs, each run's in order. So two runs must not have different positions in one slot.
 *
 * gpt2 before [0-9]{3} reads "a  12": behind the second blank, run 0 has both blanks in one piece, and run 1 has an end between
 * them. "1" shows that run 1 is right.
 */
type Run = {
  /** Slots 0 .. endCount - 1 are its ends; those of the second automaton itself stand behind them. */
  readonly endCount: number;
  /** State of the second automaton. */
  readonly state: number;
};

type Situation = { readonly firstState: number; readonly runs: readonly Run[] };

type Step = { readonly action: Action; readonly next: Situation };

/** `first` and `second` have the same classes. Throws BeyondAutomaton where a slot would have to hold two positions. */
function fuseAutomata(first: Automaton, second: Automaton): Automaton {
  const { classes, symbolCount } = first;
  const end = symbolCount - 1;
  const firstLive = liveSlotsOf(first);
  const secondLive = liveSlotsOf(second);
  const start: Situation = { firstState: 0, runs: [{ endCount: 0, state: 0 }] };
  return exploreSituations(classes, symbolCount, start, situationKey, step);

  function step({ firstState, runs }: Situation, symbol: number): Step | undefined {
    const entry = firstState * symbolCount + symbol;
    if (first.nextStates[entry]! < 0) return undefined;
    const { commitCount, writes } = first.actionList[first.actions[entry]!]!;
    let moved = runs.map(movedRun);
    for (const slot of slotsWrittenHere(writes)) {
      if (slot >= moved.length) throw new BeyondAutomaton("it decides out of order");
      // Perhaps the piece of run `slot` ends here, and the next one begins.
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

  /** The run after one symbol more. */
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
          throw new BeyondAutomaton("it has to keep too many boundaries");
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

/** A run within a step. Positions are `here`, or slots of the whole as they were before the step. */
type MovedRun = {
  readonly ends: readonly number[];
  readonly slots: readonly number[];
  readonly state: number;
};

/** The ends that all runs have. */
function settledCount(runs: readonly MovedRun[]): number {
  return Math.min(...runs.map(({ ends }) => ends.length));
}

function withoutSettled(runs: readonly MovedRun[]): Run[] {
  const settled = settledCount(runs);
  return runs.map(({ ends, state }) => ({ endCount: ends.length - settled, state }));
}

function slotsWrittenHere(writes: readonly SlotWrite[]): number[] {
  if (writes.some(({ from }) => from !== here)) throw new BeyondAutomaton("it moves its boundaries");
  return writes.map(({ slot }) => slot);
}

function situationKey({ firstState, runs }: Situation): string {
  return `${firstState} ${runs.map(({ endCount, state }) => `${endCount},${state}`).join(" ")}`;
}
