import { BeyondAutomaton } from "./automaton.ts";
import {
  type CodePointSet,
  complementOf,
  emptySet,
  fullSet,
  intersectionOf,
  isFull,
  unionOf,
} from "./code-point-set.ts";
import type { Node } from "./syntax-tree.ts";

/** A neighbour of a position: a character of the set, or, with `edge`, none: there the text begins or ends. */
type Neighbour = { readonly set: CodePointSet; readonly edge: boolean };

/**
 * A guard says what an assertion asks of the two characters around a position, where that is all it asks: one of the
 * pairs (left and right) must hold. `\b` is two pairs: a word character on the left and none on the right, and the
 * other way about.
 */
export type Guard = readonly { readonly left: Neighbour; readonly right: Neighbour }[];

const any: Neighbour = { set: fullSet, edge: true };
const onlyEdge: Neighbour = { set: emptySet, edge: true };
const always: Guard = [{ left: any, right: any }];

/** A choice of so many pairs is no guard any more. */
const pairCountMax = 64;

export const isAny = ({ set, edge }: Neighbour): boolean => edge && isFull(set);

/** The guard of a node that takes no character. Throws BeyondAutomaton where it asks for more than two neighbours. */
export function guardOf(node: Node): Guard {
  return merged(pairsOf(node));
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
      const body = node.behind ? guardBehind(node.body) : guardAhead(node.body);
      return node.negated ? complementOfGuard(body) : body;
    }
    case "group":
    case "atomic":
      return pairsOf(node.body);
    case "choice":
      return node.options.flatMap(pairsOf);
    case "sequence":
      return node.items.map(pairsOf).reduce(both, always);
    default:
      throw new BeyondAutomaton("it looks ahead or behind more than one character");
  }
}

/** Whether the text from a position on can begin with the node: that is a guard if its first character decides. */
function guardAhead(node: Node): Guard {
  return beside(node, onTheRight, false);
}

/** Whether the text before a position can end with the node. */
function guardBehind(node: Node): Guard {
  return beside(node, onTheLeft, true);
}

function beside(node: Node, onSide: (neighbour: Neighbour) => Guard, backwards: boolean): Guard {
  // What gives nothing back asks what follows it, too.
  const isGreedyEnd = node.kind === "atomic" || (node.kind === "repeat" && node.mode === "possessive");
  if (backwards && isGreedyEnd) throw new BeyondAutomaton("it looks behind more than one character");
  switch (node.kind) {
    case "set":
      return onSide({ set: node.set, edge: false });
    case "group":
    case "atomic":
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
export function takesNothing(node: Node): boolean {
  switch (node.kind) {
    case "start":
    case "end":
    case "wordBoundary":
    case "look":
      return true;
    case "group":
    case "atomic":
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
    case "atomic":
      return !backwards && isNeedless(node.body, backwards);
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

/** No character of the set follows. */
export function notInside(set: CodePointSet): Guard {
  return onTheRight({ set: complementOf(set), edge: true });
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
