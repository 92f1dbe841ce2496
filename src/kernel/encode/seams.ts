import { reserveTable } from "../regions";
import { hashOfKey, keyAt, keyOf } from "./late-pairs";
import { EncodingModel } from "./model-layout";

/**
 * Seams: pairs of ids that late merges (late-merges.ts) may join. The *leaves* of a token are the tokens of which it
 * consists when the late merges begin. The last leaf of a late merge's left half and the first leaf of its right half
 * are a *seam*. A late merge crosses a position only if the ids before and after the position are a seam.
 *
 *   ARRAY      TYPE   LENGTH         MEANING
 *   seams      u64    2^seamBits/64  a bit for the hash of each seam. Collisions make segments longer, and change no id
 *   firstLeaf  u32    idLimit        the first leaf of each token; used only while seams are found
 *   lastLeaf   u32    idLimit        the last leaf of each token; likewise
 */
let seams: usize = 0;
let seamBits: u32 = 0;
/** The minimum number of bits of `seams` for each late merge. */
const bitsPerSeam: u32 = isSmallScale ? 1 : 16;

/** Finds the seams of a model's late merges. Returns false if memory runs out. */
export function findSeams<T>(model: EncodingModel): bool {
  seamBits = isSmallScale ? 6 : 10;
  while ((<u64>1) << seamBits < <u64>bitsPerSeam * (model.mergeCount - model.lateRank)) seamBits++;
  const firstLeaf = reserveTable(4 * <usize>model.idLimit);
  const lastLeaf = reserveTable(4 * <usize>model.idLimit);
  seams = reserveTable((<usize>1) << (seamBits - 3));
  if (firstLeaf === 0 || lastLeaf === 0 || seams === 0) return false;
  for (let id: u32 = 0; id < model.idLimit; id++) {
    store<u32>(firstLeaf + (id << 2), id);
    store<u32>(lastLeaf + (id << 2), id);
  }
  for (let rank: u32 = model.lateRank; rank < model.mergeCount; rank++) {
    const left = load<u32>(model.lefts + (rank << 2));
    const right = load<u32>(model.rights + (rank << 2));
    const merged = load<u32>(model.mergedIds + (rank << 2));
    const key = keyOf<T>(load<u32>(lastLeaf + (left << 2)), load<u32>(firstLeaf + (right << 2)));
    const seam = hashOfKey(key) >> (64 - <u64>seamBits);
    const word = seams + ((<usize>seam >> 6) << 3);
    store<u64>(word, load<u64>(word) | ((<u64>1) << (seam & 63)));
    store<u32>(firstLeaf + (merged << 2), load<u32>(firstLeaf + (left << 2)));
    store<u32>(lastLeaf + (merged << 2), load<u32>(lastLeaf + (right << 2)));
  }
  return true;
}

/**
 * Marks the *joints*: the ids that form a seam with the next id. Writes to `joints` a bit for each of the `count` ids
 * at `first`. Zeros follow up to the end of the word of 64 bits that has bit `count`. Also reads the id that follows
 * the `count` ids.
 *
 * There is no branch for a seam: a third of the neighbours are seams, so a processor could not predict it.
 */
export function markJoints<T>(first: usize, count: u32, joints: usize): void {
  const known = seams;
  const shift = 64 - <u64>seamBits;
  let id = first;
  for (let left = <i32>count; left >= 0; left -= 64, joints += 8) {
    const stop = id + <usize>min(left, 64) * sizeof<T>();
    let bits: u64 = 0;
    for (; id < stop; id += sizeof<T>()) {
      const seam = hashOfKey(keyAt<T>(id)) >> shift;
      bits = (bits >> 1) | ((load<u64>(known + ((<usize>seam >> 6) << 3)) >> seam) << 63);
    }
    store<u64>(joints, left >= 64 ? bits : left === 0 ? 0 : bits >> <u64>(64 - left));
  }
}
