import { type Node, parsePattern } from "../../src/pattern/parse-pattern.ts";

/** Thrown where a pattern takes too long on a text to be worth a test. */
export class TooSlow extends Error {}

/** A split of assertions alone, which cuts where they hold: this matcher does not know it. */
export class EmptyMatch extends Error {}

const stepsMax = 200_000;

type Captures = readonly (readonly [start: number, end: number] | undefined)[];
type Next = (pos: number, captures: Captures) => number;
const failed = -1;

/**
 * Ends of the pretokens of a text, in code points: the textbook matcher, in continuations, over the syntax tree. It shares the
 * parser with the compiler and nothing else.
 */
export function naiveTreeEnds(source: string, text: readonly number[]): number[] {
  const tree = parsePattern(source);
  const ends: number[] = [];
  let settled = 0;
  for (let pos = 0; pos < text.length; ) {
    const end = matchAt(tree, text, pos);
    if (end === pos) throw new EmptyMatch(`${source} matches the empty string`);
    if (end === failed) {
      pos++;
      continue;
    }
    if (pos > settled) ends.push(pos);
    ends.push(end);
    settled = end;
    pos = end;
  }
  if (settled < text.length) ends.push(text.length);
  return ends;
}

/** Whether there is a match that begins at a position. */
export const naiveMatches = (tree: Node, text: readonly number[], start: number) =>
  matchAt(tree, text, start) !== failed;

function matchAt(tree: Node, text: readonly number[], start: number): number {
  let steps = 0;
  return match(tree, start, [], (end) => end);

  function match(node: Node, pos: number, captures: Captures, next: Next): number {
    if (++steps > stepsMax) throw new TooSlow();
    const isThere = (yes: boolean) => (yes ? next(pos, captures) : failed);
    switch (node.kind) {
      case "set":
        return contains(node.set, text[pos]) ? next(pos + 1, captures) : failed;
      case "sequence":
        return node.items.reduceRight<Next>(
          (following, item) => (at, taken) => match(item, at, taken, following),
          next,
        )(pos, captures);
      case "choice":
        for (const option of node.options) {
          const end = match(option, pos, captures, next);
          if (end !== failed) return end;
        }
        return failed;
      case "group":
        return match(node.body, pos, captures, (end, inner) => {
          const taken = [...inner];
          taken[node.index] = [pos, end];
          return next(end, taken);
        });
      case "repeat":
        if (node.mode === "possessive") return atomic({ ...node, mode: "greedy" }, pos, captures, next);
        return repeat(node, 0, pos, captures, next);
      case "atomic":
        return atomic(node.body, pos, captures, next);
      case "look": {
        let found: Captures | undefined;
        const starts = node.behind ? Array.from({ length: pos + 1 }, (_, i) => pos - i) : [pos];
        starts.some(
          (from) =>
            match(node.body, from, captures, (end, inner) => {
              if (node.behind && end !== pos) return failed;
              found = inner;
              return end;
            }) !== failed,
        );
        if (node.negated) return isThere(found === undefined);
        return found === undefined ? failed : next(pos, found);
      }
      case "start":
        return isThere(pos === 0);
      case "end":
        return isThere(pos === text.length);
      case "wordBoundary":
        return isThere(
          (contains(node.word, text[pos - 1]) !== contains(node.word, text[pos])) !== node.negated,
        );
      case "backreference": {
        const capture = captures[node.index];
        if (capture === undefined) return failed;
        const [from, to] = capture;
        for (let i = 0; i < to - from; i++) {
          if (text[from + i] !== text[pos + i]) return failed;
        }
        return next(pos + to - from, captures);
      }
    }
  }

  function atomic(body: Node, pos: number, captures: Captures, next: Next): number {
    let found: Captures = captures;
    const end = match(body, pos, captures, (at, inner) => {
      found = inner;
      return at;
    });
    return end === failed ? failed : next(end, found);
  }

  function repeat(
    node: Node & { kind: "repeat" },
    count: number,
    pos: number,
    captures: Captures,
    next: Next,
  ): number {
    const again = () =>
      count === node.max
        ? failed
        : match(node.body, pos, captures, (end, inner) =>
            // A turn that takes nothing ends the repeat.
            end === pos && count >= node.min ? next(end, inner) : repeat(node, count + 1, end, inner, next),
          );
    if (count < node.min) return again();
    if (node.mode === "lazy") {
      const end = next(pos, captures);
      return end === failed ? again() : end;
    }
    const end = again();
    return end === failed ? next(pos, captures) : end;
  }
}

function contains(set: readonly number[], codePoint: number | undefined): boolean {
  if (codePoint === undefined) return false;
  for (let i = 0; i < set.length; i += 2) if (set[i]! <= codePoint && codePoint <= set[i + 1]!) return true;
  return false;
}
