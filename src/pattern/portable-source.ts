import { type Dialect, fancyRegex, oniguruma } from "./dialect.ts";
import { mayBeAssertion, type Node, parsePattern } from "./parse-pattern.ts";
import * as unicode from "./unicode.ts";

/**
 * Writes a syntax tree as a regular expression that every engine of `dialect.ts` reads as this tree. Sets keep the
 * user's notation if all engines read it alike, and are spelled out otherwise.
 */
export function portableSource(tree: Node): string {
  /** The source of a node inside a group, or of the whole tree. */
  const inner = (node: Node) =>
    node.kind === "choice" ? node.options.map(sourceOf).join("|") : sourceOf(node);
  const sourceOf = (node: Node): string => {
    switch (node.kind) {
      case "set":
        return setSource(node.set, node.text);
      case "sequence":
        return node.items.map(sourceOf).join("");
      case "choice":
        return `(?:${inner(node)})`;
      case "group":
        return `(?:${inner(node.body)})`;
      case "atomic":
        return `(?>${inner(node.body)})`;
      case "repeat": {
        // In Oniguruma, an alternative of a repeated plain group must not be an assertion, but in a group with flags it
        // may be. So such a group is written with the flag -i.
        const body =
          node.body.kind === "set"
            ? sourceOf(node.body)
            : `(?${mayBeAssertion(node.body) ? "-i" : ""}:${inner(node.body)})`;
        const repeated = body + countSource(node.min, node.max);
        if (node.min === node.max || node.mode === "greedy") return repeated;
        // In Oniguruma, {1,3}+ is a repeated repeat, so a possessive repeat is written as an atomic group.
        return node.mode === "possessive" ? `(?>${repeated})` : `(?:${repeated}?)`;
      }
      case "look":
        return `(?${node.behind ? "<" : ""}${node.negated ? "!" : "="}${inner(node.body)})`;
      // In Oniguruma, ^ and $ are the ends of lines, so the ends of the text are written \A and \z.
      case "start":
        return "\\A";
      case "end":
        return "\\z";
      case "wordBoundary": {
        const word = setSource(node.word, null);
        return node.negated
          ? `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`
          : `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
      }
    }
  };
  return inner(tree);
}

/**
 * Returns the source itself if all engines read it as this dialect does, else a portable form of what it means in this
 * dialect.
 */
export function portableForm(source: string, dialect: Dialect = fancyRegex): string {
  const tree = parsePattern(source, dialect);
  const isPortable = [fancyRegex, oniguruma].every(
    (other) => other === dialect || areEqualTrees(readAs(source, other), tree),
  );
  return isPortable ? source : portableSource(tree);
}

/**
 * Compares trees as JSON, because they are plain data, and the parser writes fields in a fixed order. JSON turns
 * Infinity into null. But only `max` can be Infinity, and it is never null in a tree, so different trees stay
 * different.
 */
const areEqualTrees = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function readAs(source: string, dialect: Dialect): Node | undefined {
  try {
    return parsePattern(source, dialect);
  } catch {
    return undefined;
  }
}

const wordClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const classWordsOfOniguruma = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
const wordsOfOniguruma = `${classWordsOfOniguruma}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}`;
const definitions = [wordClass, classWordsOfOniguruma, wordsOfOniguruma];
const spelledWords = definitions.flatMap((spelled) => [`[${spelled}]`, `[^${spelled}]`]);

/** Returns the first notation that all engines read as this set. */
function setSource(set: unicode.CodePointSet, text: string | null): string {
  const written = text === null ? [] : [text, ...definitions.map((w) => spellOut(text, w))];
  const isSame = (source: string, dialect: Dialect) => {
    const read = readAs(source, dialect);
    return read?.kind === "set" && areEqualTrees(read.set, set);
  };
  const found = [...written, ...(set.length > 100 ? spelledWords : [])].find((source) =>
    [fancyRegex, oniguruma].every((dialect) => isSame(source, dialect)),
  );
  return found ?? classSource(set);
}

/** Replaces \w with a class of the given definition, and \W with the negated class. */
function spellOut(text: string, definition: string): string {
  return text.replace(/\\[^wW]|\\w|\\W/g, (escaped) =>
    escaped === "\\w" ? `[${definition}]` : escaped === "\\W" ? `[^${definition}]` : escaped,
  );
}

function countSource(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  return min === 0 && max === 1 ? "?" : min === max ? `{${min}}` : `{${min},${max}}`;
}

function classSource(set: unicode.CodePointSet): string {
  // Oniguruma refuses an empty class.
  if (withoutSurrogates(set).length === 0) return "(?!)";
  const complement = unicode.complementOf(set);
  const [ranges, sign] = complement.length < set.length ? [complement, "^"] : [set, ""];
  // Only surrogates are excluded, so the class matches every character.
  if (withoutSurrogates(ranges).length === 0) return "[\\s\\S]";
  const point = (codePoint: number) => `\\x{${codePoint.toString(16)}}`;
  const parts = withoutSurrogates(ranges).map(([first, last]) =>
    first === last ? point(first) : `${point(first)}-${point(last)}`,
  );
  return `[${sign}${parts.join("")}]`;
}

/** Returns the ranges of a set without surrogates, which no engine accepts as characters. */
function withoutSurrogates(set: unicode.CodePointSet): [first: number, last: number][] {
  const parts: [number, number][] = [];
  for (let i = 0; i < set.length; i += 2) {
    parts.push([set[i]!, Math.min(set[i + 1]!, 0xd7ff)]);
    parts.push([Math.max(set[i]!, 0xe000), Math.min(set[i + 1]!, unicode.lastCodePoint)]);
  }
  return parts.filter(([first, last]) => first <= last);
}

/**
 * Whether some text may have a character outside all matches. The answer false is certain; the answer true may be
 * wrong.
 */
export function mayLeaveGaps(source: string): boolean {
  const surrogates: unicode.CodePointSet = [0xd800, 0xdfff];
  const taken = unicode.unionOf([sureStarts(parsePattern(source)).characters, surrogates]);
  return unicode.complementOf(taken).length > 0;
}

type Sure = {
  /** If one of these is the next character, there is a match, whatever follows. */
  readonly characters: unicode.CodePointSet;
  /** Whether there is a match, possibly empty, at every position. */
  readonly anywhere: boolean;
};

const never: Sure = { characters: unicode.emptySet, anywhere: false };
const empty: Sure = { characters: unicode.emptySet, anywhere: true };

function sureStarts(node: Node): Sure {
  switch (node.kind) {
    case "set":
      return { characters: node.set, anywhere: false };
    case "group":
    case "atomic":
      return sureStarts(node.body);
    case "choice": {
      const options = node.options.map(sureStarts);
      return {
        characters: unicode.unionOf([unicode.emptySet, ...options.map(({ characters }) => characters)]),
        anywhere: options.some(({ anywhere }) => anywhere),
      };
    }
    case "repeat":
      if (node.min === 0) return empty;
      return node.min === 1 || sureStarts(node.body).anywhere ? sureStarts(node.body) : never;
    case "sequence": {
      // The loop goes from the last item to the first; `rest` describes the items after `item`. If `rest` matches
      // everywhere, only `item` matters. If it does not, `item` must match everywhere. A character of `rest` is then
      // kept only if `item` can match the empty string before this character.
      let rest = empty;
      for (const item of node.items.toReversed()) {
        const sure = sureStarts(item);
        if (rest.anywhere) rest = sure;
        else if (sure.anywhere) rest = { characters: withoutKept(rest.characters, item), anywhere: false };
        else return never;
      }
      return rest;
    }
    default:
      return never;
  }
}

/**
 * Returns some of the given characters: if one of these comes next, the item can match the empty string, at once or by
 * backtracking.
 */
function withoutKept(characters: unicode.CodePointSet, item: Node): unicode.CodePointSet {
  if (item.kind !== "repeat" || item.min > 0) return isNothing(item) ? characters : unicode.emptySet;
  if (item.mode !== "possessive") return characters;
  return item.body.kind !== "set"
    ? unicode.emptySet
    : unicode.intersectionOf(characters, unicode.complementOf(item.body.set));
}

const isNothing = (node: Node) => node.kind === "sequence" && node.items.length === 0;
