import {
  type CodePointSet,
  complementOf,
  decimalDigits,
  intersectionOf,
  propertySet,
  unionOf,
  whiteSpace,
  wordCharacters,
} from "./unicode.ts";

/**
 * The regular-expression engines whose patterns we read, and all in which they differ; what is not here both read alike.
 *   fancyRegex   tiktoken's and rustbpe's, and what `--pattern` means
 *   oniguruma    HF's, in Ruby's syntax: that of `tokenizer.json`, and of `--pattern` with `--compat huggingface`
 * Everything was found by asking the engines; the parser refuses what only one of them knows, and what neither does.
 */
export type Dialect = {
  /** As errors call it. */
  readonly engine: string;
  /** What the letters of `(?i:…)` are for. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** `a(?i)b|c` is `a(?i:b|c)`, not `a(?i:b)|(?i:c)`. */
  readonly flagsTakeTheRest: boolean;
  /** (?i) in a group that captures, looks or is atomic holds behind that group, too. */
  readonly flagsLeak: boolean;
  /** `^` and `$` are the ends of lines without any flag, and `^` is not behind the last "\n" of the text. */
  readonly hasLineAnchors: boolean;
  /** What `\Z` allows behind it, up to the end of the text: any number of "\n", or one. */
  readonly newlinesBehindZ: number;
  /** `{1,3}+` gives nothing back; else it repeats again, and `{2}?` is once or not at all. */
  readonly hasIntervalModes: boolean;
  /** Something may be repeated twice, `a+*`. */
  readonly repeatsRepeats: boolean;
  /**
   * (?i) changes escapes outside of classes, and each item of a class by itself; else only whole classes. Without it, one
   * character may equal several: ß and ss.
   */
  readonly foldsOneByOne: boolean;
  /** Escapes that mean what nobody would expect, or nothing, and what to write instead. */
  readonly refusedEscapes: Readonly<Record<string, string>>;
  /** `\x80` to `\xff` are bytes. */
  readonly hasByteEscapes: boolean;
  /** `\pL` without braces, `\p{Script=Han}`, `(?P<name>…)`. */
  readonly hasPerlForms: boolean;
  /** A look-behind has neither look-aheads, nor negated looks, nor the end of the text in it. */
  readonly limitsLookBehind: boolean;
  /** (?:a|\b)* is an error. */
  readonly refusesRepeatedAssertions: boolean;
  /** (?:a*){2,3} depends on how large the body is. */
  readonly refusesCountedEmpties: boolean;
  /** `\w`, which `\b` is about, and `\w` in a class. */
  readonly wordCharacters: () => CodePointSet;
  readonly classWordCharacters: () => CodePointSet;
  /** `[[:name:]]`; undefined for a name that is not known. */
  readonly posixClass: (name: string) => CodePointSet | undefined;
};

type Flag = "ignoreCase" | "dotMatchesAll" | "lineAnchors";

export const fancyRegex: Dialect = {
  engine: "tiktoken's engine",
  flags: { i: "ignoreCase", s: "dotMatchesAll", m: "lineAnchors" },
  flagsTakeTheRest: false,
  flagsLeak: true,
  hasLineAnchors: false,
  newlinesBehindZ: Number.POSITIVE_INFINITY,
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
  posixClass: (name) => asciiClasses[name],
};

export const oniguruma: Dialect = {
  engine: "HF's engine",
  flags: { i: "ignoreCase", m: "dotMatchesAll" },
  flagsTakeTheRest: true,
  flagsLeak: false,
  hasLineAnchors: true,
  newlinesBehindZ: 1,
  hasIntervalModes: false,
  repeatsRepeats: true,
  foldsOneByOne: false,
  refusedEscapes: {},
  hasByteEscapes: true,
  hasPerlForms: false,
  limitsLookBehind: true,
  refusesRepeatedAssertions: true,
  refusesCountedEmpties: true,
  // Letters and their like, marks, decimal digits and connectors, no joiners; outside of a class six numbers of Latin-1.
  wordCharacters: () => unionOf([withoutJoiners(wordCharacters()), [0xb2, 0xb3], [0xb9, 0xb9], [0xbc, 0xbe]]),
  classWordCharacters: () => withoutJoiners(wordCharacters()),
  posixClass: (name) => unicodeClasses[name]?.(),
};

const asciiClasses: Readonly<Record<string, CodePointSet>> = {
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

export const hexDigits: CodePointSet = asciiClasses.xdigit!;

const unicodeClasses: Readonly<Record<string, () => CodePointSet>> = {
  alnum: () => unionOf([propertySet("Alphabetic")!, decimalDigits()]),
  alpha: () => propertySet("Alphabetic")!,
  ascii: () => [0, 127],
  blank: () => unionOf([propertySet("Zs")!, [9, 9]]),
  cntrl: () => propertySet("Cc")!,
  digit: decimalDigits,
  graph: () => graphic([]),
  lower: () => propertySet("Lowercase")!,
  print: () => graphic(propertySet("Zs")!),
  punct: () => unionOf([propertySet("P")!, propertySet("S")!]),
  space: () => whiteSpace,
  upper: () => propertySet("Uppercase")!,
  word: () => withoutJoiners(wordCharacters()),
  xdigit: () => hexDigits,
};

function graphic(spaces: CodePointSet): CodePointSet {
  const others = unionOf([propertySet("Cn")!, propertySet("Cc")!, whiteSpace]);
  return unionOf([complementOf(others), spaces]);
}

function withoutJoiners(set: CodePointSet): CodePointSet {
  return intersectionOf(set, complementOf(propertySet("Join_Control")!));
}
