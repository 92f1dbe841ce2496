import { BeyondAutomaton, Numbering } from "./automaton.ts";
import { type Nfa, nfaOp } from "./nfa.ts";

/**
 * A program read from right to left. At a position an instruction has a value: 1 where some way on from here matches, else 0.
 * Inside of an atomic group it is 0 where no way leads out of the group; else 1 more than the value outside where the *first*
 * such way leads to. It depends on the character here, on the one before (look-behinds of one character), and on the values at
 * the next position. So one pass from the right finds them all, and there are finitely many vectors of values: these are the
 * states of an automaton. A state has the values of the instructions that a character leads to, for each kind of character
 * before.
 *
 *   FIELD       LENGTH                       MEANING
 *   next        stateCount * symbolCount     the state at a position, of that at the next one and the symbol between
 *   groupOf     symbolCount                  the kind of a symbol as a look-behind of the program sees it
 *
 * Symbols are character classes, then the edge of the text. State 0 is that at the end of a text.
 */
export type Backward = {
  readonly symbolCount: number;
  readonly stateCount: number;
  readonly next: Int32Array;
  readonly groupOf: readonly number[];
  /** All that a symbol sees of the state behind it. */
  readonly matters: (symbol: number, behind: number) => string;
  /**
   * Where the first way from an instruction leads, before a symbol and behind one of a group: to the instruction behind the
   * character that it takes; or `itMatches`, or `noWay`. `behind` is no state where the text ends.
   */
  readonly wayFrom: (instruction: number, before: number, symbol: number, behind: number) => number;
};

export const itMatches = -1;
export const noWay = -2;

const stateCountMax = 4000;
/** Some tenths of a second. */
const evaluationCountMax = 1 << 24;

/**
 * `symbolSets[set][symbol]` is 1 where the set holds the symbol. Behind the class `lineEnd` a text ends; -1: behind none.
 * Throws BeyondAutomaton.
 */
export function readBackwards(program: Nfa, symbolSets: readonly Uint8Array[], lineEnd: number): Backward {
  const symbolCount = symbolSets[0]!.length;
  const { groupOf, memberOf } = groupsOf(program, symbolSets, symbolCount);
  const reader = new BackwardReader(program, symbolSets, groupOf, memberOf);
  const states = new Numbering<readonly number[]>((vector) => vector.join());
  states.idOf(reader.stateBefore(undefined, symbolCount - 1));
  const next: number[] = [];
  for (let state = 0; state < states.items.length; state++) {
    if (state === stateCountMax) throw new BeyondAutomaton("what it looks ahead for has too many states");
    for (let symbol = 0; symbol < symbolCount; symbol++)
      next.push(states.idOf(reader.stateBefore(states.items[symbol === lineEnd ? 0 : state], symbol)));
  }
  return {
    symbolCount,
    stateCount: states.items.length,
    next: Int32Array.from(next),
    groupOf,
    matters: (symbol, behind) => reader.matters(symbol, states.items[behind]!),
    wayFrom: (instruction, before, symbol, behind) =>
      reader.wayFrom(instruction, memberOf[before]!, symbol, states.items[behind]),
  };
}

class BackwardReader {
  /** Instructions that a character leads to: their values are what a position has to know of the next one. */
  private readonly targets: readonly number[];
  private readonly targetIds: ReadonlyMap<number, number>;
  private readonly values: Int32Array;
  private evaluationCount = 0;
  /** For each symbol the targets, by their ids, that it leads to. */
  private readonly seen: number[][] = [];

  constructor(
    private readonly program: Nfa,
    private readonly symbolSets: readonly Uint8Array[],
    private readonly groupOf: readonly number[],
    private readonly memberOf: readonly number[],
  ) {
    const { ops, second } = program;
    this.targets = [...new Set(ops.flatMap((op, i) => (op === nfaOp.take ? [second[i]!] : [])))];
    this.targetIds = new Map(this.targets.map((target, id) => [target, id]));
    this.values = new Int32Array(ops.length);
  }

  /** The state before a symbol, of the one behind it; undefined: there is nothing behind. */
  stateBefore(behind: readonly number[] | undefined, symbol: number): number[] {
    const valuesBehind = behind?.slice(this.groupOf[symbol]! * this.targets.length);
    return this.memberOf.flatMap((before) => {
      this.values.fill(-1);
      return this.targets.map((instruction) => this.evaluate(instruction, before, symbol, valuesBehind));
    });
  }

  matters(symbol: number, behind: readonly number[]): string {
    const { ops, first, second } = this.program;
    const takes = (i: number) => ops[i] === nfaOp.take && this.symbolSets[first[i]!]![symbol] === 1;
    this.seen[symbol] ??= this.targets.flatMap((target, id) =>
      ops.some((_, i) => takes(i) && second[i] === target) ? [id] : [],
    );
    const values = this.groupOf[symbol]! * this.targets.length;
    return this.seen[symbol].map((id) => behind[values + id]).join("");
  }

  wayFrom(start: number, before: number, symbol: number, behind: readonly number[] | undefined): number {
    const { ops, first, second } = this.program;
    const valuesBehind = behind?.slice(this.groupOf[symbol]! * this.targets.length);
    const value = (instruction: number) => this.evaluate(instruction, before, symbol, valuesBehind);
    this.values.fill(-1);
    if (value(start) === 0) return noWay;
    for (let i = start; ; ) {
      const op = ops[i]!;
      if (op === nfaOp.match) return itMatches;
      const isFirst = op === nfaOp.fork && value(first[i]!) > 0;
      i = isFirst ? first[i]! : second[i]!;
      if (op === nfaOp.take) return i;
    }
  }

  /** The value of an instruction, where one symbol stands before the position and another one behind it. */
  private evaluate(i: number, before: number, symbol: number, behind: readonly number[] | undefined): number {
    if (++this.evaluationCount > evaluationCountMax)
      throw new BeyondAutomaton("what it looks ahead for takes too long to make");
    if (this.values[i]! >= 0) return this.values[i]!;
    const { program, symbolSets } = this;
    const a = program.first[i]!;
    const b = program.second[i]!;
    const on = (instruction: number) => this.evaluate(instruction, before, symbol, behind);
    let value = 0;
    switch (program.ops[i]!) {
      case nfaOp.take:
        if (behind !== undefined && symbolSets[a]![symbol] === 1) value = behind[this.targetIds.get(b)!]!;
        break;
      case nfaOp.fork:
        value = on(a) || on(b);
        break;
      case nfaOp.lookahead:
        if (symbolSets[a]![symbol] === 1) value = on(b);
        break;
      case nfaOp.lookbehind:
        if (symbolSets[a]![before] === 1) value = on(b);
        break;
      case nfaOp.look:
        if (on(a) > 0) value = on(b);
        break;
      case nfaOp.lookNot:
        if (on(a) === 0) value = on(b);
        break;
      case nfaOp.atomic:
        value = Math.max(0, on(b) - 1);
        break;
      case nfaOp.leave:
        value = 1 + on(b);
        break;
      case nfaOp.match:
        value = 1;
        break;
    }
    this.values[i] = value;
    return value;
  }
}

/** Symbols that no look-behind of one character tells apart are a group; `memberOf` has one of each. */
function groupsOf(
  { ops, first }: Nfa,
  symbolSets: readonly Uint8Array[],
  symbolCount: number,
): { groupOf: number[]; memberOf: number[] } {
  const left = [...new Set(ops.flatMap((op, i) => (op === nfaOp.lookbehind ? [first[i]!] : [])))];
  const groups = new Numbering<number>((symbol) => left.map((set) => symbolSets[set]![symbol]).join(""));
  const groupOf = Array.from({ length: symbolCount }, (_, symbol) => groups.idOf(symbol));
  return { groupOf, memberOf: groups.items };
}
