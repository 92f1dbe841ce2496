import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { chainEnds, cutText } from "../../../src/pattern/cut-text.ts";
import { pick, type Random } from "../../random.ts";

/**
 * Translates a published pattern to JavaScript by replacing text, without the compiler's parser. Possessive quantifiers
 * become a look-ahead and a back-reference, and \s becomes White_Space.
 */
export function naiveRegExp(source: string): RegExp {
  let captures = 0;
  const atomic = source.replace(
    /(\[(?:\\.|[^\]\\])*\]|\\p\{\w+\}|\\.|[^\\()|[\]])([?*+]|\{\d+(?:,\d*)?\})\+/g,
    (_, atom, count) => `(?:(?=(${atom}${count}))\\${++captures})`,
  );
  const spaces = atomic.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}");
  return new RegExp(spaces, "gu");
}

/** Returns the pieces of a text after all splits. Unmatched text stays as pieces. */
export function naivePieces(text: string, regexps: readonly RegExp[]): string[] {
  let pieces = text === "" ? [] : [text];
  for (const regexp of regexps) {
    pieces = pieces.flatMap((piece) => {
      const cut: string[] = [];
      let settled = 0;
      for (const match of piece.matchAll(regexp)) {
        if (match.index > settled) cut.push(piece.slice(settled, match.index));
        cut.push(match[0]);
        settled = match.index + match[0].length;
      }
      if (settled < piece.length) cut.push(piece.slice(settled));
      return cut;
    });
  }
  return pieces;
}

/**
 * Returns the ends of the pretokens in bytes. Each invalid byte is a pretoken. The text between two invalid bytes is
 * cut separately or, with `lineWise`, each of its lines.
 */
export function naiveEnds(bytes: Uint8Array, regexps: readonly RegExp[], lineWise = false): number[] {
  const ends: number[] = [];
  let run = "";
  let pos = 0;
  const endRun = () => {
    for (const piece of naivePieces(run, regexps)) ends.push((ends.at(-1) ?? 0) + Buffer.byteLength(piece));
    run = "";
  };
  while (pos < bytes.length) {
    const character = naiveCharacter(bytes, pos);
    if (character === undefined) {
      endRun();
      pos++;
      ends.push(pos);
      continue;
    }
    run += character;
    pos += Buffer.byteLength(character);
    if (lineWise && character === "\n") endRun();
  }
  endRun();
  return ends;
}

function naiveCharacter(bytes: Uint8Array, pos: number): string | undefined {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let length = 1; length <= 4 && pos + length <= bytes.length; length++) {
    try {
      return strict.decode(bytes.subarray(pos, pos + length));
    } catch {
      // Not a character of this length; a longer one may be.
    }
  }
  return undefined;
}

/** Returns the ends of the pretokens, by the JavaScript twin of the kernel's scan. */
export const pretokenEnds = cutText;

/** Returns the ends of pretokens up to a cut. Of the text after the cut, only the first character is read. */
export function endsOfLeftPart(compiled: CompiledPattern, bytes: Uint8Array, cut: number): number[] {
  let known = cut + 1;
  while ((bytes[known]! & 0xc0) === 0x80) known++;
  return chainEnds(compiled.automata, bytes.subarray(0, known), cut + 1, false);
}

/** Characters that some named pattern distinguishes. */
export const tellingCharacters = [
  ..."asZʰé1 \n\r\t'!/\u00a0\u3000\u0085\u017f\u0301中😀",
  ..."lǅß٣Ⅷ$_\u212a\u200d\ufeffかー𝒳\0",
];

const brokenBytes: readonly (readonly number[])[] = [
  [0x80],
  [0xbf],
  [0xff],
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0x80],
  [0xe0, 0x9f, 0xbf],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf0, 0x8f, 0xbf, 0xbf],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xe4, 0xb8],
  [0xf0, 0x9f, 0x98],
  [0xc3],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
];

/** Returns characters, broken sequences, and occasionally a random byte. */
export function randomBytes(random: Random, partCount: number): Uint8Array {
  const parts: number[] = [];
  for (let i = 0; i < partCount; i++) {
    const kind = random(12);
    if (kind < 9) parts.push(...Buffer.from(pick(random, tellingCharacters)));
    else if (kind < 11) parts.push(...pick(random, brokenBytes));
    else parts.push(random(256));
  }
  return Uint8Array.from(parts);
}

/** Returns a text of at least `sizeBytes` bytes, of many kinds of pieces. */
export function longText(random: Random, sizeBytes: number): Buffer {
  const words = [
    "the",
    " quick",
    " brown's",
    " FOX",
    " 12",
    "3456",
    "  ",
    "\n",
    "\r\n\n",
    " \n\t x",
    "!?",
    " ...",
    "été",
    "中文",
    "🙂",
  ];
  const parts: Uint8Array[] = [];
  for (let size = 0; size < sizeBytes; size += parts.at(-1)!.length) {
    parts.push(random(40) === 0 ? randomBytes(random, 3) : Buffer.from(pick(random, words)));
  }
  return Buffer.concat(parts);
}
