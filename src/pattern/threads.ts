import { type Nfa, nfaOp, OutsideDialect } from "./nfa.ts";
import { Numbering } from "./numbering.ts";

/**
 * ThreadTable: all sets of threads that a run of the pattern can come to, numbered, and what each does on each symbol.
 * A thread is an instruction of the Nfa that waits for the next character; a set has the preferred ones first.
 *
 *   ARRAY     TYPE         LENGTH                   MEANING
 *   nextSets  Int32Array   setCount * symbolCount   the set behind (set, symbol)
 *   accepts   Uint8Array   setCount * symbolCount   1: the pattern matches up to before the symbol
 *   isOver    boolean[]    setCount                 no thread is left
 *   isSure    boolean[]    setCount                 the run matches sooner or later, whatever follows, the end included
 *
 * The symbol is known when forks and lookaheads are followed, so both are decided here; and a match stops the threads
 * less preferred. Set 0 stands at the start. INVALID has no entries: what comes before it ends.
 */
export type ThreadTable = {
  readonly symbolCount: number;
  readonly nextSets: Int32Array;
  readonly accepts: Uint8Array;
  readonly isOver: readonly boolean[];
  readonly isSure: readonly boolean[];
};

const setCountMax = 5000;

/** `symbolSets[set][symbol]` is 1 where the program's set holds the symbol. Throws OutsideDialect. */
export function buildThreadTable(
  nfa: Nfa,
  symbolSets: readonly Uint8Array[],
  symbolCount: number,
): ThreadTable {
  const { ops, first, second } = nfa;
  const invalid = symbolCount - 2;
  const threadSets = new Numbering<readonly number[]>((threads) => String.fromCharCode(...threads));
  const nextSets: number[] = [];
  const accepts: number[] = [];
  // What `follow` has met on this symbol carries its stamp.
  const followedAt = new Int32Array(ops.length);
  const reachedAt = new Int32Array(ops.length);
  let stamp = 0;

  threadSets.idOf([nfa.startInstruction]);
  for (let set = 0; set < threadSets.items.length; set++) {
    if (set === setCountMax) throw new OutsideDialect("its automaton has too many states");
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      stamp++;
      const reached: number[] = [];
      const accepted =
        symbol !== invalid && threadSets.items[set]!.some((thread) => follow(thread, symbol, reached));
      accepts.push(accepted ? 1 : 0);
      nextSets.push(threadSets.idOf(reached));
    }
  }
  const table = { symbolCount, nextSets: Int32Array.from(nextSets), accepts: Uint8Array.from(accepts) };
  return {
    ...table,
    isOver: threadSets.items.map((threads) => threads.length === 0),
    isSure: findSureSets(table),
  };

  /** Takes all ways from an instruction to the next character; true once the match is reached. */
  function follow(instruction: number, symbol: number, reached: number[]): boolean {
    if (followedAt[instruction] === stamp) return false;
    followedAt[instruction] = stamp;
    const a = first[instruction]!;
    const b = second[instruction]!;
    switch (ops[instruction]!) {
      case nfaOp.take:
        if (symbolSets[a]![symbol] === 1 && reachedAt[b] !== stamp) {
          reachedAt[b] = stamp;
          reached.push(b);
        }
        return false;
      case nfaOp.fork:
        return follow(a, symbol, reached) || follow(b, symbol, reached);
      case nfaOp.lookahead:
        return symbolSets[a]![symbol] === 1 && follow(b, symbol, reached);
      case nfaOp.match:
        return true;
    }
  }
}

/** The greatest set of thread sets that match at the end and on every character either match or stay among them. */
function findSureSets({
  symbolCount,
  nextSets,
  accepts,
}: Pick<ThreadTable, "symbolCount" | "nextSets" | "accepts">): boolean[] {
  const setCount = nextSets.length / symbolCount;
  const classCount = symbolCount - 2;
  const isSure = Array.from(
    { length: setCount },
    (_, set) => accepts[set * symbolCount + symbolCount - 1] === 1,
  );
  for (let changed = true; changed; ) {
    changed = false;
    for (let set = 0; set < setCount; set++) {
      if (!isSure[set]) continue;
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
