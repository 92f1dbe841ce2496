import { guardOf, isAny, takesNothing } from "./guards.ts";
import { OutsideDialect } from "./outside-dialect.ts";
import { type CodePointSet, complementOf, emptySet } from "./ranges.ts";
import { canBeEmpty, type Node } from "./syntax.ts";

/**
 * A pattern as a program of a backtracking matcher; threads of it, in order of preference, are what the automaton
 * runs all at once. Instruction i:
 *
 *   ops[i]       first[i]            second[i]       MEANING
 *   take         set of characters   next            takes a character of the set
 *   fork         preferred next      other next      tries the preferred way first
 *   lookahead    set of symbols      next            takes nothing; the next symbol must be in the set
 *   lookbehind   set of symbols      next            the same for the last symbol
 *   match        -                   -               the pattern has matched
 *
 * A symbol is a character class, INVALID or END (the end of the text; looking back, its start). Sets are numbers of
 * `sets`.
 * `ab?` is: 0 match, 1 take b -> 0, 2 fork 1 or 0, 3 take a -> 2; it starts at 3.
 */
export type Nfa = {
  readonly ops: readonly NfaOp[];
  readonly first: readonly number[];
  readonly second: readonly number[];
  readonly startInstruction: number;
};

export const nfaOp = { take: 0, fork: 1, lookahead: 2, match: 3, lookbehind: 4 } as const;
type NfaOp = (typeof nfaOp)[keyof typeof nfaOp];

/** The sets of a program, each once. The set of a look around may hold the edge of the text beside characters. */
export class SymbolSets {
  readonly characters: CodePointSet[] = [];
  readonly holdsEdge: boolean[] = [];
  private readonly ids = new Map<string, number>();

  idOf(set: CodePointSet, holdsEdge: boolean): number {
    const key = `${holdsEdge} ${set.join()}`;
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.characters.length;
      this.ids.set(key, id);
      this.characters.push(set);
      this.holdsEdge.push(holdsEdge);
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
      case "start":
      case "end":
      case "wordBoundary":
      case "look":
        return addGuard(node, next);
      case "backreference":
        throw new OutsideDialect("it refers back to a group");
      case "atomic":
        return addNode(withoutAtomic(node.body), next);
    }
  };

  const addGuard = (node: Node, next: number): number => {
    const entries = guardOf(node).map(({ left, right }) => {
      const following = isAny(right) ? next : add(nfaOp.lookahead, sets.idOf(right.set, right.edge), next);
      return isAny(left) ? following : add(nfaOp.lookbehind, sets.idOf(left.set, left.edge), following);
    });
    if (entries.length === 0) return add(nfaOp.lookahead, sets.idOf(emptySet, false), next);
    return entries.reduceRight((other, preferred) => add(nfaOp.fork, preferred, other));
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

/** An atomic group's body in the forms that give nothing back by themselves. Throws OutsideDialect. */
function withoutAtomic(node: Node): Node {
  const body = unwrapped(node);
  if (isFixed(body)) return body;
  if (body.kind === "repeat" && unwrapped(body.body).kind === "set") {
    return body.mode === "lazy"
      ? { ...body, max: body.min, mode: "greedy" }
      : { ...body, mode: "possessive" };
  }
  if (body.kind === "sequence" && body.items.slice(0, -1).every(isFixed)) {
    return { ...body, items: [...body.items.slice(0, -1), withoutAtomic(body.items.at(-1)!)] };
  }
  throw new OutsideDialect("it has an atomic group (?>…)");
}

/** Matches in one way at most. */
function isFixed(node: Node): boolean {
  switch (node.kind) {
    case "set":
      return true;
    case "group":
      return isFixed(node.body);
    case "sequence":
      return node.items.every(isFixed);
    case "repeat":
      return node.min === node.max && isFixed(node.body);
    default:
      return takesNothing(node);
  }
}

function unwrapped(node: Node): Node {
  return node.kind === "group" ? unwrapped(node.body) : node;
}
