import { BeyondAutomaton, here, Unusable } from "./automaton.ts";
import type { ThreadTable } from "./thread-table.ts";

/**
 * How one split is matched without ever going back.
 *
 * A backtracking matcher that has found a match may read on for a longer one, fail, and return to the first. Here that
 * is not reading again but reading at once: the moment a match is found, a second run begins behind it, on the
 * speculation that the match stands. If the first run finds a longer match, the second is dropped; if it dies, its
 * match is settled and the second run is the first one now. Runs that depend on one another so are *levels*: level
 * j + 1 begins at the latest end that level j has found.
 *
 * "ab" with the pattern abc|a|b, read up to "b": level 0 began at "a", has matched [0, 1), still hopes for "abc";
 * level 1 began at 1 and has taken "b". If "c" follows, level 0 matches [0, 3) and level 1 is dropped; if not, [0, 1) is
 * settled and so is [1, 2).
 */
export type Level = {
  /** A set of the ThreadTable; `startThreads` when nothing is read yet. */
  readonly threads: number;
  /** "gap": one character that no match covers. Until a run has matched, that is what it is worth. */
  readonly accepted: "not" | "gap" | "match";
  /** Where the end found is kept: `here` or a slot. Not used before one is found. */
  readonly endSlot: number;
};

/** A run that has read nothing: it begins with a start set, and may come to equal threads later on. */
const startThreads = -1;
const levelCountMax = 8;

export const freshLevels: readonly Level[] = [{ threads: startThreads, accepted: "not", endSlot: here }];

/**
 * One symbol for all levels, the outermost first. A run that begins before the symbol begins with `startSet`. `settled`
 * says where the ends of the settled pretokens are kept, each `here` (before the symbol) or in a slot. `levels` are those
 * that go on; END leaves none. Throws BeyondAutomaton, Unusable.
 */
export function stepLevels(
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
    // A run that will match in any case makes what lies behind its earlier match idle: drop it.
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
    throw new BeyondAutomaton("it can look ahead without bound at several places at once");
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

/** Neighbouring characters that no match covers are one pretoken, as in HF's `Isolated`. */
function joinGaps({ isOver }: ThreadTable, levels: Level[]): void {
  for (let index = 0; index + 1 < levels.length; ) {
    const level = levels[index]!;
    const behind = levels[index + 1]!;
    const bothAreGaps = level.accepted === "gap" && behind.accepted === "gap";
    if (bothAreGaps && isOver[level.threads] && isOver[behind.threads]) levels.splice(index, 1);
    else index++;
  }
}

/** Takes the levels whose end can no longer change off the front. */
function settle(table: ThreadTable, levels: Level[]): number[] {
  const settled: number[] = [];
  for (;;) {
    const front = levels[0];
    if (front === undefined || front.accepted === "not" || !table.isOver[front.threads]) return settled;
    // A gap grows by the next one, so it ends only where a match begins for certain.
    const behind = levels[1];
    if (front.accepted === "gap" && behind !== undefined && !willMatch(table, behind)) return settled;
    settled.push(front.endSlot);
    levels.shift();
  }
}

function willMatch({ isSure }: ThreadTable, level: Level): boolean {
  return level.accepted === "match" || (level.accepted === "not" && isSure[level.threads]!);
}
