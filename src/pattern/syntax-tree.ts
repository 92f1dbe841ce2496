import type { CodePointSet } from "./unicode.ts";

/**
 * The syntax tree of a pattern. Everything that names characters is already a set of code points, case folded where
 * the pattern asks for it, so that nothing after the parser knows of escapes, properties or flags.
 */
export type Node =
  /** `text` is how the pattern writes the set; null where case was folded. */
  | { readonly kind: "set"; readonly set: CodePointSet; readonly text: string | null }
  | { readonly kind: "sequence"; readonly items: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly body: Node;
      readonly min: number;
      /** Infinity where there is no bound. */
      readonly max: number;
      readonly mode: RepeatMode;
    }
  | { readonly kind: "group"; readonly body: Node; readonly index: number }
  | { readonly kind: "atomic"; readonly body: Node }
  | { readonly kind: "look"; readonly behind: boolean; readonly negated: boolean; readonly body: Node }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  /** `word` holds the characters of words. */
  | { readonly kind: "wordBoundary"; readonly negated: boolean; readonly word: CodePointSet }
  | { readonly kind: "backreference"; readonly index: number };

/** greedy takes as much as it can and gives back; lazy as little as it can; possessive gives nothing back. */
type RepeatMode = "greedy" | "lazy" | "possessive";

/** Whether the node can match without taking a character. */
export function canBeEmpty(node: Node): boolean {
  switch (node.kind) {
    case "set":
      return false;
    case "sequence":
      return node.items.every(canBeEmpty);
    case "choice":
      return node.options.some(canBeEmpty);
    case "repeat":
      return node.min === 0 || canBeEmpty(node.body);
    case "group":
    case "atomic":
      return canBeEmpty(node.body);
    default:
      return true;
  }
}

/**
 * Whether a way to match that takes nothing is tried before one that takes a character. An unbounded repeat of such a node
 * ends there in a backtracking engine, and goes on in an automaton like that of tiktoken's engine.
 */
export function prefersEmpty(node: Node): boolean {
  if (!canBeEmpty(node)) return false;
  switch (node.kind) {
    case "sequence":
      return node.items.some(prefersEmpty);
    case "choice":
      return node.options.slice(0, -1).some(canBeEmpty) || node.options.some(prefersEmpty);
    case "repeat":
      return node.mode === "lazy" || prefersEmpty(node.body);
    case "group":
    case "atomic":
      return prefersEmpty(node.body);
    default:
      return false;
  }
}

export function isAssertion(node: Node): boolean {
  switch (node.kind) {
    case "look":
    case "start":
    case "end":
    case "wordBoundary":
      return true;
    case "choice":
      return node.options.every(isAssertion);
    case "sequence":
      return node.items.length > 0 && node.items.every(isAssertion);
    default:
      return false;
  }
}

/** Whether it is an assertion, or a choice that has one. */
export function mayBeAssertion(node: Node): boolean {
  return isAssertion(node) || (node.kind === "choice" && node.options.some(mayBeAssertion));
}
