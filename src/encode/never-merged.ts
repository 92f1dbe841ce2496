import type { Text } from "../corpus/text.ts";
import { compileApart, methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import { fitsJoin, type Joins } from "./joins.ts";
import { mayTouchWhole, touchesWhole, type WholeTokens } from "./whole-tokens.ts";

/**
 * Never-merged cuts. Where no token ever lies across, a pretoken may be cut: its parts are encoded to the same ids, and
 * are found in the cache far more often than the whole. That is
 *   - between two bytes that stand side by side in no token (`adjacency`), and
 *   - between two characters whose bytes fit around the join of no merge (`joins`).
 *
 * But not where a whole token begins or ends (whole-tokens.ts).
 *
 * Only beside bytes that are not ASCII: elsewhere hardly a place is never merged across, and looking costs time. Chinese
 * has few spaces, and so long pretokens that are hardly ever met again.
 */
export class NeverMerged {
  static {
    spareThirdTier(...methodsOf(NeverMerged));
  }

  private readonly tables: CutTables;
  private finer = new Int32Array(1 << 12);
  /** What `cut` made, or was given. */
  ends: Int32Array = this.finer;

  constructor(joins: Joins, adjacency: Uint8Array, wholeTokens: WholeTokens | null) {
    this.tables = {
      places: placesOf(adjacency, wholeTokens),
      joins,
      wholeTokens,
      pairAnswers: new Uint16Array(1 << pairAnswerBits),
      answers: new Int32Array(2 << answerBits).fill(-1),
    };
  }

  /** Makes `ends` with an end more at each cut inside a pretoken; returns their number. */
  cut(text: Text, ends: Int32Array, endCount: number): number {
    const room = ends[endCount - 1]! - ends[0]! + 2;
    if (this.finer.length < room) this.finer = new Int32Array(2 * room);
    const { tables, finer } = this;
    const count = cutNeverMerged(text, ends, endCount, tables, finer);
    this.ends = count === 0 ? ends : finer;
    return count === 0 ? endCount : count;
  }
}

/**
 * What cutting goes by: `joins` and `wholeTokens` of the model, and answers that were found before, direct-mapped.
 *
 *   ARRAY        TYPE          LENGTH              MEANING
 *   places       Uint8Array    65536               at left << 8 | right, between two bytes: 0 no cut, 1 a cut, or `byContext`
 *   pairAnswers  Uint16Array   2^pairAnswerBits    for two characters of three bytes: the low 15 bits of the hash << 1 | may be
 *                                                  cut. 0, where there is no answer yet, is a right one too: what is not
 *                                                  cut is merged
 *   answers      Int32Array    2 * 2^answerBits    for others: the three bytes before at 2 h, the three behind << 1 | may be cut
 *                                                  at 2 h + 1; all bits set is no answer
 */
type CutTables = {
  readonly places: Uint8Array;
  readonly joins: Joins;
  readonly wholeTokens: WholeTokens | null;
  readonly pairAnswers: Uint16Array;
  readonly answers: Int32Array;
};

/** The answer where more bytes tell whether there is a cut. */
const byContext = 2;

/** The pairs of characters of Chinese text are many; with the tag they have to make 32 bits. */
const pairAnswerBits = 17;
const answerBits = 16;

/** What two bytes alone tell about a cut between them. */
function placesOf(adjacency: Uint8Array, wholeTokens: WholeTokens | null): Uint8Array {
  const places = new Uint8Array(65536);
  for (let left = 0; left < 256; left++) {
    for (let right = 0; right < 256; right++) {
      const at = (left << 8) | right;
      if ((left | right) < 0x80) continue;
      if (adjacency[at] === 0) places[at] = 1;
      // Between characters, the one behind begins with a lead byte, which are from c0 on.
      else if (left >= 0x80 && right >= 0xc0) places[at] = byContext;
    }
  }
  for (const token of wholeTokens === null ? [] : [...wholeTokens.byBeginning.values()].flat()) {
    const first = token[0]!;
    const last = token.at(-1)!;
    for (let other = 0; other < 256; other++) {
      if (places[(other << 8) | first] === 1) places[(other << 8) | first] = byContext;
      if (places[(last << 8) | other] === 1) places[(last << 8) | other] = byContext;
    }
  }
  return places;
}

/** Position of the first byte of [pos, stop) that is not ASCII, or `stop`. */
function findNonAscii({ view, bytes }: Text, pos: number, stop: number): number {
  const lastPos = stop - 16;
  while (pos <= lastPos) {
    const front = view.getInt32(pos, true) | view.getInt32(pos + 4, true);
    const back = view.getInt32(pos + 8, true) | view.getInt32(pos + 12, true);
    if (((front | back) & 0x80808080) !== 0) break;
    pos = (pos + 16) | 0;
  }
  while (pos < stop && bytes[pos]! < 0x80) pos = (pos + 1) | 0;
  return pos;
}

/**
 * Most pretokens of most texts are ASCII, and most of the others have one character that is not: there, ends are only
 * copied, and none at all where nothing else is met.
 */
function cutNeverMerged(
  text: Text,
  ends: Int32Array,
  endCount: number,
  tables: CutTables,
  finer: Int32Array,
): number {
  const { bytes } = text;
  const stop = ends[endCount - 1]!;
  let count = 0;
  let copied = 0;
  for (let pos = findForeignRun(text, ends[0]!, stop); pos < stop; ) {
    let next = firstEndBehind(ends, copied, endCount, pos);
    count = copyEnds(ends, copied, next, finer, count);
    for (;;) {
      const end = ends[next]!;
      count = cutPretoken(bytes, ends[next - 1]!, end, tables, finer, count);
      // Behind one that is not ASCII mostly comes another one.
      if (end === stop || (bytes[end]! | bytes[end + 1]!) < 0x80) break;
      finer[count++] = end;
      next++;
    }
    copied = next;
    pos = findForeignRun(text, ends[next]!, stop);
  }
  return copied === 0 ? 0 : copyEnds(ends, copied, endCount, finer, count);
}

/**
 * Position of the first byte of [pos, stop) that is not ASCII, or `stop`. A lone character of three bytes does not count:
 * it mostly is a quotation mark or a dash.
 */
function findForeignRun(text: Text, pos: number, stop: number): number {
  const { bytes } = text;
  for (;;) {
    pos = findNonAscii(text, pos, stop);
    if (pos >= stop) return stop;
    // E0 to EF: the lead byte of three.
    if (bytes[pos]! >> 4 !== 0xe || bytes[pos + 3]! >= 0x80) return pos;
    pos = (pos + 3) | 0;
  }
}

/** Index of the first end behind `pos`, where ends[from] is not: steps that double, then halves. */
function firstEndBehind(ends: Int32Array, from: number, endCount: number, pos: number): number {
  let low = from;
  let step = 1;
  while (low + step < endCount && ends[low + step]! <= pos) {
    low += step;
    step += step;
  }
  let high = Math.min(low + step, endCount - 1);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ends[middle]! <= pos) low = middle;
    else high = middle;
  }
  return high;
}

/** Appends ends[from .. to) to `finer`; returns the number of ends there. */
function copyEnds(ends: Int32Array, from: number, to: number, finer: Int32Array, count: number): number {
  if (to - from < 64) for (let i = from; i < to; i++) finer[count + i - from] = ends[i]!;
  else finer.set(ends.subarray(from, to), count);
  return count + to - from;
}

/** Adds the cuts inside one pretoken to `finer`; returns the number of ends there. */
function cutPretoken(
  bytes: Uint8Array,
  start: number,
  end: number,
  { places, joins, wholeTokens, pairAnswers, answers }: CutTables,
  finer: Int32Array,
  count: number,
): number {
  let left = bytes[start]!;
  for (let pos = start + 1; pos < end; pos++) {
    const right = bytes[pos]!;
    finer[count] = pos;
    // Lead bytes are from c0 on: the characters before and behind are looked at as wholes.
    if (right >= 0xc0 && left >= 0x80 && places[(left << 8) | right] === byContext) {
      // E0 to EF lead three bytes. Subtle: a pretoken of two bytes and more is valid UTF-8; what is before it may not be.
      const areThreeBytes = right >> 4 === 0xe && pos - start >= 3 && bytes[pos - 3]! >> 4 === 0xe;
      const answer = areThreeBytes
        ? mayPartPair(bytes, pos, joins, wholeTokens, pairAnswers)
        : mayBeCut(bytes, pos, joins, wholeTokens, answers);
      if (answer !== byContext) count += answer;
      else if (!touchesWhole(wholeTokens!, bytes, start, pos, end)) count++;
    } else {
      // Beside ASCII, where a whole token may begin or end, there is no cut.
      count += places[(left << 8) | right]! & 1;
    }
    left = right;
  }
  return count;
}

/** The same as `mayBeCut`, between two characters of three bytes each: those are all that it goes by. */
function mayPartPair(
  bytes: Uint8Array,
  pos: number,
  joins: Joins,
  wholeTokens: WholeTokens | null,
  answers: Uint16Array,
): number {
  const characters = (threeByteCharacter(bytes, pos - 3) << 16) | threeByteCharacter(bytes, pos);
  const hash = Math.imul(characters, 0x9e3779b1);
  const slot = hash >>> (32 - pairAnswerBits);
  // The slot is 17 bits of the hash and the tag the other 15: together the pair itself.
  const tag = hash & 0x7fff;
  const known = answers[slot]!;
  if (known >> 1 === tag) return known & 1;
  const answer = findAnswer(threeBytes(bytes, pos - 3), threeBytes(bytes, pos), joins, wholeTokens);
  if (answer !== byContext) answers[slot] = (tag << 1) | answer;
  return answer;
}

/** The number of a character of three bytes, below 2^16. */
function threeByteCharacter(bytes: Uint8Array, pos: number): number {
  return ((bytes[pos]! & 15) << 12) | ((bytes[pos + 1]! & 63) << 6) | (bytes[pos + 2]! & 63);
}

/**
 * 1 if no join fits around `pos`, `byContext` if a whole token may begin or end there as well. Bytes beyond the pretoken may
 * be looked at: what fits only there changes no id.
 */
function mayBeCut(
  bytes: Uint8Array,
  pos: number,
  joins: Joins,
  wholeTokens: WholeTokens | null,
  answers: Int32Array,
): number {
  if (pos < 3) return 0;
  const left = threeBytes(bytes, pos - 3);
  const right = threeBytes(bytes, pos);
  const hash = Math.imul((Math.imul(left, 0x9e3779b1) + right) | 0, 0x85ebca77);
  const slot = (hash >>> (32 - answerBits)) << 1;
  const known = answers[slot + 1]!;
  if (answers[slot] === left && known >> 1 === right) return known & 1;
  const answer = findAnswer(left, right, joins, wholeTokens);
  if (answer !== byContext) {
    answers[slot] = left;
    answers[slot + 1] = (right << 1) | answer;
  }
  return answer;
}

/** What three bytes on either side tell: 0, 1 or `byContext`. */
function findAnswer(left: number, right: number, joins: Joins, wholeTokens: WholeTokens | null): number {
  if (fitsJoin(joins, left, right)) return 0;
  return wholeTokens !== null && mayTouchWhole(wholeTokens, left, right) ? byContext : 1;
}

const threeBytes = (bytes: Uint8Array, pos: number) =>
  (bytes[pos]! << 16) | (bytes[pos + 1]! << 8) | bytes[pos + 2]!;

compileApart(findAnswer);
