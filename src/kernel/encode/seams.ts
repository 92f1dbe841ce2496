import { reserveTable } from "../regions";
import { EncodingModel, tokenLengths } from "./model-layout";
import { hashOf } from "./pair-ranks";

/**
 * Seams: pairs of adjacent ids between which late merges (late-merges.ts) may cross. The parts that a token has when
 * the late merges begin, its *leaves*, follow from the merges. A late merge crosses a position only if the leaves on
 * both sides of it are the last leaf of its left half and the first leaf of its right half: a *seam*.
 *
 *   ARRAY      TYPE   LENGTH         MEANING
 *   seams      u32    2^seamBits/32  a bit for the hash of each seam. Collisions cause longer segments, and change no id
 *   firstLeaf  u32    idLimit        the first leaf of each token; used only while seams are found
 *   lastLeaf   u32    idLimit        the last leaf of each token; likewise
 */
let seams: usize = 0;
let seamBits: u32 = 0;
let lengths: usize = 0;
/** The number of bits of `seams` for each seam. */
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
 * Lists the *joints* among the ids in [first, stop): the ids that are followed by a seam, and then by another id of the
 * same pretoken. An entry of `list` has the address of the id, and the hash of the id and the next one, 32 bits each.
 * Returns the end of the list, and sets `endAfter`.
 *
 * `isEnd` has a byte for each byte of the text, 1 where a pretoken ends, up to position `positionMask`; if there is
 * only one pretoken, `positionMask` is 0. `end` is the position where the token of the first id ends, `endAfter` where
 * that of the id at `stop` ends.
 *
 * There is no branch for a seam or an end: a third of the neighbours are seams, so a processor could not predict the
 * branch.
 */
export function listJoints<T>(
  first: usize,
  stop: usize,
  end: u32,
  positionMask: u32,
  isEnd: usize,
  list: usize,
): usize {
  const sizes = lengths;
  const known = seams;
  const shift = 32 - seamBits;
  let left = <u32>load<T>(first);
  for (let id = first; id < stop; id += sizeof<T>()) {
    const right = <u32>load<T>(id, sizeof<T>());
    const hash = hashOf(left, right);
    const seam = hash >> shift;
    const bit = load<u32>(known + ((seam >> 5) << 2)) >> (seam & 31);
    store<u32>(list, <u32>id);
    store<u32>(list, hash, 4);
    list += (<usize>(bit & 1 & ~(<u32>load<u8>(isEnd + (end & positionMask))))) << 3;
    end += load<u32>(sizes + (right << 2));
    left = right;
  }
  endAfter = end;
  return list;
}

export let endAfter: u32 = 0;

/** Returns the number of bytes of an id's token. */
export function lengthOf(id: u32): u32 {
  return load<u32>(lengths + (id << 2));
}
