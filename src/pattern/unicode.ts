import {
  appendRange,
  type CodePointSet,
  codePointCountOf,
  codePointRange,
  lastCodePoint,
  unionOf,
} from "./ranges.ts";
import { categoryRunsBase64 } from "./unicode-data.ts";

/**
 * General categories in the order of their numbers in the embedded data. They are embedded because asking the running
 * engine (a RegExp over all code points) costs 10 to 50 ms a property, and because the splits of a tokenizer should
 * not change with the version of Bun.
 */
export const generalCategories = [
  ...[
    "Cn",
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "Mn",
    "Mc",
    "Me",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
  ],
  ...["Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"],
] as const;

/**
 * Code points of one category end to end in runs. A run is one byte, category | (length - 1) << 5, for lengths to 3;
 * else category | 3 << 5, then length - 4 in groups of seven bits, low ones first, bit 7 set on all but the last.
 * Surrogates count as Cn: no text in UTF-8 holds one. "Lu three times, Ll ten times" is 0x41, 0x62, 0x06.
 */
export function encodeCategoryRuns(categoryOf: Uint8Array): Uint8Array {
  const bytes: number[] = [];
  for (let first = 0; first < categoryOf.length; ) {
    const category = categoryOf[first]!;
    let last = first;
    while (last + 1 < categoryOf.length && categoryOf[last + 1] === category) last++;
    let length = last - first + 1;
    first = last + 1;
    if (length < 4) {
      bytes.push(category | ((length - 1) << 5));
      continue;
    }
    bytes.push(category | (3 << 5));
    for (length -= 4; length >= 128; length >>= 7) bytes.push((length & 127) | 128);
    bytes.push(length);
  }
  return Uint8Array.from(bytes);
}

/** The code points of the categories in `mask`, a bit each, read from runs as `encodeCategoryRuns` writes them. */
function decodeCategoryRuns(bytes: Uint8Array, mask: number): CodePointSet {
  const ranges: number[] = [];
  let codePoint = 0;
  let lastInside = -2;
  for (let pos = 0; pos < bytes.length; ) {
    const head = bytes[pos++]!;
    let length = (head >> 5) + 1;
    if (length === 4) {
      let shift = 0;
      let group = 0;
      do {
        group = bytes[pos++]!;
        length += (group & 127) << shift;
        shift += 7;
      } while (group >= 128);
    }
    if ((mask >> (head & 31)) & 1) {
      if (lastInside === codePoint - 1) ranges[ranges.length - 1] = codePoint + length - 1;
      else ranges.push(codePoint, codePoint + length - 1);
      lastInside = codePoint + length - 1;
    }
    codePoint += length;
  }
  return ranges;
}

let categoryRuns: Uint8Array | undefined;
const propertySets = new Map<string, CodePointSet>();

/**
 * The code points with a property: a general category ("L", "Lu") from the embedded data; any other that the running
 * engine knows ("Alphabetic", "Script=Han", "Han") from the engine. undefined if nobody knows it.
 */
export function propertySet(name: string): CodePointSet | undefined {
  const known = propertySets.get(name);
  if (known !== undefined) return known;
  const set = categorySet(name) ?? engineSet(`\\p{${name}}`) ?? engineSet(`\\p{Script=${name}}`);
  if (set !== undefined) propertySets.set(name, set);
  return set;
}

/** A category ("Lu"), or all that begin with a letter ("L"). */
function categorySet(name: string): CodePointSet | undefined {
  let mask = 0;
  generalCategories.forEach((category, id) => {
    if (category === name || category[0] === name) mask |= 1 << id;
  });
  if (mask === 0) return undefined;
  categoryRuns ??= Uint8Array.fromBase64(categoryRunsBase64);
  return decodeCategoryRuns(categoryRuns, mask);
}

/** White_Space. JavaScript's own \s is another set: it has U+FEFF and lacks U+0085. */
export const whiteSpace: CodePointSet = [
  ...[0x09, 0x0d, 0x20, 0x20, 0x85, 0x85, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a],
  ...[0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000],
];

export function decimalDigits(): CodePointSet {
  return propertySet("Nd")!;
}

/** \w as Unicode's UTS 18 has it: letters and their like, marks, decimal digits, connectors, joiners. */
export function wordCharacters(): CodePointSet {
  return unionOf(["Alphabetic", "M", "Nd", "Pc", "Join_Control"].map((name) => propertySet(name)!));
}

/** All code points that a member of the set equals when case is ignored (Unicode's simple case folding). */
export function foldCase(set: CodePointSet): CodePointSet {
  const smallSetCount = 64;
  if (set.every((codePoint) => codePoint < 128)) return foldAscii(set);
  if (codePointCountOf(set) > smallSetCount) {
    let ranges = "";
    for (let i = 0; i < set.length; i += 2) ranges += `${escapeOf(set[i]!)}-${escapeOf(set[i + 1]!)}`;
    return engineSet(`[${ranges}]`, "i")!;
  }
  const folded: CodePointSet[] = [];
  for (let i = 0; i < set.length; i += 2) {
    for (let codePoint = set[i]!; codePoint <= set[i + 1]!; codePoint++) {
      folded.push(engineSet(escapeOf(codePoint), "i")!);
    }
  }
  return unionOf(folded);
}

/** Beyond ASCII, two code points fold to an ASCII letter: the long s and the Kelvin sign. */
function foldAscii(set: CodePointSet): CodePointSet {
  const folded: CodePointSet[] = [set];
  for (let i = 0; i < set.length; i += 2) {
    for (let codePoint = set[i]!; codePoint <= set[i + 1]!; codePoint++) {
      const lower = codePoint | 32;
      if (lower < 97 || lower > 122) continue;
      folded.push(codePointRange(lower), codePointRange(lower - 32));
      if (lower === 115) folded.push(codePointRange(0x17f));
      if (lower === 107) folded.push(codePointRange(0x212a));
    }
  }
  return unionOf(folded);
}

function escapeOf(codePoint: number): string {
  return `\\u{${codePoint.toString(16)}}`;
}

/** The set that the running engine gives to a RegExp atom of one code point; undefined if it refuses the atom. */
export function engineSet(atom: string, flags = ""): CodePointSet | undefined {
  let runs: RegExp;
  try {
    runs = new RegExp(`${atom}+`, `gu${flags}`);
  } catch {
    return undefined;
  }
  const ranges: number[] = [];
  for (const { text, firstCodePoint, unitsPerCodePoint } of everyCodePoint()) {
    for (const match of text.matchAll(runs)) {
      const first = firstCodePoint + match.index / unitsPerCodePoint;
      appendRange(ranges, first, first + match[0].length / unitsPerCodePoint - 1);
    }
  }
  return ranges;
}

type CodePointText = { text: string; firstCodePoint: number; unitsPerCodePoint: number };
let codePointTexts: CodePointText[] | undefined;

function everyCodePoint(): CodePointText[] {
  if (codePointTexts !== undefined) return codePointTexts;
  const textOf = (first: number, last: number) => {
    const parts: string[] = [];
    for (let codePoint = first; codePoint <= last; codePoint++) parts.push(String.fromCodePoint(codePoint));
    return parts.join("");
  };
  codePointTexts = [
    { text: textOf(0, 0xd7ff), firstCodePoint: 0, unitsPerCodePoint: 1 },
    { text: textOf(0xe000, 0xffff), firstCodePoint: 0xe000, unitsPerCodePoint: 1 },
    { text: textOf(0x10000, lastCodePoint), firstCodePoint: 0x10000, unitsPerCodePoint: 2 },
  ];
  return codePointTexts;
}
