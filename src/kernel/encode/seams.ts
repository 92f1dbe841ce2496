import { endsStart, reserveTable } from "../regions";
import { EncodingModel, tokenLengths } from "./model-layout";

/**
 * Seams: pairs of adjacent ids between which late merges (late-merges.ts) may cross. The parts that a token has when
 * the late merges begin, its *leaves*, follow from the merges. A late merge crosses a position only if the leaves on
 * both sides of it are the last leaf of its left half and the first leaf of its right half: a *seam*.
 *
 *   ARRAY      TYPE   LENGTH         MEANING
 *   seams      u32    2^seamBits/32  a bit for the hash of each seam. Collisions cause longer segments, and change no id
 *   firstLeaf  u32    idLimit        used while seams are found
 *   lastLeaf   u32    idLimit
 */
let seams: usize = 0;
let seamBits: u32 = 0;
let lengths: usize = 0;
/** The bits of `seams` for each seam. */
const bitsPerSeam: u32 = isSmallScale ? 1 : 16;

/** Finds the seams of a model's late merges. Returns false if memory runs out. */
export function findSeams(model: EncodingModel): bool {
  seamBits = isSmallScale ? 5 : 10;
  while ((<u64>1) << seamBits < <u64>bitsPerSeam * (model.mergeCount - model.lateRank)) seamBits++;
  lengths = tokenLengths(model);
  const firstLeaf = reserveTable(4 * <usize>model.idLimit);
  const lastLeaf = reserveTable(4 * <usize>model.idLimit);
  seams = reserveTable((<usize>1) << (seamBits - 3));
  if (lengths === 0 || firstLeaf === 0 || lastLeaf === 0 || seams === 0) return false;
  for (let id: u32 = 0; id < model.idLimit; id++) {
    store<u32>(firstLeaf + (id << 2), id);
    store<u32>(lastLeaf + (id << 2), id);
  }
  for (let rank: u32 = model.lateRank; rank < model.mergeCount; rank++) {
    const left = load<u32>(model.lefts + (rank << 2));
    const right = load<u32>(model.rights + (rank << 2));
    const merged = load<u32>(model.mergedIds + (rank << 2));
    const hash = hashOf(load<u32>(lastLeaf + (left << 2)), load<u32>(firstLeaf + (right << 2)));
    const seam = hash >> (32 - seamBits);
    const word = seams + ((seam >> 5) << 2);
    store<u32>(word, load<u32>(word) | (1 << (seam & 31)));
    store<u32>(firstLeaf + (merged << 2), load<u32>(firstLeaf + (left << 2)));
    store<u32>(lastLeaf + (merged << 2), load<u32>(lastLeaf + (right << 2)));
  }
  return true;
}

/**
 * Writes a *mark*, a byte, for each id in [firstId, stop) to `marks`: 1 if there is a seam between the id and the next
 * one in the same pretoken, else 0. At least eight zeros follow. The ids are those of the pretokens of `ends`; `isEnd`
 * has a byte, 0 at first, for each byte of the pretokens, and one more.
 *
 * There is no branch for a seam or an end: a third of the neighbours are seams, so a processor could not predict the
 * branch.
 */
export function markSeams<T>(firstId: usize, stop: usize, endCount: u32, isEnd: usize, marks: usize): void {
  const sizes = lengths;
  const known = seams;
  const shift = 32 - seamBits;
  const textStart = isEnd - load<u32>(endsStart);
  for (let i: u32 = 1; i < endCount; i++) store<u8>(textStart + load<u32>(endsStart + (i << 2)), 1);
  let left = <u32>load<T>(firstId);
  let at = isEnd + load<u32>(sizes + (left << 2));
  for (let id = firstId + sizeof<T>(); id < stop; id += sizeof<T>()) {
    const right = <u32>load<T>(id);
    const seam = hashOf(left, right) >> shift;
    const bit = load<u32>(known + ((seam >> 5) << 2)) >> (seam & 31);
    store<u8>(marks++, <u8>(bit & 1 & ~(<u32>load<u8>(at))));
    at += load<u32>(sizes + (right << 2));
    left = right;
  }
  store<u8>(marks, 0);
  store<u64>(marks, 0, 1);
}

function hashOf(left: u32, right: u32): u32 {
  return (left * 0x9e3779b1 + right) * 0x85ebca77;
}
