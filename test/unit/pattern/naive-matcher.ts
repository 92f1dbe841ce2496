import { type Node, parsePattern } from "../../../src/pattern/parse-pattern.ts";

/** Thrown if a pattern takes too many steps on a text. */
export class TooSlow extends Error {}

/** Thrown if a pattern matches the empty string, which this matcher does not support. */
export class EmptyMatch extends Error {}

const stepsMax = 200_000;

type Next = (pos: number) => number;
const failed = -1;

/**
 * Returns the ends of the pretokens of a text, in code points, by the textbook matcher with continuations over the
 * syntax tree. It shares only the parser with the compiler.
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

/**
 * Returns the ends of the pretokens in bytes. `parts` are strings and invalid bytes. Each invalid byte is a pretoken.
 * Each string is cut separately or, with `lineWise`, each of its lines.
 */
export function textbookEnds(
  sources: readonly string[],
  parts: readonly (string | number)[],
  lineWise: boolean,
): number[] {
  const ends: number[] = [];
  const add = (byteCount: number) => ends.push((ends.at(-1) ?? 0) + byteCount);
  for (const part of parts) {
    if (typeof part === "number") {
      add(1);
      continue;
    }
    let pieces = lineWise ? part.split(/(?<=\n)/) : [part];
    for (const source of sources) {
      pieces = pieces.flatMap((piece) => {
        const points = Array.from(piece);
        const cuts = naiveTreeEnds(
          source,
          points.map((character) => character.codePointAt(0)!),
        );
        return cuts.map((end, i) => points.slice(cuts[i - 1] ?? 0, end).join(""));
      });
    }
    for (const piece of pieces) add(Buffer.byteLength(piece));
  }
  return ends;
}

/** Whether a match begins at this position. */
export const naiveMatches = (tree: Node, text: readonly number[], start: number) =>
  matchAt(tree, text, start) !== failed;

function matchAt(tree: Node, text: readonly number[], start: number): number {
  let steps = 0;
  return match(tree, start, (end) => end);

  function match(node: Node, pos: number, next: Next): number {
    if (++steps > stepsMax) throw new TooSlow();
    const isThere = (yes: boolean) => (yes ? next(pos) : failed);
    switch (node.kind) {
      case "set":
        return contains(node.set, text[pos]) ? next(pos + 1) : failed;
      case "sequence":
        return node.items.reduceRight<Next>(
          (following, item) => (at) => match(item, at, following),
          next,
        )(pos);
      case "choice":
        for (const option of node.options) {
          const end = match(option, pos, next);
          if (end !== failed) return end;
        }
        return failed;
      case "group":
        return match(node.body, pos, next);
      case "repeat":
        if (node.mode === "possessive") return atomic({ ...node, mode: "greedy" }, pos, next);
        return repeat(node, 0, pos, next);
      case "atomic":
        return atomic(node.body, pos, next);
      case "look": {
        const starts = node.behind ? Array.from({ length: pos + 1 }, (_, i) => pos - i) : [pos];
        const reached = (end: number) => (node.behind && end !== pos ? failed : end);
        const holds = starts.some((from) => match(node.body, from, reached) !== failed);
        return isThere(holds !== node.negated);
      }
      case "start":
        return isThere(pos === 0);
      case "end":
        return isThere(pos === text.length);
      case "wordBoundary":
        return isThere(
          (contains(node.word, text[pos - 1]) !== contains(node.word, text[pos])) !== node.negated,
        );
    }
  }

  function atomic(body: Node, pos: number, next: Next): number {
    const end = match(body, pos, (at) => at);
    return end === failed ? failed : next(end);
  }

  function repeat(node: Node & { kind: "repeat" }, count: number, pos: number, next: Next): number {
    const again = () =>
      count === node.max
        ? failed
        : match(node.body, pos, (end) =>
            // After the minimum, an iteration that matches the empty string ends the repeat.
            end === pos && count >= node.min ? next(end) : repeat(node, count + 1, end, next),
          );
    if (count < node.min) return again();
    if (node.mode === "lazy") {
      const end = next(pos);
      return end === failed ? again() : end;
    }
    const end = again();
    return end === failed ? next(pos) : end;
  }
}

function contains(set: readonly number[], codePoint: number | undefined): boolean {
  if (codePoint === undefined) return false;
  for (let i = 0; i < set.length; i += 2) if (set[i]! <= codePoint && codePoint <= set[i + 1]!) return true;
  return false;
}
