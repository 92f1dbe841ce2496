import { findLiveSlots } from "../../src/pattern/four-byte-tables.ts";
import type { Boundaries, Contractions, Count, Ops } from "../../src/pattern/mask-formulas.ts";
import { endColumn, noSlot, type ScanTables } from "../../src/pattern/scan-tables.ts";

/*
 * The proof that a formula cuts all texts of valid characters, of any length, as an automaton does. Both read a text
 * side by side, and the search visits all situations that the two can reach.
 *
 * The formula names the end of a pretoken at once, with claims about the next characters (`BitOps`). The automaton
 * writes possible ends into *slots*, and settles an end some characters later. An end that the formula has named is
 * *pending* until the automaton settles it. Both have to name the same ends in the same order.
 *
 * A situation has no positions: for each slot, it says only which of the pending ends the slot holds. So there are few
 * situations.
 */

/** The input of the proof: characters that neither formula nor automaton distinguishes are one symbol. */
export type MaskSymbol = {
  /** The symbol's column in the automaton's tables. */
  readonly column: number;
  /** The formula's classes that contain the symbol's characters. */
  readonly classes: ReadonlySet<string>;
  /** Its role in contractions (`letterOf`). */
  readonly letter: string;
  /** One of its characters. */
  readonly example: string;
};

/** A formula whose options are filled in. It is called for each character, with the character's classes. */
export type BitFormula = (ops: BitOps, classes: ReadonlySet<string>) => Boundaries<boolean>;

type Proof =
  | {
      readonly holds: true;
      readonly situationCount: number;
      readonly stepCount: number;
      /** The number of steps at hard characters: those that the formula leaves to the automaton. */
      readonly hardCount: number;
    }
  /** `text` is one of the shortest texts that the two cut in different ways, or at which the proof gives up. */
  | { readonly holds: false; readonly text: string; readonly what: string };

/** The proof gives up after this many situations. Named patterns have at most a hundred. */
export const situationCountMax = 20_000;
/** The proof gives up if more ends than this are pending. */
export const pendingCountMax = 16;

// The value of a slot: the index of a pending end, or one of the following.
const noEnd = -1;
/** An end at or after a hard character, which the formula leaves to the automaton. */
const unknownEnd = -2;
/** The automaton will not read the slot again. */
const deadSlot = -3;

const onlyFormula = "the formula has an end that the automaton has not";
const onlyAutomaton = "the automaton has an end that the formula has not";

type Situation = {
  readonly state: number;
  readonly slots: readonly number[];
  readonly pendingCount: number;
  /** Whether a hard character was met. Ends before it may still be pending. */
  readonly isHard: boolean;
  /** The state of the formula; undefined before the first character. */
  readonly memory: readonly number[] | undefined;
  /** A difference that counts only if the formula's open claims (`BitOps`) are confirmed; "" if there is none. */
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
  // The start of the text ends no pretoken.
  const isEnd = begin && !isHard && before.memory !== undefined;
  const here = isHard ? unknownEnd : isEnd ? before.pendingCount : noEnd;
  const slots = before.slots.slice();
  const settled =
    before.difference === ""
      ? settle(entry, slots, before.pendingCount + Number(isEnd), here)
      : { ...before, difference: before.difference };
  const isLost = settled.difference !== "";
  return {
    // After a difference, the state of the automaton does not matter.
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

/**
 * Does what an entry of the automaton's transitions says: writes into a slot, and settles ends. The result has a
 * difference if the settled ends contradict the first pending ones, or if too many ends are pending.
 */
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

/**
 * Returns the difference that is found if the text ends in this situation; "" if there is none. The automaton must then
 * settle all pending ends, and the end of the text.
 */
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

/**
 * The operators, for one character at a time. An operator that looks ahead makes a *claim* about the next characters,
 * and remembers the claim until these characters confirm or refute it. `nextChoices` goes through all claims that can
 * be made at a character. Exactly one combination of claims is true of a text.
 *
 * An operator that depends on other characters remembers one or two small numbers. The operator's comment says what
 * they mean.
 */
export class BitOps implements Ops<boolean> {
  readonly none = false;
  /** Whether the current character contradicts a claim. */
  isRefuted = false;
  /** Whether the text may end after the current character, because that contradicts no claim. */
  mayEnd = true;

  private letter = "";
  private remembered: readonly number[] = [];
  private readonly kept: number[] = [];
  private readonly choices: number[] = [];
  private readonly choiceCounts: number[] = [];
  private choiceIndex = 0;

  /** Sets all choices to their first values. */
  startChoices(): void {
    this.choices.length = 0;
  }

  /** Advances to the next combination of choices at the same character. Returns false if there is none. */
  nextChoices(): boolean {
    const { choices, choiceCounts } = this;
    while (choices.length > 0) {
      const last = choices.length - 1;
      if (++choices[last]! < choiceCounts[last]!) return true;
      choices.pop();
    }
    return false;
  }

  /** Handles a character; `memory` is the state kept at the previous one, undefined at the first. */
  read(letter: string, memory: readonly number[] = []): void {
    this.letter = letter;
    this.remembered = memory;
    this.kept.length = 0;
    this.choiceIndex = 0;
    this.isRefuted = false;
    this.mayEnd = true;
  }

  /** Returns the state for the next character. */
  memory(): readonly number[] {
    return this.kept.slice();
  }

  private choose(count: number): number {
    const index = this.choiceIndex++;
    if (index === this.choices.length) this.choices.push(0);
    this.choiceCounts[index] = count;
    return this.choices[index]!;
  }

  private recall(): number {
    return this.remembered[this.kept.length] ?? 0;
  }

  private keep(value: number): void {
    this.kept.push(value);
  }

  readonly and = (...masks: boolean[]): boolean => {
    return masks.every(Boolean);
  };

  readonly or = (...masks: boolean[]): boolean => {
    return masks.some(Boolean);
  };

  readonly not = (mask: boolean): boolean => {
    return !mask;
  };

  /** Remembers the mask. */
  readonly prev = (mask: boolean): boolean => {
    const before = this.recall();
    this.keep(Number(mask));
    return before === 1;
  };

  /** Remembers its result. */
  readonly span = (start: boolean, hold: boolean): boolean => {
    const holds = (start || this.recall() === 1) && hold;
    this.keep(Number(holds));
    return holds;
  };

  /** Remembers the claim: 1, the run continues or the text ends; 2, a character outside the run follows. */
  readonly last = (run: boolean): boolean => {
    const claim = this.recall();
    if (claim !== 0 && (claim === 1) !== run) this.isRefuted = true;
    const isLast = run && this.choose(2) === 1;
    if (isLast) this.mayEnd = false;
    this.keep(run ? (isLast ? 2 : 1) : 0);
    return isLast;
  };

  /** Remembers the claim: 1, the next character is not in `target`, or the text ends; 2, it is in `target`. */
  readonly follows = (where: boolean, target: boolean): boolean => {
    const claim = this.recall();
    if (claim !== 0 && (claim === 2) !== target) this.isRefuted = true;
    const isFollowed = where && this.choose(2) === 1;
    if (isFollowed) this.mayEnd = false;
    this.keep(where ? (isFollowed ? 2 : 1) : 0);
    return isFollowed;
  };

  /**
   * Remembers the claim for the current run: 1, no target follows it; 2, a target follows it. With `atEnd`, the end of
   * the text counts as a target.
   */
  readonly before = (where: boolean, run: boolean, target: boolean, atEnd: boolean): boolean => {
    let claim = this.recall();
    if (!run) {
      if (claim !== 0 && (claim === 2) !== target) this.isRefuted = true;
      this.keep(0);
      return false;
    }
    if (claim === 0 && where) claim = 1 + this.choose(2);
    if (claim !== 0 && (claim === 2) !== atEnd) this.mayEnd = false;
    this.keep(claim);
    return where && claim === 2;
  };

  /** Remembers the number of characters in the current group; if `count` is 0, only whether a run is being read. */
  readonly every = ({ value: count }: Count, run: boolean): boolean => {
    const size = this.recall();
    const isFirst = run && (size === 0 || size === count);
    this.keep(!run ? 0 : isFirst || count === 0 ? 1 : size + 1);
    return isFirst;
  };

  /**
   * Remembers two numbers. The first is the distance, in characters, to the character after the current contraction; it
   * is 0 if there is no contraction. The second is a claim, one of those below.
   */
  readonly contractions = (apostrophes: boolean, fold: boolean, apart: boolean): Contractions<boolean> => {
    const ahead = this.recall();
    const isAfter = ahead === 1;
    const isCandidate = apostrophes && !(apart && isAfter);
    const letterCount = isCandidate ? this.choose(3) : 0;
    this.keep(letterCount > 0 ? letterCount + 1 : Math.max(ahead - 1, 0));
    const left = nextClaim(this.recall(), fold ? this.letter.toLowerCase() : this.letter);
    const claim = isCandidate ? claimsAtApostrophe[letterCount]! : left;
    if (left === refuted) this.isRefuted = true;
    if (claim >= oneLetter) this.mayEnd = false;
    this.keep(claim);
    return { first: letterCount > 0, inside: ahead > 1, after: isAfter };
  };
}

// The claims of `contractions`.
const noClaim = 0;
// No contraction follows.
const noContraction = 1;
// After the first letter of a possible contraction: its second letter, "l", does not follow.
const noL = 2;
// After the first letter of a possible contraction: its second letter, "e", does not follow.
const noE = 3;
// A contraction of one letter follows.
const oneLetter = 4;
// A contraction of two letters follows.
const twoLetters = 5;
// The second letter of a contraction follows: "l".
const secondL = 6;
// The second letter of a contraction follows: "e".
const secondE = 7;
const refuted = -1;

const claimsAtApostrophe = [noContraction, oneLetter, twoLetters];

/** Returns what remains of a claim after a letter ("" for any other character). */
function nextClaim(claim: number, letter: string): number {
  switch (claim) {
    case noContraction:
      return letter === "s" ? refuted : letter === "l" ? noL : letter === "r" ? noE : noClaim;
    case noL:
      return letter === "l" ? refuted : noClaim;
    case noE:
      return letter === "e" ? refuted : noClaim;
    case oneLetter:
      return letter === "s" ? noClaim : refuted;
    case twoLetters:
      return letter === "l" ? secondL : letter === "r" ? secondE : refuted;
    case secondL:
      return letter === "l" ? noClaim : refuted;
    case secondE:
      return letter === "e" ? noClaim : refuted;
    default:
      return noClaim;
  }
}
