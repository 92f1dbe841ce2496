import { BeyondAutomaton, Numbering } from "./automaton.ts";
import { canBeEmpty, type Node } from "./parse-pattern.ts";
import * as unicode from "./unicode.ts";

/**
 * A pattern as a program. `determinize.ts` builds an automaton that runs all its threads at once, in order of
 * preference. Instruction i:
 *
 *   ops[i]          first[i]            second[i]       MEANING
 *   take            set of characters   next            consumes a character of the set
 *   fork            preferred next      other next      tries the preferred branch first
 *   lookahead       set of symbols      next            consumes nothing; the next symbol must be in the set
 *   lookbehind      set of symbols      next            consumes nothing; the previous symbol must be in the set
 *   match           -                   -               the pattern has matched
 *
 * Only in programs that are evaluated from right to left:
 *   look            body                next            the body, up to a `match`, must match here
 *   lookNot         body                next            the body must not match here
 *   atomic          -                   body            only the first path through the body counts, up to `leave`
 *   leave           -                   next            the body of an atomic group has matched
 *
 * A symbol is a character class, INVALID or END (the end of the text; for look-behind, its start). Sets are ids of
 * `SymbolSets`. `ab?` is: 0 match, 1 take b -> 0, 2 fork 1 or 0, 3 take a -> 2; it starts at 3.
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

/**
 * The distinct sets of one or more programs, each with a number. The set of a lookaround may contain the edge of the
 * text in addition to characters.
 */
export class SymbolSets extends Numbering<Neighbour> {
  constructor() {
    // The texts of sets are cached by the identity of the set, because every mention of a property in the pattern has
    // the same array.
    const texts = new Map<unicode.CodePointSet, string>();
    super(({ set, edge }) => {
      const text = texts.get(set) ?? set.join();
      texts.set(set, text);
      return `${edge} ${text}`;
    });
  }
}

const instructionCountMax = 20_000;

/**
 * Compiles a syntax tree to a program. With `isReadBackwards`, the program may have long look-aheads and atomic groups.
 * Throws BeyondAutomaton for a construct that the program may not have, and if the program becomes too long.
 */
export function buildNfa(tree: Node, sets: SymbolSets, isReadBackwards = false): Nfa {
  return new NfaBuilder(sets, isReadBackwards).build(tree);
}

/**
 * Builds a program from its end: `addNode` receives the instructions that follow a node, and returns the node's first
 * instruction. As in Perl, a repeat ends after an iteration that consumes no character, so no path is a cycle without a
 * character.
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
      throw new BeyondAutomaton("it is too long with its counted repetitions written out");
    this.first.push(a);
    this.second.push(b);
    return this.ops.push(op) - 1;
  }

  private fork(preferred: number, other: number): number {
    return this.add(nfaOp.fork, preferred, other);
  }

  /**
   * Adds a node and returns its first instruction. After the node, the program continues at `taken` if the node has
   * consumed a character, otherwise at `empty`.
   */
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
      return this.add(nfaOp.lookahead, this.sets.idOf({ set: unicode.emptySet, edge: false }), next);
    return entries.reduceRight((other, preferred) => this.fork(preferred, other));
  }

  private addLook(node: Node & { kind: "look" }, next: number): number {
    if (!isLongLook(node)) return this.addGuard(guardOf(node), next);
    if (!this.isReadBackwards || node.behind)
      throw new BeyondAutomaton("it looks behind by more than one character", lookBehindHint, node.text);
    const found = this.add(nfaOp.match, 0, 0);
    const body = this.addNode(node.body, found, found);
    return this.add(node.negated ? nfaOp.lookNot : nfaOp.look, body, next);
  }

  private addAtomic({ body, text }: { body: Node; text?: string }, empty: number, taken: number): number {
    if (!this.isReadBackwards) throw new BeyondAutomaton("it never backtracks", undefined, text);
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
    // Below its maximum, a possessive repeat of one set C ends only where no C follows: C*+ is C*(?!C).
    const noneFollows = onTheRight({ set: unicode.complementOf(body.set), edge: true });
    const leave = (next: number) => this.addGuard(noneFollows, next);
    const leaveEmpty = leave(empty);
    const leaveTaken = empty === taken ? leaveEmpty : leave(taken);
    return this.addTurns(node, leaveEmpty, leaveTaken, empty, taken);
  }

  /**
   * Adds the iterations of a repeat. After iteration `max`, the program continues at `lastEmpty` or `lastTaken`. If the
   * repeat ends earlier, it continues at `empty` or `taken`.
   */
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

const lookBehindHint = "use a look-behind of one character, or a look-ahead, which may span any number";

/**
 * A condition on one neighbour of a position: it is a character of the set or, if `edge` is true, the start or end of
 * the text.
 */
type Neighbour = { readonly set: unicode.CodePointSet; readonly edge: boolean };

/**
 * An assertion that depends only on the two neighbours of a position. In at least one of the pairs, both sides must
 * hold. `\b` is two pairs: a word character on the left and none on the right, and vice versa.
 */
type Guard = readonly { readonly left: Neighbour; readonly right: Neighbour }[];

const any: Neighbour = { set: unicode.fullSet, edge: true };
const onlyEdge: Neighbour = { set: unicode.emptySet, edge: true };
const always: Guard = [{ left: any, right: any }];

/** The maximum number of pairs in a combination of two guards, including pairs that never hold. */
const pairCountMax = 64;

const isAny = ({ set, edge }: Neighbour): boolean => edge && unicode.isFull(set);

/**
 * Returns the guard that is equivalent to a node that consumes no character. Throws BeyondAutomaton if the node depends
 * on more than the two neighbours, or if the guard would have too many pairs.
 */
function guardOf(node: Node): Guard {
  return mergePairs(pairsOf(node));
}

/**
 * Whether a lookaround cannot be expressed as a guard, because it may depend on more than the two neighbours of its
 * position, or because the guard would have too many pairs.
 */
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
        { left: word, right: complementOfNeighbour(word) },
        { left: complementOfNeighbour(word), right: word },
      ];
      return node.negated ? complementOfGuard(boundary) : boundary;
    }
    case "look": {
      const body = sideGuard(node.body, node.behind ? onTheLeft : onTheRight, node.behind);
      return node.negated ? complementOfGuard(body) : body;
    }
    case "group":
      return pairsOf(node.body);
    case "choice":
      return node.options.flatMap(pairsOf);
    case "sequence":
      return node.items.map(pairsOf).reduce(intersectGuards, always);
    default:
      throw new BeyondAutomaton("it looks ahead or behind by more than one character");
  }
}

/**
 * Returns the guard for "the text after a position can begin with the node"; with `backwards`, for "the text before the
 * position can end with the node". Throws BeyondAutomaton if one character does not decide that.
 */
function sideGuard(node: Node, onSide: (neighbour: Neighbour) => Guard, backwards: boolean): Guard {
  // Backwards, a possessive repeat also depends on what follows it.
  const isGreedyEnd = node.kind === "repeat" && node.mode === "possessive";
  if (backwards && isGreedyEnd) throw new BeyondAutomaton("it looks behind by more than one character");
  switch (node.kind) {
    case "set":
      return onSide({ set: node.set, edge: false });
    case "group":
      return sideGuard(node.body, onSide, backwards);
    case "choice":
      return node.options.flatMap((option) => sideGuard(option, onSide, backwards));
    case "repeat":
      if (node.min === 0) return always;
      if (node.min === 1) return sideGuard(node.body, onSide, backwards);
      break;
    case "sequence": {
      const items = backwards ? node.items.toReversed() : node.items;
      let guard = always;
      for (const [i, item] of items.entries()) {
        if (takesNothing(item)) {
          guard = intersectGuards(guard, pairsOf(item));
          continue;
        }
        // The first character suffices only if everything after it is optional.
        if (!items.slice(i + 1).every((other) => isOptional(other, backwards))) break;
        return intersectGuards(guard, sideGuard(item, onSide, backwards));
      }
      if (items.every(takesNothing)) return guard;
      break;
    }
    default:
      return pairsOf(node);
  }
  throw new BeyondAutomaton(`it looks ${backwards ? "behind" : "ahead"} by more than one character`);
}

/** Whether a node is an assertion, or a group, choice or sequence of assertions only. */
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

/**
 * Whether a node is known to match the empty string at every position. Backwards, a possessive repeat does not count,
 * because it also depends on what follows it.
 */
function isOptional(node: Node, backwards: boolean): boolean {
  switch (node.kind) {
    case "repeat":
      if (backwards && node.mode === "possessive") return false;
      return node.min === 0 || isOptional(node.body, backwards);
    case "group":
      return isOptional(node.body, backwards);
    case "choice":
      return node.options.some((option) => isOptional(option, backwards));
    case "sequence":
      return node.items.every((item) => isOptional(item, backwards));
    default:
      return false;
  }
}

const onTheLeft = (left: Neighbour): Guard => [{ left, right: any }];
const onTheRight = (right: Neighbour): Guard => [{ left: any, right }];

function complementOfNeighbour({ set, edge }: Neighbour): Neighbour {
  return { set: unicode.complementOf(set), edge: !edge };
}

function intersectNeighbours(a: Neighbour, b: Neighbour): Neighbour {
  if (isAny(a)) return b;
  if (isAny(b)) return a;
  return { set: unicode.intersectionOf(a.set, b.set), edge: a.edge && b.edge };
}

const isNone = ({ set, edge }: Neighbour): boolean => !edge && set.length === 0;

function intersectGuards(a: Guard, b: Guard): Guard {
  const pairs = a.flatMap((x) =>
    b.map((y) => ({
      left: intersectNeighbours(x.left, y.left),
      right: intersectNeighbours(x.right, y.right),
    })),
  );
  if (pairs.length > pairCountMax) throw new BeyondAutomaton("its lookarounds are combined in too many ways");
  return pairs.filter(({ left, right }) => !isNone(left) && !isNone(right));
}

/** Returns the guard that holds where the given guard does not: in each pair, the left or the right condition fails. */
function complementOfGuard(guard: Guard): Guard {
  return mergePairs(guard)
    .map(({ left, right }): Guard => {
      const pairs = [
        { left: complementOfNeighbour(left), right: any },
        { left, right: complementOfNeighbour(right) },
      ];
      return pairs.filter((pair) => !isNone(pair.left) && !isNone(pair.right));
    })
    .reduce(intersectGuards, always);
}

/**
 * Merges the pairs of a guard that have no condition on the left into one, and those that have none on the right into
 * another.
 */
function mergePairs(guard: Guard): Guard {
  const join = (neighbours: Neighbour[]): Neighbour => ({
    set: unicode.unionOf(neighbours.map(({ set }) => set)),
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
