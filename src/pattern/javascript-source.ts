import { UserError } from "#runtime";
import { type Dialect, fancyRegex } from "./dialect.ts";
import { canBeEmpty, type Node, parsePattern } from "./parse-pattern.ts";
import * as unicode from "./unicode.ts";

/**
 * Translates a pattern to the source of a `RegExp` with the flags "gu", which finds the same matches in any well-formed
 * text. Returns null if there are several splits, if the pattern is invalid or can match the empty string, or if
 * JavaScript has no equivalent.
 */
export function javascriptSource(sources: readonly string[], dialect: Dialect = fancyRegex): string | null {
  const [source] = sources;
  if (source === undefined || sources.length > 1) return null;
  try {
    const tree = parsePattern(source, dialect);
    return canBeEmpty(tree) ? null : new Writer().inner(tree);
  } catch (error) {
    if (error instanceof Unwritable || error instanceof UserError) return null;
    throw error;
  }
}

class Unwritable extends Error {}

class Writer {
  private atomicCount = 0;
  private behindDepth = 0;

  /** The source of a node inside a group, or of the whole tree. */
  inner(node: Node): string {
    return node.kind === "choice"
      ? node.options.map((option) => this.sourceOf(option)).join("|")
      : this.sourceOf(node);
  }

  private sourceOf(node: Node): string {
    switch (node.kind) {
      case "set":
        return setSource(node.set, node.text);
      case "sequence":
        return node.items.map((item) => this.sourceOf(item)).join("");
      case "choice":
        return `(?:${this.inner(node)})`;
      case "group":
        return `(?:${this.inner(node.body)})`;
      case "atomic":
        return this.atomic(() => this.inner(node.body));
      case "repeat":
        return this.repeat(node);
      case "look":
        return this.look(node);
      case "start":
        return "^";
      case "end":
        return "$";
      case "wordBoundary": {
        const word = setSource(node.word, "\\w");
        return node.negated
          ? `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`
          : `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
      }
    }
  }

  /**
   * Writes an atomic group as a look-ahead that captures, and a reference to the capture, because JavaScript never
   * backtracks into a look-ahead.
   */
  private atomic(bodyOf: () => string): string {
    if (this.behindDepth > 0) throw new Unwritable();
    const name = `a${++this.atomicCount}`;
    return `(?=(?<${name}>${bodyOf()}))\\k<${name}>`;
  }

  private repeat({ body, min, max, mode }: Node & { readonly kind: "repeat" }): string {
    // Engines differ in whether a repeat ends once its body has matched the empty string, so it is not translated.
    if (max > 1 && canBeEmpty(body)) throw new Unwritable();
    const repeated = () =>
      (body.kind === "set" ? this.sourceOf(body) : `(?:${this.inner(body)})`) + countSource(min, max);
    if (min === max || mode === "greedy") return repeated();
    return mode === "lazy" ? `${repeated()}?` : this.atomic(repeated);
  }

  private look({ behind, negated, body }: Node & { readonly kind: "look" }): string {
    this.behindDepth += Number(behind);
    const source = `(?${behind ? "<" : ""}${negated ? "!" : "="}${this.inner(body)})`;
    this.behindDepth -= Number(behind);
    return source;
  }
}

function countSource(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  return min === 0 && max === 1 ? "?" : min === max ? `{${min}}` : `{${min},${max}}`;
}

/**
 * A set is written as ranges if the set or its complement has at most this many. Larger sets keep the notation of the
 * pattern, if JavaScript has it, too.
 */
const rangesMax = 8;

function setSource(set: unicode.CodePointSet, text: string | null): string {
  const complement = unicode.complementOf(set);
  if (Math.min(set.length, complement.length) > 2 * rangesMax && text !== null) {
    const written = classOfText(text);
    if (written !== undefined) return written;
  }
  const [first, last] = set;
  if (set.length === 2 && first === last) return point(first!, /[\^$\\.*+?()[\]{}|/]/);
  const [ranges, sign] = complement.length < set.length ? [complement, "^"] : [set, ""];
  const parts: string[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const [from, to] = [ranges[i]!, ranges[i + 1]!];
    parts.push(from === to ? point(from, inClass) : `${point(from, inClass)}-${point(to, inClass)}`);
  }
  return `[${sign}${parts.join("")}]`;
}

const inClass = /[\^\\[\]-]/;
const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Writes a code point as a printable ASCII character, or as an escape. */
function point(codePoint: number, syntax: RegExp): string {
  const character = String.fromCodePoint(codePoint);
  if (syntax.test(character)) return `\\${character}`;
  return /[!-~ ]/.test(character) ? character : (shortEscapes[character] ?? `\\u{${codePoint.toString(16)}}`);
}

/** The definitions of classes that Unicode recommends (UTS #18). */
const classes: Readonly<Record<string, string>> = {
  "\\s": "\\p{White_Space}",
  "\\S": "\\P{White_Space}",
  "\\d": "\\p{Nd}",
  "\\D": "\\P{Nd}",
  "\\w": "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}",
};

/**
 * Returns a class of the pattern in JavaScript's notation; undefined if its text has something that `item` does not
 * match, such as a script, `&&` or a class in a class, or a property that is no general category.
 */
function classOfText(text: string): string | undefined {
  if (text === "\\W") return `[^${classes["\\w"]}]`;
  const [, sign = "", items = text] = /^\[(\^?)(.*)\]$/s.exec(text) ?? [];
  let written = "";
  const item =
    /\\([pP])\{(\^?)([A-Za-z]{1,2})\}|\\([pP])([A-Z])|\\[sSdDw]|\\[nrt]|\\([!-/:-@[-`{-~])|[^\\[\]&~]/suy;
  for (let pos = 0; pos < items.length; pos = item.lastIndex) {
    item.lastIndex = pos;
    const found = item.exec(items);
    if (found === null) return undefined;
    const [whole, letter = found[4], not, name = found[5], , , symbol] = found;
    if (name !== undefined) {
      const isNegated = (letter === "P") !== (not === "^");
      if (!categories.test(name)) return undefined;
      written += `\\${isNegated ? "P" : "p"}{${name}}`;
    } else if (symbol !== undefined) written += inClass.test(symbol) ? `\\${symbol}` : symbol;
    else written += classes[whole] ?? whole;
  }
  return `[${sign}${written}]`;
}

/** The short names of general categories. */
const categories = /^(L[ultmo]?|LC|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfosn]?)$/;
