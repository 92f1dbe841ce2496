import { type CodePointSet, lastCodePoint } from "./ranges.ts";
import type { Node } from "./syntax.ts";

/**
 * A syntax tree as a regular expression for Oniguruma, the engine of HF's `Split`, with the same meaning there:
 *   $, ^          are the ends of lines there: \z, \A
 *   {1,3}+        repeats again there: (?>…{1,3}), and so all that is possessive
 *   (?i:…)        equates strings there (ß and ss): folded sets are spelled out
 *   (…)           captures nothing that is used, unless the pattern refers back
 * Sets stay as the user wrote them where both read them alike.
 */
export function onigurumaSource(tree: Node): string {
  const sourceOf = (node: Node): string => {
    switch (node.kind) {
      case "set":
        return node.text !== null && readsAlike(node.text)
          ? withWordsSpelledOut(node.text)
          : classSource(node.set);
      case "sequence":
        return node.items.map(sourceOf).join("");
      case "choice":
        return `(?:${node.options.map(sourceOf).join("|")})`;
      case "group":
        return `(${sourceOf(node.body)})`;
      case "atomic":
        return `(?>${sourceOf(node.body)})`;
      case "repeat": {
        const body = node.body.kind === "set" ? sourceOf(node.body) : `(?:${sourceOf(node.body)})`;
        const repeated = body + countSource(node.min, node.max);
        if (node.mode === "possessive") return `(?>${repeated})`;
        return node.mode === "lazy" ? `(?:${repeated}?)` : repeated;
      }
      case "look":
        return `(?${node.behind ? "<" : ""}${node.negated ? "!" : "="}${sourceOf(node.body)})`;
      case "start":
        return "\\A";
      case "end":
        return "\\z";
      case "wordBoundary":
        return node.negated ? "\\B" : "\\b";
      case "backreference":
        return node.ignoreCase ? `(?i:\\${node.index})` : `\\${node.index}`;
    }
  };
  // A choice at the top needs no group around it.
  return tree.kind === "choice" ? tree.options.map(sourceOf).join("|") : sourceOf(tree);
}

/** \u{…} and \p{Script=…} are not known there; a bare `.` depends on flags. */
function readsAlike(text: string): boolean {
  return text !== "." && !/\\[uxaev0]|=/.test(text);
}

/** \w is a smaller set there: ours by its definition. */
function withWordsSpelledOut(text: string): string {
  const word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
  return text.replace(/\\[^wW]|\\w|\\W/g, (escaped) =>
    escaped === "\\w" ? `[${word}]` : escaped === "\\W" ? `[^${word}]` : escaped,
  );
}

function countSource(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  return min === 0 && max === 1 ? "?" : min === max ? `{${min}}` : `{${min},${max}}`;
}

function classSource(set: CodePointSet): string {
  // An empty class is an error there.
  if (set.length === 0) return "(?!)";
  const point = (codePoint: number) => `\\x{${codePoint.toString(16)}}`;
  let ranges = "";
  for (let i = 0; i < set.length; i += 2) {
    // Surrogates are no code points there.
    const parts = withoutSurrogates(set[i]!, set[i + 1]!);
    for (const [first, last] of parts)
      ranges += first === last ? point(first) : `${point(first)}-${point(last)}`;
  }
  return `[${ranges}]`;
}

function withoutSurrogates(first: number, last: number): [first: number, last: number][] {
  const parts: [number, number][] = [
    [first, Math.min(last, 0xd7ff)],
    [Math.max(first, 0xe000), Math.min(last, lastCodePoint)],
  ];
  return parts.filter((part) => part[0] <= part[1]);
}
