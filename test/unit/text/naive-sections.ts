import * as ascii from "../../../src/bytes/ascii.ts";
import * as utf8 from "../../../src/bytes/utf8-characters.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { wordCharacters } from "../../../src/pattern/unicode.ts";
import type { AddedToken, Cutting } from "../../../src/text/cutting.ts";
import * as normalForms from "../../../src/text/normalization.ts";
import { TextNormalizer } from "../../../src/text/normalization.ts";

/**
 * A stretch of text between added tokens, still to be cut by the pattern; or an added token. Text is Latin-1, one
 * character for each byte.
 */
export type Section = string | { readonly id: number; readonly text: string };

/** A segment ends at `end`, and begins where the previous one ends. */
export type Segment = { readonly end: number; readonly isTrusted: boolean };

/** A text, and for each byte the index of the segment that it is in. */
type Labelled = { readonly bytes: Buffer; readonly labels: readonly number[] };

const part = ({ bytes, labels }: Labelled, start: number, end: number): Labelled => ({
  bytes: bytes.subarray(start, end),
  labels: labels.slice(start, end),
});

/**
 * Returns the sections of a text in segments. A token is recognized only within one segment, and a special token only
 * within a trusted one.
 */
export function naiveSections(
  cutting: Cutting,
  text: Buffer,
  segments: readonly Segment[] = [{ end: text.length, isTrusted: !cutting.specialTokensAsText }],
): Section[] {
  const { addedTokens, normalization, addsPrefixSpace, isLinewise } = cutting;
  const trusts = segments.map(({ isTrusted }) => isTrusted);
  const labelled = {
    bytes: text,
    labels: [...text].map((_, pos) => segments.findIndex(({ end }) => pos < end)),
  };
  const inForm = (given: Labelled): Labelled =>
    normalization === null ? given : formOf(given, normalization, trusts);
  const early = addedTokens.filter(({ normalized }) => !normalized);
  const late = addedTokens
    .filter(({ normalized }) => normalized)
    .map((token) => {
      const bytes = Buffer.from(token.content);
      return { ...token, content: inForm({ bytes, labels: [...bytes].fill(0) }).bytes.toString() };
    });
  const spaced = (section: Buffer) => {
    const starts = [...section].flatMap((_, i) =>
      i === 0 || (isLinewise && section[i - 1] === ascii.lineFeed) ? [i] : [],
    );
    const lines = Array.from(starts, (start, i) => section.subarray(start, starts[i + 1]));
    return lines.map((line) => (line[0] === ascii.space ? "" : " ") + line.toString("latin1")).join("");
  };
  const finish = ({ bytes }: Labelled): Section[] => [
    addsPrefixSpace ? spaced(bytes) : bytes.toString("latin1"),
  ];
  const cut = (
    tokens: readonly AddedToken[],
    given: Labelled,
    take: (section: Labelled) => Section[],
  ): Section[] => {
    const { bytes, labels } = given;
    const found: Section[] = [];
    const takeTo = (end: number) => found.push(...(end > done ? take(part(given, done, end)) : []));
    let done = 0;
    for (let pos = 0; pos < bytes.length; ) {
      const here = tokens.filter(({ content }) => {
        const { length } = Buffer.from(content);
        const isInSegment = labels.slice(pos, pos + length).every((label) => label === labels[pos]);
        return bytes.subarray(pos).indexOf(content) === 0 && isInSegment;
      });
      const token = here
        .toSorted((a, b) => Buffer.byteLength(a.content) - Buffer.byteLength(b.content))
        .at(-1);
      const end = pos + Buffer.byteLength(token?.content ?? "");
      const touches =
        unicode.contains(wordCharacters(), utf8.codePointBefore(bytes, pos)) ||
        unicode.contains(wordCharacters(), utf8.codePointAt(bytes, end, bytes.length));
      const isText = token?.special && !trusts[labels[pos]!];
      const counts = token && !isText && !(token.singleWord && touches);
      const last = counts && token.rstrip ? spaceEnd(bytes, end) : end;
      if (counts) {
        const start = token.lstrip ? spaceStart(bytes, done, pos) : pos;
        takeTo(start);
        found.push({ id: token.id, text: bytes.toString("latin1", start, last) });
        done = last;
      }
      pos = Math.max(pos + 1, last);
    }
    takeTo(bytes.length);
    return found;
  };
  return cut(early, labelled, (section) => cut(late, inForm(section), finish));
}

const isSpace = (codePoint: number) => codePoint >= 0 && unicode.contains(unicode.whiteSpace, codePoint);

function spaceStart(text: Buffer, done: number, end: number): number {
  const codePoint = end > done ? utf8.codePointBefore(text, end) : -1;
  return isSpace(codePoint) ? spaceStart(text, done, end - utf8.byteCountOf(codePoint)) : end;
}

function spaceEnd(text: Buffer, start: number): number {
  const codePoint = utf8.codePointAt(text, start, text.length);
  return isSpace(codePoint) ? spaceEnd(text, start + utf8.byteCountOf(codePoint)) : start;
}

/** Cuts a text at boundaries of normal forms. Each invalid byte is a separate part. */
function stretchesOf(text: Labelled, normalizer: TextNormalizer): Labelled[] {
  const { bytes } = text;
  const starts: number[] = [];
  let wasValid = false;
  for (let pos = 0; pos < bytes.length; ) {
    const codePoint = utf8.codePointAt(bytes, pos, bytes.length);
    if (codePoint < 0 || !wasValid || normalizer.hasBoundaryBefore(codePoint)) starts.push(pos);
    wasValid = codePoint >= 0;
    pos += wasValid ? utf8.byteCountOf(codePoint) : 1;
  }
  return starts.map((start, i) => part(text, start, starts[i + 1] ?? bytes.length));
}

/** Normalizes a text. A part that changes and has bytes of several segments becomes an untrusted segment of its own. */
function formOf(text: Labelled, normalization: string, trusts: boolean[]): Labelled {
  const formed = stretchesOf(text, TextNormalizer.of(normalization)).map((stretch): Labelled => {
    const isValid = utf8.codePointAt(stretch.bytes, 0, stretch.bytes.length) >= 0;
    const bytes = isValid
      ? Buffer.from(normalForms.normalize(stretch.bytes.toString(), normalization))
      : stretch.bytes;
    if (bytes.equals(stretch.bytes)) return stretch;
    const isMixed = stretch.labels.some((label) => label !== stretch.labels[0]);
    const label = isMixed ? trusts.push(false) - 1 : stretch.labels[0]!;
    return { bytes, labels: [...bytes].fill(label) };
  });
  return {
    bytes: Buffer.concat(formed.map(({ bytes }) => bytes)),
    labels: formed.flatMap(({ labels }) => labels),
  };
}
