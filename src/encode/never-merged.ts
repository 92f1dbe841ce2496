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
  cut(bytes: Uint8Array, ends: Int32Array, endCount: number): number {
    const room = ends[endCount - 1]! - ends[0]! + 2;
    if (this.ends.length < room) this.ends = new Int32Array(2 * room);
    return cutNeverMerged(bytes, ends, endCount, this.joins, this.adjacency, this.answers, this.ends);
  }
}

/** A megabyte: the pairs of characters of Chinese text are many. */
const answerBits = 17;

/** Whether a byte of [start, stop) is not ASCII; bytes just behind may count as well. */
export function hasNonAscii(view: DataView, start: number, stop: number): boolean {
  let bits = 0;
  for (let pos = start; pos < stop; pos += 4) bits |= view.getInt32(pos, true);
  return (bits & 0x80808080) !== 0;
}

function cutNeverMerged(
  bytes: Uint8Array,
  ends: Int32Array,
  endCount: number,
  joins: Joins,
  adjacency: Uint8Array,
  answers: Int32Array,
  finer: Int32Array,
): number {
  let count = 0;
  let start = ends[0]!;
  finer[count++] = start;
  for (let i = 1; i < endCount; i++) {
    const end = ends[i]!;
    let left = bytes[start]!;
    for (let pos = start + 1; pos < end; pos++) {
      const right = bytes[pos]!;
      // Lead bytes are from c0 on: the characters before and behind are looked at as wholes.
      if (right >= 0xc0 && left >= 0x80 && adjacency[(left << 8) | right] !== 0) {
        finer[count] = pos;
        count += mayBeCut(bytes, pos, joins, answers);
      } else {
        finer[count] = pos;
        // 1 if one of the two is not ASCII and no token has them side by side.
        count += ((left | right) >> 7) & (1 - adjacency[(left << 8) | right]!);
      }
      left = right;
    }
    finer[count++] = end;
    start = end;
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
