import { utf8 } from "#bytes";
import { unicode } from "#pattern";

const counters = ["count", "digitGroups", "tokens", "longCount", "fromRight", "fromLeft"] as const;

/**
 * Counts the numbers of a text, which are runs of decimal digits in its words, and how tokens cut them.
 * `NumberMeasures` documents the fields.
 */
export class NumberCounts {
  count = 0;
  digitGroups = 0;
  tokens = 0;
  longCount = 0;
  fromRight = 0;
  fromLeft = 0;
  /**
   * For each F1 score above 0, how many numbers have it. The score compares the token boundaries in a number with those
   * between groups of three digits from the right. Scores are not added up here, because the sum would depend on the
   * order of the threads.
   */
  readonly scores = new Map<number, number>();

  /**
   * Adds the numbers in bytes [start, end), which occur `occurrences` times in the text. `ends` are the ends of the
   * tokens, ascending.
   */
  add(bytes: Uint8Array, start: number, end: number, ends: ArrayLike<number>, occurrences: number): void {
    let token = 0;
    for (let pos = start; pos < end; ) {
      let runEnd = pos;
      let digitCount = 0;
      for (let next = digitEndAt(bytes, pos, end); next > runEnd; next = digitEndAt(bytes, runEnd, end)) {
        runEnd = next;
        digitCount++;
      }
      if (digitCount === 0) pos++;
      else {
        while (ends[token]! <= pos) token++;
        let [borders, right, left] = [0, 0, 0];
        for (let digit = 0; ends[token]! < runEnd; token++, borders++) {
          for (; pos < ends[token]!; digit++) pos = digitEndAt(bytes, pos, end);
          if (pos > ends[token]!) continue;
          if ((digitCount - digit) % 3 === 0) right++;
          if (digit % 3 === 0) left++;
        }
        this.addNumber(digitCount, borders, right, left, occurrences);
        pos = runEnd;
      }
    }
  }

  /**
   * Adds a number with `borders` token boundaries inside it. `right` of these boundaries are also boundaries of groups
   * of three digits counted from the right; `left` are boundaries of groups counted from the left.
   */
  private addNumber(digits: number, borders: number, right: number, left: number, occurrences: number): void {
    const wanted = Math.ceil(digits / 3) - 1;
    const score = borders + wanted === 0 ? 1 : (2 * right) / (borders + wanted);
    this.count += occurrences;
    this.digitGroups += occurrences * (wanted + 1);
    this.tokens += occurrences * (borders + 1);
    if (score > 0) this.scores.set(score, (this.scores.get(score) ?? 0) + occurrences);
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

/** Whether there is a digit in bytes [start, end). */
export function holdsDigit(bytes: Uint8Array, start: number, end: number): boolean {
  for (let pos = start; pos < end; pos++) if (digitEndAt(bytes, pos, end) > pos) return true;
  return false;
}

let digits: ReturnType<typeof unicode.propertySet>;

/**
 * For each block of 64 code points, whether it contains digits. Most characters of a text are in blocks without digits.
 */
let digitBlocks: Uint8Array | undefined;

function findDigitBlocks(): Uint8Array {
  digits = unicode.propertySet("Nd")!;
  const blocks = new Uint8Array(0x110000 >> 6);
  for (let i = 0; i < digits.length; i++) blocks[digits[i]! >> 6] = 1;
  return blocks;
}

/** The smallest first byte of a digit other than the ASCII digits. */
const digitLeadLeast = 0xd9;

/** Returns the end of the decimal digit at `pos`; `pos` if there is none. */
function digitEndAt(bytes: Uint8Array, pos: number, end: number): number {
  const lead = bytes[pos]!;
  if (lead < digitLeadLeast) return lead >= 0x30 && lead <= 0x39 && pos < end ? pos + 1 : pos;
  const second = bytes[pos + 1]! & 0x3f;
  const block =
    lead < 0xe0
      ? lead & 0x1f
      : lead < 0xf0
        ? ((lead & 0xf) << 6) | second
        : ((lead & 7) << 12) | (second << 6) | (bytes[pos + 2]! & 0x3f);
  digitBlocks ??= findDigitBlocks();
  if (digitBlocks[block] !== 1) return pos;
  const codePoint = utf8.codePointAt(bytes, pos, end);
  return unicode.contains(digits!, codePoint) ? pos + utf8.byteCountOf(codePoint) : pos;
}
