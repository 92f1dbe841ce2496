import type { Text } from "../corpus/text.ts";
import { fitsJoin, type Joins } from "./joins.ts";

/**
 * Never-merged cuts. Where no token ever lies across, a pretoken may be cut: its parts are encoded to the same ids, and
 * are found in the cache far more often than the whole. That is
 *   - between two bytes that stand side by side in no token (`adjacency`), and
 *   - between two characters whose bytes fit around the join of no merge (`joins`).
 *
 * Only beside bytes that are not ASCII: elsewhere hardly a place is never merged across, and looking costs time. Chinese
 * has few spaces, and so long pretokens that are hardly ever met again.
 */
export class NeverMerged {
  /**
   * Answers for pairs of characters, direct-mapped: left bytes at 2 h, right bytes << 1 | may be cut at 2 h + 1. All
   * bits set is no answer.
   */
  private readonly answers = new Int32Array(2 << answerBits).fill(-1);
  /** What `cut` made. */
  ends = new Int32Array(1 << 12);

  constructor(
    private readonly joins: Joins,
    private readonly adjacency: Uint8Array,
  ) {}

  /** Copies `ends` with an end more at each cut inside a pretoken; returns their number. */
  cut(text: Text, ends: Int32Array, endCount: number): number {
    const room = ends[endCount - 1]! - ends[0]! + 2;
    if (this.ends.length < room) this.ends = new Int32Array(2 * room);
    return cutNeverMerged(text, ends, endCount, this.joins, this.adjacency, this.answers, this.ends);
  }
}

/** A megabyte: the pairs of characters of Chinese text are many. */
const answerBits = 17;

/** Position of the first byte of [pos, stop) that is not ASCII, or `stop`. */
export function findNonAscii({ view, bytes }: Text, pos: number, stop: number): number {
  const lastQuadPos = stop - 4;
  while (pos <= lastQuadPos && (view.getInt32(pos, true) & 0x80808080) === 0) pos = (pos + 4) | 0;
  while (pos < stop && bytes[pos]! < 0x80) pos++;
  return pos;
}

/** Most pretokens of most texts are ASCII: from one byte that is not to the next, ends are only copied. */
function cutNeverMerged(
  text: Text,
  ends: Int32Array,
  endCount: number,
  joins: Joins,
  adjacency: Uint8Array,
  answers: Int32Array,
  finer: Int32Array,
): number {
  const stop = ends[endCount - 1]!;
  let count = 0;
  finer[count++] = ends[0]!;
  let nonAsciiPos = findNonAscii(text, ends[0]!, stop);
  for (let i = 1; i < endCount; i++) {
    const end = ends[i]!;
    if (end > nonAsciiPos) {
      count = cutPretoken(text.bytes, ends[i - 1]!, end, joins, adjacency, answers, finer, count);
      nonAsciiPos = findNonAscii(text, end, stop);
    }
    finer[count++] = end;
  }
  return count;
}

/** Adds the cuts inside one pretoken to `finer`; returns the number of ends there. */
function cutPretoken(
  bytes: Uint8Array,
  start: number,
  end: number,
  joins: Joins,
  adjacency: Uint8Array,
  answers: Int32Array,
  finer: Int32Array,
  count: number,
): number {
  let left = bytes[start]!;
  for (let pos = start + 1; pos < end; pos++) {
    const right = bytes[pos]!;
    finer[count] = pos;
    // Lead bytes are from c0 on: the characters before and behind are looked at as wholes.
    if (right >= 0xc0 && left >= 0x80 && adjacency[(left << 8) | right] !== 0) {
      count += mayBeCut(bytes, pos, joins, answers);
    } else {
      // 1 if one of the two is not ASCII and no token has them side by side.
      count += ((left | right) >> 7) & (1 - adjacency[(left << 8) | right]!);
    }
    left = right;
  }
  return count;
}

/** 1 if no join fits around `pos`. Bytes beyond the pretoken may be looked at: a join that fits only there is none. */
function mayBeCut(bytes: Uint8Array, pos: number, joins: Joins, answers: Int32Array): number {
  if (pos < 3) return 0;
  const left = (bytes[pos - 3]! << 16) | (bytes[pos - 2]! << 8) | bytes[pos - 1]!;
  const right = (bytes[pos]! << 16) | (bytes[pos + 1]! << 8) | bytes[pos + 2]!;
  const hash = Math.imul((Math.imul(left, 0x9e3779b1) + right) | 0, 0x85ebca77);
  const slot = (hash >>> (32 - answerBits)) << 1;
  const known = answers[slot + 1]!;
  if (answers[slot] === left && known >> 1 === right) return known & 1;
  const answer = fitsJoin(joins, left, right) ? 0 : 1;
  answers[slot] = left;
  answers[slot + 1] = (right << 1) | answer;
  return answer;
}
