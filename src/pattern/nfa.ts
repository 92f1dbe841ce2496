import { BeyondAutomaton, Unusable } from "./automaton.ts";
import { type CodePointSet, emptySet } from "./code-point-set.ts";
import { type Guard, guardOf, isAny, notInside, takesNothing } from "./guards.ts";
import { canBeEmpty, type Node } from "./syntax-tree.ts";

/**
 * A pattern as a program of a backtracking matcher. The automaton runs its threads all at once, in order of preference;
 * `matcher.ts` runs one after the other, which any program allows. Instruction i:
 *
 *   ops[i]          first[i]            second[i]       MEANING
 *   take            set of characters   next            takes a character of the set
 *   fork            preferred next      other next      tries the preferred way first
 *   lookahead       set of symbols      next            takes nothing; the next symbol must be in the set
 *   lookbehind      set of symbols      next            the same for the last symbol
 *   match           -                   -               the pattern has matched
 *
 * For the matcher only:
 *   takeBack        set of characters   next            goes back over a character of the set (inside a look behind)
 *   forkBack        preferred next      other next      a fork inside a look behind
 *   look, lookNot   body                next            the body, up to `found`, must match here; must not
 *   found           -                   -               the body of a look has matched
 *   atomic          body                -               the body, up to `commit`, is matched in its first way only
 *   commit          -                   next            gives up the other ways of the body
 *   open, close     group               next            remembers where the group begins, ends
 *   same            group               fork            takes what the group took; goes on at the fork's first way if
 *                                                       that was nothing, else at the other
 *
 * A symbol is a character class, INVALID or END (the end of the text; looking back, its start). Sets are numbers of
 * `sets`. `ab?` is: 0 match, 1 take b -> 0, 2 fork 1 or 0, 3 take a -> 2; it starts at 3.
 */
export type Nfa = {
  readonly ops: readonly NfaOp[];
  readonly first: readonly number[];
  readonly second: readonly number[];
  readonly startInstruction: number;
};

export const nfaOp = {
  ...{
    take: 0,
    fork: 1,
    lookahead: 2,
    match: 3,
    lookbehind: 4,
    takeBack: 5,
    forkBack: 6,
    look: 7,
    lookNot: 8,
  },
  ...{ found: 9, atomic: 10, commit: 11, open: 12, close: 13, same: 14 },
} as const;
export type NfaOp = (typeof nfaOp)[keyof typeof nfaOp];

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

/** What runs the program. Automata have no way to do what is for the matcher only, and are small. */
export type NfaForm = "automaton" | "matcher";

const instructionCountMax: Readonly<Record<NfaForm, number>> = { automaton: 20_000, matcher: 1 << 21 };

/**
 * Throws BeyondAutomaton. Built backwards: each node is given the instructions that follow it and returns its own. What
 * follows a node that has taken nothing may be another instruction than what follows one that has taken something: so a
 * repeat ends behind a turn that took nothing, as in Perl, and no way leads round in a circle.
 */
export function buildNfa(tree: Node, sets: SymbolSets, form: NfaForm): Nfa {
  const ops: NfaOp[] = [];
  const first: number[] = [];
  const second: number[] = [];
  const referredTo = form === "matcher" ? groupsReferredTo(tree) : new Set<number>();
  let isBackwards = false;

  const add = (op: NfaOp, a: number, b: number): number => {
    if (ops.length === instructionCountMax[form])
      throw new BeyondAutomaton("it is too long when its counts are unrolled");
    first.push(a);
    second.push(b);
    return ops.push(op) - 1;
  };
  const fork = (preferred: number, other: number): number =>
    add(isBackwards ? nfaOp.forkBack : nfaOp.fork, preferred, other);
  const forMatcher = (reason: string) => {
    if (form === "automaton") throw new BeyondAutomaton(reason);
  };

  /** `empty` follows a node that has taken nothing, `taken` one that has. */
  const addNode = (node: Node, empty: number, taken: number): number => {
    switch (node.kind) {
      case "set":
        return add(isBackwards ? nfaOp.takeBack : nfaOp.take, sets.idOf(node.set, false), taken);
      case "sequence":
        return addSequence(isBackwards ? node.items.toReversed() : node.items, empty, taken);
      case "choice":
        return node.options
          .map((option) => addNode(option, empty, taken))
          .reduceRight((other, preferred) => fork(preferred, other));
      case "group":
        return addGroup(node, empty, taken);
      case "repeat":
        return addRepeat(node, empty, taken);
      case "start":
      case "end":
      case "wordBoundary":
        return addGuard(guardOf(node), empty);
      case "look":
        return addLook(node, empty);
      case "backreference":
        forMatcher("it refers back to a group");
        if (isBackwards) throw lookBehindWith("a reference to a group");
        return add(nfaOp.same, node.index, fork(empty, taken));
      case "atomic":
        return addAtomic(node.body, "it has an atomic group (?>…)", empty, taken);
    }
  };

  const addSequence = (items: readonly Node[], empty: number, taken: number): number => {
    let entry = empty;
    let entryTaken = taken;
    for (const item of items.toReversed()) {
      if (entry === entryTaken || !canBeEmpty(item)) {
        entry = addNode(item, entryTaken, entryTaken);
        entryTaken = entry;
      } else {
        const following = entryTaken;
        entryTaken = addNode(item, following, following);
        entry = addNode(item, entry, following);
      }
    }
    return entry;
  };

  const addGroup = ({ body, index }: Node & { kind: "group" }, empty: number, taken: number): number => {
    if (!referredTo.has(index)) return addNode(body, empty, taken);
    if (isBackwards) throw lookBehindWith("a group that is referred to");
    const closeEmpty = add(nfaOp.close, index, empty);
    const closeTaken = empty === taken ? closeEmpty : add(nfaOp.close, index, taken);
    return add(nfaOp.open, index, addNode(body, closeEmpty, closeTaken));
  };

  const addGuard = (guard: Guard, next: number): number => {
    const entries = guard.map(({ left, right }) => {
      const following = isAny(right) ? next : add(nfaOp.lookahead, sets.idOf(right.set, right.edge), next);
      return isAny(left) ? following : add(nfaOp.lookbehind, sets.idOf(left.set, left.edge), following);
    });
    if (entries.length === 0) return add(nfaOp.lookahead, sets.idOf(emptySet, false), next);
    return entries.reduceRight((other, preferred) => fork(preferred, other));
  };

  const addLook = (node: Node & { kind: "look" }, next: number): number => {
    let guard: Guard | undefined;
    try {
      guard = guardOf(node);
    } catch (error) {
      if (form === "automaton" || !(error instanceof BeyondAutomaton)) throw error;
    }
    const isReferredTo = [...nodesIn(node.body)].some(
      (inner) => inner.kind === "group" && referredTo.has(inner.index),
    );
    if (guard !== undefined && !isReferredTo) return addGuard(guard, next);
    const wasBackwards = isBackwards;
    isBackwards = node.behind;
    const found = add(nfaOp.found, 0, 0);
    const body = addNode(node.body, found, found);
    isBackwards = wasBackwards;
    return add(node.negated ? nfaOp.lookNot : nfaOp.look, body, next);
  };

  const addAtomic = (node: Node, reason: string, empty: number, taken: number): number => {
    const simple = withoutAtomic(node, referredTo);
    if (simple !== undefined) return addNode(simple, empty, taken);
    forMatcher(reason);
    if (isBackwards) throw lookBehindWith("what gives nothing back");
    const commitEmpty = add(nfaOp.commit, 0, empty);
    const commitTaken = empty === taken ? commitEmpty : add(nfaOp.commit, 0, taken);
    return add(nfaOp.atomic, addNode(node, commitEmpty, commitTaken), 0);
  };

  const addRepeat = (node: Node & { kind: "repeat" }, empty: number, taken: number): number => {
    const { body, min, max, mode } = node;
    if (mode === "possessive") {
      // Giving nothing back over one set C means leaving only where no C follows: C*+ is C*(?!C). Over anything longer
      // there is no such rule.
      const only = unwrapped(body, referredTo);
      if (only.kind !== "set") {
        const reason = "it repeats more than one character possessively";
        return addAtomic({ ...node, mode: "greedy" }, reason, empty, taken);
      }
      if (min === max) return addRepeat({ ...node, mode: "greedy" }, empty, taken);
      const leave = (next: number) => addGuard(notInside(only.set), next);
      if (isBackwards) {
        // Read backwards, its end comes first.
        if (max !== Number.POSITIVE_INFINITY) throw lookBehindWith("what gives nothing back");
        return leave(addTurns({ ...node, mode: "greedy" }, empty, taken, empty, taken));
      }
      const leaveEmpty = leave(empty);
      const leaveTaken = empty === taken ? leaveEmpty : leave(taken);
      return addTurns(node, leaveEmpty, leaveTaken, empty, taken);
    }
    return addTurns(node, empty, taken, empty, taken);
  };

  /** `lastEmpty` and `lastTaken` follow the last of a bounded number of turns. */
  const addTurns = (
    { body, min, max, mode }: Node & { kind: "repeat" },
    empty: number,
    taken: number,
    lastEmpty: number,
    lastTaken: number,
  ): number => {
    const again = (turn: number, out: number) => (mode === "lazy" ? fork(out, turn) : fork(turn, out));
    let entry = lastEmpty;
    let entryTaken = lastTaken;
    if (max === Number.POSITIVE_INFINITY) {
      entryTaken = fork(-1, -1);
      const turn = addNode(body, taken, entryTaken);
      first[entryTaken] = mode === "lazy" ? taken : turn;
      second[entryTaken] = mode === "lazy" ? turn : taken;
      entry = empty === taken ? entryTaken : again(addNode(body, empty, entryTaken), empty);
    }
    for (let count = max; count > min && count !== Number.POSITIVE_INFINITY; count--) {
      const following = entryTaken;
      entryTaken = again(addNode(body, taken, following), taken);
      if (empty === taken) entry = entryTaken;
      else if (count === min + 1) entry = again(addNode(body, empty, following), empty);
    }
    return addSequence(Array<Node>(min).fill(body), entry, entryTaken);
  };

  const match = add(nfaOp.match, 0, 0);
  const startInstruction = addNode(tree, match, match);
  return { ops, first, second, startInstruction };
}

function lookBehindWith(what: string): Unusable {
  return new Unusable(
    `looks behind for ${what}`,
    "a look behind reads backwards: write it with sets and groups",
  );
}

function groupsReferredTo(tree: Node): Set<number> {
  const groups = new Set<number>();
  for (const node of nodesIn(tree)) if (node.kind === "backreference") groups.add(node.index);
  return groups;
}

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  switch (node.kind) {
    case "sequence":
      for (const item of node.items) yield* nodesIn(item);
      return;
    case "choice":
      for (const option of node.options) yield* nodesIn(option);
      return;
    case "repeat":
    case "group":
    case "atomic":
    case "look":
      yield* nodesIn(node.body);
  }
}

/** An atomic group's body in a form that gives nothing back by itself; undefined if it has none. */
function withoutAtomic(node: Node, referredTo: ReadonlySet<number>): Node | undefined {
  const body = unwrapped(node, referredTo);
  if (isFixed(body)) return body;
  if (body.kind === "repeat" && unwrapped(body.body, referredTo).kind === "set") {
    return body.mode === "lazy"
      ? { ...body, max: body.min, mode: "greedy" }
      : { ...body, mode: "possessive" };
  }
  if (body.kind !== "sequence" || !body.items.slice(0, -1).every(isFixed)) return undefined;
  const last = withoutAtomic(body.items.at(-1)!, referredTo);
  return last && { ...body, items: [...body.items.slice(0, -1), last] };
}

/** Matches in one way at most. */
function isFixed(node: Node): boolean {
  switch (node.kind) {
    case "set":
    case "backreference":
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

/** Without the groups around it that nobody refers to. */
function unwrapped(node: Node, referredTo: ReadonlySet<number>): Node {
  return node.kind === "group" && !referredTo.has(node.index) ? unwrapped(node.body, referredTo) : node;
}
