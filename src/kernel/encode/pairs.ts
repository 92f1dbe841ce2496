import { EncodingModel } from "./model";

/**
 * The rank of each pair of ids, in the table that src/encode/pairs.ts builds and describes. It is asked for words that are
 * new, so it is seldom in the cache: what counts is how many cache lines it has.
 */

/** The rank of two ids that do not merge: behind every rank. */
export const noRank: i32 = 0x7fffffff;

/** Eight slots share the 32 bits of a word of the filter. */
const filterShift: u32 = 3;

const multiplier0: u32 = 0x9e3779b1;
const multiplier1: u32 = 0x85ebca77;

let slots: usize = 0;
let slotBits: u32 = 0;
let rankBits: u32 = 0;
let halves: usize = 0;
let filter: usize = 0;

export function usePairs(model: EncodingModel): void {
  slots = model.pairSlots;
  slotBits = model.pairSlotBits;
  rankBits = model.pairRankBits;
  halves = model.pairHalves;
  filter = model.pairFilter;
}

/** The rank of the pair, or `noRank`. */
export function findPair(left: i32, right: i32): i32 {
  const hash = (<u32>left * multiplier0 + <u32>right) * multiplier1;
  const filterWord = load<u32>(filter + ((hash >> (32 - slotBits + filterShift)) << 2));
  if (((filterWord >> (hash & 31)) & 1) === 0) return noRank;
  const tag = hash << rankBits;
  const both = <u64>(<u32>left) | ((<u64>(<u32>right)) << 32);
  const last: u32 = (1 << slotBits) - 1;
  let pos = hash >> (32 - slotBits);
  let slot = load<u32>(slots + (pos << 2));
  while (slot !== 0) {
    if ((slot ^ tag) >> rankBits === 0) {
      const rank = (slot ^ tag) - 1;
      if (load<u64>(halves + (rank << 3)) === both) return <i32>rank;
    }
    pos = (pos + 1) & last;
    slot = load<u32>(slots + (pos << 2));
  }
  return noRank;
}
