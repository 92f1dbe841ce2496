import { findLiveSlots } from "../four-byte-tables.ts";
import { endColumn, invalidColumn, noSlot, type ScanTables } from "../scan-tables.ts";
import { pendingCountMax, situationCountMax } from "./prove.ts";
import type { MaskSymbol } from "./symbols.ts";

/**
 * Whether an automaton that begins anew at an end that it has settled finds the same ends behind it. Then masks may take over
 * at any settled end, and the automaton may take over where masks give up.
 *
 * Two automata read the same text: the *whole* one, and one that begins *anew* at a position that the whole one has written
 * into a slot. If the whole one does not settle that position, it was no end, and the search drops it.
 */
export function mayBeginAnew(tables: ScanTables, symbols: readonly MaskSymbol[]): boolean {
  const { transitions } = tables;
  const columns = [...symbols.map(({ column }) => column), invalidColumn];
  const liveSlots = findLiveSlots(tables);
  const found = new Set<string>();
  const queue: Pair[] = [];
  const push = (pair: Pair): void => {
    const next = renumbered(pair, liveSlots);
    const key = JSON.stringify([next.isEnd, next.whole, next.anew]);
    if (found.has(key)) return;
    found.add(key);
    queue.push(next);
  };
  // Wherever the whole automaton writes a slot, it may have written an end.
  for (let state = 0; state < tables.stateCount; state++) {
    for (const column of columns) {
      const entry = transitions[(state << 8) | column]!;
      if ((entry & 15) === noSlot) continue;
      const slots = new Array<number>(entry & 15).fill(before);
      const whole = advance({ state, slots, ends: [] }, entry, 0);
      const anew = advance({ state: 0, slots: [], ends: [] }, transitions[column]!, 0);
      const pair = compared({ isEnd: false, whole, anew });
      if (pair !== undefined) push(pair);
    }
  }
  for (const pair of queue) {
    for (const column of [...columns, endColumn]) {
      const { isEnd } = pair;
      const next = compared({
        isEnd,
        whole: advance(pair.whole, transitions[(pair.whole.state << 8) | column]!, here),
        anew: advance(pair.anew, transitions[(pair.anew.state << 8) | column]!, here),
      });
      if (next === undefined) continue;
      const isTooLong = next.whole.ends.length + next.anew.ends.length > pendingCountMax;
      const isDifferent =
        next.isEnd &&
        next.whole.ends.some((end, i) => i < next.anew.ends.length && end !== next.anew.ends[i]);
      const isLeft = column === endColumn && next.isEnd && next.whole.ends.length !== next.anew.ends.length;
      if (isTooLong || isDifferent || isLeft || queue.length > situationCountMax) return false;
      if (column !== endColumn) push(next);
    }
  }
  return true;
}

// Positions count from the beginning of the automaton that begins anew, as far as their order goes. Besides:
const before = -1;
/** The character at hand. */
const here = 1 << 20;

/** `ends`: those that it has settled and the other one has not. */
type Runner = { readonly state: number; readonly slots: readonly number[]; readonly ends: readonly number[] };
/** `isEnd`: the beginning of `anew` was settled as an end. */
type Pair = { readonly isEnd: boolean; readonly whole: Runner; readonly anew: Runner };

function advance({ slots, ends }: Runner, entry: number, pos: number): Runner {
  const written = slots.slice();
  if ((entry & 15) !== noSlot) written[entry & 15] = pos;
  const commitCount = (entry >> 4) & 15;
  return {
    state: entry >>> 16,
    slots: written.slice(commitCount),
    ends: [...ends, ...written.slice(0, commitCount)],
  };
}

/** Without the ends that both have; undefined if the beginning was none. */
function compared({ isEnd, whole, anew }: Pair): Pair | undefined {
  let ends = whole.ends.filter((end) => end !== before);
  if (!isEnd && ends.length > 0) {
    if (ends[0] !== 0) return undefined;
    isEnd = true;
    ends = ends.slice(1);
  }
  let same = 0;
  while (isEnd && same < ends.length && ends[same] === anew.ends[same]) same++;
  return {
    isEnd,
    whole: { ...whole, ends: ends.slice(same) },
    anew: { ...anew, ends: anew.ends.slice(same) },
  };
}

/** Positions are 0, 1, …, in their order, so that pairs that do the same are equal. */
function renumbered({ isEnd, whole, anew }: Pair, liveSlots: Int32Array): Pair {
  const live = ({ state, slots }: Runner) =>
    slots.map((pos, slot) => ((liveSlots[state]! >> slot) & 1 ? pos : before));
  const wholeSlots = live(whole);
  const anewSlots = live(anew);
  const positions = new Set([before, 0, ...wholeSlots, ...anewSlots, ...whole.ends, ...anew.ends]);
  const order = [...positions].filter((pos) => pos !== undefined).sort((a, b) => a - b);
  const number = (pos: number) => order.indexOf(pos) - 1;
  const rename = (runner: Runner, slots: number[]) => ({
    state: runner.state,
    slots: slots.map(number),
    ends: runner.ends.map(number),
  });
  return { isEnd, whole: rename(whole, wholeSlots), anew: rename(anew, anewSlots) };
}
