import * as unicode from "./unicode.ts";
import { wordCharacters } from "./unicode.ts";

/**
 * A regular-expression engine, as far as the parser has to know it. `bpe` reads patterns of two: that of tiktoken and
 * rustbpe (`fancyRegex`), and that of HF, with Ruby's syntax (`oniguruma`).
 */
export type Dialect = {
  /** The engine's name in errors. */
  readonly engine: string;
  /** The meaning of the letters of `(?i:…)`. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** Whether `a(?i)b|c` means `a(?i:b|c)`, and not `a(?i:b)|(?i:c)`. */
  readonly flagsTakeTheRest: boolean;
  /** Whether (?i) in a capturing, lookaround or atomic group also applies after that group. */
  readonly flagsLeak: boolean;
  /**
   * Whether `^` and `$` match at line boundaries without a flag, except that `^` does not match after a "\n" that ends
   * the text.
   */
  readonly hasLineAnchors: boolean;
  /** The maximum number of "\n" between `\Z` and the end of the text. */
  readonly newlinesAfterZ: number;
  /**
   * If true, `x{1,3}+` is possessive, and `x{2}?` lazy. If false, `x{1,3}+` repeats the repeat, and `x{2}?` is
   * `(?:x{2})?`.
   */
  readonly hasIntervalModes: boolean;
  /** Whether a repeat may be repeated, as in `a+*`. */
  readonly repeatsRepeats: boolean;
  /**
   * If true, (?i) also applies to escapes outside classes, and to each item of a class by itself. If false, it applies
   * to literals and to classes as a whole, and one character may match several: ß and ss.
   */
  readonly foldsOneByOne: boolean;
  /**
   * Escapes that are refused, because this engine gives them an unexpected meaning or none, each with its replacement.
   */
  readonly refusedEscapes: Readonly<Record<string, string>>;
  /** Whether `\x80` to `\xff` are bytes. */
  readonly hasByteEscapes: boolean;
  /** Whether `\pL` without braces, `\p{Script=Han}`, `\u{1F600}` and `(?P<name>…)` are known. */
  readonly hasPerlForms: boolean;
  /** Whether look-aheads, negative lookarounds, and assertions of the text's end are refused inside a look-behind. */
  readonly limitsLookBehind: boolean;
  /** Whether an assertion as an alternative of a repeated plain group, as in (?:a|\b)*, is an error. */
  readonly refusesRepeatedAssertions: boolean;
  /**
   * Whether a counted repeat of something that can be empty, such as (?:a*){2,3}, is refused, because in this engine
   * its meaning depends on the size of the body.
   */
  readonly refusesCountedEmpties: boolean;
  /** The characters of `\w` outside classes, and of `\b`. */
  readonly wordCharacters: () => unicode.CodePointSet;
  /** The characters of `\w` inside a class. */
  readonly classWordCharacters: () => unicode.CodePointSet;
  /** The characters of `[[:name:]]`; undefined for an unknown name. */
  readonly parsePosixClass: (name: string) => unicode.CodePointSet | undefined;
};

type Flag = "ignoreCase" | "dotMatchesAll" | "lineAnchors";

export const fancyRegex: Dialect = {
  engine: "tiktoken's engine",
  flags: { i: "ignoreCase", s: "dotMatchesAll", m: "lineAnchors" },
  flagsTakeTheRest: false,
  flagsLeak: true,
  hasLineAnchors: false,
  newlinesAfterZ: Number.POSITIVE_INFINITY,
  hasIntervalModes: true,
  repeatsRepeats: false,
  foldsOneByOne: true,
  refusedEscapes: { "<": "<", ">": ">", "0": "\\x00" },
  hasByteEscapes: false,
  hasPerlForms: true,
  limitsLookBehind: false,
  refusesRepeatedAssertions: false,
  refusesCountedEmpties: false,
  wordCharacters,
  classWordCharacters: wordCharacters,
  parsePosixClass: (name) => (Object.hasOwn(asciiClasses, name) ? asciiClasses[name] : undefined),
};

export const oniguruma: Dialect = {
  engine: "HF's engine",
  flags: { i: "ignoreCase", m: "dotMatchesAll" },
  flagsTakeTheRest: true,
  flagsLeak: false,
  hasLineAnchors: true,
  newlinesAfterZ: 1,
  hasIntervalModes: false,
  repeatsRepeats: true,
  foldsOneByOne: false,
  refusedEscapes: {},
  hasByteEscapes: true,
  hasPerlForms: false,
  limitsLookBehind: true,
  refusesRepeatedAssertions: true,
  refusesCountedEmpties: true,
  // Alphabetic characters, marks, decimal digits and connectors, without joiners; outside a class also ²³¹¼½¾.
  wordCharacters: () =>
    unicode.unionOf([withoutJoiners(wordCharacters()), [0xb2, 0xb3], [0xb9, 0xb9], [0xbc, 0xbe]]),
  classWordCharacters: () => withoutJoiners(wordCharacters()),
  parsePosixClass: (name) => (Object.hasOwn(unicodeClasses, name) ? unicodeClasses[name]!() : undefined),
};

const asciiClasses: Readonly<Record<string, unicode.CodePointSet>> = {
  alnum: [48, 57, 65, 90, 97, 122],
  alpha: [65, 90, 97, 122],
  ascii: [0, 127],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: [48, 57],
  graph: [33, 126],
  lower: [97, 122],
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: [9, 13, 32, 32],
  upper: [65, 90],
  word: [48, 57, 65, 90, 95, 95, 97, 122],
  xdigit: [48, 57, 65, 70, 97, 102],
};

export const hexDigits: unicode.CodePointSet = asciiClasses.xdigit!;

const unicodeClasses: Readonly<Record<string, () => unicode.CodePointSet>> = {
  alnum: () => unicode.unionOf([unicode.propertySet("Alphabetic")!, unicode.decimalDigits()]),
  alpha: () => unicode.propertySet("Alphabetic")!,
  ascii: () => [0, 127],
  blank: () => unicode.unionOf([unicode.propertySet("Zs")!, [9, 9]]),
  cntrl: () => unicode.propertySet("Cc")!,
  digit: unicode.decimalDigits,
  graph: () => graphic([]),
  lower: () => unicode.propertySet("Lowercase")!,
  print: () => graphic(unicode.propertySet("Zs")!),
  punct: () => unicode.unionOf([unicode.propertySet("P")!, unicode.propertySet("S")!]),
  space: () => unicode.whiteSpace,
  upper: () => unicode.propertySet("Uppercase")!,
  word: () => withoutJoiners(wordCharacters()),
  xdigit: () => hexDigits,
};

function graphic(spaces: unicode.CodePointSet): unicode.CodePointSet {
  const others = unicode.unionOf([
    unicode.propertySet("Cn")!,
    unicode.propertySet("Cc")!,
    unicode.whiteSpace,
  ]);
  return unicode.unionOf([unicode.complementOf(others), spaces]);
}

function withoutJoiners(set: unicode.CodePointSet): unicode.CodePointSet {
  return unicode.intersectionOf(set, unicode.complementOf(unicode.propertySet("Join_Control")!));
}
