import { endsOfText } from "../../scripts/masks/find-formula.ts";
import { allocateText } from "../../src/bytes/text.ts";
import type { PatternTables } from "../../src/pattern/compiled-pattern.ts";
import { MatcherSplitter } from "../../src/pattern/matcher.ts";
import { buildProgram } from "../../src/pattern/matcher-program.ts";
import { parseSplit } from "../../src/pattern/parse-pattern.ts";
import type { CompiledPattern } from "../../src/pattern/pattern.ts";
import { shadowOf } from "../../src/pattern/shadow.ts";

/** Seeded random whole numbers: xorshift32. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed, 0x9e3779b1) | 1;
    for (let i = 0; i < 8; i++) this.below(1);
  }

  below(bound: number): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) % bound;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

/**
 * A published pattern written over for JavaScript by replacing text: no parser, no sets, nothing shared with the
 * compiler. What is possessive becomes an atomic group in the way JavaScript can say it, and \s is White_Space.
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

/** The pieces of a text, split by split; what is not matched stays a piece. */
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

/** Ends of the pretokens in bytes: invalid bytes one by one, the text between them by itself, lines if asked for. */
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
      // longer, or none
    }
  }
  return undefined;
}

/** Ends of the pretokens: of automata by the twin of the kernel's scan; of programs by the matcher, fed in blocks. */
export function pretokenEnds(
  compiled: CompiledPattern,
  bytes: Uint8Array,
  blockSizeBytes = bytes.length,
): number[] {
  if (compiled.kind === "automata") return chainEnds(compiled.automata, bytes);
  // Behind the text stands rubbish.
  const startPos = 5;
  const text = allocateText(bytes.length + 2 * startPos);
  text.bytes.fill(0x61);
  text.bytes.set(bytes, startPos);
  const limit = startPos + bytes.length;
  const splitter = new MatcherSplitter(compiled);
  const ends: number[] = [];
  const take = () => {
    for (let i = 1; i < splitter.endCount; i++) ends.push(splitter.ends[i]! - startPos);
    splitter.take();
  };
  splitter.start(startPos);
  while (splitter.pos < limit) {
    splitter.scan(text, Math.min(limit, splitter.pos + blockSizeBytes), limit);
    take();
  }
  for (let isSettled = false; !isSettled; take()) isSettled = splitter.finish(limit);
  return ends;
}

/** Each automaton cuts the pieces of the one before, as documents of their own. With `stop` as `endsOfText` has it. */
function chainEnds(
  [tables, ...rest]: readonly PatternTables[],
  bytes: Uint8Array,
  stop = bytes.length,
  isWhole = true,
): number[] {
  const { shadow } = tables!;
  const text = shadow ? shadowOf({ ...tables!, shadow }, bytes, 0, bytes.length) : bytes;
  const ends = endsOfText(tables!, text, stop, isWhole);
  if (rest.length === 0) return ends;
  return ends.flatMap((end, i) => {
    const start = ends[i - 1] ?? 0;
    return chainEnds(rest, bytes.subarray(start, end)).map((pieceEnd) => start + pieceEnd);
  });
}

/** The ends of what stands before a cut, for a reader that has seen the character there and nothing behind it. */
export function endsOfLeftPart(compiled: CompiledPattern, bytes: Uint8Array, cut: number): number[] {
  if (compiled.kind !== "automata") throw new Error("it has no safe cuts");
  let known = cut + 1;
  while ((bytes[known]! & 0xc0) === 0x80) known++;
  return chainEnds(compiled.automata, bytes.subarray(0, known), cut + 1, false);
}

/** A pattern for the backtracking matcher, whether it needs it or not. */
export function programsOf(sources: readonly string[], lineWise = false) {
  const programs = sources.map((source) => buildProgram(parseSplit(source), source));
  return { kind: "programs", programs, lineWise, reason: "to be compared" } as const;
}

/** Characters that some named pattern tells apart; the first twenty are of every kind, for strings made of all of them. */
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

/** Characters, broken bytes, and now and then a whole byte at random. */
export function randomBytes(random: Random, partCount: number): Uint8Array {
  const parts: number[] = [];
  for (let i = 0; i < partCount; i++) {
    const kind = random.below(12);
    if (kind < 9) parts.push(...Buffer.from(random.pick(tellingCharacters)));
    else if (kind < 11) parts.push(...random.pick(brokenBytes));
    else parts.push(random.below(256));
  }
  return Uint8Array.from(parts);
}

/** Everything that a little text can hold, many times over. */
export function longText(random: Random, sizeBytes: number): Uint8Array {
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
    parts.push(random.below(40) === 0 ? randomBytes(random, 3) : Buffer.from(random.pick(words)));
  }
  return Buffer.concat(parts);
}
