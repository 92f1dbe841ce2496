import type { CodePointSet } from "./code-point-set.ts";
import { contains, setOf } from "./code-point-set.ts";
import type { Node } from "./syntax-tree.ts";
import { caseClasses } from "./unicode.ts";
import { fullFoldings } from "./unicode-data.ts";

/**
 * Oniguruma ignores case between strings: (?i:ß) also matches "ss", (?i:ss) also "ß". Trees have no such node, so a
 * pattern in which that could be seen is refused. This class finds it: single characters and classes that equal several
 * characters, and neighbours that may equal one.
 */
export class MultiCharacterFolds {
  private static severals: CodePointSet | undefined;
  /** The character that a node takes, case folded. */
  private readonly folded = new Map<Node, number>();

  /** Tells of a node that takes one of `set` or its like. A character of it that equals several; undefined if none does. */
  note(node: Node, set: CodePointSet): string | undefined {
    if (set.length === 2 && set[0] === set[1]) this.folded.set(node, foldOf(set[0]!));
    MultiCharacterFolds.severals ??= charactersThatEqualSeveral();
    const { severals } = MultiCharacterFolds;
    for (let i = 0; i < severals.length; i += 2) {
      for (let codePoint = severals[i]!; codePoint <= severals[i + 1]!; codePoint++) {
        if (contains(set, codePoint)) return String.fromCodePoint(codePoint);
      }
    }
    return undefined;
  }

  /** Two characters that may stand side by side in a match, and are part of what one character folds to. */
  pairIn(tree: Node): string | undefined {
    const pairs = new Set<string>();
    const join = (left: Edges, right: Edges) => {
      for (const a of left.last) for (const b of right.first) pairs.add(String.fromCodePoint(a, b));
    };
    const edgesOf = (node: Node): Edges => {
      switch (node.kind) {
        case "set": {
          const folded = this.folded.get(node);
          const ends = new Set(folded === undefined ? [] : [folded]);
          return { first: ends, last: ends, isNullable: false };
        }
        case "sequence":
          return node.items.map(edgesOf).reduce((left, right) => {
            join(left, right);
            return {
              first: left.isNullable ? new Set([...left.first, ...right.first]) : left.first,
              last: right.isNullable ? new Set([...right.last, ...left.last]) : right.last,
              isNullable: left.isNullable && right.isNullable,
            };
          }, nothing);
        case "choice":
          return node.options.map(edgesOf).reduce((a, b) => ({
            first: new Set([...a.first, ...b.first]),
            last: new Set([...a.last, ...b.last]),
            isNullable: a.isNullable || b.isNullable,
          }));
        case "repeat": {
          const body = edgesOf(node.body);
          if (node.max > 1) join(body, body);
          return { ...body, isNullable: body.isNullable || node.min === 0 };
        }
        case "group":
        case "atomic":
          return edgesOf(node.body);
        case "look":
          edgesOf(node.body);
          return nothing;
        default:
          return nothing;
      }
    };
    edgesOf(tree);
    const foldings = fullFoldings.map(([, ...to]) => String.fromCodePoint(...to));
    return [...pairs].find((pair) => foldings.some((folding) => folding.includes(pair)));
  }
}

/** What a part of a pattern may begin and end with. */
type Edges = { first: Set<number>; last: Set<number>; isNullable: boolean };
const nothing: Edges = { first: new Set(), last: new Set(), isNullable: true };

function charactersThatEqualSeveral(): CodePointSet {
  const froms = new Set(fullFoldings.map(([from]) => from!));
  const alike = caseClasses().filter((members) => members.some((codePoint) => froms.has(codePoint)));
  return setOf([...new Set([...froms, ...alike.flat()])].sort((a, b) => a - b));
}

/** One of those that are equal without regard to case: the one that full foldings are written with. */
function foldOf(codePoint: number): number {
  const members = caseClasses().find((others) => others.includes(codePoint)) ?? [codePoint];
  const written = new Set(fullFoldings.flatMap(([, ...to]) => to));
  return members.find((member) => written.has(member)) ?? members[0]!;
}
