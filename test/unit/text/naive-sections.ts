import { byteCountOf, codePointAt, codePointBefore, lineFeed, space } from "../../../src/bytes/text.ts";
import { contains, whiteSpace, wordCharacters } from "../../../src/pattern/unicode.ts";
import type { AddedToken, Cutting } from "../../../src/text/cutting.ts";
import { normalize } from "../../../src/text/normalization.ts";

/** A section that the pattern cuts, or an added token with the white space that it takes; bytes as Latin-1 text. */
export type Section = string | { readonly id: number; readonly text: string };

/** The sections of a text, one step after the other. */
export function naiveSections(cutting: Cutting, text: Buffer): Section[] {
  const { addedTokens, normalization, addsPrefixSpace, isLinewise, specialTokensAsText = false } = cutting;
  const inForm = (given: Buffer) =>
    normalization === null
      ? given
      : Buffer.concat(validParts(given).map((part) => formOf(part, normalization)));
  const early = addedTokens.filter(({ normalized }) => !normalized);
  const late = addedTokens
    .filter(({ normalized }) => normalized)
    .map((token) => ({ ...token, content: inForm(Buffer.from(token.content)).toString() }));
  const spaced = (section: Buffer) => {
    const starts = [...section].flatMap((_, i) =>
      i === 0 || (isLinewise && section[i - 1] === lineFeed) ? [i] : [],
    );
    const lines = Array.from(starts, (start, i) => section.subarray(start, starts[i + 1]));
    return lines.map((line) => (line[0] === space ? "" : " ") + line.toString("latin1")).join("");
  };
  const finish = (section: Buffer): Section[] => [
    addsPrefixSpace ? spaced(section) : section.toString("latin1"),
  ];
  const cut = (
    tokens: readonly AddedToken[],
    given: Buffer,
    take: (section: Buffer) => Section[],
  ): Section[] => {
    const found: Section[] = [];
    const takeTo = (end: number) => found.push(...(end > done ? take(given.subarray(done, end)) : []));
    let done = 0;
    for (let pos = 0; pos < given.length; ) {
      const here = tokens.filter(({ content }) => given.subarray(pos).indexOf(content) === 0);
      const token = here
        .toSorted((a, b) => Buffer.byteLength(a.content) - Buffer.byteLength(b.content))
        .at(-1);
      const end = pos + Buffer.byteLength(token?.content ?? "");
      const touches =
        contains(wordCharacters(), codePointBefore(given, pos)) ||
        contains(wordCharacters(), codePointAt(given, end, given.length));
      const counts = token && !(token.special && specialTokensAsText) && !(token.singleWord && touches);
      const last = counts && token.rstrip ? spaceEnd(given, end) : end;
      if (counts) {
        const start = token.lstrip ? spaceStart(given, done, pos) : pos;
        takeTo(start);
        found.push({ id: token.id, text: given.toString("latin1", start, last) });
        done = last;
      }
      pos = Math.max(pos + 1, last);
    }
    takeTo(given.length);
    return found;
  };
  return cut(early, text, (section) => cut(late, inForm(section), finish));
}

const isSpace = (codePoint: number) => codePoint >= 0 && contains(whiteSpace, codePoint);

function spaceStart(text: Buffer, done: number, end: number): number {
  const codePoint = end > done ? codePointBefore(text, end) : -1;
  return isSpace(codePoint) ? spaceStart(text, done, end - byteCountOf(codePoint)) : end;
}

function spaceEnd(text: Buffer, start: number): number {
  const codePoint = codePointAt(text, start, text.length);
  return isSpace(codePoint) ? spaceEnd(text, start + byteCountOf(codePoint)) : start;
}

/** Bytes cut where they are not UTF-8: each such byte is a part of its own. */
function validParts(text: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let pos = 0; pos < text.length; ) {
    const codePoint = codePointAt(text, pos, text.length);
    if (codePoint < 0) {
      parts.push(text.subarray(start, pos), text.subarray(pos, pos + 1));
      start = pos + 1;
    }
    pos += codePoint < 0 ? 1 : byteCountOf(codePoint);
  }
  return [...parts, text.subarray(start)];
}

const formOf = (part: Buffer, normalization: string) =>
  part.length === 1 && part[0]! >= 0x80 ? part : Buffer.from(normalize(part.toString(), normalization));
