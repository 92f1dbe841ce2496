import type { CodePointSet } from "./ranges.ts";
import { fullSet } from "./ranges.ts";
import type { Node } from "./syntax.ts";

/**
 * A syntax tree as a JavaScript regular expression (flag `v`) with the same meaning: sets are spelled out, so that \s
 * and the Unicode version are ours; what JavaScript lacks is built from what it has:
 *   atomic (?>x) and possessive x*+   a lookahead that captures, then what it captured: (?=(?<a1>x))\k<a1>
 *   \b                                two lookarounds over \w, which JavaScript would take for ASCII
 * Groups are named g1, g2, … as the pattern counts them; the ones made here a1, a2, …
 */
export function regexpSource(tree: Node): string {
  let atomicCount = 0;

  const atomic = (inner: string): string => {
    const name = `a${++atomicCount}`;
    return `(?:(?=(?<${name}>${inner}))\\k<${name}>)`;
  };

  const sourceOf = (node: Node): string => {
    switch (node.kind) {
      case "set":
        return classSource(node.set);
      case "sequence":
        return node.items.map(sourceOf).join("");
      case "choice":
        return `(?:${node.options.map(sourceOf).join("|")})`;
      case "group":
        return `(?<g${node.index}>${sourceOf(node.body)})`;
      case "atomic":
        return atomic(sourceOf(node.body));
      case "repeat": {
        const repeated = `(?:${sourceOf(node.body)})${countSource(node.min, node.max)}`;
        if (node.mode === "possessive") return atomic(repeated);
        return node.mode === "lazy" ? `${repeated}?` : repeated;
      }
      case "look":
        return `(?${node.behind ? "<" : ""}${node.negated ? "!" : "="}${sourceOf(node.body)})`;
      case "start":
        return "^";
      case "end":
        return "$";
      case "wordBoundary": {
        const word = classSource(node.word);
        return node.negated
          ? `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`
          : `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
      }
      case "backreference":
        return node.ignoreCase ? `(?i:\\k<g${node.index}>)` : `\\k<g${node.index}>`;
    }
  };
  return sourceOf(tree);
}

function countSource(min: number, max: number): string {
  return max === Number.POSITIVE_INFINITY ? `{${min},}` : `{${min},${max}}`;
}

function classSource(set: CodePointSet): string {
  if (set.length === 0) return "[]";
  if (set.length === fullSet.length && set.every((bound, i) => bound === fullSet[i])) return "[^]";
  let ranges = "";
  for (let i = 0; i < set.length; i += 2) {
    ranges += `\\u{${set[i]!.toString(16)}}`;
    if (set[i + 1] !== set[i]) ranges += `-\\u{${set[i + 1]!.toString(16)}}`;
  }
  return `[${ranges}]`;
}
