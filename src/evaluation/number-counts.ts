import { byteCountOf, codePointAt } from "../bytes/text.ts";
import { contains, propertySet } from "../pattern/unicode.ts";

const counters = ["count", "digitGroups", "tokens", "longCount", "fromRight", "fromLeft"] as const;

/**
 * Counts of the numbers of a text, which are runs of decimal digits in its words, and of how its tokens cut them. Threads add
 * them up. `NumberMeasures` says what each is.
 */
export class NumberCounts {
  count = 0;
  digitGroups = 0;
  tokens = 0;
  longCount = 0;
  fromRight = 0;
  fromLeft = 0;
  /** Numbers by their F1: added up in the end, in one order, whoever counted them. */
  readonly scores = new Map<number, number>();

  /** Adds the numbers of a word that occurs `occurrences` times. `pieces`: the bytes of its tokens. */
  add(pieces: readonly Uint8Array[], occurrences: number): void {
    const bytes = Buffer.concat(pieces);
    const isBorder = new Uint8Array(bytes.length + 1);
    let border = 0;
    for (const piece of pieces) isBorder[(border += piece.length)] = 1;
    for (let pos = 0; pos < bytes.length; ) {
      const ends = digitEndsFrom(bytes, pos);
      if (ends.length > 0) this.addNumber(pos, ends, isBorder, occurrences);
      pos = ends.at(-1) ?? pos + 1;
    }
  }

  /** Adds a number that begins at `pos`, whose digits end at `ends`. */
  private addNumber(pos: number, ends: readonly number[], isBorder: Uint8Array, occurrences: number): void {
    const digitCount = ends.length;
    let [borders, right, left] = [0, 0, 0];
    for (let at = pos + 1, digit = 0; at < ends[digitCount - 1]!; at++) {
      if (isBorder[at] === 1) borders++;
      if (at !== ends[digit]) continue;
      digit++;
      if (isBorder[at] === 1 && (digitCount - digit) % 3 === 0) right++;
      if (isBorder[at] === 1 && digit % 3 === 0) left++;
    }
    const wanted = Math.ceil(digitCount / 3) - 1;
    const score = borders + wanted === 0 ? 1 : (2 * right) / (borders + wanted);
    this.count += occurrences;
    this.digitGroups += occurrences * (wanted + 1);
    this.tokens += occurrences * (borders + 1);
    this.scores.set(score, (this.scores.get(score) ?? 0) + occurrences);
    if (wanted === 0) return;
    this.longCount += occurrences;
    if (borders === wanted && right === wanted) this.fromRight += occurrences;
    if (borders === wanted && left === wanted) this.fromLeft += occurrences;
  }

  addAll(other: Readonly<Pick<NumberCounts, (typeof counters)[number] | "scores">>): void {
    for (const counter of counters) this[counter] += other[counter];
    for (const [score, count] of other.scores) this.scores.set(score, (this.scores.get(score) ?? 0) + count);
  }
}

/** Whether a token may hold a digit, or a part of one. */
export function mayHoldDigit(bytes: Uint8Array): boolean {
  for (let pos = 0; pos < bytes.length; ) {
    const codePoint = codePointAt(bytes, pos, bytes.length);
    if (codePoint < 0 || isDigit(codePoint)) return true;
    pos += byteCountOf(codePoint);
  }
  return false;
}

/** Where the digits end of the run that begins at `pos`; none if there is no digit. */
function digitEndsFrom(bytes: Uint8Array, pos: number): number[] {
  const ends: number[] = [];
  for (let end = pos; ; ends.push(end)) {
    const codePoint = codePointAt(bytes, end, bytes.length);
    if (codePoint < 0 || !isDigit(codePoint)) return ends;
    end += byteCountOf(codePoint);
  }
}

const digits = propertySet("Nd")!;
const isDigit = (codePoint: number) =>
  codePoint < 0x80 ? codePoint >= 0x30 && codePoint <= 0x39 : contains(digits, codePoint);
