import {
  BytePair,
  boundary,
  bytePairCount,
  bytePairs,
  cells,
  halves,
  halvesBytes,
  isWide,
  memoryCount,
  Part,
  partCount,
  weightEnds,
  weights,
} from "./merge-regions";
import { entryAddress } from "./occurrences";
import { stepCount, stepOf } from "./word-layout";

/**
 * Byte pairs: dense tables of all pairs of two start tokens, for the first index (first-index.ts). Each thread's part
 * of the text (the cells of the words: word-layout.ts) has its own table.
 *
 *   REGION     ELEMENT   ELEMENTS       MEANING
 *   bytePairs  BytePair  65,536 a part  pair (l, r) is element 256 l + r
 *   halves     u8        512 a part     for each counted pair (l, r), elements l and 256 + r are 1. A small text has
 *                                       few different bytes, so most rows of `bytePairs` need not be read
 */
export const noStart: u32 = 0;

export function bytePairAt(part: u32, key: u32): BytePair {
  return changetype<BytePair>(bytePairs + <usize>(part * bytePairCount + key) * offsetof<BytePair>());
}

/**
 * Whether some pair may have the left half `half` or, if `half` is 256 or more, the right half `half` - 256. Always
 * true if words are in several memories (memory-exchange.ts), because pairs of other memories have records in this
 * one, too.
 */
export function isHalf(half: u32): bool {
  if (memoryCount > 1) return true;
  for (let k: u32 = 0; k < partCount; k++) {
    if (load<u8>(halves + k * halvesBytes + half) !== 0) return true;
  }
  return false;
}

// The JavaScript engine compiles a function again, at its highest tier, after 50,000 runs of the function or of loops
// in it. So these loops are functions of their own. As parts of `doWork` (merge-threads.ts), they would make a short
// run compile all of that function.

/** Counts the pairs whose right half is in the next `work` cells of a part. Returns true while cells are left. */
export function countBytePairs(part: Part, index: u32, work: u32): bool {
  return isWide ? countPairsOf<u32>(part, index, work) : countPairsOf<u16>(part, index, work);
}

function countPairsOf<T>(part: Part, index: u32, work: u32): bool {
  const table = bytePairAt(index, 0);
  const halvesOfPart = halves + index * halvesBytes;
  const from = part.next;
  const until = from + min(part.end - from, work);
  const border = boundary;
  let step = stepOf(stepCount, part.step, from);
  let weightEnd = load<u32>(weightEnds + ((<usize>step) << 2));
  let weight = <f64>load<u64>(weights + ((<usize>step) << 3));
  let left = cellBefore<T>(from);
  for (let pos = from; pos < until; pos++) {
    const right = <u32>load<T>(cells + <usize>pos * sizeof<T>());
    if (left !== border && right !== border) {
      const pair = changetype<BytePair>(
        changetype<usize>(table) + <usize>((left << 8) | right) * offsetof<BytePair>(),
      );
      pair.weight += weight;
      pair.count++;
      store<u8>(halvesOfPart + left, 1);
      store<u8>(halvesOfPart + right, 1, 256);
    } else if (pos >= weightEnd) {
      step++;
      weightEnd = load<u32>(weightEnds + ((<usize>step) << 2));
      weight = <f64>load<u64>(weights + ((<usize>step) << 3));
    }
    left = right;
  }
  part.step = step;
  part.next = until;
  return until < part.end;
}

/**
 * Writes the occurrences of pairs that have a list, and whose right half is in the next `work` cells of a part. Returns
 * true while cells are left.
 */
export function writeBytePairs(part: Part, index: u32, work: u32): bool {
  return isWide ? writePairsOf<u32>(part, index, work) : writePairsOf<u16>(part, index, work);
}

function writePairsOf<T>(part: Part, index: u32, work: u32): bool {
  const table = bytePairAt(index, 0);
  const from = part.next;
  const until = from + min(part.end - from, work);
  const border = boundary;
  let left = cellBefore<T>(from);
  for (let pos = from; pos < until; pos++) {
    const right = <u32>load<T>(cells + <usize>pos * sizeof<T>());
    if (left !== border && right !== border) {
      const pair = changetype<BytePair>(
        changetype<usize>(table) + <usize>((left << 8) | right) * offsetof<BytePair>(),
      );
      const start = pair.start;
      if (start !== noStart) {
        store<u32>(entryAddress(start), pos - 1);
        pair.start = start + 1;
      }
    }
    left = right;
  }
  part.next = until;
  return until < part.end;
}

function cellBefore<T>(pos: u32): u32 {
  return <u32>load<T>(cells + <usize>(pos - 1) * sizeof<T>());
}
