import type { Text } from "../bytes/text.ts";
import { characterLengthAt, codePointAt, codePointOf } from "../bytes/utf8.ts";
import { isLetterwise, isRealScript, scriptNumbers, scriptOf, scriptTable } from "./scripts.ts";
import { type CodePointSet, contains, propertySet, whiteSpace } from "./unicode.ts";

/*
 * Where a text in scripts can be cut, by the bytes around the place. Both automata (boundless-pattern.ts) agree on what
 * follows from these classes of characters:
 *   - a pretoken with a letter has no white space but its first character, and ends in a letter or a mark;
 *   - any other is digits, or white space, or punctuation with the line ends behind it.
 */

/** What a character is to both automata. */
const kinds = { other: 0, letter: 1, mark: 2, number: 3, space: 4, lineEnd: 5, slash: 6 } as const;

/** Sets of characters beyond ASCII, by kind. */
const wideKinds: readonly (readonly [kind: number, set: () => CodePointSet])[] = [
  [kinds.letter, () => propertySet("L")!],
  [kinds.mark, () => propertySet("M")!],
  [kinds.number, () => propertySet("N")!],
  [kinds.space, () => whiteSpace],
];

function kindOf(codePoint: number): number {
  if (codePoint >= 128) return wideKinds.find(([, set]) => contains(set(), codePoint))?.[0] ?? kinds.other;
  if (codePoint === 10 || codePoint === 13) return kinds.lineEnd;
  if (codePoint === 32 || (codePoint >= 9 && codePoint <= 12)) return kinds.space;
  if (codePoint >= 48 && codePoint <= 57) return kinds.number;
  const lower = codePoint | 32;
  if (lower >= 97 && lower <= 122) return kinds.letter;
  return codePoint === 0x2f ? kinds.slash : kinds.other;
}

export const isLetter = (codePoint: number): boolean => kindOf(codePoint) === kinds.letter;

/**
 * The first safe cut in [from, stop), or -1; see safe-cut.ts. Position i is one if the last character with a script before
 * it and the first one from it on have the same script, so that they are in one stretch, and
 *   - a line end is before it and a letter behind it, or
 *   - punctuation is before it, and a space and a letter behind it; or the letter alone, where text is cut letter by letter.
 *
 * The pretoken before it has no letter, so no run of words (boundless) crosses a safe cut either.
 */
export function findScriptCut({ bytes }: Text, from: number, stop: number, limit: number): number {
  const scripts = scriptTable();
  let script: number = scriptNumbers.common;
  /** Of the character before `pos`; a mark stands for all that no cut follows. */
  let before: number = kinds.mark;
  let pos = from;
  while (pos < stop && (bytes[pos]! & 0xc0) === 0x80) pos++;
  while (pos < stop) {
    const length = characterLengthAt(bytes, pos, limit);
    if (length === 0) {
      script = scriptNumbers.common;
      before = kinds.mark;
      pos++;
      continue;
    }
    const codePoint = codePointOf(bytes, pos);
    const kind = kindOf(codePoint);
    const found = scriptOf(scripts, codePoint);
    if (isRealScript(script)) {
      const isPunctuation = before === kinds.other || before === kinds.slash;
      if (kind === kinds.letter && found === script) {
        if (before === kinds.lineEnd || (isPunctuation && isLetterwise(script))) return pos;
      } else if (isPunctuation && codePoint === spaceCode) {
        const next = codePointAt(bytes, pos + 1, limit);
        if (next >= 0 && isLetter(next) && scriptOf(scripts, next) === script) return pos;
      }
    }
    if (isRealScript(found)) script = found;
    before = kind;
    pos += length;
  }
  return -1;
}

const spaceCode = 0x20;

/**
 * The last place in [start, end) of Common text where both automata cut whatever the text's script is, and up to which they
 * cut alike: behind a line end, and no letter or mark before it. `start`, if there is none.
 */
export function neutralEnd(bytes: Uint8Array, start: number, end: number): number {
  let found = start;
  let before: number = kinds.mark;
  for (let pos = start; pos < end; ) {
    const length = characterLengthAt(bytes, pos, end);
    const kind = length === 0 ? kinds.mark : kindOf(codePointOf(bytes, pos));
    if (kind === kinds.letter || kind === kinds.mark) break;
    if (before === kinds.lineEnd && (kind === kinds.other || kind === kinds.number)) found = pos;
    before = kind;
    pos += length;
  }
  return found;
}
