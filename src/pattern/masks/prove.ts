import { findLiveSlots } from "../four-byte-tables.ts";
import { endColumn, noSlot, type ScanTables } from "../scan-tables.ts";
import { BitOps } from "./bit-ops.ts";
import type { Boundaries } from "./formulas.ts";
import type { MaskSymbol } from "./symbols.ts";

/*
 * The proof that a formula cuts all texts of valid characters, of any length, as an automaton does. Both read the same text
 * side by side, and the search visits all situations that they can come to. There are finitely many, some dozens, because a
 * situation has no positions: of each slot of the automaton it knows only *which* of the formula's ends it holds.
 *
 * The formula names an end at once, with claims about the next characters (bit-ops.ts). The automaton settles it later. So an
 * end that the formula has named is *pending* until the automaton settles it. Both have to name the same ends in the same order.
 */

/** A formula with its options filled in, given the classes of a character. */
export type BitFormula = (ops: BitOps, classes: ReadonlySet<string>) => Boundaries<boolean>;

export type Proof =
  | {
      readonly holds: true;
      readonly situationCount: number;
      readonly stepCount: number;
      /** Steps at hard places. */
      readonly hardCount: number;
    }
  /** `text` is one of the shortest that are cut in different ways. */
  | { readonly holds: false; readonly text: string; readonly what: string };

/** Named patterns come to a hundred. */
export const situationCountMax = 20_000;
/** Ends that one has named and the other has not. */
export const pendingCountMax = 16;

// What a slot holds: 0, 1, …, that of the pending ends, or one of these.
const noEnd = -1;
/** At or behind a hard place, where the formula says nothing. */
const unknownEnd = -2;
/** Nobody asks for it any more. */
const deadSlot = -3;

const onlyFormula = "the formula has an end that the automaton has not";
const onlyAutomaton = "the automaton has an end that the formula has not";

type Situation = {
  readonly state: number;
  readonly slots: readonly number[];
  readonly pendingCount: number;
  /** A hard place was met: the ends before it are still to be settled. */
  readonly isHard: boolean;
  /** The formula's; undefined before the first character. */
  readonly memory: readonly number[] | undefined;
  /** A difference was found, and the formula's claims are still to be borne out: what it is, or "". */
  readonly difference: string;
  readonly from: Situation | undefined;
  readonly symbol: MaskSymbol | undefined;
};

export function proveFormula(tables: ScanTables, symbols: readonly MaskSymbol[], formula: BitFormula): Proof {
  const { transitions } = tables;
  const liveSlots = findLiveSlots(tables);
  const ops = new BitOps();
  const found = new Set<string>();
  const queue: Situation[] = [startSituation];
  let stepCount = 0;
  let hardCount = 0;
  for (const before of queue) {
    for (const symbol of symbols) {
      ops.startChoices();
      do {
        ops.read(symbol.letter, before.memory);
        const { begin, hard } = formula(ops, symbol.classes);
        if (ops.isRefuted) continue;
        stepCount++;
        if (hard) hardCount++;
        const entry = transitions[(before.state << 8) | symbol.column]!;
        const after = step(before, symbol, entry, begin, hard, ops.memory());
        if (ops.mayEnd) {
          const difference = after.difference || differenceAtEnd(after, transitions);
          if (difference !== "") return { holds: false, text: textOf(after), what: difference };
        }
        const next = withoutDead(after, liveSlots[after.state]!);
        const isSettledUpToHard = next.isHard && next.pendingCount === 0 && !next.slots.includes(noEnd);
        if (isSettledUpToHard && next.difference === "") continue;
        const key = keyOf(next);
        if (found.has(key)) continue;
        found.add(key);
        queue.push(next);
        if (queue.length > situationCountMax) {
          return { holds: false, text: textOf(next), what: "there are too many situations" };
        }
      } while (ops.nextChoices());
    }
  }
  return { holds: true, situationCount: queue.length, stepCount, hardCount };
}

const startSituation: Situation = {
  state: 0,
  slots: [],
  pendingCount: 0,
  isHard: false,
  memory: undefined,
  difference: "",
  from: undefined,
  symbol: undefined,
};

function step(
  before: Situation,
  symbol: MaskSymbol,
  entry: number,
  begin: boolean,
  hard: boolean,
  memory: readonly number[],
): Situation {
  const isHard = before.isHard || hard;
  // A pretoken that begins with the text ends none.
  const isEnd = begin && !isHard && before.memory !== undefined;
  const here = isHard ? unknownEnd : isEnd ? before.pendingCount : noEnd;
  const slots = before.slots.slice();
  const settled =
    before.difference === ""
      ? settle(entry, slots, before.pendingCount + Number(isEnd), here)
      : { ...before, difference: before.difference };
  const isLost = settled.difference !== "";
  return {
    // What the automaton does after a difference is nothing to know.
    state: isLost ? 0 : entry >>> 16,
    slots: isLost ? [] : settled.slots,
    pendingCount: isLost ? 0 : settled.pendingCount,
    difference: settled.difference,
    isHard,
    memory,
    from: before,
    symbol,
  };
}

type Settled = {
  readonly slots: readonly number[];
  readonly pendingCount: number;
  readonly difference: string;
};

/** What an entry of the automaton writes and settles; the ends settled have to be the first ones of those pending. */
function settle(entry: number, slots: number[], pendingCount: number, here: number): Settled {
  if ((entry & 15) !== noSlot) slots[entry & 15] = here;
  const commitCount = (entry >> 4) & 15;
  let difference = "";
  for (let slot = 0; slot < commitCount && difference === ""; slot++) {
    const end = slots[slot];
    if (end === noEnd) difference = onlyAutomaton;
    else if (end === unknownEnd ? slot < pendingCount : end !== slot) difference = onlyFormula;
  }
  if (difference === "" && pendingCount - commitCount > pendingCountMax) difference = onlyFormula;
  return {
    slots: slots.slice(commitCount).map((end) => (end >= 0 ? end - commitCount : end)),
    pendingCount: Math.max(0, pendingCount - commitCount),
    difference,
  };
}

/** The end of the text settles all that is pending, and is an end itself. */
function differenceAtEnd({ state, slots, pendingCount, isHard }: Situation, transitions: Int32Array): string {
  const entry = transitions[(state << 8) | endColumn]!;
  const settled = settle(entry, slots.slice(), pendingCount, isHard ? unknownEnd : pendingCount);
  return settled.difference || (settled.pendingCount > 0 ? onlyFormula : "");
}

function withoutDead(situation: Situation, liveSlots: number): Situation {
  const slots = situation.slots.map((end, slot) => ((liveSlots >> slot) & 1 ? end : deadSlot));
  while (slots.at(-1) === deadSlot) slots.pop();
  return { ...situation, slots };
}

function keyOf({ state, slots, pendingCount, isHard, memory, difference }: Situation): string {
  return `${state} ${slots} ${pendingCount} ${isHard} ${difference} ${memory}`;
}

function textOf(situation: Situation): string {
  let text = "";
  for (let at: Situation | undefined = situation; at?.symbol !== undefined; at = at.from)
    text = at.symbol.example + text;
  return text;
}
