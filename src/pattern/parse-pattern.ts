import { exitCode, UserError } from "#runtime";
import { type Dialect, fancyRegex, hexDigits } from "./dialect.ts";
import * as unicode from "./unicode.ts";
import { fullFoldings } from "./unicode-data.ts";

/** The maximum count of a repeat. Larger ones are refused, because repeats are unrolled. */
const repeatCountMax = 1000;
const nestingMax = 200;
/** The maximum number of ranges of code points that are read to compute the sets of a pattern. */
const rangeCountMax = 1 << 23;

/**
 * Parses a pattern. Throws a UserError for wrong or unsupported syntax, for syntax to which the dialect's engine gives
 * an unexpected meaning, and for a pattern that is too large.
 */
export function parsePattern(source: string, dialect: Dialect = fancyRegex): Node {
  return new Parser(source, dialect).parse();
}

const newline = unicode.codePointRange(10);
const anyNewline: Node = { kind: "set", set: newline, text: null };

/** Returns an assertion that one of `items` or the end of the text follows. */
function aheadOrEnd(...items: Node[]): Node {
  return {
    kind: "look",
    behind: false,
    negated: false,
    body: { kind: "choice", options: [...items, { kind: "end" }] },
  };
}

/**
 * Returns an assertion that the start of the text or a "\n" precedes. Unless `isAlsoAtEnd`, the assertion does not hold
 * after a "\n" that ends the text.
 */
function lineStart(isAlsoAtEnd: boolean): Node {
  const behind: Node = { kind: "look", behind: true, negated: false, body: anyNewline };
  const notAtEnd: Node = { kind: "look", behind: false, negated: true, body: { kind: "end" } };
  const other: Node = isAlsoAtEnd ? behind : { kind: "sequence", items: [behind, notAtEnd] };
  return { kind: "choice", options: [{ kind: "start" }, other] };
}

const controlEscapes: Readonly<Record<string, number>> = {
  n: 10,
  r: 13,
  t: 9,
  f: 12,
  v: 11,
  a: 7,
  e: 27,
  "0": 0,
};

const scriptKeys = new Set(["script", "sc"]);
const categoryKeys = new Set(["generalcategory", "gc"]);

/** The lookarounds: the characters after `(?`, whether the lookaround looks behind, and whether it is negated. */
const looks = [
  ["=", false, false],
  ["!", false, true],
  ["<=", true, false],
  ["<!", true, true],
] as const;

/** The escapes, by letter, that match sets of characters. */
const setEscapes = new Set("sSdDwWhHNOpP");

/** A recursive-descent parser with a method for each level of the grammar: choice > sequence > repeat > atom. */
class Parser {
  private readonly characters: readonly string[];
  private pos = 0;
  private flags = { ignoreCase: false, dotMatchesAll: false, lineAnchors: false };
  private nesting = 0;
  private readonly groupNames = new Set<string>();
  private lookBehindDepth = 0;
  /**
   * Whether the innermost group is a capturing, lookaround or atomic one. In some engines, flags that are set in such a
   * group also apply after it (`Dialect.flagsLeak`).
   */
  private isInLeakyGroup = false;
  private readonly folds: MultiCharacterFolds | undefined;
  // With these three caches, a named set, or a set derived from one, is usually the same array everywhere.
  private readonly namedSets = new Map<string, unicode.CodePointSet>();
  private readonly foldedSets = new Map<unicode.CodePointSet, unicode.CodePointSet>();
  private readonly complements = new Map<unicode.CodePointSet, unicode.CodePointSet>();
  private rangeCount = 0;

  constructor(
    private readonly source: string,
    private readonly dialect: Dialect,
  ) {
    this.characters = Array.from(source);
    this.flags.lineAnchors = dialect.hasLineAnchors;
    if (!dialect.foldsOneByOne) this.folds = new MultiCharacterFolds();
  }

  parse(): Node {
    const tree = this.parseChoice();
    if (this.pos < this.characters.length) {
      this.fail("`)` does not close a group", this.pos, "write \\) to match the character itself");
    }
    const pair = this.folds?.pairIn(tree);
    if (pair !== undefined) {
      const [first, second] = Array.from(pair);
      this.fail(
        `\`${pair}\` with case ignored also matches part of a single character in ${this.dialect.engine}`,
        null,
        `write each character as a class of its own, without (?i): [${first}${first!.toUpperCase()}][${second}${second!.toUpperCase()}]`,
      );
    }
    return tree;
  }

  /** Throws a usage error. `pos` is null if the place of the mistake in the pattern is not known. */
  private fail(what: string, pos: number | null, hint?: string): never {
    const place = pos === null ? "in" : `at character ${pos + 1} of`;
    throw new UserError(`pattern: ${what}, ${place} ${this.source}`, {
      exitCode: exitCode.usage,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  private get next(): string | undefined {
    return this.characters[this.pos];
  }

  private accept(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.pos += text.length;
    return true;
  }

  private startsWith(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.characters[this.pos + i] !== text[i]) return false;
    return true;
  }

  /** Parses alternatives. Flags set inside a group, as by `(?i)`, apply until its end. */
  private parseChoice(): Node {
    const { flags } = this;
    if (++this.nesting > nestingMax) this.fail(`groups are nested more than ${nestingMax} deep`, this.pos);
    const options = [this.parseSequence()];
    while (this.accept("|")) options.push(this.parseSequence());
    this.nesting--;
    this.flags = flags;
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  private parseSequence(): Node {
    const items: Node[] = [];
    while (this.next !== undefined && this.next !== "|" && this.next !== ")") items.push(this.parseRepeat());
    const some = items.filter((item) => item.kind !== "sequence" || item.items.length > 0);
    return some.length === 1 ? some[0]! : { kind: "sequence", items: some };
  }

  private parseRepeat(): Node {
    const atomPos = this.pos;
    let node = this.parseAtom();
    for (let isFirst = true; ; isFirst = false) {
      const startPos = this.pos;
      const bounds = this.parseBounds();
      if (bounds === undefined) return node;
      if (isAssertion(node))
        this.fail("an assertion matches no character, so it cannot be repeated", startPos);
      if (this.dialect.refusesRepeatedAssertions && this.isPlainGroup(atomPos) && mayBeAssertion(node))
        this.fail(
          `an assertion that is an alternative of a repeated group is an error in ${this.dialect.engine}`,
          startPos,
          "write (?-i:…) for (?:…)",
        );
      if (!isFirst && !this.dialect.repeatsRepeats)
        this.fail("a repetition cannot be repeated directly", startPos, "write (?:x{2})+ for x{2}+");
      const isCounted = this.characters[startPos] === "{" && bounds.max > 1;
      if (this.dialect.refusesCountedEmpties && isCounted && canBeEmpty(node))
        this.fail(
          `a counted repetition of something that can be empty is not defined in ${this.dialect.engine}`,
          startPos,
          "repeat something that matches a character: (?:a+|b){1,3} for (?:a*|b){1,3}",
        );
      if (bounds.max === Number.POSITIVE_INFINITY && prefersEmpty(node))
        this.fail(
          "a repetition of something that prefers to be empty differs between engines",
          startPos,
          "put what matches a character first: (?:a|b?)+ for (?:b?|a)+, (?:a?)+ for (?:a??)+",
        );
      const hasModes = this.dialect.hasIntervalModes || this.characters[startPos] !== "{";
      const { min, max } = bounds;
      const isOptional = !hasModes && min === max && this.accept("?");
      const mode = hasModes && this.accept("+") ? "possessive" : this.accept("?") ? "lazy" : "greedy";
      this.refuseBehind(startPos, mode === "possessive", "a possessive repeat");
      node = { kind: "repeat", body: node, min, max, mode, text: this.textFrom(atomPos) };
      if (isOptional) node = { kind: "repeat", body: node, min: 0, max: 1, mode: "greedy" };
    }
  }

  private isPlainGroup(pos: number): boolean {
    return (
      this.characters[pos] === "(" && this.characters[pos + 1] === "?" && this.characters[pos + 2] === ":"
    );
  }

  private parseBounds(): { min: number; max: number } | undefined {
    if (this.accept("?")) return { min: 0, max: 1 };
    if (this.accept("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.accept("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.next !== "{") return undefined;
    const startPos = this.pos;
    const close = this.characters.indexOf("}", startPos);
    const text = this.characters.slice(startPos, close + 1).join("");
    const match = /^\{(\d+|(?=,\d))(,(\d*))?\}$/.exec(text);
    if (match === null)
      this.fail(
        "`{` does not begin a count",
        startPos,
        "a count is {2}, {2,} or {2,3}; write \\{ to match the character itself",
      );
    this.pos = close + 1;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === "" ? Number.POSITIVE_INFINITY : Number(match[3]);
    if (max < min) this.fail(`the maximum of the count ${text} is below its minimum`, startPos);
    if (min > repeatCountMax || (max > repeatCountMax && max !== Number.POSITIVE_INFINITY)) {
      this.fail(`the count ${text} is larger than ${repeatCountMax}`, startPos);
    }
    return { min, max };
  }

  private parseAtom(): Node {
    const startPos = this.pos;
    const character = this.characters[this.pos++]!;
    switch (character) {
      case "(":
        return this.parseGroup(startPos);
      case "[":
        return this.classNode(startPos);
      case "\\":
        return this.parseEscape(startPos);
      case "$":
        return this.flags.lineAnchors ? aheadOrEnd(anyNewline) : this.endNode(startPos);
      case "^":
        return this.flags.lineAnchors ? lineStart(!this.dialect.hasLineAnchors) : { kind: "start" };
      case ".":
        return this.set(startPos, this.flags.dotMatchesAll ? unicode.fullSet : unicode.complementOf(newline));
      case "?":
      case "*":
      case "+":
      case "{":
        return this.fail(
          `\`${character}\` repeats nothing`,
          startPos,
          `write \\${character} to match the character itself`,
        );
      default:
        return this.literalNode(startPos, unicode.codePointRange(character.codePointAt(0)!));
    }
  }

  /** Returns the text of the pattern from a position to the current one. */
  private textFrom(startPos: number): string {
    return this.characters.slice(startPos, this.pos).join("");
  }

  private set(startPos: number, set: unicode.CodePointSet): Node {
    const text = this.flags.ignoreCase ? null : this.textFrom(startPos);
    return { kind: "set", set, text };
  }

  /** Creates a node for one character. If case is ignored, the node is for all characters that equal that character. */
  private literalNode(startPos: number, set: unicode.CodePointSet): Node {
    const node = this.set(startPos, this.foldIfIgnored(set));
    if (this.flags.ignoreCase) this.refuseMultiCharacterFolds(startPos, node, set);
    return node;
  }

  private foldIfIgnored(set: unicode.CodePointSet): unicode.CodePointSet {
    return this.flags.ignoreCase ? this.cached(this.foldedSets, set, unicode.foldCase) : set;
  }

  private complement(set: unicode.CodePointSet): unicode.CodePointSet {
    return this.cached(this.complements, set, unicode.complementOf);
  }

  private cached(
    made: Map<unicode.CodePointSet, unicode.CodePointSet>,
    set: unicode.CodePointSet,
    make: (set: unicode.CodePointSet) => unicode.CodePointSet,
  ): unicode.CodePointSet {
    const known = made.get(set);
    if (known !== undefined) return known;
    this.countRanges(set);
    const result = make(set);
    made.set(set, result);
    return result;
  }

  private countRanges(set: unicode.CodePointSet): void {
    this.rangeCount += set.length >> 1;
    if (this.rangeCount > rangeCountMax) this.fail("its character classes have too many ranges", this.pos);
  }

  private refuseMultiCharacterFolds(startPos: number, node: Node, set: unicode.CodePointSet): void {
    const character = this.folds?.register(node, set);
    if (character === undefined) return;
    this.fail(
      `\`${character}\` with case ignored also matches several characters in ${this.dialect.engine}`,
      startPos,
      "write every spelling, without (?i): (?:ß|ss|SS) for (?i:ß); a class as [\\p{Lu}\\p{Ll}]",
    );
  }

  // ---- groups

  private parseGroup(startPos: number): Node {
    if (!this.accept("?")) return this.parseCapture(startPos);
    for (const [sign, behind, negated] of looks) {
      if (this.accept(sign)) return this.parseLook(startPos, behind, negated);
    }
    if (this.accept(">")) {
      this.refuseBehind(startPos, true, "an atomic group");
      return { kind: "atomic", body: this.groupBody(startPos), text: this.textFrom(startPos) };
    }
    if ((this.dialect.hasPerlForms && this.accept("P<")) || this.accept("<"))
      return this.parseCapture(startPos, this.groupName(startPos));
    return this.flagGroup(startPos);
  }

  private parseLook(startPos: number, behind: boolean, negated: boolean): Node {
    this.refuseBehind(
      startPos,
      this.dialect.limitsLookBehind && (negated || !behind),
      "a look-ahead or negative lookaround",
    );
    if (behind) this.lookBehindDepth++;
    const body = this.groupBody(startPos);
    if (behind) this.lookBehindDepth--;
    return { kind: "look", behind, negated, body, text: this.textFrom(startPos) };
  }

  private refuseBehind(startPos: number, condition: boolean, what: string): void {
    if (!condition || this.lookBehindDepth === 0) return;
    const hint = "take it out of the look-behind: (?<=a)(?=b) for (?<=a(?=b))";
    this.fail(`${what} inside a look-behind is an error in ${this.dialect.engine}`, startPos, hint);
  }

  private endNode(startPos: number): Node {
    this.refuseBehind(startPos, this.dialect.limitsLookBehind, "the end of the text");
    return { kind: "end" };
  }

  private parseCapture(startPos: number, name?: string): Node {
    if (name !== undefined) {
      if (this.groupNames.has(name)) this.fail(`the group name ${name} is used twice`, startPos);
      this.groupNames.add(name);
    }
    return { kind: "group", body: this.groupBody(startPos) };
  }

  private groupName(startPos: number): string {
    const close = this.characters.indexOf(">", this.pos);
    const name = this.characters.slice(this.pos, Math.max(close, this.pos)).join("");
    if (!/^[A-Za-z_]\w*$/.test(name))
      this.fail(
        "a group's name must have only ASCII letters, digits and `_`, begin with no digit, and end with `>`",
        startPos,
      );
    this.pos = close + 1;
    return name;
  }

  private groupBody(startPos: number, isLeaky = true): Node {
    const outerLeaks = this.isInLeakyGroup;
    this.isInLeakyGroup = isLeaky;
    const body = this.parseChoice();
    this.isInLeakyGroup = outerLeaks;
    if (!this.accept(")"))
      this.fail("`(` is not closed", startPos, "write \\( to match the character itself");
    return body;
  }

  /**
   * Parses `(?i:…)` and `(?-i:…)`, whose flags apply to the group, and `(?i)`, whose flags apply to the rest of the
   * group around it.
   */
  private flagGroup(startPos: number): Node {
    const outerFlags = this.flags;
    const flags = { ...outerFlags };
    let value = true;
    for (; this.next !== ":" && this.next !== ")"; this.pos++) {
      const flag = this.next === undefined ? undefined : this.dialect.flags[this.next];
      if (this.next === "-") value = false;
      else if (flag !== undefined) flags[flag] = value;
      else this.failFlag(startPos);
    }
    this.flags = flags;
    if (this.accept(")")) {
      if (this.dialect.flagsLeak && this.isInLeakyGroup)
        this.fail(
          `flags that are set in such a group also apply after it in ${this.dialect.engine}`,
          startPos,
          "write (?i:…)",
        );
      if (!this.dialect.flagsTakeTheRest) return { kind: "sequence", items: [] };
      const rest = this.parseChoice();
      this.flags = outerFlags;
      return rest;
    }
    this.pos++;
    const body = this.groupBody(startPos, false);
    this.flags = outerFlags;
    return body;
  }

  private failFlag(startPos: number): never {
    const flags = Object.keys(this.dialect.flags).map((flag) => `(?${flag}:…)`);
    const groups = ["(…)", "(?:…)", ...flags, "(?=…)", "(?!…)", "(?<=…)", "(?<!…)", "(?>…)", "(?<name>…)"];
    this.fail("unknown kind of group", startPos, `use one of ${groups.join(", ")}`);
  }

  // ---- escapes

  private parseEscape(startPos: number): Node {
    const character = this.next;
    if (character === undefined)
      this.fail("`\\` escapes nothing", startPos, "write \\\\ to match the character itself");
    if (/^[1-9k]$/.test(character)) return this.failReference(startPos);
    switch (character) {
      case "A":
        this.pos++;
        return { kind: "start" };
      case "z":
        this.pos++;
        return this.endNode(startPos);
      case "Z": {
        this.pos++;
        const max = this.dialect.newlinesAfterZ;
        const newlines: Node = { kind: "repeat", body: anyNewline, min: 0, max, mode: "greedy" };
        const body: Node = { kind: "sequence", items: [newlines, this.endNode(startPos)] };
        return { kind: "look", behind: false, negated: false, body };
      }
      case "b":
      case "B":
        this.pos++;
        return { kind: "wordBoundary", negated: character === "B", word: this.dialect.wordCharacters() };
      default: {
        const set = this.escapedSet(startPos);
        if (!setEscapes.has(character)) return this.literalNode(startPos, set);
        return this.set(startPos, this.dialect.foldsOneByOne ? this.foldIfIgnored(set) : set);
      }
    }
  }

  private failReference(startPos: number): never {
    const [text] = /^\\(?:\d+|k(?:<[^>]*>)?)/.exec(this.characters.slice(startPos).join(""))!;
    this.fail(
      `\`${text}\` refers back to a group, which is not supported`,
      startPos,
      "write out what it can match: (?:aa|bb) instead of ([ab])\\1",
    );
  }

  /** Parses an escape that matches characters; `pos` is after the backslash. */
  private escapedSet(startPos: number, isInClass = false): unicode.CodePointSet {
    const character = this.characters[this.pos++];
    const instead = character === undefined ? undefined : this.dialect.refusedEscapes[character];
    if (instead !== undefined) {
      const what = `\\${character} has a different meaning in ${this.dialect.engine}`;
      this.fail(what, startPos, `write ${instead}`);
    }
    switch (character) {
      case "s":
        return unicode.whiteSpace;
      case "S":
        return this.complement(unicode.whiteSpace);
      case "d":
        return unicode.decimalDigits();
      case "D":
        return this.complement(unicode.decimalDigits());
      case "w":
        return this.wordSet(isInClass);
      case "W":
        return this.complement(this.wordSet(isInClass));
      case "h":
        return hexDigits;
      case "H":
        return unicode.complementOf(hexDigits);
      case "N":
        return this.complement(newline);
      case "O":
        return unicode.fullSet;
      case "p":
        return this.parseProperty(startPos, false);
      case "P":
        return this.parseProperty(startPos, true);
      case "x":
        return this.parseCodePoint(startPos, 2);
      case "u":
        return this.parseCodePoint(startPos, 4);
    }
    if (character === undefined) this.fail("`\\` escapes nothing", startPos);
    const control = controlEscapes[character];
    if (control !== undefined) {
      if (character === "0" && /[0-9]/.test(this.next ?? ""))
        this.fail(
          "octal numbers are not supported",
          startPos,
          "write them in hexadecimal: \\x{1b} for \\033",
        );
      return unicode.codePointRange(control);
    }
    if (/[A-Za-z0-9]/.test(character)) this.fail(`unknown escape \\${character}`, startPos);
    return unicode.codePointRange(character.codePointAt(0)!);
  }

  private wordSet(isInClass: boolean): unicode.CodePointSet {
    const { classWordCharacters, wordCharacters } = this.dialect;
    return isInClass
      ? this.namedSet("words of classes", classWordCharacters)!
      : this.namedSet("words", wordCharacters)!;
  }

  private namedSet(
    name: string,
    make: () => unicode.CodePointSet | undefined,
  ): unicode.CodePointSet | undefined {
    const known = this.namedSets.get(name);
    if (known !== undefined) return known;
    const set = make();
    if (set !== undefined) this.namedSets.set(name, set);
    return set;
  }

  /** Parses `\pL`, `\p{L}` and `\p{^L}`. */
  private parseProperty(startPos: number, negated: boolean): unicode.CodePointSet {
    let name = this.characters[this.pos++] ?? "";
    if (name !== "{" && !this.dialect.hasPerlForms)
      this.fail(`\\p needs a name in braces in ${this.dialect.engine}`, startPos, "write \\p{L} for \\pL");
    if (name === "{") {
      const close = this.characters.indexOf("}", this.pos);
      if (close < 0) this.fail("`\\p{` is not closed", startPos);
      name = this.characters.slice(this.pos, close).join("");
      this.pos = close + 1;
    }
    if (name.startsWith("^")) {
      negated = !negated;
      name = name.slice(1);
    }
    const [, key, value] = /^(\w+)=(\w+)$/.exec(name) ?? [];
    const set =
      key === undefined
        ? /^[\w -]+$/.test(name)
          ? unicode.propertySet(name)
          : undefined
        : !this.dialect.hasPerlForms
          ? undefined
          : scriptKeys.has(unicode.looseName(key))
            ? unicode.scriptSet(value!)
            : categoryKeys.has(unicode.looseName(key))
              ? unicode.generalCategorySet(value!)
              : undefined;
    if (set === undefined) {
      this.fail(
        `unknown Unicode property \`${name}\``,
        startPos,
        "use the names of categories, scripts and binary properties, as Unicode writes them: \\p{L}, \\p{Lu}, \\p{Han}, \\p{Alphabetic}",
      );
    }
    return this.negatedIf(negated, set);
  }

  /**
   * Returns the set or, if `negated`, its complement. Under `(?i)`, if the dialect folds each item of a class by
   * itself, case is folded before the set is negated.
   */
  private negatedIf(negated: boolean, set: unicode.CodePointSet): unicode.CodePointSet {
    return negated ? this.complement(this.foldedItem(set)) : set;
  }

  /** Parses `\x41`, `\u0041` and `\x{1F600}`. */
  private parseCodePoint(startPos: number, digitCount: number): unicode.CodePointSet {
    const isByte = digitCount === 2 && this.next !== "{";
    if (digitCount === 4 && this.next === "{" && !this.dialect.hasPerlForms)
      this.fail(`\\u{ is not supported in ${this.dialect.engine}`, startPos, "write \\x{1F600}");
    let end = this.pos + digitCount;
    let digits = this.characters.slice(this.pos, end).join("");
    if (this.next === "{") {
      const close = this.characters.indexOf("}", this.pos);
      digits = this.characters.slice(this.pos + 1, Math.max(close, this.pos)).join("");
      end = close + 1;
      digitCount = digits.length;
    }
    const value = Number.parseInt(digits, 16);
    if (!/^[0-9A-Fa-f]+$/.test(digits) || digits.length !== digitCount || value > 0x10ffff) {
      this.fail("a code point is written \\x41, \\u0041 or \\x{1F600}, and is at most 10FFFF", startPos);
    }
    if (isByte && value >= 0x80 && this.dialect.hasByteEscapes)
      this.fail(
        `\\x${digits} is a byte, not a character, in ${this.dialect.engine}`,
        startPos,
        `write \\x{${digits}}`,
      );
    this.pos = end;
    return unicode.codePointRange(value);
  }

  // ---- classes

  private classNode(startPos: number): Node {
    const { set, negated } = this.classParts(startPos);
    if (this.dialect.foldsOneByOne || !this.flags.ignoreCase)
      return this.set(startPos, negated ? unicode.complementOf(set) : set);
    const folded = unicode.foldCase(set);
    const node = this.set(startPos, negated ? unicode.complementOf(folded) : folded);
    if (!negated) this.refuseMultiCharacterFolds(startPos, node, set);
    return node;
  }

  /**
   * Parses `[…]`, with ranges, nested classes and `&&`; `pos` is after the opening bracket. The set is not negated yet:
   * the caller does that.
   */
  private classParts(startPos: number): { set: unicode.CodePointSet; negated: boolean } {
    if (++this.nesting > nestingMax) this.fail(`classes are nested more than ${nestingMax} deep`, startPos);
    const negated = this.accept("^");
    /** The items so far. A Set removes most duplicates, because equal sets are usually the same array. */
    let items = new Set<unicode.CodePointSet>();
    const unions = new Set<unicode.CodePointSet>();
    const unite = () => {
      if (items.size > 1) for (const item of items) this.countRanges(item);
      unions.add(items.size === 0 ? unicode.emptySet : unicode.unionOf([...items]));
      items = new Set();
    };
    for (let isFirst = true; isFirst || this.next !== "]"; isFirst = false) {
      if (this.next === undefined)
        this.fail("`[` is not closed", startPos, "write \\[ to match the character itself");
      if (this.accept("&&")) unite();
      else items.add(this.classItem(startPos));
    }
    this.pos++;
    this.nesting--;
    unite();
    if (unions.size > 1) for (const union of unions) this.countRanges(union);
    const [set] = unions;
    return { set: unions.size === 1 ? set! : unicode.intersectionOf(...unions), negated };
  }

  private classItem(startPos: number): unicode.CodePointSet {
    const itemPos = this.pos;
    const nested = this.startsWith("[:")
      ? this.foldedItem(this.parsePosixClass(itemPos))
      : this.accept("[")
        ? this.nestedClass(itemPos)
        : undefined;
    if (nested !== undefined) {
      if (this.next === "-" && this.characters[this.pos + 1] !== "]")
        this.fail(
          "a range must begin with a single character",
          itemPos,
          "write \\- to match the character itself",
        );
      return nested;
    }
    for (const operator of ["--", "~~"]) {
      if (this.startsWith(operator))
        this.fail(
          `\`${operator}\` in a class is not the same in every engine`,
          itemPos,
          `write \\${operator[0]} for the character itself, [a&&[^b]] for a difference`,
        );
    }
    const isOneCharacter = this.next !== "\\" || !setEscapes.has(this.characters[this.pos + 1] ?? "");
    const first = this.classCharacter(startPos);
    if (this.next !== "-" || this.characters[this.pos + 1] === "]") return this.foldedItem(first);
    if (!isOneCharacter)
      this.fail(
        "a range must begin with a single character",
        itemPos,
        "write \\- to match the character itself",
      );
    this.pos++;
    if (/^[[-]$/.test(this.characters[this.pos] ?? "") || this.startsWith("&&"))
      this.fail(
        "a range must end with a single character",
        itemPos,
        "write \\- or \\[ to match the character itself",
      );
    const last = this.classCharacter(startPos);
    if (!isSingle(last))
      this.fail(
        "a range must end with a single character",
        itemPos,
        "write \\- to match the character itself",
      );
    if (last[0]! < first[0]!) this.fail("the range ends before it begins", itemPos);
    return this.foldedItem(unicode.codePointRange(first[0]!, last[0]!));
  }

  private nestedClass(startPos: number): unicode.CodePointSet {
    const { set, negated } = this.classParts(startPos);
    return negated ? this.complement(set) : set;
  }

  private foldedItem(set: unicode.CodePointSet): unicode.CodePointSet {
    return this.dialect.foldsOneByOne ? this.foldIfIgnored(set) : set;
  }

  /** Parses `[:alpha:]` and `[:^alpha:]` inside a class. */
  private parsePosixClass(startPos: number): unicode.CodePointSet {
    const close = this.characters.indexOf("]", startPos);
    const [, negation, name] =
      /^\[:(\^?)([a-z]+):\]$/.exec(this.characters.slice(startPos, close + 1).join("")) ?? [];
    const set =
      name === undefined ? undefined : this.namedSet(`[:${name}:]`, () => this.dialect.parsePosixClass(name));
    if (set === undefined)
      this.fail("`[:` does not begin a named class", startPos, "write \\[ to match the character itself");
    this.pos = close + 1;
    return this.negatedIf(negation === "^", set);
  }

  private classCharacter(startPos: number): unicode.CodePointSet {
    if (this.next === undefined) this.fail("`[` is not closed", startPos);
    const character = this.characters[this.pos++]!;
    if (character === "\\" && this.accept("b")) return unicode.codePointRange(8);
    return character === "\\"
      ? this.escapedSet(this.pos - 1, true)
      : unicode.codePointRange(character.codePointAt(0)!);
  }
}

function isSingle(set: unicode.CodePointSet): boolean {
  return set.length === 2 && set[0] === set[1];
}

/**
 * Finds characters that equal several characters when case is ignored. In Oniguruma, (?i:ß) also matches "ss", and
 * (?i:ss) also matches "ß". The syntax tree cannot express that, so the parser refuses patterns for which it matters.
 */
class MultiCharacterFolds {
  private static multiCharacterFoldings: unicode.CodePointSet | undefined;
  /** The characters that occur in the result of some full case folding. */
  private static readonly written = new Set(fullFoldings.flatMap(([, ...to]) => to));
  /**
   * For each node that matches one character: the case-folded form of the character, if that form occurs in the result
   * of a full folding.
   */
  private readonly folded = new Map<Node, number>();

  /**
   * Registers a node that matches `set`. Returns a character of `set` that equals several characters, if there is one.
   */
  register(node: Node, set: unicode.CodePointSet): string | undefined {
    const { written } = MultiCharacterFolds;
    if (isSingle(set)) {
      const members = unicode.caseClassOf(set[0]!) ?? [set[0]!];
      const folded = members.find((member) => written.has(member));
      if (folded !== undefined) this.folded.set(node, folded);
    }
    MultiCharacterFolds.multiCharacterFoldings ??= charactersOfLongFoldings();
    const { multiCharacterFoldings } = MultiCharacterFolds;
    for (let i = 0; i < multiCharacterFoldings.length; i += 2) {
      for (
        let codePoint = multiCharacterFoldings[i]!;
        codePoint <= multiCharacterFoldings[i + 1]!;
        codePoint++
      ) {
        if (unicode.contains(set, codePoint)) return String.fromCodePoint(codePoint);
      }
    }
    return undefined;
  }

  /**
   * Returns two characters that may be adjacent in a match, and are adjacent in the folding of a single character;
   * undefined if there are none.
   */
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
          }, noEdges);
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
          return noEdges;
        default:
          return noEdges;
      }
    };
    edgesOf(tree);
    const foldings = fullFoldings.map(([, ...to]) => String.fromCodePoint(...to));
    return [...pairs].find((pair) => foldings.some((folding) => folding.includes(pair)));
  }
}

/**
 * The case-folded characters, among those in `MultiCharacterFolds.folded`, that a match of a node may begin with
 * (`first`) and end with (`last`). `isNullable` says whether a match may be empty.
 */
type Edges = { first: Set<number>; last: Set<number>; isNullable: boolean };
const noEdges: Edges = { first: new Set(), last: new Set(), isNullable: true };

function charactersOfLongFoldings(): unicode.CodePointSet {
  const froms = new Set(fullFoldings.map(([from]) => from!));
  const alike = unicode.caseClasses().filter((members) => members.some((codePoint) => froms.has(codePoint)));
  return unicode.setOf([...new Set([...froms, ...alike.flat()])].sort((a, b) => a - b));
}

/**
 * The syntax tree of a pattern. Characters are already sets of code points, case-folded where the pattern says so. So
 * code after the parser needs no knowledge of escapes, properties or flags.
 */
export type Node =
  /**
   * `text` is the set's text in the pattern. It is null where case is ignored, or if the set is not written in the
   * pattern, such as the "\n" of `$`.
   */
  | { readonly kind: "set"; readonly set: unicode.CodePointSet; readonly text: string | null }
  | { readonly kind: "sequence"; readonly items: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | {
      readonly kind: "repeat";
      readonly body: Node;
      readonly min: number;
      /** Infinity if there is no upper bound. */
      readonly max: number;
      readonly mode: RepeatMode;
      readonly text?: string;
    }
  | { readonly kind: "group"; readonly body: Node }
  | { readonly kind: "atomic"; readonly body: Node; readonly text?: string }
  | {
      readonly kind: "look";
      readonly behind: boolean;
      readonly negated: boolean;
      readonly body: Node;
      readonly text?: string;
    }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  /** `word` is the set of word characters. */
  | { readonly kind: "wordBoundary"; readonly negated: boolean; readonly word: unicode.CodePointSet };

/** greedy prefers more repetitions, lazy prefers fewer; possessive takes all it can and never backtracks. */
type RepeatMode = "greedy" | "lazy" | "possessive";

/** Whether the node can match without consuming a character, provided that its assertions hold. */
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
 * Whether an empty match is tried before one that consumes a character. In a backtracking engine, an unbounded repeat
 * of such a node ends at the empty match; in an automaton such as that of tiktoken's engine, it continues.
 */
function prefersEmpty(node: Node): boolean {
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

/** A split of a pattern, in the form that cuts text. */
export type Split = {
  readonly tree: Node;
  /** Whether a document also ends after every "\n". All splits of a pattern have the same value. */
  readonly isLinewise: boolean;
};

export const parseSplit = (source: string, isLinewise: boolean): Split => ({
  tree: consumingCharacters(parsePattern(source)),
  isLinewise,
});

/**
 * Changes a split that consists of assertions so that it cuts where they hold: a match is one character and all
 * following ones up to the next cut. Returns any other split unchanged.
 */
function consumingCharacters(tree: Node): Node {
  if (!isAssertion(tree)) return tree;
  const any: Node = { kind: "set", set: unicode.fullSet, text: null };
  const noCut: Node = { kind: "look", behind: false, negated: true, body: tree };
  const more: Node = { kind: "sequence", items: [noCut, any] };
  const repeated: Node = {
    kind: "repeat",
    body: more,
    min: 0,
    max: Number.POSITIVE_INFINITY,
    mode: "greedy",
  };
  return { kind: "sequence", items: [any, repeated] };
}

/** Whether a node is an assertion, or a choice that contains one. */
export function mayBeAssertion(node: Node): boolean {
  return isAssertion(node) || (node.kind === "choice" && node.options.some(mayBeAssertion));
}

/** Yields the node and all of its descendants. */
export function* nodesIn(node: Node): Generator<Node> {
  yield node;
  const inside =
    "items" in node ? node.items : "options" in node ? node.options : "body" in node ? [node.body] : [];
  for (const child of inside) yield* nodesIn(child);
}
