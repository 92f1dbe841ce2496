import { here } from "./automaton.ts";
import { type Nfa, nfaOp, OutsideDialect, Unusable } from "./nfa.ts";

/**
 * How one split is matched without ever going back.
 *
 * A backtracking matcher that has found a match may read on for a longer one, fail, and return to the first. Here that
 * is not reading again but reading at once: the moment a match is found, a second run begins behind it, on the
 * speculation that the match stands. If the first run finds a longer match, the second is dropped; if it dies, its
 * match is settled and the second run is the first one now. Runs that depend on one another so are *levels*: level
 * j + 1 begins at the latest end that level j has found.
 *
 * "ab" with the pattern a|abc|b, read up to "b": level 0 began at "a", has matched [0, 1), still hopes for "abc";
 * level 1 began at 1 and has taken "b". If "c" follows, level 0 matches [0, 3) and level 1 is dropped; if not, [0, 1) is
 * settled and so is [1, 2).
 */
export type Level = {
  /** Instructions reached after the last character, preferred ones first; empty when the run is over. */
  readonly threads: readonly number[];
  /** "gap": one character that no match covers. Until a run has matched, that is what it is worth. */
  readonly accepted: "not" | "gap" | "match";
  /** Where the end found is kept: `here` or a slot. Not used before one is found. */
  readonly endSlot: number;
  /** Nothing is read yet. */
  readonly isStart: boolean;
};

const levelCountMax = 8;
const threadSetCountMax = 5000;

type Closure = { readonly accepts: boolean; readonly threads: readonly number[] };

export class Speculation {
  /** Whether any text at all is matched. */
  canMatch = false;
  private readonly nfa: Nfa;
  /** For each set of the program, which symbols it holds. */
  private readonly symbolSets: readonly Uint8Array[];
  private readonly end: number;
  private readonly closures = new Map<string, Closure>();
  private readonly sure = new Map<string, boolean>();

  /** Throws OutsideDialect. */
  constructor(nfa: Nfa, symbolSets: readonly Uint8Array[], symbolCount: number) {
    this.nfa = nfa;
    this.symbolSets = symbolSets;
    this.end = symbolCount - 1;
    this.findSureThreads(symbolCount - 2);
  }

  start(): Level[] {
    return [{ threads: [this.nfa.startInstruction], accepted: "not", endSlot: here, isStart: true }];
  }

  /**
   * One symbol for all levels, the outermost first. `settled` holds where the ends of the settled pretokens are, each
   * `here` (before the symbol) or a slot; `levels` is what goes on, END leaves none. Throws OutsideDialect, Unusable.
   */
  step(levels: readonly Level[], symbol: number): { settled: number[]; levels: Level[] } {
    const isEnd = symbol === this.end;
    const next: Level[] = [];
    for (const level of levels) {
      const { accepts, threads } = this.closure(level.threads, symbol);
      if (level.isStart) {
        if (!isEnd) next.push(this.freshLevel(symbol));
        else this.refuseEmptyMatch(accepts);
        break;
      }
      // A run that will match in any case makes what lies behind its earlier match idle: drop it.
      if (!isEnd && this.isSure(threads)) {
        next.push({ threads, accepted: "not", endSlot: here, isStart: false });
        break;
      }
      if (accepts || level.accepted === "not") {
        next.push({ threads, accepted: accepts ? "match" : "gap", endSlot: here, isStart: false });
        if (!isEnd) next.push(this.freshLevel(symbol));
        break;
      }
      next.push({ ...level, threads });
    }
    joinGaps(next);
    const settled = this.settle(next);
    if (next.length > levelCountMax)
      throw new OutsideDialect("it can look ahead without bound at several places at once");
    return { settled, levels: next };
  }

  /** Takes the levels whose end can no longer change off the front. */
  private settle(levels: Level[]): number[] {
    const settled: number[] = [];
    for (;;) {
      const [front, behind] = levels;
      if (front === undefined || front.accepted === "not" || front.threads.length > 0) return settled;
      // A gap grows by the next one, so it ends only where a match begins for certain.
      if (front.accepted === "gap" && behind !== undefined && !this.willMatch(behind)) return settled;
      settled.push(front.endSlot);
      levels.shift();
    }
  }

  private freshLevel(symbol: number): Level {
    const { accepts, threads } = this.closure([this.nfa.startInstruction], symbol);
    this.refuseEmptyMatch(accepts);
    return { threads, accepted: "not", endSlot: here, isStart: false };
  }

  private refuseEmptyMatch(accepts: boolean): void {
    if (accepts) throw new Unusable("can match the empty string");
  }

  private willMatch(level: Level): boolean {
    return level.accepted === "match" || (level.accepted === "not" && this.isSure(level.threads));
  }

  private isSure(threads: readonly number[]): boolean {
    return threads.length > 0 && this.sure.get(threads.join())!;
  }

  /**
   * What some threads come to on a symbol: whether they match before it, and the threads behind it. The symbol is known
   * when forks and lookaheads are followed, so both are decided here; and a match stops the threads less preferred.
   */
  private closure(threads: readonly number[], symbol: number): Closure {
    const key = `${symbol} ${threads.join()}`;
    const known = this.closures.get(key);
    if (known !== undefined) return known;

    const { ops, first, second } = this.nfa;
    const { symbolSets } = this;
    const seen = new Set<number>();
    const reached: number[] = [];
    /** True once the match instruction is reached. */
    const follow = (instruction: number): boolean => {
      if (seen.has(instruction)) return false;
      seen.add(instruction);
      const a = first[instruction]!;
      const b = second[instruction]!;
      switch (ops[instruction]!) {
        case nfaOp.take:
          if (symbolSets[a]![symbol] === 1 && !reached.includes(b)) reached.push(b);
          return false;
        case nfaOp.fork:
          return follow(a) || follow(b);
        case nfaOp.lookahead:
          return symbolSets[a]![symbol] === 1 && follow(b);
        case nfaOp.match:
          return true;
      }
    };
    const accepts = threads.some(follow);
    if (accepts) this.canMatch = true;
    const closure = { accepts, threads: reached };
    this.closures.set(key, closure);
    return closure;
  }

  /**
   * Threads are sure if they match sooner or later whatever follows, the end included: the greatest set of them that
   * match at the end and on every character either match or stay in the set.
   */
  private findSureThreads(characterClassCount: number): void {
    const ids = new Map<string, number>();
    const threadSets: (readonly number[])[] = [];
    const idOf = (threads: readonly number[]): number => {
      const key = threads.join();
      let id = ids.get(key);
      if (id === undefined) {
        if (threadSets.length === threadSetCountMax)
          throw new OutsideDialect("its automaton has too many states");
        id = threadSets.push(threads) - 1;
        ids.set(key, id);
      }
      return id;
    };
    const successors: number[][] = [];
    const isSure: boolean[] = [];
    idOf([this.nfa.startInstruction]);
    for (let id = 0; id < threadSets.length; id++) {
      const unmatched: number[] = [];
      for (let symbol = 0; symbol < characterClassCount; symbol++) {
        const { accepts, threads } = this.closure(threadSets[id]!, symbol);
        const next = idOf(threads);
        if (!accepts) unmatched.push(next);
      }
      successors.push(unmatched);
      isSure.push(this.closure(threadSets[id]!, this.end).accepts);
    }
    for (let changed = true; changed; ) {
      changed = false;
      for (let id = 0; id < threadSets.length; id++) {
        if (!isSure[id] || successors[id]!.every((next) => isSure[next])) continue;
        isSure[id] = false;
        changed = true;
      }
    }
    threadSets.forEach((threads, id) => {
      this.sure.set(threads.join(), isSure[id]!);
    });
  }
}

/** Neighbouring characters that no match covers are one pretoken, as in HF's `Isolated`. */
function joinGaps(levels: Level[]): void {
  const isOver = (level: Level) => level.accepted === "gap" && level.threads.length === 0;
  for (let index = 0; index + 1 < levels.length; ) {
    const level = levels[index]!;
    const behind = levels[index + 1]!;
    if (isOver(level) && isOver(behind)) levels.splice(index, 2, { ...level, endSlot: behind.endSlot });
    else index++;
  }
}
