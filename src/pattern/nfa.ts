import { BeyondAutomaton, Numbering } from "./automaton.ts";
import { canBeEmpty, type Node } from "./parse-pattern.ts";
import {
  type CodePointSet,
  complementOf,
  emptySet,
  fullSet,
  intersectionOf,
  isFull,
  unionOf,
} from "./unicode.ts";

/**
 * A pattern as a program. An automaton runs its threads all at once, in order of preference (`determinize.ts`); what is
 * foreseen is read backwards before (`foreseen.ts`). Instruction i:
 *
 *   ops[i]          first[i]            second[i]       MEANING
 *   take            set of characters   next            takes a character of the set
 *   fork            preferred next      other next      tries the preferred way first
 *   lookahead       set of symbols      next            takes nothing; the next symbol must be in the set
 *   lookbehind      set of symbols      next            the same for the last symbol
 *   match           -                   -               the pattern has matched
 *
 * In programs that are read backwards only:
 *   look, lookNot   body                next            the body, up to a match, must match here; must not
 *   atomic          -                   body            only the first way of the body counts, up to `leave`
 *   leave           -                   next            the body of an atomic group has matched
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
  take: 0,
  fork: 1,
  lookahead: 2,
  match: 3,
  lookbehind: 4,
  look: 5,
  lookNot: 6,
  atomic: 7,
  leave: 8,
} as const;
type NfaOp = (typeof nfaOp)[keyof typeof nfaOp];

/** The sets of a program, each once. The set of a look around may hold the edge of the text beside characters. */
export class SymbolSets extends Numbering<Neighbour> {
  constructor() {
    // A property is one array wherever the pattern names it.
    const texts = new Map<CodePointSet, string>();
    super(({ set, edge }) => {
      const text = texts.get(set) ?? set.join();
      texts.set(set, text);
      return `${edge} ${text}`;
    });
  }
}

const instructionCountMax = 20_000;

/** @param isReadBackwards it may have long looks and atomic groups. Throws BeyondAutomaton. */
export function buildNfa(tree: Node, sets: SymbolSets, isReadBackwards = false): Nfa {
  return new NfaBuilder(sets, isReadBackwards).build(tree);
}

/**
 * Builds backwards: each node is given the instructions that follow it and returns its own. One instruction may follow a
 * node that has taken nothing, and another one that has taken something. So a repeat ends behind a turn that took nothing,
 * as in Perl, and no way leads round in a circle.
 */
class NfaBuilder {
  private readonly ops: NfaOp[] = [];
  private readonly first: number[] = [];
  private readonly second: number[] = [];

  constructor(
    private readonly sets: SymbolSets,
    private readonly isReadBackwards: boolean,
  ) {}

  build(tree: Node): Nfa {
    const match = this.add(nfaOp.match, 0, 0);
    const startInstruction = this.addNode(tree, match, match);
    return { ops: this.ops, first: this.first, second: this.second, startInstruction };
  }

  private add(op: NfaOp, a: number, b: number): number {
    if (this.ops.length === instructionCountMax)
      throw new BeyondAutomaton("it is too long when its counts are unrolled");
    this.first.push(a);
    this.second.push(b);
    return this.ops.push(op) - 1;
  }

  private fork(preferred: number, other: number): number {
    return this.add(nfaOp.fork, preferred, other);
  }

  /** `empty` follows a node that has taken nothing, `taken` one that has. */
  private addNode(node: Node, empty: number, taken: number): number {
    switch (node.kind) {
      case "set":
        return this.add(nfaOp.take, this.sets.idOf({ set: node.set, edge: false }), taken);
      case "sequence":
        return this.addSequence(node.items, empty, taken);
      case "choice":
        return node.options
          .map((option) => this.addNode(option, empty, taken))
          .reduceRight((other, preferred) => this.fork(preferred, other));
      case "group":
        return this.addNode(node.body, empty, taken);
      case "repeat":
        return this.addRepeat(node, empty, taken);
      case "start":
      case "end":
      case "wordBoundary":
        return this.addGuard(guardOf(node), empty);
      case "look":
        return this.addLook(node, empty);
      case "atomic":
        return this.addAtomic(node, empty, taken);
    }
  }

  private addSequence(items: readonly Node[], empty: number, taken: number): number {
    let entry = empty;
    let entryTaken = taken;
    for (const item of items.toReversed()) {
      if (entry === entryTaken || !canBeEmpty(item)) {
        entry = this.addNode(item, entryTaken, entryTaken);
        entryTaken = entry;
      } else {
        const following = entryTaken;
        entryTaken = this.addNode(item, following, following);
        entry = this.addNode(item, entry, following);
      }
    }
    return entry;
  }

  private addGuard(guard: Guard, next: number): number {
    const entries = guard.map(({ left, right }) => {
      const following = isAny(right) ? next : this.add(nfaOp.lookahead, this.sets.idOf(right), next);
      return isAny(left) ? following : this.add(nfaOp.lookbehind, this.sets.idOf(left), following);
    });
    if (entries.length === 0)
      return this.add(nfaOp.lookahead, this.sets.idOf({ set: emptySet, edge: false }), next);
    return entries.reduceRight((other, preferred) => this.fork(preferred, other));
  }

  private addLook(node: Node & { kind: "look" }, next: number): number {
    if (!isLongLook(node)) return this.addGuard(guardOf(node), next);
    if (!this.isReadBackwards || node.behind)
      throw new BeyondAutomaton("it looks behind more than one character", lookBehindHint, node.text);
    const found = this.add(nfaOp.match, 0, 0);
    const body = this.addNode(node.body, found, found);
    return this.add(node.negated ? nfaOp.lookNot : nfaOp.look, body, next);
  }

  private addAtomic({ body, text }: { body: Node; text?: string }, empty: number, taken: number): number {
    if (!this.isReadBackwards) throw new BeyondAutomaton("it gives nothing back", undefined, text);
    const leave = this.add(nfaOp.leave, 0, empty);
    const leaveTaken = empty === taken ? leave : this.add(nfaOp.leave, 0, taken);
    return this.add(nfaOp.atomic, 0, this.addNode(body, leave, leaveTaken));
  }

  private addRepeat(node: Node & { kind: "repeat" }, empty: number, taken: number): number {
    const { body, min, max, mode } = node;
    if (mode === "possessive" && body.kind !== "set")
      return this.addAtomic({ ...node, body: { ...node, mode: "greedy" } }, empty, taken);
    if (mode !== "possessive" || body.kind !== "set" || min === max)
      return this.addTurns(node, empty, taken, empty, taken);
    // Giving nothing back over one set C means leaving only where no C follows: C*+ is C*(?!C).
    const noneFollows = onTheRight({ set: complementOf(body.set), edge: true });
    const leave = (next: number) => this.addGuard(noneFollows, next);
    const leaveEmpty = leave(empty);
    const leaveTaken = empty === taken ? leaveEmpty : leave(taken);
    return this.addTurns(node, leaveEmpty, leaveTaken, empty, taken);
  }

  /** `lastEmpty` and `lastTaken` follow the last of a bounded number of turns. */
  private addTurns(
    { body, min, max, mode }: Node & { kind: "repeat" },
    empty: number,
    taken: number,
    lastEmpty: number,
    lastTaken: number,
  ): number {
    const again = (turn: number, out: number) =>
      mode === "lazy" ? this.fork(out, turn) : this.fork(turn, out);
    let entry = lastEmpty;
    let entryTaken = lastTaken;
    if (max === Number.POSITIVE_INFINITY) {
      entryTaken = this.fork(-1, -1);
      const turn = this.addNode(body, taken, entryTaken);
      this.first[entryTaken] = mode === "lazy" ? taken : turn;
      this.second[entryTaken] = mode === "lazy" ? turn : taken;
      entry = empty === taken ? entryTaken : again(this.addNode(body, empty, entryTaken), empty);
    }
    for (let count = max; count > min && count !== Number.POSITIVE_INFINITY; count--) {
      const following = entryTaken;
      entryTaken = again(this.addNode(body, taken, following), taken);
      if (empty === taken) entry = entryTaken;
      else if (count === min + 1) entry = again(this.addNode(body, empty, following), empty);
    }
    return this.addSequence(Array<Node>(min).fill(body), entry, entryTaken);
  }
}

const lookBehindHint = "a look behind sees one character; a look ahead sees many";

/** A neighbour of a position: a character of the set, or, with `edge`, none: there the text begins or ends. */
type Neighbour = { readonly set: CodePointSet; readonly edge: boolean };

/**
 * A guard says what an assertion asks of the two characters around a position, where that is all it asks: one of the
 * pairs (left and right) must hold. `\b` is two pairs: a word character on the left and none on the right, and the
 * other way about.
 */
type Guard = readonly { readonly left: Neighbour; readonly right: Neighbour }[];

const any: Neighbour = { set: fullSet, edge: true };
const onlyEdge: Neighbour = { set: emptySet, edge: true };
const always: Guard = [{ left: any, right: any }];

/** A choice of so many pairs is no guard any more. */
const pairCountMax = 64;

const isAny = ({ set, edge }: Neighbour): boolean => edge && isFull(set);

/** The guard of a node that takes no character. Throws BeyondAutomaton where it asks for more than two neighbours. */
function guardOf(node: Node): Guard {
  return merged(pairsOf(node));
}

/** Whether a look asks for more than the two neighbours of its position. */
export function isLongLook(node: Node & { kind: "look" }): boolean {
  try {
    guardOf(node);
    return false;
  } catch (error) {
    if (error instanceof BeyondAutomaton) return true;
    throw error;
  }
}

function pairsOf(node: Node): Guard {
  switch (node.kind) {
    case "start":
      return onTheLeft(onlyEdge);
    case "end":
      return onTheRight(onlyEdge);
    case "wordBoundary": {
      const word = { set: node.word, edge: false };
      const boundary = [
        { left: word, right: not(word) },
        { left: not(word), right: word },
      ];
      return node.negated ? complementOfGuard(boundary) : boundary;
    }
    case "look": {
      const body = beside(node.body, node.behind ? onTheLeft : onTheRight, node.behind);
      return node.negated ? complementOfGuard(body) : body;
    }
    case "group":
      return pairsOf(node.body);
    case "choice":
      return node.options.flatMap(pairsOf);
    case "sequence":
      return node.items.map(pairsOf).reduce(both, always);
    default:
      throw new BeyondAutomaton("it looks ahead or behind more than one character");
  }
}

/**
 * Whether the text from a position on can begin with the node: that is a guard if its first character decides. `backwards`:
 * whether the text before it can end with the node.
 */
function beside(node: Node, onSide: (neighbour: Neighbour) => Guard, backwards: boolean): Guard {
  // What gives nothing back asks what follows it, too.
  const isGreedyEnd = node.kind === "repeat" && node.mode === "possessive";
  if (backwards && isGreedyEnd) throw new BeyondAutomaton("it looks behind more than one character");
  switch (node.kind) {
    case "set":
      return onSide({ set: node.set, edge: false });
    case "group":
      return beside(node.body, onSide, backwards);
    case "choice":
      return node.options.flatMap((option) => beside(option, onSide, backwards));
    case "repeat":
      if (node.min === 0) return always;
      if (node.min === 1) return beside(node.body, onSide, backwards);
      break;
    case "sequence": {
      const items = backwards ? node.items.toReversed() : node.items;
      let guard = always;
      for (const [i, item] of items.entries()) {
        if (takesNothing(item)) {
          guard = both(guard, pairsOf(item));
          continue;
        }
        // Behind the first character there is only what need not be there.
        if (!items.slice(i + 1).every((other) => isNeedless(other, backwards))) break;
        return both(guard, beside(item, onSide, backwards));
      }
      if (items.every(takesNothing)) return guard;
      break;
    }
    default:
      return pairsOf(node);
  }
  throw new BeyondAutomaton(`it looks ${backwards ? "behind" : "ahead"} more than one character`);
}

/** Assertions, and what is made of nothing else. */
function takesNothing(node: Node): boolean {
  switch (node.kind) {
    case "start":
    case "end":
    case "wordBoundary":
    case "look":
      return true;
    case "group":
      return takesNothing(node.body);
    case "choice":
      return node.options.every(takesNothing);
    case "sequence":
      return node.items.every(takesNothing);
    default:
      return false;
  }
}

/** Matches the empty string wherever it is asked; read backwards, what gives nothing back does not. */
function isNeedless(node: Node, backwards: boolean): boolean {
  switch (node.kind) {
    case "repeat":
      if (backwards && node.mode === "possessive") return false;
      return node.min === 0 || isNeedless(node.body, backwards);
    case "group":
      return isNeedless(node.body, backwards);
    case "choice":
      return node.options.some((option) => isNeedless(option, backwards));
    case "sequence":
      return node.items.every((item) => isNeedless(item, backwards));
    default:
      return false;
  }
}

const onTheLeft = (left: Neighbour): Guard => [{ left, right: any }];
const onTheRight = (right: Neighbour): Guard => [{ left: any, right }];

function not({ set, edge }: Neighbour): Neighbour {
  return { set: complementOf(set), edge: !edge };
}

function common(a: Neighbour, b: Neighbour): Neighbour {
  if (isAny(a)) return b;
  if (isAny(b)) return a;
  return { set: intersectionOf(a.set, b.set), edge: a.edge && b.edge };
}

const isNone = ({ set, edge }: Neighbour): boolean => !edge && set.length === 0;

function both(a: Guard, b: Guard): Guard {
  const pairs = a.flatMap((x) =>
    b.map((y) => ({ left: common(x.left, y.left), right: common(x.right, y.right) })),
  );
  if (pairs.length > pairCountMax) throw new BeyondAutomaton("it looks around in too many ways at once");
  return pairs.filter(({ left, right }) => !isNone(left) && !isNone(right));
}

/** Not one of the pairs holds: of each, the left or the right does not. */
function complementOfGuard(guard: Guard): Guard {
  return merged(guard)
    .map(({ left, right }): Guard => {
      const pairs = [
        { left: not(left), right: any },
        { left, right: not(right) },
      ];
      return pairs.filter((pair) => !isNone(pair.left) && !isNone(pair.right));
    })
    .reduce(both, always);
}

/** Pairs that ask nothing of one side are one pair. */
function merged(guard: Guard): Guard {
  const join = (neighbours: Neighbour[]): Neighbour => ({
    set: unionOf(neighbours.map(({ set }) => set)),
    edge: neighbours.some(({ edge }) => edge),
  });
  const onlyRight = guard.filter(({ left }) => isAny(left));
  const onlyLeft = guard.filter(({ left, right }) => isAny(right) && !isAny(left));
  const rest = guard.filter(({ left, right }) => !isAny(left) && !isAny(right));
  return [
    ...(onlyRight.length > 0 ? onTheRight(join(onlyRight.map(({ right }) => right))) : []),
    ...(onlyLeft.length > 0 ? onTheLeft(join(onlyLeft.map(({ left }) => left))) : []),
    ...rest,
  ];
}
