import type { Dialect } from "./dialect.ts";
import { canBeEmpty, isAssertion, type Node, parsePattern } from "./parse-pattern.ts";
import { portableSource } from "./portable-source.ts";
import * as unicode from "./unicode.ts";

/*
 * HF's engine accepts a pattern that can match the empty string. An empty match is a cut, and the search continues one
 * character later. So a pretoken that begins at an empty match consists of the character there, and all following
 * characters at which the pattern does not match:
 *
 *   PATTERN      EQUIVALENT PATTERN WITHOUT EMPTY MATCHES
 *   \d*          \d+|[\s\S]
 *   \d+|$        \d+|$[\s\S](?:(?!\d+|$)[\s\S])*
 *
 * What matters is the first alternative that can be empty, in the engine's order of preference. Alternatives before it
 * consume characters. Alternatives after it are tried only if it has a condition, such as `$`, and only where that
 * condition does not hold.
 */

/** How a node can match the empty string. */
type Nullable = {
  /** The alternatives that consume characters and are preferred to the first empty one. */
  readonly taking: readonly Node[];
  /** The assertions that must hold for the first empty alternative to match. */
  readonly conditions: readonly Node[];
  /** Whether there are alternatives after the first empty one. They are tried only if that one has conditions. */
  readonly hasWorse?: boolean;
};

const anything: Node = { kind: "set", set: unicode.fullSet, text: "[\\s\\S]" };
const sequence = (...items: Node[]): Node => (items.length === 1 ? items[0]! : { kind: "sequence", items });
const choice = (options: readonly Node[]): Node =>
  options.length === 1 ? options[0]! : { kind: "choice", options };
const unless = (body: Node): Node => ({ kind: "look", behind: false, negated: true, body });

/** Returns an equivalent pattern that never matches the empty string; undefined if none is needed or known. */
export function withoutEmptyMatches(source: string, dialect: Dialect): string | undefined {
  const tree = parsePattern(source, dialect);
  // A pattern of assertions alone needs no change: the parser cuts where they hold.
  if (isAssertion(tree)) return undefined;
  const options: Node[] = [];
  let isAlwaysThere = false;
  const empties: Node[] = [];
  for (const option of tree.kind === "choice" ? tree.options : [tree]) {
    if (isAlwaysThere) break;
    if (!canBeEmpty(option)) {
      options.push(option);
      continue;
    }
    const nullable = nullableOf(option);
    if (nullable === undefined) return undefined;
    isAlwaysThere = nullable.conditions.length === 0;
    const step = sequence(...nullable.conditions, anything);
    empties.push(step);
    options.push(...nullable.taking, step);
  }
  const gap: Node = {
    kind: "repeat",
    body: sequence(unless(tree), anything),
    min: 0,
    max: Infinity,
    mode: "greedy",
  };
  const whole = isAlwaysThere
    ? options
    : options.map((option) => (empties.includes(option) ? sequence(option, gap) : option));
  return portableSource(choice(whole));
}

/**
 * Like `everyNullableOf`, but undefined if the first empty alternative has conditions and other alternatives follow it.
 * Then those others would be needed, but a `Nullable` does not have them.
 */
function nullableOf(node: Node): Nullable | undefined {
  const nullable = everyNullableOf(node);
  const needsWorse = nullable?.hasWorse === true && nullable.conditions.length > 0;
  return needsWorse ? undefined : nullable;
}

function everyNullableOf(node: Node): Nullable | undefined {
  if (isAssertion(node)) return { taking: [], conditions: [node] };
  switch (node.kind) {
    case "repeat": {
      if (node.mode === "lazy" && node.min === 0) return { taking: [], conditions: [], hasWorse: true };
      if (canBeEmpty(node.body)) return undefined;
      const taking: Node = { ...node, min: 1 };
      return { taking: [taking], conditions: node.mode === "possessive" ? [unless(taking)] : [] };
    }
    case "group":
      return nullableOf(node.body);
    case "atomic": {
      const nullable = nullableOf(node.body);
      if (nullable === undefined || nullable.taking.length === 0) return nullable;
      const taking: Node = { kind: "atomic", body: choice(nullable.taking) };
      return { taking: [taking], conditions: [unless(taking), ...nullable.conditions] };
    }
    case "choice": {
      const at = node.options.findIndex(canBeEmpty);
      const first = nullableOf(node.options[at]!);
      if (first === undefined) return undefined;
      const hasWorse = first.hasWorse === true || at < node.options.length - 1;
      return { ...first, taking: [...node.options.slice(0, at), ...first.taking], hasWorse };
    }
    case "sequence": {
      let rest: Nullable = { taking: [], conditions: [] };
      for (let i = node.items.length - 1; i >= 0; i--) {
        const item = nullableOf(node.items[i]!);
        if (item === undefined) return undefined;
        const { conditions } = item;
        const hasWorse = item.hasWorse === true || rest.hasWorse === true;
        const following = node.items.slice(i + 1);
        const taking = item.taking.map((way) => sequence(way, ...following));
        const later = rest.taking.map((way) => sequence(...conditions, way));
        rest = { taking: [...taking, ...later], conditions: [...conditions, ...rest.conditions], hasWorse };
      }
      return rest;
    }
    default:
      return undefined;
  }
}
