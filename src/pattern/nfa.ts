import { type CodePointSet, complementOf, emptySet, unionOf } from "./ranges.ts";
import { canBeEmpty, type Node } from "./syntax.ts";

/** Thrown where a pattern is right but asks for more than an automaton of this kind can do; the fallback takes it. */
export class OutsideDialect extends Error {}

/** Thrown where a pattern is no way to cut a text: it can match the empty string, or it matches nothing at all. */
export class Unusable extends Error {}

/**
 * A pattern as a program of a backtracking matcher; threads of it, in order of preference, are what the automaton
 * runs all at once. Instruction i:
 *
 *   ops[i]       first[i]            second[i]       MEANING
 *   take         set of characters   next            takes a character of the set
 *   fork         preferred next      other next      tries the preferred way first
 *   lookahead    set of symbols      next            takes nothing; the next symbol must be in the set
 *   match        -                   -               the pattern has matched
 *
 * A symbol is a character class, INVALID or END (the end of the text). Sets are numbers of `sets`.
 * `ab?` is: 0 match, 1 take b -> 0, 2 fork 1 or 0, 3 take a -> 2; it starts at 3.
 */
export type Nfa = {
  readonly ops: readonly NfaOp[];
  readonly first: readonly number[];
  readonly second: readonly number[];
  readonly startInstruction: number;
};

export const nfaOp = { take: 0, fork: 1, lookahead: 2, match: 3 } as const;
type NfaOp = (typeof nfaOp)[keyof typeof nfaOp];

/** The sets of a program, each once. A lookahead's set may hold the end of the text beside characters. */
export class SymbolSets {
  readonly characters: CodePointSet[] = [];
  readonly holdsEnd: boolean[] = [];
  private readonly ids = new Map<string, number>();

  idOf(set: CodePointSet, holdsEnd: boolean): number {
    const key = `${holdsEnd} ${set.join()}`;
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.characters.length;
      this.ids.set(key, id);
      this.characters.push(set);
      this.holdsEnd.push(holdsEnd);
    }
    return id;
  }
}

const instructionCountMax = 20_000;

/** Throws OutsideDialect. Built backwards: each node is given the instruction that follows it and returns its own. */
export function buildNfa(tree: Node, sets: SymbolSets): Nfa {
  const ops: NfaOp[] = [];
  const first: number[] = [];
  const second: number[] = [];

  const add = (op: NfaOp, a: number, b: number): number => {
    if (ops.length === instructionCountMax)
      throw new OutsideDialect("it is too long when its counts are unrolled");
    first.push(a);
    second.push(b);
    return ops.push(op) - 1;
  };

  const addNode = (node: Node, next: number): number => {
    switch (node.kind) {
      case "set":
        return add(nfaOp.take, sets.idOf(node.set, false), next);
      case "sequence":
        return node.items.reduceRight((following, item) => addNode(item, following), next);
      case "choice":
        return node.options
          .map((option) => addNode(option, next))
          .reduceRight((other, preferred) => add(nfaOp.fork, preferred, other));
      case "group":
        return addNode(node.body, next);
      case "repeat":
        return addRepeat(node, next);
      case "end":
      case "look": {
        const ahead = symbolsAhead(node);
        return add(nfaOp.lookahead, sets.idOf(ahead.set, ahead.end), next);
      }
      case "start":
        throw new OutsideDialect("it asks for the start of the text (^ or \\A)");
      case "wordBoundary":
        throw new OutsideDialect("it asks for a word boundary (\\b or \\B)");
      case "backreference":
        throw new OutsideDialect("it refers back to a group");
      case "atomic":
        throw new OutsideDialect("it has an atomic group (?>…)");
    }
  };

  const addRepeat = ({ body, min, max, mode }: Node & { kind: "repeat" }, next: number): number => {
    if (canBeEmpty(body)) throw new OutsideDialect("it repeats a group that can match nothing");
    // Giving nothing back over one set C means leaving only where no C follows: C*+ is C*(?!C). Over anything longer
    // there is no such rule.
    let leave = next;
    if (mode === "possessive") {
      const only = unwrapped(body);
      if (only.kind !== "set") throw new OutsideDialect("it repeats more than one character possessively");
      if (min !== max) leave = add(nfaOp.lookahead, sets.idOf(complementOf(only.set), true), next);
    }
    const fork = (again: number, out: number) =>
      mode === "lazy" ? add(nfaOp.fork, out, again) : add(nfaOp.fork, again, out);

    let entry = next;
    if (max === Number.POSITIVE_INFINITY) {
      entry = add(nfaOp.fork, -1, -1);
      const again = addNode(body, entry);
      first[entry] = mode === "lazy" ? leave : again;
      second[entry] = mode === "lazy" ? again : leave;
    } else {
      for (let count = min; count < max; count++) entry = fork(addNode(body, entry), leave);
    }
    for (let count = 0; count < min; count++) entry = addNode(body, entry);
    return entry;
  };

  const match = add(nfaOp.match, 0, 0);
  const startInstruction = addNode(tree, match);
  return { ops, first, second, startInstruction };
}

/** What an assertion asks of the next symbol, where that is all it asks. */
function symbolsAhead(node: Node): { set: CodePointSet; end: boolean } {
  const inner = unwrapped(node);
  switch (inner.kind) {
    case "set":
      return { set: inner.set, end: false };
    case "end":
      return { set: emptySet, end: true };
    case "choice": {
      const options = inner.options.map(symbolsAhead);
      return { set: unionOf(options.map(({ set }) => set)), end: options.some(({ end }) => end) };
    }
    case "look": {
      if (inner.behind) throw new OutsideDialect("it looks behind");
      const { set, end } = symbolsAhead(inner.body);
      return inner.negated ? { set: complementOf(set), end: !end } : { set, end };
    }
    default:
      throw new OutsideDialect("it looks ahead more than one character");
  }
}

function unwrapped(node: Node): Node {
  return node.kind === "group" ? unwrapped(node.body) : node;
}
