import { takesNothing } from "./nfa.ts";
import { mapInner, type Node } from "./parse-pattern.ts";
import { type CodePointSet, intersectionOf } from "./unicode.ts";

/*
 * What gives nothing back, (?>…) and X++, is matched in its first way only. Where that way is certain without a look at what is
 * behind, it is said without an atomic node, so that one pass can read it (README.md):
 *
 *   (?>A)      A               A has one way at most
 *   (?>AB)     A(?>B)          the same
 *   (?>A|B)    (?>A)|(?>B)     A and B match no text in common
 *   (?>C+)     C++             C is one set: programs have a guard for it
 *   (?>C+?)    C               the shortest is first
 */

/** The same tree with fewer atomic nodes. */
export function withFewerAtomics(node: Node): Node {
  const simple = mapInner(node, withFewerAtomics);
  if (simple.kind === "atomic") return firstWayOf(simple.body) ?? simple;
  const isPossessive = simple.kind === "repeat" && simple.mode === "possessive";
  return (isPossessive && firstWayOf({ ...simple, mode: "greedy" })) || simple;
}

/** A node that matches in the first way of this one, and in no other; undefined if it takes an atomic node to say it. */
function firstWayOf(node: Node): Node | undefined {
  if (isFixed(node)) return node;
  switch (node.kind) {
    case "group":
      return firstWayOf(node.body);
    case "choice": {
      if (!areAllApart(node.options)) return undefined;
      const options = node.options.map(firstWayOf);
      return options.every((option) => option !== undefined) ? { kind: "choice", options } : undefined;
    }
    case "sequence": {
      const last = node.items.slice(0, -1).every(isFixed) ? firstWayOf(node.items.at(-1)!) : undefined;
      return last && { ...node, items: [...node.items.slice(0, -1), last] };
    }
    case "repeat": {
      const body = unwrapped(node.body);
      if (body.kind !== "set") return undefined;
      const { min, max, mode } = node;
      if (mode === "lazy") return { kind: "repeat", body, min, max: min, mode: "greedy" };
      return { kind: "repeat", body, min, max, mode: "possessive" };
    }
    default:
      return undefined;
  }
}

const areAllApart = (options: readonly Node[]) =>
  options.every((option, i) => options.slice(0, i).every((other) => areApart(other, option)));

/** Matches in one way at most. */
function isFixed(node: Node): boolean {
  switch (node.kind) {
    case "set":
      return true;
    case "group":
      return isFixed(node.body);
    case "sequence":
      return node.items.every(isFixed);
    case "choice":
      return node.options.every(isFixed) && areAllApart(node.options);
    case "repeat":
      return (node.min === node.max || isPossessiveSet(node)) && isFixed(node.body);
    default:
      return takesNothing(node);
  }
}

const isPossessiveSet = ({ mode, body }: Node & { kind: "repeat" }) =>
  mode === "possessive" && body.kind === "set";

const unwrapped = (node: Node): Node => (node.kind === "group" ? unwrapped(node.body) : node);

/** No text begins with a match of each: at some place they ask for different characters. */
function areApart(a: Node, b: Node): boolean {
  const others = leadingSets(b).sets;
  return leadingSets(a).sets.some(
    (set, i) => others[i] !== undefined && intersectionOf(set, others[i]).length === 0,
  );
}

/** The sets of the first characters, as far as they are certain; `isAll`: the node takes just these. */
function leadingSets(node: Node): { sets: readonly CodePointSet[]; isAll: boolean } {
  if (node.kind === "set") return { sets: [node.set], isAll: true };
  if (node.kind === "group") return leadingSets(node.body);
  if (node.kind === "repeat") {
    const turns = leadingSets({
      kind: "sequence",
      items: Array<Node>(Math.min(node.min, 8)).fill(node.body),
    });
    return { sets: turns.sets, isAll: false };
  }
  if (node.kind !== "sequence") return { sets: [], isAll: takesNothing(node) };
  const sets: CodePointSet[] = [];
  for (const item of node.items) {
    const leading = leadingSets(item);
    sets.push(...leading.sets);
    if (!leading.isAll) return { sets, isAll: false };
  }
  return { sets, isAll: true };
}
