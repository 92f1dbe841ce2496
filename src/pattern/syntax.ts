import { exitCode, UserError } from "../errors.ts";
import {
  type CodePointSet,
  codePointRange,
  complementOf,
  emptySet,
  fullSet,
  intersectionOf,
  unionOf,
} from "./ranges.ts";
import {
  decimalDigits,
  foldCase,
  generalCategorySet,
  looseName,
  propertySet,
  scriptSet,
  whiteSpace,
  wordCharacters,
} from "./unicode.ts";

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
  | { readonly kind: "backreference"; readonly index: number; readonly ignoreCase: boolean };

/** greedy takes as much as it can and gives back; lazy as little as it can; possessive gives nothing back. */
type RepeatMode = "greedy" | "lazy" | "possessive";

/** Repeats are unrolled, so a larger count is refused. */
const repeatCountMax = 1000;
const nestingMax = 200;

export function parsePattern(source: string): Node {
  return new Parser(source).parse();
}

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

/** Recursive descent, a method a level of the grammar: choice > sequence > repeat > atom. */
class Parser {
  private readonly source: string;
  private readonly characters: readonly string[];
  private pos = 0;
  private ignoreCase = false;
  private dotMatchesAll = false;
  private groupCount = 0;
  private nesting = 0;
  private readonly groupNames = new Map<string, number>();
  private readonly references: { index: number; pos: number }[] = [];

  constructor(source: string) {
    this.source = source;
    this.characters = Array.from(source);
  }

  parse(): Node {
    const tree = this.choice();
    if (this.pos < this.characters.length) {
      this.fail("`)` closes no group", this.pos, "write \\) to match the character itself");
    }
    for (const { index, pos } of this.references) {
      if (index > this.groupCount) this.fail(`there is no group ${index}`, pos);
    }
    return tree;
  }

  private fail(what: string, pos: number, hint?: string): never {
    throw new UserError(`pattern: ${what}, at character ${pos + 1} of ${this.source}`, {
      exitCode: exitCode.usage,
      ...(hint === undefined ? {} : { hint }),
    });
  }

  private get next(): string | undefined {
    return this.characters[this.pos];
  }

  private accept(text: string): boolean {
    if (!this.ahead(text)) return false;
    this.pos += text.length;
    return true;
  }

  private ahead(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.characters[this.pos + i] !== text[i]) return false;
    return true;
  }

  /** Flags set inside a group, `(?i)`, hold to its end. */
  private choice(): Node {
    const { ignoreCase, dotMatchesAll } = this;
    if (++this.nesting > nestingMax) this.fail(`groups are nested more than ${nestingMax} deep`, this.pos);
    const options = [this.sequence()];
    while (this.accept("|")) options.push(this.sequence());
    this.nesting--;
    this.ignoreCase = ignoreCase;
    this.dotMatchesAll = dotMatchesAll;
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  private sequence(): Node {
    const items: Node[] = [];
    while (this.next !== undefined && this.next !== "|" && this.next !== ")") items.push(this.repeat());
    return items.length === 1 ? items[0]! : { kind: "sequence", items };
  }

  private repeat(): Node {
    let node = this.atom();
    for (;;) {
      const startPos = this.pos;
      const bounds = this.bounds();
      if (bounds === undefined) return node;
      if (
        node.kind === "look" ||
        node.kind === "start" ||
        node.kind === "end" ||
        node.kind === "wordBoundary"
      ) {
        this.fail("an assertion takes no character and cannot be repeated", startPos);
      }
      const mode = this.accept("+") ? "possessive" : this.accept("?") ? "lazy" : "greedy";
      node = { kind: "repeat", body: node, ...bounds, mode };
    }
  }

  private bounds(): { min: number; max: number } | undefined {
    if (this.accept("?")) return { min: 0, max: 1 };
    if (this.accept("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.accept("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.next !== "{") return undefined;
    const startPos = this.pos;
    const close = this.characters.indexOf("}", startPos);
    const text = this.characters.slice(startPos, close + 1).join("");
    const match = /^\{(\d+)(,(\d*))?\}$/.exec(text);
    if (match === null)
      this.fail(
        "`{` begins no count",
        startPos,
        "a count is {2}, {2,} or {2,3}; write \\{ to match the character itself",
      );
    this.pos = close + 1;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === "" ? Number.POSITIVE_INFINITY : Number(match[3]);
    if (max < min) this.fail(`${text} counts down`, startPos);
    if (min > repeatCountMax || (max > repeatCountMax && max !== Number.POSITIVE_INFINITY)) {
      this.fail(`${text} counts beyond ${repeatCountMax}`, startPos);
    }
    return { min, max };
  }

  private atom(): Node {
    const startPos = this.pos;
    const character = this.characters[this.pos++]!;
    switch (character) {
      case "(":
        return this.group(startPos);
      case "[":
        return this.set(startPos, this.characterClass(startPos));
      case "\\":
        return this.escape(startPos);
      case "$":
        return { kind: "end" };
      case "^":
        return { kind: "start" };
      case ".":
        return this.set(startPos, this.dotMatchesAll ? fullSet : complementOf(codePointRange(10)));
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
        return this.set(startPos, this.folded(codePointRange(character.codePointAt(0)!)));
    }
  }

  private set(startPos: number, set: CodePointSet): Node {
    const text = this.ignoreCase ? null : this.characters.slice(startPos, this.pos).join("");
    return { kind: "set", set, text };
  }

  private folded(set: CodePointSet): CodePointSet {
    return this.ignoreCase ? foldCase(set) : set;
  }

  // ---- groups

  private group(startPos: number): Node {
    if (!this.accept("?")) return this.capture(startPos);
    if (this.accept("="))
      return { kind: "look", behind: false, negated: false, body: this.groupBody(startPos) };
    if (this.accept("!"))
      return { kind: "look", behind: false, negated: true, body: this.groupBody(startPos) };
    if (this.accept("<="))
      return { kind: "look", behind: true, negated: false, body: this.groupBody(startPos) };
    if (this.accept("<!"))
      return { kind: "look", behind: true, negated: true, body: this.groupBody(startPos) };
    if (this.accept(">")) return { kind: "atomic", body: this.groupBody(startPos) };
    if (this.accept("P<") || this.accept("<")) return this.capture(startPos, this.groupName(startPos));
    return this.flags(startPos);
  }

  private capture(startPos: number, name?: string): Node {
    const index = ++this.groupCount;
    if (name !== undefined) this.groupNames.set(name, index);
    return { kind: "group", body: this.groupBody(startPos), index };
  }

  private groupName(startPos: number): string {
    const close = this.characters.indexOf(">", this.pos);
    const name = this.characters.slice(this.pos, Math.max(close, this.pos)).join("");
    if (!/^[A-Za-z_]\w*$/.test(name))
      this.fail("a group's name is letters, digits and `_`, then `>`", startPos);
    this.pos = close + 1;
    return name;
  }

  private groupBody(startPos: number): Node {
    const body = this.choice();
    if (!this.accept(")"))
      this.fail("`(` is not closed", startPos, "write \\( to match the character itself");
    return body;
  }

  /** `(?i:…)` and `(?-i:…)` for the group, `(?i)` for the rest of the group around it; `s` lets `.` match "\n". */
  private flags(startPos: number): Node {
    const { ignoreCase, dotMatchesAll } = this;
    let value = true;
    for (; this.next !== ":" && this.next !== ")"; this.pos++) {
      if (this.next === "-") value = false;
      else if (this.next === "i") this.ignoreCase = value;
      else if (this.next === "s") this.dotMatchesAll = value;
      else
        this.fail(
          "a group of this kind is not known",
          startPos,
          "groups are (…), (?:…), (?i:…), (?s:…), (?=…), (?!…), (?<=…), (?<!…), (?>…)",
        );
    }
    if (this.accept(")")) return { kind: "sequence", items: [] };
    this.pos++;
    const body = this.groupBody(startPos);
    this.ignoreCase = ignoreCase;
    this.dotMatchesAll = dotMatchesAll;
    return body;
  }

  // ---- escapes

  private escape(startPos: number): Node {
    const character = this.next;
    if (character === undefined)
      this.fail("`\\` escapes nothing", startPos, "write \\\\ to match the character itself");
    if (character >= "1" && character <= "9") return this.numberedReference(startPos);
    switch (character) {
      case "A":
        this.pos++;
        return { kind: "start" };
      case "z":
        this.pos++;
        return { kind: "end" };
      case "b":
      case "B":
        this.pos++;
        return { kind: "wordBoundary", negated: character === "B", word: wordCharacters() };
      case "k":
        this.pos++;
        return this.namedReference(startPos);
      default:
        return this.set(startPos, this.folded(this.escapedSet(startPos)));
    }
  }

  private numberedReference(startPos: number): Node {
    let digits = "";
    while (this.next !== undefined && this.next >= "0" && this.next <= "9")
      digits += this.characters[this.pos++];
    const index = Number(digits);
    this.references.push({ index, pos: startPos });
    return { kind: "backreference", index, ignoreCase: this.ignoreCase };
  }

  private namedReference(startPos: number): Node {
    if (!this.accept("<")) this.fail("\\k is followed by a group's name, \\k<name>", startPos);
    const name = this.groupName(startPos);
    const index = this.groupNames.get(name);
    if (index === undefined) this.fail(`there is no group ${name} before it`, startPos);
    return { kind: "backreference", index, ignoreCase: this.ignoreCase };
  }

  /** The escapes that stand for characters; `pos` is behind the backslash. */
  private escapedSet(startPos: number): CodePointSet {
    const character = this.characters[this.pos++];
    switch (character) {
      case "s":
        return whiteSpace;
      case "S":
        return complementOf(whiteSpace);
      case "d":
        return decimalDigits();
      case "D":
        return complementOf(decimalDigits());
      case "w":
        return wordCharacters();
      case "W":
        return complementOf(wordCharacters());
      case "p":
        return this.property(startPos, false);
      case "P":
        return this.property(startPos, true);
      case "x":
        return this.codePoint(startPos, 2);
      case "u":
        return this.codePoint(startPos, 4);
    }
    if (character === undefined) this.fail("`\\` escapes nothing", startPos);
    const control = controlEscapes[character];
    if (control !== undefined) return codePointRange(control);
    if (/[A-Za-z0-9]/.test(character)) this.fail(`\\${character} is not known`, startPos);
    return codePointRange(character.codePointAt(0)!);
  }

  /** `\pL`, `\p{L}`, `\p{^L}`. */
  private property(startPos: number, negated: boolean): CodePointSet {
    let name = this.characters[this.pos++] ?? "";
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
        ? propertySet(name)
        : scriptKeys.has(looseName(key))
          ? scriptSet(value!)
          : categoryKeys.has(looseName(key))
            ? generalCategorySet(value!)
            : undefined;
    if (set === undefined) {
      this.fail(
        `Unicode has no property \`${name}\``,
        startPos,
        "names are as Unicode writes them: \\p{L}, \\p{Lu}, \\p{Han}, \\p{Script=Han}, \\p{Alphabetic}",
      );
    }
    return negated ? complementOf(set) : set;
  }

  /** `\x41`, `\u0041`, `\x{1F600}`. */
  private codePoint(startPos: number, digitCount: number): CodePointSet {
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
      this.fail("a code point is written \\x41, \\u0041 or \\x{1F600}", startPos);
    }
    this.pos = end;
    return codePointRange(value);
  }

  // ---- classes

  /** `[…]`, with ranges, nested classes and `&&`; `pos` is behind the bracket. Case is folded before negation. */
  private characterClass(startPos: number): CodePointSet {
    const negated = this.accept("^");
    let intersection: CodePointSet | undefined;
    let items: CodePointSet[] = [];
    const intersect = () => {
      const union = items.length === 0 ? emptySet : unionOf(items);
      items = [];
      return intersection === undefined ? union : intersectionOf(intersection, union);
    };
    for (let isFirst = true; isFirst || this.next !== "]"; isFirst = false) {
      if (this.next === undefined)
        this.fail("`[` is not closed", startPos, "write \\[ to match the character itself");
      if (this.accept("&&")) intersection = intersect();
      else items.push(this.classItem(startPos));
    }
    this.pos++;
    const set = intersect();
    return negated ? complementOf(set) : set;
  }

  private classItem(startPos: number): CodePointSet {
    const itemPos = this.pos;
    if (this.ahead("[:"))
      this.fail("named classes are not known", itemPos, "use a Unicode property, \\p{L} for [:alpha:]");
    if (this.accept("[")) return this.characterClass(itemPos);
    const first = this.classCharacter(startPos);
    const isRange = this.next === "-" && this.characters[this.pos + 1] !== "]" && isSingle(first);
    if (!isRange) return this.folded(first);
    this.pos++;
    const last = this.classCharacter(startPos);
    if (!isSingle(last))
      this.fail("a range ends with one character", itemPos, "write \\- to match the character itself");
    if (last[0]! < first[0]!) this.fail("a range counts down", itemPos);
    return this.folded(codePointRange(first[0]!, last[0]!));
  }

  private classCharacter(startPos: number): CodePointSet {
    if (this.next === undefined) this.fail("`[` is not closed", startPos);
    const character = this.characters[this.pos++]!;
    if (character === "\\" && this.accept("b")) return codePointRange(8);
    return character === "\\" ? this.escapedSet(this.pos - 1) : codePointRange(character.codePointAt(0)!);
  }
}

function isSingle(set: CodePointSet): boolean {
  return set.length === 2 && set[0] === set[1];
}
