import type { CharacterClasses } from "./character-classes.ts";

/**
 * The streaming automaton of a sequence of splits: reads symbols one by one and never goes back. What it knows of
 * boundaries it writes into slots: slot 0 is the end of the first pretoken that is not settled, slot 1 of the one
 * behind it, and so on. A transition on the symbol at offset i
 *   1. writes i into slots (or moves a slot), then
 *   2. commits: the first `commitCount` slots are settled, and slot commitCount becomes slot 0.
 *
 *   ARRAY         LENGTH                     MEANING
 *   nextStates    stateCount * symbolCount   state after (state, symbol)
 *   actions       stateCount * symbolCount   what is done on the way, a number of `actionList`
 *
 * Symbols: the character classes, then INVALID (one byte that is not part of valid UTF-8), then END. A document begins
 * in state 0; END leads there.
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
/** `from` is `here` or the slot moved; slots are numbered as they were before the commits. */
export type SlotWrite = { readonly slot: number; readonly from: number };
export const here = -1;

/** Equal actions have equal keys. */
export function actionKey({ commitCount, writes }: Action): string {
  return `${commitCount} ${writes.map(({ slot, from }) => `${slot}=${from}`).join()}`;
}

/** Gives equal things equal numbers, counted up from 0. */
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

/** Thrown where a pattern is right but asks for more than an automaton can do; the backtracking matcher takes it. */
export class BeyondAutomaton extends Error {}

/** Thrown where a pattern is no way to cut a text: it can match the empty string, or it matches nothing at all. */
export class Unusable extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}
