import { host } from "#runtime";
import { binaryPropertyBase64, categoryBase64, foldingsBase64, scriptBase64 } from "./unicode-data.ts";

/*
 * Unicode's character properties, in one fixed version: that of the regular expressions of HF `tokenizers` and tiktoken
 * (docs/internals/pattern.md). The data is embedded and not taken from the running engine, because a tokenizer's splits
 * must not change with the version of Bun.
 */

function decodeNumbers(base64: string): number[] {
  const numbers: number[] = [];
  let number = 0;
  let shift = 0;
  for (const byte of host.fromBase64(base64)) {
    number += (byte & 127) << shift;
    shift += 7;
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0;
    shift = 0;
  }
  return numbers;
}

/** The long names of general categories and of groups of categories, by short name. */
export const categoryNames: Readonly<Record<string, string>> = {
  L: "Letter",
  LC: "Cased_Letter",
  Lu: "Uppercase_Letter",
  Ll: "Lowercase_Letter",
  Lt: "Titlecase_Letter",
  Lm: "Modifier_Letter",
  Lo: "Other_Letter",
  M: "Mark",
  Mn: "Nonspacing_Mark",
  Mc: "Spacing_Mark",
  Me: "Enclosing_Mark",
  N: "Number",
  Nd: "Decimal_Number",
  Nl: "Letter_Number",
  No: "Other_Number",
  P: "Punctuation",
  Pc: "Connector_Punctuation",
  Pd: "Dash_Punctuation",
  Ps: "Open_Punctuation",
  Pe: "Close_Punctuation",
  Pi: "Initial_Punctuation",
  Pf: "Final_Punctuation",
  Po: "Other_Punctuation",
  S: "Symbol",
  Sm: "Math_Symbol",
  Sc: "Currency_Symbol",
  Sk: "Modifier_Symbol",
  So: "Other_Symbol",
  Z: "Separator",
  Zs: "Space_Separator",
  Zl: "Line_Separator",
  Zp: "Paragraph_Separator",
  C: "Other",
  Cc: "Control",
  Cf: "Format",
  Co: "Private_Use",
  Cn: "Unassigned",
};

let propertySources: Map<string, () => CodePointSet> | undefined;
const propertySets = new Map<string, CodePointSet>();

/** Normalizes a name for Unicode's loose matching, which ignores case, spaces, `_` and `-`. */
export function looseName(name: string): string {
  return name.toLowerCase().replace(/[ _-]/g, "");
}

/**
 * Returns the code points of a general category ("L", "Lu", "Uppercase_Letter"), of a script ("Han"), with a binary
 * property ("Alphabetic"), or of "Any", "ASCII" or "Assigned"; undefined for any other name. Names are matched loosely.
 */
export function propertySet(name: string): CodePointSet | undefined {
  const loose = looseName(name);
  const known = propertySets.get(loose);
  if (known !== undefined) return known;
  propertySources ??= listProperties();
  const set = propertySources.get(loose)?.();
  if (set !== undefined) propertySets.set(loose, set);
  return set;
}

/** Returns the code points of a script, whose name is matched loosely; undefined for an unknown name. */
export function scriptSet(name: string): CodePointSet | undefined {
  const script = Object.keys(scriptBase64).find((other) => looseName(other) === looseName(name));
  return script === undefined ? undefined : propertySet(script);
}

/** Returns the code points of a general category, whose name is matched loosely; undefined for an unknown name. */
export function generalCategorySet(name: string): CodePointSet | undefined {
  const loose = looseName(name);
  const isCategory = Object.entries(categoryNames)
    .flat()
    .some((other) => looseName(other) === loose);
  return isCategory ? propertySet(name) : undefined;
}

function listProperties(): Map<string, () => CodePointSet> {
  const sources = new Map<string, () => CodePointSet>();
  const add = (name: string, source: () => CodePointSet) => sources.set(looseName(name), source);
  for (const table of [scriptBase64, binaryPropertyBase64, categoryBase64]) {
    for (const [name, base64] of Object.entries(table)) add(name, () => decodeSet(base64));
  }
  for (const [short, name] of Object.entries(categoryNames)) add(short, () => propertySet(name)!);
  add("Any", () => fullSet);
  add("ASCII", () => [0, 127]);
  add("Assigned", () => complementOf(propertySet("Cn")!));
  return sources;
}

/** Decodes an embedded set, which is stored as the differences between consecutive bounds. */
function decodeSet(base64: string): CodePointSet {
  let bound = 0;
  return decodeNumbers(base64).map((gap) => (bound += gap));
}

/** White_Space. JavaScript's own \s is another set: it has U+FEFF and lacks U+0085. */
export const whiteSpace: CodePointSet = [
  ...[0x09, 0x0d, 0x20, 0x20, 0x85, 0x85, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a],
  ...[0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000],
];

export function decimalDigits(): CodePointSet {
  return propertySet("Nd")!;
}

/** \w as Unicode's UTS 18 defines it: alphabetic characters, marks, decimal digits, connectors, joiners. */
export function wordCharacters(): CodePointSet {
  return unionOf(["Alphabetic", "M", "Nd", "Pc", "Join_Control"].map((name) => propertySet(name)!));
}

/** Returns the set plus all code points that equal a member when case is ignored (Unicode's simple case folding). */
export function foldCase(set: CodePointSet): CodePointSet {
  if (set.length === 2 && set[0] === set[1]) {
    const members = caseClassOf(set[0]!);
    return members === undefined ? set : setOf(members);
  }
  const folded = caseClasses().filter((members) => members.some((codePoint) => contains(set, codePoint)));
  return unionOf([set, ...folded.map((members) => setOf(members))]);
}

let knownClassOf: ReadonlyMap<number, readonly number[]> | undefined;

/** Returns the case class of a code point; undefined if no other code point equals it when case is ignored. */
export function caseClassOf(codePoint: number): readonly number[] | undefined {
  knownClassOf ??= new Map(
    caseClasses().flatMap((members) => members.map((member) => [member, members] as const)),
  );
  return knownClassOf.get(codePoint);
}

let knownCaseClasses: readonly (readonly number[])[] | undefined;

/**
 * Returns the case classes. A class has a code point to which others fold, and all that fold to it, in ascending order.
 * So it has at least two members.
 */
export function caseClasses(): readonly (readonly number[])[] {
  if (knownCaseClasses !== undefined) return knownCaseClasses;
  const classes = new Map<number, number[]>();
  const numbers = decodeNumbers(foldingsBase64);
  for (let i = 0, from = 0; i < numbers.length; i += 2) {
    from += numbers[i]!;
    const distance = numbers[i + 1]!;
    const to = from + (distance % 2 === 1 ? distance >> 1 : -(distance >> 1));
    const members = classes.get(to);
    if (members === undefined) classes.set(to, [from, to]);
    else members.push(from);
  }
  knownCaseClasses = Array.from(classes.values(), (members) => members.sort((a, b) => a - b));
  return knownCaseClasses;
}

/**
 * A set of code points, as ranges: `[first, last, first, last, …]`, both inclusive, ascending, with a gap between any
 * two ranges. So equal sets are equal arrays. [a-cx] is [97, 99, 120, 120].
 */
export type CodePointSet = readonly number[];

export const lastCodePoint = 0x10ffff;
export const emptySet: CodePointSet = [];
export const fullSet: CodePointSet = [0, lastCodePoint];

export function isFull(set: CodePointSet): boolean {
  return set.length === 2 && set[0] === 0 && set[1] === lastCodePoint;
}

export function codePointRange(first: number, last: number = first): CodePointSet {
  return [first, last];
}

/**
 * Returns the union of sets. It sweeps over the first and the last code points of all ranges, sorted separately: a code
 * point is in the union while any range is open.
 */
export function unionOf(sets: readonly CodePointSet[]): CodePointSet {
  if (sets.length === 1) return sets[0]!;
  const bounds = sets.flat();
  const rangeCount = bounds.length / 2;
  const firsts = new Uint32Array(rangeCount);
  const lasts = new Uint32Array(rangeCount);
  for (let range = 0; range < rangeCount; range++) {
    firsts[range] = bounds[2 * range]!;
    lasts[range] = bounds[2 * range + 1]!;
  }
  firsts.sort();
  lasts.sort();
  const union: number[] = [];
  for (let range = 0, start = 0; range < rangeCount; range++) {
    // A range of the union continues while the next range begins before, at or directly after this end. If the next one
    // begins later, as many ranges have ended as have begun, so none is open.
    if (range + 1 < rangeCount && firsts[range + 1]! <= lasts[range]! + 1) continue;
    union.push(firsts[start]!, lasts[range]!);
    start = range + 1;
  }
  return union;
}

export function complementOf(set: CodePointSet): CodePointSet {
  const complement: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) complement.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= lastCodePoint) complement.push(next, lastCodePoint);
  return complement;
}

export function intersectionOf(...sets: readonly CodePointSet[]): CodePointSet {
  return complementOf(unionOf(sets.map(complementOf)));
}

/** Returns the set of some code points, which must be ascending and distinct. */
export function setOf(codePoints: readonly number[]): CodePointSet {
  const set: number[] = [];
  for (const codePoint of codePoints) appendRange(set, codePoint, codePoint);
  return set;
}

export function contains(set: CodePointSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (set[2 * middle + 1]! < codePoint) low = middle + 1;
    else high = middle;
  }
  return low < set.length / 2 && set[2 * low]! <= codePoint;
}

/**
 * Appends a range, or joins it with the last one if they overlap or are adjacent. Its first code point must not be
 * before the start of the last range.
 */
function appendRange(ranges: number[], first: number, last: number): void {
  const end = ranges.length - 1;
  if (end > 0 && ranges[end]! + 1 >= first) ranges[end] = Math.max(ranges[end]!, last);
  else ranges.push(first, last);
}
