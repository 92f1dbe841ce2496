import { type Action, type Automaton, actionKey, BeyondAutomaton, here, Numbering } from "./automaton.ts";
import type { CharacterClasses } from "./character-classes.ts";

const stateCountMax = 4000;

/**
 * The automaton of all situations that can arise, from the start of a document on: follows every symbol from each. Situations
 * of equal keys are equal. Throws BeyondAutomaton where there are too many.
 */
export function exploreSituations<Situation>(
  classes: CharacterClasses,
  symbolCount: number,
  start: Situation,
  keyOf: (situation: Situation) => string,
  step: (situation: Situation, symbol: number) => { action: Action; next: Situation },
): Automaton {
  const situations = new Numbering(keyOf);
  const actions = new Numbering(actionKey);
  const nextStates: number[] = [];
  const actionIds: number[] = [];
  situations.idOf(start);
  for (let state = 0; state < situations.items.length; state++) {
    if (situations.items.length > stateCountMax)
      throw new BeyondAutomaton("its automaton has too many states");
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      const { action, next } = step(situations.items[state]!, symbol);
      nextStates.push(symbol === symbolCount - 1 ? 0 : situations.idOf(next));
      actionIds.push(actions.idOf(action));
    }
  }
  return minimize({
    classes,
    symbolCount,
    stateCount: situations.items.length,
    nextStates: Int32Array.from(nextStates),
    actions: Int32Array.from(actionIds),
    actionList: actions.items,
  });
}

/** The same automaton with fewer states: first without writes that nobody commits, then with equal states joined. */
function minimize(automaton: Automaton): Automaton {
  return joinEqualStates(dropIdleWrites(automaton));
}

/** For each state the slots, as a bit mask, that some way on commits before it writes them: they are live. */
export function liveSlotsOf(automaton: Automaton): Int32Array {
  const { stateCount, symbolCount, actions, actionList } = automaton;
  const liveSlots = new Int32Array(stateCount);
  for (let changed = true; changed; ) {
    changed = false;
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

function dropIdleWrites(automaton: Automaton): Automaton {
  const { actions, actionList } = automaton;
  const liveSlots = liveSlotsOf(automaton);
  const kept = new Numbering<Action>(actionKey);
  const keptActions = actions.map((action, entry) => {
    const { commitCount, writes } = actionList[action]!;
    const used = usedAfter(automaton, liveSlots, entry);
    return kept.idOf({ commitCount, writes: writes.filter(({ slot }) => (used >> slot) & 1) });
  });
  return { ...automaton, actions: keptActions, actionList: kept.items };
}

/** Slots that are committed by the entry, or live behind it; numbered as before the commits. */
function usedAfter(
  { nextStates, actions, actionList }: Automaton,
  liveSlots: Int32Array,
  entry: number,
): number {
  const { commitCount } = actionList[actions[entry]!]!;
  return ((1 << commitCount) - 1) | (liveSlots[nextStates[entry]!]! << commitCount);
}

function usedBefore(usedAfter: number, { writes }: Action): number {
  let used = usedAfter;
  for (const { slot } of writes) used &= ~(1 << slot);
  for (const { slot, from } of writes) if ((usedAfter >> slot) & 1 && from !== here) used |= 1 << from;
  return used;
}

/** Moore's algorithm: states are apart as long as some symbol does different things or leads to states apart. */
function joinEqualStates(automaton: Automaton): Automaton {
  const { stateCount, symbolCount, nextStates, actions } = automaton;
  let blockOf = new Int32Array(stateCount);
  for (let blockCount = 1; ; ) {
    const blocks = new Map<string, number>();
    const refined = new Int32Array(stateCount);
    const signature = new Array<number>(2 * symbolCount + 1);
    for (let state = 0; state < stateCount; state++) {
      signature[2 * symbolCount] = blockOf[state]!;
      for (let symbol = 0; symbol < symbolCount; symbol++) {
        const entry = state * symbolCount + symbol;
        signature[2 * symbol] = actions[entry]!;
        signature[2 * symbol + 1] = blockOf[nextStates[entry]!]!;
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
      joinedNext[to] = blockOf[nextStates[from]!]!;
      joinedActions[to] = actions[from]!;
    }
  }
  return { ...automaton, stateCount: blockCount, nextStates: joinedNext, actions: joinedActions };
}
