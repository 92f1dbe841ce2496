import { BeyondAutomaton, Numbering } from "./automaton.ts";
import { type Nfa, nfaOp } from "./nfa.ts";

/**
 * ThreadTable: all sets of threads that a run of the pattern can come to, numbered, and what each does on each symbol.
 * A thread is an instruction of the Nfa that waits for the next character; a set has the preferred ones first.
 *
 *   ARRAY     TYPE         LENGTH                   MEANING
 *   nextSets  Int32Array   setCount * symbolCount   the set behind (set, symbol)
 *   accepts   Uint8Array   setCount * symbolCount   1: the pattern matches up to before the symbol
 *   isOver    boolean[]    setCount                 no thread is left
 *   isSure    boolean[]    setCount                 the run matches sooner or later, whatever follows, the end included
 *   startSets Int32Array   symbolCount              the set that a run begins with behind a symbol; behind END: at the
 *                                                   start of the text
 *
 * The symbol is known when forks and lookaheads are followed, so both are decided here; and a match stops the threads
 * less preferred. Where a thread looks behind, sets are apart by the last symbol too, as far as it matters. INVALID has
 * no entries: what comes before it ends.
 */
export type ThreadTable = {
  readonly symbolCount: number;
  readonly nextSets: Int32Array;
  readonly accepts: Uint8Array;
  readonly isOver: readonly boolean[];
  readonly isSure: readonly boolean[];
  readonly startSets: Int32Array;
};

const setCountMax = 5000;
/** Some tenths of a second. */
const followCountMax = 1 << 25;

/** `symbolSets[set][symbol]` is 1 where the program's set holds the symbol. Throws BeyondAutomaton. */
export function buildThreadTable(
  nfa: Nfa,
  symbolSets: readonly Uint8Array[],
  symbolCount: number,
): ThreadTable {
  const { ops, first, second } = nfa;
  const invalid = symbolCount - 2;
  const edge = symbolCount - 1;
  const contexts = new Contexts(nfa, symbolSets, edge);
  const threadSets = new Numbering<ThreadSet>(({ context, threads }) =>
    String.fromCharCode(context, ...threads),
  );
  const setBehind = (symbol: number, threads: readonly number[]) =>
    threadSets.idOf({ context: contexts.of(symbol === invalid ? edge : symbol, threads), threads });
  const nextSets: number[] = [];
  const accepts: number[] = [];
  // What `follow` has met on this symbol carries its stamp.
  const followedAt = new Int32Array(ops.length);
  const reachedAt = new Int32Array(ops.length);
  let stamp = 0;
  let followCount = 0;

  const startSets = new Int32Array(symbolCount);
  for (let symbol = edge; symbol >= 0; symbol--)
    startSets[symbol] = setBehind(symbol, [nfa.startInstruction]);
  for (let set = 0; set < threadSets.items.length; set++) {
    if (set === setCountMax) throw new BeyondAutomaton("its automaton has too many states");
    const { context, threads } = threadSets.items[set]!;
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      stamp++;
      const reached: number[] = [];
      const accepted =
        symbol !== invalid && threads.some((thread) => follow(thread, context, symbol, reached));
      accepts.push(accepted ? 1 : 0);
      nextSets.push(setBehind(symbol, reached));
    }
  }
  const table = { symbolCount, nextSets: Int32Array.from(nextSets), accepts: Uint8Array.from(accepts) };
  return {
    ...table,
    isOver: threadSets.items.map(({ threads }) => threads.length === 0),
    isSure: findSureSets(table),
    startSets,
  };

  /** Takes all ways from an instruction to the next character; true once the match is reached. */
  function follow(instruction: number, context: number, symbol: number, reached: number[]): boolean {
    if (followedAt[instruction] === stamp) return false;
    if (++followCount > followCountMax) throw new BeyondAutomaton("its automaton takes too long to make");
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
        return follow(a, context, symbol, reached) || follow(b, context, symbol, reached);
      case nfaOp.lookahead:
        return symbolSets[a]![symbol] === 1 && follow(b, context, symbol, reached);
      case nfaOp.lookbehind:
        return symbolSets[a]![context] === 1 && follow(b, context, symbol, reached);
      case nfaOp.match:
        return true;
      default:
        throw new Error("the program is for the matcher");
    }
  }
}

/** Threads, preferred ones first, and the last symbol: one of those that none of the threads tells from it. */
type ThreadSet = { readonly context: number; readonly threads: readonly number[] };

/** What threads see of the last symbol. */
class Contexts {
  /** For each instruction, the sets that it may look behind for before it takes a character. */
  private readonly setsOf: (readonly number[])[] = [];

  constructor(
    private readonly nfa: Nfa,
    private readonly symbolSets: readonly Uint8Array[],
    private readonly edge: number,
  ) {}

  /** The same symbol for all symbols that the threads do not tell apart. */
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
